// lemma/plot/data/points.cpp: columns against one another: points, lines, and every pair.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/plot/data/kinds.hpp>
#include <numeric>

namespace lemma::plot {
namespace {

/// Points at levels are moved aside a little, each by its row, so that equal ones are seen.
std::vector<double> spread_levels(const Column& column) {
  std::vector<double> out = places_of(column);
  if (is_numeric(column)) return out;
  constexpr double kGolden = 0.6180339887498949;  // multiples of it, less their whole part, are spread evenly
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += 0.5 * (std::fmod(static_cast<double>(i) * kGolden, 1) - 0.5);
  return out;
}

Panel scatter_panel(const Column& x, const Column& y, const Groups& groups, const std::vector<std::string>& tooltips) {
  Panel out{"", axis_of(x), axis_of(y), {}};
  Points points{spread_levels(x), spread_levels(y), groups.code, tooltips};
  if (points.x.size() > static_cast<std::size_t>(kMostTooltips)) points.paint.opacity = 0.4;
  out.marks.emplace_back(std::move(points));
  return out;
}

Index complete(const Column& x, const Column& y) {
  Index out = 0;
  for (Index i = 0; i < x.rows(); ++i) out += !x.is_missing(i) && !y.is_missing(i);
  return out;
}

}  // namespace

Figure scatter(const Drawn& drawn) {
  std::vector<Column> x = drawn.named.terms, y;
  if (!drawn.by_formula) x = drawn.numbers();
  for (const Column& column : drawn.named.response)
    if (is_numeric(column)) y.push_back(column);
  if (y.empty()) {  // 'class ~ a + b', '~ a + b': the second against the first
    require(x.size() >= 2, "a scatter plot needs two columns: 'y ~ x'");
    y = {x[1]}, x.resize(1);
  }
  require(!x.empty(), "a scatter plot needs two columns: 'y ~ x'");
  const std::string& colour = drawn.options.colour;
  const bool shaded =
      !colour.empty() && is_numeric(drawn.table.column(colour)) && !few_values(drawn.whole.column(colour));
  const Groups groups = shaded ? Groups() : drawn.groups();
  const auto tooltips = row_tooltips(drawn, groups);
  Figure out;
  for (const Column& down : y)
    for (const Column& along : x) {
      Panel panel = scatter_panel(along, down, groups, tooltips);
      if (shaded) {
        const Points points = std::get<Points>(panel.marks[0]);
        panel.marks.clear();
        add_shaded(out, panel, points, drawn.table.column(colour), drawn.whole.column(colour).numbers().values);
      }
      out.panels.push_back(std::move(panel));
    }
  if (out.panels.size() > 1) in_grid(out);
  if (!groups.empty()) out.legend = legend_of(groups, LegendEntry::Key::point);
  out.description = fmt::format("Scatter plot of {} against {}", y[0].name, x[0].name);
  out.description += drawn.rows.empty() ? fmt::format(": {}.", count_of(complete(x[0], y[0]), "point")) : ".";
  return out;
}

Figure line(const Drawn& drawn) {
  Figure out;
  Panel panel;
  std::vector<Column> y = drawn.named.response;
  std::vector<double> x(static_cast<std::size_t>(drawn.table.rows()));
  std::iota(x.begin(), x.end(), 1.0);
  panel.x.label = "row";
  if (!drawn.named.terms.empty() && !y.empty()) {
    require(drawn.named.terms.size() == 1, "a line goes along one column: 'y ~ x'");
    panel.x = axis_of(drawn.named.terms[0]);
    x = places_of(drawn.named.terms[0]);
  } else {
    y = drawn.numbers();
  }
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
  const Groups groups = drawn.options.colour.empty() ? Groups() : drawn.groups();
  int number = 0;
  for (const Column& column : y) {
    const auto values = places_of(column);
    for (int g = 0; g < groups.count(); ++g, ++number) {
      Line one;
      for (const std::size_t i : order)
        if (std::isfinite(x[i]) && groups.of(static_cast<Index>(i)) == g)
          one.x.push_back(x[i]), one.y.push_back(values[i]);
      one.paint = series(number);
      const std::string of_group = groups.empty() ? "" : groups.names[static_cast<std::size_t>(g)];
      one.tooltip = y.size() > 1 && !of_group.empty() ? column.name + ", " + of_group
                    : y.size() > 1                    ? column.name
                                                      : of_group;
      if (!one.tooltip.empty()) out.legend.entries.push_back({one.tooltip, one.paint, LegendEntry::Key::line});
      panel.marks.emplace_back(std::move(one));
    }
  }
  out.legend.title = y.size() > 1 ? "" : groups.name;
  panel.y = y.size() == 1 ? axis_of(y[0]) : Axis{};
  out.description = fmt::format("{} along {}.", count_of(number, "line"), panel.x.label);
  out.panels.push_back(std::move(panel));
  return out;
}

Figure scatter_matrix(const Drawn& drawn) {
  constexpr std::size_t kMost = 12;
  std::vector<Column> columns = drawn.numbers();
  require(columns.size() >= 2, "pairs need two columns of numbers");
  require(columns.size() <= kMost,
          fmt::format("{} columns make too many pairs: up to {} are drawn, a formula such as '~ a + b' chooses them",
                      columns.size(), kMost));
  const Groups groups = drawn.groups();
  const auto tooltips = drawn.table.rows() * static_cast<Index>(columns.size() * columns.size()) > 10 * kMostTooltips
                            ? std::vector<std::string>()
                            : row_tooltips(drawn, groups);
  const auto k = static_cast<int>(columns.size());
  std::vector<std::vector<double>> bins;
  std::vector<std::array<double, 2>> ends;  // of each column, wherever it is an axis
  for (const Column& column : columns) {
    const auto& edges = bins.emplace_back(bins_of(sorted_values(column.numbers().values)));
    const double low = edges.empty() ? 0 : edges.front(), high = edges.empty() ? 1 : edges.back();
    ends.push_back({low - 0.03 * (high - low), high + 0.03 * (high - low)});
  }
  Figure out;
  for (int r = 0; r < k; ++r)
    for (int c = 0; c < k; ++c) {
      const Column &x = columns[static_cast<std::size_t>(c)], &y = columns[static_cast<std::size_t>(r)];
      Panel panel;
      if (r == c) {
        panel.x = axis_of(x);
        add_histogram(panel, x.numbers().values, groups, bins[static_cast<std::size_t>(c)]);
        panel.title = x.name;
      } else {
        panel = scatter_panel(x, y, groups, tooltips);
        panel.name = y.name + " against " + x.name;
        auto& points = std::get<Points>(panel.marks[0]);
        points.radius = k > 4 ? 1.6 : 2.2;
      }
      panel.x.from = ends[static_cast<std::size_t>(c)][0], panel.x.to = ends[static_cast<std::size_t>(c)][1];
      if (r != c)
        panel.y.from = ends[static_cast<std::size_t>(r)][0], panel.y.to = ends[static_cast<std::size_t>(r)][1];
      panel.x.label.clear(), panel.y.label.clear();
      panel.x.shown = r == k - 1, panel.y.shown = c == 0 && r != 0;
      panel.row = r, panel.column = c;
      out.panels.push_back(std::move(panel));
    }
  out.width = std::max(480.0, 150.0 * k + 60), out.height = std::max(420.0, 140.0 * k + 40);
  if (!groups.empty()) out.legend = legend_of(groups, LegendEntry::Key::point), out.width += 100;
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  out.description =
      fmt::format("Scatter plots of every pair of {}; histograms on the diagonal.", join_words(names, kMost));
  return out;
}

Figure parallel(const Drawn& drawn) {
  constexpr Index kMostLines = 1'000;
  const std::vector<Column> columns = drawn.numbers();
  require(columns.size() >= 2, "parallel coordinates need two columns of numbers");
  const Groups groups = drawn.groups();
  Panel panel;
  panel.x = {"", ScaleKind::factor, {}};
  panel.y.label = "share of the column's range", panel.y.from = -0.02, panel.y.to = 1.02;
  std::vector<std::vector<double>> share;
  for (const Column& column : columns) {
    panel.x.levels.push_back(column.name);
    std::vector<double> values = column.numbers().values;
    const auto sorted = sorted_values(values);
    const double low = sorted.empty() ? 0 : sorted.front(), range = sorted.empty() ? 0 : sorted.back() - low;
    for (double& v : values) v = range > 0 ? (v - low) / range : v * 0 + 0.5;
    share.push_back(std::move(values));
  }
  const Index n = drawn.table.rows(), shown = std::min(n, kMostLines);
  for (Index s = 0; s < shown; ++s) {
    const Index row = s * n / shown;
    Line one;
    for (std::size_t j = 0; j < columns.size(); ++j)
      one.x.push_back(static_cast<double>(j)), one.y.push_back(share[j][static_cast<std::size_t>(row)]);
    const int g = groups.of(row);
    one.paint = g < 0 ? faint(0.3) : series(g, shown > 200 ? 0.3 : 0.5), one.width = 1;
    panel.marks.emplace_back(std::move(one));
  }
  Figure out;
  out.width = std::max(720.0, 90.0 * static_cast<double>(columns.size()));
  out.panels.push_back(std::move(panel));
  if (!groups.empty()) out.legend = legend_of(groups, LegendEntry::Key::line);
  out.description = fmt::format("Parallel coordinates of {}{}.", count_of(static_cast<Index>(columns.size()), "column"),
                                shown < n ? fmt::format(", of {} rows spread over all {}", shown, n) : "");
  return out;
}

}  // namespace lemma::plot
