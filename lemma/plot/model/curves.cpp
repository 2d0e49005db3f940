// lemma/plot/model/curves.cpp: cuts of a graph along its Fiedler vector, and a density by its bandwidth.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/density/kde.hpp>
#include <lemma/plot/model/kinds.hpp>

namespace lemma::plot {

Figure sweep_cut(const Shown& shown) {
  const Matrix sweep = *matrix_of(shown.trained, "sweep");  // cut, sparsity, conductance
  const auto cheeger = vector_of(shown.trained, "cheeger");
  require(sweep.cols() == 3, "the sweep has no cut, sparsity and conductance");
  Figure out;
  std::string least;
  for (const auto& [name, column] : {std::pair{"conductance", 2}, std::pair{"sparsity", 1}}) {
    const Vector values = sweep.col(column);
    Index best = 0;
    const double lowest = values.minCoeff(&best);
    const auto vertices = static_cast<double>(values.size());
    Panel panel{"", {"vertices in the set"}, {name}, {}};
    panel.y.from = 0, panel.column = column == 2 ? 0 : 1;
    Line curve{spread(1, vertices, static_cast<int>(values.size()) - 1), list_of(values)};
    if (values.size() == 1) curve.x = {1};
    if (column == 2 && cheeger && cheeger->size() == 2)
      for (const double bound : *cheeger) {
        panel.marks.emplace_back(Segments{{1}, {bound}, {vertices}, {bound}, faint(), 1.2, true});
        const bool lower = bound == cheeger->minCoeff();
        panel.marks.emplace_back(
            Words{{(lower ? 0.22 : 0.5) * (1 + vertices)},  // where a curve that falls and rises leaves room
                  {bound + 0.035 * std::max(cheeger->maxCoeff(), values.maxCoeff())},
                  {fmt::format("Cheeger's {} bound {}", lower ? "lower" : "upper", format_significant(bound, 3))},
                  ink(),
                  9});
      }
    panel.marks.emplace_back(std::move(curve));
    const std::string told =
        fmt::format("{} {} of the first {}", name, format_significant(lowest, 4), format_count(best + 1));
    Points place{{static_cast<double>(best + 1)}, {lowest}, {}, {told}};
    place.paint = series(1), place.radius = 4.5;
    panel.marks.emplace_back(std::move(place));
    out.panels.push_back(std::move(panel));
    least += (least.empty() ? "" : ", the least ") + told;
  }
  out.width = 820, out.height = 400;
  out.description = fmt::format(
      "Sweep cut along the Fiedler vector of {} vertices: the least {}; Cheeger's bounds on the least conductance of "
      "all sets are dashed.",
      format_count(sweep.rows() + 1), least);
  return out;
}

Figure bandwidths(const Shown& shown) {
  constexpr std::array kTimes{0.25, 0.5, 1.0, 2.0, 4.0};
  const KdeModel* model = model_cast<KdeModel>(shown.trained.model);
  require(model != nullptr && model->width() == 1, "densities by bandwidth are those of a kde of one column");
  const double h = model->bandwidth(0), low = model->points.col(0).minCoeff(), high = model->points.col(0).maxCoeff();
  constexpr double kNothing = 2e-3;            // of the highest place of all curves: it cannot be told from the axis
  const double reach = 3 * kTimes.back() * h;  // kernels that go on for ever are nearly 0 there
  const auto grid = spread(low - reach, high + reach, 800);
  const Matrix at = Eigen::Map<const Vector>(grid.data(), static_cast<Index>(grid.size()));
  const std::string name = shown.trained.design.features()[0];
  Panel panel{"", {name}, {"density"}, {}};
  panel.y.from = 0;
  Figure out;
  out.legend.title = "bandwidth";
  std::vector<double> highest(grid.size(), 0);
  for (std::size_t k = 0; k < kTimes.size(); ++k) {
    KdeModel other = *model;
    other.bandwidth(0) = kTimes[k] * h;
    other.kept = kde::nothing_kept();
    const Vector height = other.log_density(at).array().exp();
    for (std::size_t i = 0; i < grid.size(); ++i) highest[i] = std::max(highest[i], height(static_cast<Index>(i)));
    const bool own = kTimes[k] == 1.0;
    const std::string told = format_significant(other.bandwidth(0), 3) + (own ? " (the model's)" : "");
    const Paint paint = own ? ink() : series(static_cast<int>(k));
    panel.marks.emplace_back(Line{grid, list_of(height), paint, own ? 2.4 : 1.4, false, told});
    out.legend.entries.push_back({told, paint, LegendEntry::Key::line});
  }
  const double least = kNothing * *std::max_element(highest.begin(), highest.end());
  const auto seen = [&](double height) { return height > least; };
  const auto first = std::find_if(highest.begin(), highest.end(), seen) - highest.begin();
  const auto last = std::find_if(highest.rbegin(), highest.rend(), seen) - highest.rbegin();
  panel.x.from = grid[static_cast<std::size_t>(first)],
  panel.x.to = grid[grid.size() - 1 - static_cast<std::size_t>(last)];
  out.panels.push_back(std::move(panel));
  out.description =
      fmt::format("The density along {} with a quarter, half, once, twice and four times the bandwidth {}.", name,
                  format_significant(h, 3));
  return out;
}

}  // namespace lemma::plot
