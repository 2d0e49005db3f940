// lemma/plot/model/hierarchy.cpp: a hierarchy of rows, and how true a map is to the dissimilarities it was made from.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/plot/branches.hpp>
#include <lemma/plot/model/kinds.hpp>
#include <map>

namespace lemma::plot {

Figure dendrogram(const Shown& shown) {
  constexpr Index kMost = 5'000, kMostNames = 80;
  Hierarchy tree{*matrix_of(shown.trained, "merges"), *vector_of(shown.trained, "heights"), {}};
  const auto order = vector_of(shown.trained, "order");
  tree.order = order ? *order : order_of(tree.merges);
  const Index n = tree.rows();
  require(n <= kMost, fmt::format("a dendrogram of {} cannot be read: up to {} are drawn", count_of(n, "row"),
                                  format_count(kMost)));
  std::vector<int> group;
  int clusters = 0;
  if (const auto labels = vector_of(shown.trained, "labels"); labels && labels->size() == n)
    for (const double label : *labels) {
      group.push_back(static_cast<int>(label) - 1);
      clusters = std::max(clusters, static_cast<int>(label));
    }
  std::map<int, Segments> painted;
  for (const Branch& each : branches_of(tree, clusters > 1 ? group : std::vector<int>{})) {
    Segments& to = painted[each.group];
    to.x0.push_back(each.from_x), to.y0.push_back(each.from_y), to.x1.push_back(each.to_x), to.y1.push_back(each.to_y);
  }
  Panel panel{"", {"", ScaleKind::factor, {}}, {"height"}, {}};
  panel.x.grid = false, panel.x.shown = n <= kMostNames;
  panel.y.from = std::min(0.0, tree.heights.minCoeff());
  for (Index k = 0; k < n; ++k)
    panel.x.levels.push_back(shown.trained.row_names.name(static_cast<Index>(tree.order(k)) - 1));
  for (auto& [of, segments] : painted) {
    segments.paint = of < 0 ? ink() : series(of), segments.width = n > 200 ? 0.8 : 1.4;
    panel.marks.emplace_back(std::move(segments));
  }
  const auto cut = order ? cut_height(tree, clusters) : std::nullopt;  // clusters by density are no cut at one height
  if (cut)
    panel.marks.emplace_back(Segments{{-0.5}, {*cut}, {static_cast<double>(n) - 0.5}, {*cut}, faint(), 1.2, true});
  Figure out;
  out.width = std::clamp(15.0 * static_cast<double>(n <= kMostNames ? n : 0) + 210, 720.0, 1400.0);
  if (clusters > 1 && clusters <= 12) {
    out.legend.title = "cluster";
    for (int k = 0; k < clusters; ++k)
      out.legend.entries.push_back({std::to_string(k + 1), series(k), LegendEntry::Key::line});
  }
  out.panels.push_back(std::move(panel));
  out.description = fmt::format("Dendrogram of {}{}.", count_of(n, "row"),
                                cut            ? fmt::format(", cut into {}", count_of(clusters, "cluster"))
                                : clusters > 1 ? fmt::format(", in {}", count_of(clusters, "cluster"))
                                               : "");
  return out;
}

Figure shepard(const Shown& shown) {
  const Matrix groups = *matrix_of(shown.trained, "shepard");  // mean dissimilarity, mean distance, its deviation
  require(groups.cols() >= 3, "the groups of pairs have no deviations");
  Panel panel{"", {"dissimilarity"}, {"distance on the map"}, {}};
  Points points;
  Segments spread_of{{}, {}, {}, {}, series(0), 1.6};
  for (Index k = 0; k < groups.rows(); ++k) {
    const double x = groups(k, 0), y = groups(k, 1), sd = groups(k, 2);
    points.x.push_back(x), points.y.push_back(y);
    points.tooltips.push_back(fmt::format("dissimilarity {}: distance {} ± {}", format_significant(x, 4),
                                          format_significant(y, 4), format_significant(sd, 3)));
    spread_of.x0.push_back(x), spread_of.x1.push_back(x), spread_of.y0.push_back(y - sd),
        spread_of.y1.push_back(y + sd);
  }
  const double most = groups.col(0).maxCoeff();
  panel.marks = {Line{{0, most}, {0, most}, faint(), 1.2, true}, spread_of, Line{points.x, points.y, series(0)},
                 points};
  Figure out;
  out.width = 560;
  out.panels.push_back(std::move(panel));
  const Value results = shown.trained.results();
  const Value* stress = results.find("stress_1");
  out.description = fmt::format(
      "Shepard's diagram: distances on the map against dissimilarities, pairs in {} of one size, with one standard "
      "deviation to either side{}.",
      count_of(groups.rows(), "group"),
      stress && stress->is_number() ? fmt::format("; stress {:.3f}", stress->as_double()) : "");
  return out;
}

}  // namespace lemma::plot
