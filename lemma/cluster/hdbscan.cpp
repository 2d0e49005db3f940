// lemma/cluster/hdbscan.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/cluster/hdbscan.hpp>
#include <lemma/cluster/hdbscan/condense.hpp>
#include <lemma/cluster/hdbscan/things.hpp>
#include <lemma/cluster/shared/row_prints.hpp>
#include <lemma/core/text.hpp>
#include <lemma/geometry/graph/mutual_reachability.hpp>

namespace lemma {
namespace {

constexpr Index kFewRows = 2048;   // Prim looks at all pairs as fast
constexpr Index kLeastListed = 8;  // neighbours of a row: of fewer there are too many parts to join

/// Of each thing the distance within which there are so many, itself counted; and of rows who these are.
struct Cores {
  Vector distance;
  NeighborLists nearest;
};

Cores core_distances(const ReachedThings& things, Index count, const Execution& execution) {
  const Index n = things.all.count();
  Cores out{Vector(n), {}};
  if (things.metric) {
    const Neighbors search(things.points, *things.metric, SearchOptions{}, execution.part(0, 0.3));
    out.nearest =
        search.nearest(things.points, std::max(count, kLeastListed), execution.part(0.3, 1, "core distances"));
    for (Index i = 0; i < n; ++i) {
      if (static_cast<Index>(out.nearest.distances_of(i).size()) < count)
        throw Error(fmt::format("hdbscan: row {} cannot be compared with {} rows: no column is known of both", i + 1,
                                count - 1));
      out.distance(i) = out.nearest.distances_of(i)[at(count - 1)];
    }
    return out;
  }
  std::vector<double> row(at(n));
  for (Index i = 0; i < n; ++i) {
    things.all.row(i, row);
    std::nth_element(row.begin(), row.begin() + count - 1, row.end());
    out.distance(i) = row[at(count - 1)];
  }
  return out;
}

std::vector<Edge> tree_of(const ReachedThings& things, const Cores& cores, const Execution& execution) {
  const std::span<const double> core(cores.distance.data(), at(cores.distance.size()));
  const bool filters = things.metric && things.metric->sum() == BoundMetric::Sum::squares;
  if (filters && things.all.count() > kFewRows)
    return mutual_reachability_tree(things.points, *things.metric, cores.nearest, core, execution);
  return mutual_reachability_tree(things.all, core, execution);
}

}  // namespace

void Hdbscan::check() const {
  if (input == Input::pairs)
    throw Error("hdbscan: input is pairs, but it takes rows or a square: the dissimilarity of each two");
}

void HdbscanModel::check() const {
  const MergeTree shape(merges, Hdbscan::name);
  const Index n = shape.rows();
  require(columns > 0 && (spec.input != Input::square || columns == n), "hdbscan: the columns do not fit the rows");
  require(heights.size() == n - 1 && heights.allFinite() && (heights.array() >= 0).all(),
          "hdbscan: there is not one height for each merge");
  for (Index t = 1; t < heights.size(); ++t) require(heights(t) >= heights(t - 1), "hdbscan: the heights do not rise");
  for (const Vector* each : {&labels, &strengths, &outliers, &core, &prints})
    require(each->size() == n && each->allFinite(), "hdbscan: there is not one number for each row");
  require(spec.min_points && *spec.min_points <= n && spec.min_cluster_size <= n,
          "hdbscan: a cluster cannot have so many rows");
  require(stabilities.size() == k() && sizes.allFinite() && stabilities.allFinite() && tree.cols() == 6 &&
              tree.rows() >= 1 && tree.allFinite(),
          "hdbscan: the clusters do not fit together");
  BoundMetric(spec.metric, spec.input == Input::rows ? columns : 1);
}

std::string HdbscanModel::summary(const Names&) const {
  constexpr Index most = 30;
  const Index shown = std::min(k(), most);
  std::vector<std::string> cluster, size;
  std::vector<double> stability, birth;
  for (Index c = 0; c < shown; ++c) {
    cluster.push_back(fmt::format("{}", c + 1));
    size.push_back(format_count(static_cast<Index>(sizes(c))));
    stability.push_back(stabilities(c));
    for (Index t = 0; t < tree.rows(); ++t)
      if (tree(t, 5) == static_cast<double>(c + 1)) birth.push_back(tree(t, 2));
  }
  std::string out =
      fmt::format("{} of at least {} in {} ({}), of {} in the hierarchy\n", count_of(k(), "cluster"),
                  count_of(spec.min_cluster_size, "row"), count_of(rows(), "row"),
                  spec.input == Input::square ? "dissimilarities as given" : spec.metric.text(), tree.rows() - 1);
  if (k() > 0)
    out += "\n" + TextTable()
                      .right("cluster", cluster)
                      .right("rows", size)
                      .numbers("stability", stability, 4)
                      .numbers("apart at", birth, 4)
                      .str();
  if (shown < k()) out += fmt::format("... and {} more\n", k() - shown);
  return out + fmt::format("\nnoise {}\n", format_count(noise));
}

HdbscanModel fit(const Valid<Hdbscan>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  HdbscanModel model;
  model.spec = *spec;
  if (!spec->min_points) model.spec.min_points = spec->min_cluster_size;
  const Index n = rows.count();
  for (const auto& [name, count] :
       {std::pair{"min_cluster_size", model.spec.min_cluster_size}, {"min_points", *model.spec.min_points}})
    if (count > n)
      throw Error(fmt::format("hdbscan: {} is {}, but there {} only {}", name, count, n == 1 ? "is" : "are",
                              count_of(n, "row")));
  const ReachedThings things = reached_things(model.spec, rows, execution.part(0, 0.05));
  if (things.metric) model.spec.metric = things.metric->metric();
  Cores cores = core_distances(things, *model.spec.min_points, execution.part(0.05, 0.3));
  const auto edges = tree_of(things, cores, execution.part(0.3, 0.6));
  model.core = std::move(cores.distance);
  std::vector<Joined> joined;
  for (const Edge& each : edges) joined.push_back({each.from, each.to, each.weight});
  model.merges = merges_of(joined);
  model.heights.resize(n - 1);
  for (Index t = 0; t + 1 < n; ++t) model.heights(t) = joined[at(t)].height;
  model.columns = rows.width();
  model.prints = prints_of(things.points.rows() > 0 ? things.points : gather(rows, execution.part(0.6, 0.6)));
  const MergeTree tree(model.merges, Hdbscan::name);
  describe(model, condense(tree, model.heights, model.spec.min_cluster_size), tree);
  if (model.k() == 0)
    model.warnings.push_back(fmt::format("the rows never part into two clusters of at least {}: all are noise",
                                         model.spec.min_cluster_size));
  model.certificate = certificate_of(model, things, execution.part(0.6, 1));
  return model;
}

Certificate certify(const HdbscanModel& model, const Rows& rows, const Execution& execution) {
  if (rows.count() != model.rows()) return of_other_rows(model, rows.count());
  return certificate_of(model, ordered_things(model, rows, execution.part(0, 0.1)), execution.part(0.1, 1));
}

template const Method& method_of<Hdbscan>();

}  // namespace lemma
