// lemma/plot/data/voronoi.cpp: which row is nearest, everywhere in the plane.
#include <array>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/geometry/voronoi.hpp>
#include <lemma/plot/data/kinds.hpp>

namespace lemma::plot {
namespace {

constexpr Index kMostCells = 5'000;

/// The least and greatest, and a little more on either side.
std::array<double, 2> roomy(const Eigen::Ref<const Vector>& values) {
  const double low = values.minCoeff(), high = values.maxCoeff(), room = high > low ? 0.05 * (high - low) : 1;
  return {low - room, high + room};
}

}  // namespace

Figure voronoi(const Drawn& drawn) {
  std::vector<Column> columns = drawn.numbers();
  if (drawn.by_formula && columns.size() == 1 && !drawn.named.response.empty() && is_numeric(drawn.named.response[0]))
    columns.push_back(drawn.named.response[0]);  // y ~ x
  if (columns.size() != 2)
    throw Error(
        fmt::format("a Voronoi diagram lies in the plane, and here are {} of numbers: '~ a + b' or 'class ~ a + b'",
                    count_of(std::ssize(columns), "column")));
  const std::vector<double>&x = columns[0].numbers().values, &y = columns[1].numbers().values;
  std::vector<Index> row;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::isfinite(x[i]) && std::isfinite(y[i])) row.push_back(static_cast<Index>(i));
  require(!row.empty(), "no row has both columns");
  if (std::ssize(row) > kMostCells)
    throw Error(fmt::format("{} make more cells than can be seen: up to {} are drawn, --rows 1:{} takes some",
                            count_of(std::ssize(row), "row"), kMostCells, kMostCells));
  Matrix sites(std::ssize(row), 2);
  for (Index i = 0; i < sites.rows(); ++i)
    sites.row(i) << x[static_cast<std::size_t>(row[static_cast<std::size_t>(i)])],
        y[static_cast<std::size_t>(row[static_cast<std::size_t>(i)])];
  const auto [left, right] = roomy(sites.col(0));
  const auto [bottom, top] = roomy(sites.col(1));
  const Voronoi diagram(sites, {left, bottom, right, top});

  const Groups groups = drawn.groups();
  Panel panel{"", axis_of(columns[0]), axis_of(columns[1]), {}};
  panel.x.from = left, panel.x.to = right, panel.y.from = bottom, panel.y.to = top;
  panel.x.grid = panel.y.grid = false;
  Segments inside, border;  // between rows of one class, and of two
  inside.paint = faint(), inside.width = 1, border.width = 2;
  Index cells = 0;
  for (Index i = 0; i < diagram.count(); ++i) {
    cells += diagram.cell(i).empty() ? 0 : 1;
    for (const auto& side : diagram.cell(i)) {
      if (side.other < i) continue;  // drawn once, and not along the frame
      const bool differ =
          groups.of(row[static_cast<std::size_t>(i)]) != groups.of(row[static_cast<std::size_t>(side.other)]);
      Segments& of = differ ? border : inside;
      of.x0.push_back(side.x0), of.y0.push_back(side.y0), of.x1.push_back(side.x1), of.y1.push_back(side.y1);
    }
  }
  const bool parted = !border.x0.empty();
  if (!inside.x0.empty()) panel.marks.emplace_back(std::move(inside));
  if (parted) panel.marks.emplace_back(std::move(border));
  Points points;
  const auto tooltips = row_tooltips(drawn, groups);
  for (Index i = 0; i < sites.rows(); ++i) {
    const auto at = static_cast<std::size_t>(row[static_cast<std::size_t>(i)]);
    points.x.push_back(sites(i, 0)), points.y.push_back(sites(i, 1));
    if (!groups.empty()) points.group.push_back(groups.of(static_cast<Index>(at)));
    if (!tooltips.empty()) points.tooltips.push_back(tooltips[at]);
  }
  points.radius = sites.rows() > 300 ? 2 : 3;
  panel.marks.emplace_back(std::move(points));
  Figure out;
  out.panels.push_back(std::move(panel));
  if (!groups.empty()) out.legend = legend_of(groups, LegendEntry::Key::point);
  out.description = fmt::format("Voronoi diagram of {}, along {} and {}: in each cell its row is the nearest{}.",
                                count_of(cells, "place"), columns[0].name, columns[1].name,
                                parted ? fmt::format("; where {} changes, lines are bold", groups.name) : "");
  return out;
}

}  // namespace lemma::plot
