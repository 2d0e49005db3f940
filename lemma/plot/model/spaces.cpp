// lemma/plot/model/spaces.cpp: densities, silhouettes, and the effects of columns.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/metric/clustering.hpp>
#include <lemma/plot/model/kinds.hpp>
#include <lemma/validate/effect.hpp>
#include <numeric>

namespace lemma::plot {
namespace {

Figure density_along(const Shown& shown, const Column& x) {
  const Range range = range_of(x);
  const auto grid = spread(range.low, range.high, 300);
  const Prediction said = shown.trained.predict(Table({numeric(x.name, grid)}), {.what = {"log_density"}});
  std::vector<double> height;
  for (const double log : said.log_density()) height.push_back(std::exp(log));
  Panel panel{"", axis_of(x), {"density"}, {}};
  panel.y.from = 0;
  Segments rug{{}, {}, {}, {}, series(0, 0.4), 1};
  const double top = *std::max_element(height.begin(), height.end());
  for (const double value : x.numbers().values) rug.x0.push_back(value), rug.x1.push_back(value), rug.y0.push_back(0), rug.y1.push_back(0.03 * top);
  panel.marks = {rug, Area{grid, std::vector<double>(grid.size(), 0), height, series(1, 0.15)}, Line{grid, height, series(1), 2.2}};
  Figure out;
  out.panels.push_back(std::move(panel));
  out.description = fmt::format("The density along {}.", x.name);
  return out;
}

}  // namespace

Figure density_contours(const Shown& shown) {
  constexpr int kSteps = 160;
  const auto names = shown.trained.design.columns();
  if (names.size() == 1) return density_along(shown, shown.rows->column(names[0]));
  const Column &cx = shown.rows->column(names[0]), &cy = shown.rows->column(names[1]);
  const Range rx = range_of(cx), ry = range_of(cy);
  const auto gx = spread(rx.low, rx.high, kSteps), gy = spread(ry.low, ry.high, kSteps);
  std::vector<double> x, y;
  for (const double b : gy)
    for (const double a : gx) x.push_back(a), y.push_back(b);
  const Vector log = shown.trained.predict(Table({numeric(names[0], x), numeric(names[1], y)}), {.what = {"log_density"}}).log_density();
  const Matrix f = Eigen::Map<const Matrix>(log.data(), static_cast<Index>(gy.size()), static_cast<Index>(gx.size()));
  Panel panel{"", axis_of(cx), axis_of(cy), {}};
  Points points{cx.numbers().values, cy.numbers().values, {}, {}};
  points.paint = series(0, 0.5), points.radius = 2.2;
  panel.marks.emplace_back(std::move(points));
  // each line at half the density of the one inside it
  constexpr int kLines = 8;
  for (int k = 1; k <= kLines; ++k) {
    Segments line = contour(gx, gy, f, f.maxCoeff() - k * std::log(2.0));
    line.paint = series(1, 1 - 0.6 * k / kLines), line.width = 1.4;
    panel.marks.emplace_back(std::move(line));
  }
  Figure out;
  out.panels.push_back(std::move(panel));
  out.description = fmt::format("Contours of the density over {} and {}, each at half the density of the one inside it.", names[0], names[1]);
  return out;
}

Figure silhouette_bars(const Shown& shown) {
  const DesignData data = shown.trained.design.apply(*shown.rows, Missing::drop);
  const Labels label = shown.trained.predict(data).label();
  const Vector width = silhouettes(data.x, label);
  std::vector<std::size_t> order(label.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return label[a] != label[b] ? label[a] > label[b] : width(static_cast<Index>(a)) < width(static_cast<Index>(b));
  });
  Panel panel{"", {"silhouette"}, {"rows, by cluster"}, {}};
  panel.y.shown = panel.y.grid = false;
  Rectangles bars;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto i = static_cast<Index>(order[k]);
    bars.x0.push_back(0), bars.x1.push_back(width(i)), bars.y0.push_back(static_cast<double>(k)), bars.y1.push_back(static_cast<double>(k + 1));
    bars.paints.push_back(series(label[order[k]], 0.85));
  }
  const double mean = width.mean();
  panel.marks = {bars, Segments{{mean}, {0}, {mean}, {static_cast<double>(order.size())}, ink(), 1.2, true}};
  Figure out;
  out.legend.title = "cluster";
  for (int k = 0; k <= *std::max_element(label.begin(), label.end()); ++k) out.legend.entries.push_back({std::to_string(k + 1), series(k), LegendEntry::Key::area});
  out.panels.push_back(std::move(panel));
  out.description = fmt::format("Silhouettes of {}, in the units of the columns; their mean is {:.3f}.", count_of(width.size(), "row"), mean);
  return out;
}

Figure effects(const Shown& shown) {
  constexpr std::size_t kMost = 9;
  const auto columns = shown.trained.design.columns();
  Figure out;
  for (std::size_t j = 0; j < std::min(columns.size(), kMost); ++j) {
    const Effect found = effect(shown.trained, *shown.rows, columns[j]);
    const Index output = found.partial.cols() - 1;  // of two classes the positive one
    Panel panel{"", axis_of(found.at), {j % 3 == 0 ? found.outputs.back() : ""}, {}};
    const auto at = places_of(found.at);
    const bool levels = panel.x.kind == ScaleKind::factor;
    const double mean = found.partial.col(output).mean() - found.accumulated.col(output).mean();  // beside one another
    const Vector accumulated = found.accumulated.col(output).array() + mean;
    if (levels) {
      panel.marks = {Points{at, list_of(found.partial.col(output)), {}, {}, series(0), 4}, Points{at, list_of(accumulated), {}, {}, series(1), 3}};
    } else {
      panel.marks = {Line{at, list_of(found.partial.col(output)), series(0), 2}, Line{at, list_of(accumulated), series(1), 1.4, true}};
    }
    out.panels.push_back(std::move(panel));
  }
  out.legend = {"", {{"partial", series(0), LegendEntry::Key::line}, {"accumulated", series(1), LegendEntry::Key::line, true}}};
  if (out.panels.size() > 1) in_grid(out);
  out.description = fmt::format("How the prediction changes with {}{}.", count_of(static_cast<Index>(std::min(columns.size(), kMost)), "column"),
                                columns.size() > kMost ? fmt::format(", the first of {}", columns.size()) : "");
  return out;
}

}  // namespace lemma::plot
