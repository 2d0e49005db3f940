// lemma/embed/shared/neighborhood.cpp
#include <algorithm>
#include <fmt/core.h>
#include <functional>
#include <lemma/core/text.hpp>
#include <lemma/embed/shared/centred.hpp>
#include <lemma/embed/shared/neighborhood.hpp>
#include <lemma/geometry/graph/union_find.hpp>

namespace lemma {
namespace {

void require_enough(std::string_view method, Index n, const NearRows& how) {
  if (!how.radius && how.neighbors >= n)
    throw Error(
        fmt::format("{}: neighbors is {}, must be below {}: a row has no more others", method, how.neighbors, n));
}

/// The shortest edges that join the parts: those of the minimum spanning tree that lead from one to another.
std::vector<Edge> joints_of(const Components& parts, const std::vector<Edge>& tree) {
  UnionFind joined(parts.count());
  std::vector<Edge> out;
  for (const Edge& edge : tree)
    if (joined.join(parts.label[at(edge.from)], parts.label[at(edge.to)])) out.push_back(edge);
  return out;
}

/// Each list with the joints of its row at its end.
NeighborLists with_joints(const NeighborLists& lists, const std::vector<Edge>& joints) {
  std::vector<std::vector<std::pair<Index, double>>> more(at(lists.count()));
  for (const Edge& edge : joints) {
    more[at(edge.from)].emplace_back(edge.to, edge.weight);
    more[at(edge.to)].emplace_back(edge.from, edge.weight);
  }
  NeighborLists out;
  out.start.push_back(0);
  for (Index i = 0; i < lists.count(); ++i) {
    const auto rows = lists.rows_of(i);
    const auto far = lists.distances_of(i);
    out.row.insert(out.row.end(), rows.begin(), rows.end());
    out.distance.insert(out.distance.end(), far.begin(), far.end());
    for (const auto& [row, distance] : more[at(i)]) {
      if (std::find(rows.begin(), rows.end(), static_cast<std::int32_t>(row)) != rows.end()) continue;
      out.row.push_back(static_cast<std::int32_t>(row));
      out.distance.push_back(distance);
    }
    out.start.push_back(static_cast<Index>(out.row.size()));
  }
  return out;
}

}  // namespace

namespace {

/// The graph of lists of neighbours; where it is in pieces, `tree` is asked for the edges that join them.
Neighborhood joined_graph(std::string_view method, NeighborLists lists, const NearRows& how,
                          const std::function<std::vector<Edge>()>& tree) {
  Neighborhood out;
  out.lists = std::move(lists);
  out.graph = graph_of(out.lists, Join::either);
  const Components parts = components(out.graph);
  out.parts = parts.count();
  if (out.parts == 1 || how.pieces == Pieces::largest) return out;
  if (how.pieces == Pieces::refuse)
    throw Error(
        fmt::format("{}: the graph is in {} pieces (the largest has {} of {}); take {}, or '--pieces join', which "
                    "joins them by their "
                    "nearest rows",
                    method, out.parts, parts.size[at(parts.largest())], count_of(out.lists.count(), "row"),
                    how.radius ? "a larger radius" : "more neighbors"));
  out.joints = joints_of(parts, tree());
  out.lists = with_joints(out.lists, out.joints);
  out.graph = graph_of(out.lists, Join::either);
  return out;
}

bool is_known(const Compared& things, Index i, Index j) {
  return things.weight.empty() || things.weight[at(things.dissimilarities.pair(std::min(i, j), std::max(i, j)))] > 0;
}

/// Of each thing the nearest of those whose dissimilarity is known; equally far ones in their order.
NeighborLists near_in(const Compared& things, const NearRows& how, const Execution& execution) {
  const Index n = things.count();
  std::vector<std::vector<std::pair<double, std::int32_t>>> near(at(n));
  parallel_for(n, execution, [&](Index i) {
    std::vector<double> far(at(n));
    things.dissimilarities.row(i, far);
    auto& own = near[at(i)];
    for (Index j = 0; j < n; ++j)
      if (j != i && is_known(things, i, j) && !(how.radius && far[at(j)] > *how.radius))
        own.emplace_back(far[at(j)], static_cast<std::int32_t>(j));
    const auto most = how.radius ? own.size() : std::min(own.size(), static_cast<std::size_t>(how.neighbors));
    std::partial_sort(own.begin(), own.begin() + static_cast<Index>(most), own.end());
    own.resize(most);
  });
  NeighborLists out;
  out.start.push_back(0);
  for (const auto& own : near) {
    for (const auto& [far, j] : own) {
      out.row.push_back(j);
      out.distance.push_back(far);
    }
    out.start.push_back(static_cast<Index>(out.row.size()));
  }
  return out;
}

/// The minimum spanning tree of the pairs that are known.
std::vector<Edge> known_tree(std::string_view method, const Compared& things) {
  const Index n = things.count();
  std::vector<Edge> known;
  for (Index i = 0; i < n; ++i)
    for (Index j = i + 1; j < n; ++j)
      if (is_known(things, i, j)) known.push_back({i, j, things.dissimilarities(i, j)});
  const Graph graph = Graph::of_edges(n, known);
  const Components parts = components(graph);
  for (Index i = 0; i < n; ++i)
    if (parts.label[at(i)] != parts.label[0])
      throw Error(fmt::format("{}: no chain of known pairs leads from {} to {}; give such a pair", method,
                              things.dissimilarities.name(0), things.dissimilarities.name(i)));
  return spanning_tree(graph);
}

}  // namespace

Neighborhood neighborhood(std::string_view method, const Neighbors& rows, const Matrix& points, const NearRows& how,
                          const Execution& execution) {
  require_enough(method, rows.count(), how);
  const Execution search = execution.part(0, 0.6, "neighbours"), joining = execution.part(0.6, 1, "joining pieces");
  return joined_graph(
      method, how.radius ? rows.within_own(*how.radius, search) : rows.nearest_own(how.neighbors, search), how,
      [&] { return spanning_tree(Dissimilarities::on_demand(points, rows.metric(), {}, joining), joining); });
}

Neighborhood neighborhood(std::string_view method, const Compared& things, const NearRows& how,
                          const Execution& execution) {
  if (const PackedPoints* rows = things.dissimilarities.points())
    return neighborhood(method, Neighbors(things.points, rows->metric(), SearchOptions{}, execution.part(0, 0.1)),
                        things.points, how, execution.part(0.1, 1));
  require_enough(method, things.count(), how);
  return joined_graph(method, near_in(things, how, execution), how, [&] {
    return things.weight.empty() ? spanning_tree(things.dissimilarities, execution) : known_tree(method, things);
  });
}

NearThings near_things(std::span<const double> far, const NearRows& how) {
  std::vector<std::pair<double, std::int32_t>> all;
  for (std::size_t j = 0; j < far.size(); ++j) all.emplace_back(far[j], static_cast<std::int32_t>(j));
  std::sort(all.begin(), all.end());
  NearThings out;
  for (const auto& [d, j] : all) {
    const bool is_near = how.radius ? d <= *how.radius : out.which.size() < static_cast<std::size_t>(how.neighbors);
    if (!is_near && !out.which.empty()) break;
    out.which.push_back(j);
    out.far.push_back(d);
  }
  return out;
}

std::optional<std::string> warning_of(const Neighborhood& near, const NearRows& how) {
  if (near.joints.empty()) return {};
  return fmt::format("the graph of {} is in {} pieces, which were joined by their {}",
                     how.radius ? fmt::format("rows within {:g}", *how.radius) : count_of(how.neighbors, "neighbour"),
                     near.parts, count_of(static_cast<Index>(near.joints.size()), "shortest edge"));
}

namespace {

/// The rows in memory, with their categories as codes where there are some.
ComparedPoints gathered_points(std::string_view method, const Rows& rows, const Metric& metric,
                               const std::vector<Index>& codes, const Execution& execution) {
  require_finite(rows, execution.part(0, 0.3));
  if (rows.count() < 3)
    throw Error(fmt::format("{}: there {} {}, must be at least 3", method, rows.count() == 1 ? "is" : "are",
                            count_of(rows.count(), "row")));
  Matrix points = gather(rows, execution.part(0.3, 0.6));
  bool all_equal = true;
  for (Index i = 1; i < points.rows() && all_equal; ++i) all_equal = (points.row(i) == points.row(0));
  if (all_equal)
    throw Error(fmt::format("{}: all {} are equal, and there is nothing to tell them apart by", method,
                            count_of(points.rows(), "row")));
  BoundMetric bound = BoundMetric::of(metric, points, codes, execution.part(0.6, 1));
  return {std::move(points), std::move(bound), rows.features};
}

std::vector<Index> code_columns(const Rows& rows) {
  std::vector<Index> out;
  for (Index j = 0; j < rows.width(); ++j)
    if (rows.holds_codes(j)) out.push_back(j);
  return out;
}

/// Nothing is kept of all pairs.
Compared on_demand(Matrix points, const BoundMetric& metric) {
  auto all = Dissimilarities::on_demand(points, metric);
  return {std::move(all), metric.metric(), std::move(points)};
}

/// What these methods cannot use is refused.
Compared usable(std::string_view method, Compared given) {
  if (given.count() < 3)
    throw Error(fmt::format("{}: there are {}, must be at least 3", method, count_of(given.count(), "thing")));
  largest_dissimilarity(method, given.dissimilarities);
  for (const double weight : given.weight)
    if (weight != 0 && weight != 1)
      throw Error(fmt::format("{}: pairs have no weights here; leave the fourth column out", method));
  return given;
}

}  // namespace

ComparedPoints points_of(std::string_view method, const Rows& rows, const Metric& metric, const Execution& execution) {
  return gathered_points(method, rows, metric, {}, execution);
}

ComparedPoints points_again(std::string_view method, const Embedded& model, const Rows& rows, const Metric& metric,
                            Comparison& same, const Execution& execution) {
  Matrix points = rows_again(method, model, rows, same, execution);
  BoundMetric bound = BoundMetric::of(metric, points, {}, execution.part(0, 0));
  return {std::move(points), std::move(bound), rows.features};
}

Compared things_of(std::string_view method, Input input, const Rows& rows, const Metric& metric,
                   const Execution& execution) {
  if (input != Input::rows) return usable(method, compare_known(method, input, metric, rows, execution));
  ComparedPoints data = gathered_points(method, rows, metric, code_columns(rows), execution);
  return on_demand(std::move(data.points), data.metric);
}

Compared things_again(std::string_view method, const Embedded& model, Input input, const Rows& rows,
                      const Metric& metric, Comparison& same, const Execution& execution) {
  if (input != Input::rows) return usable(method, compared_again(method, model, input, metric, rows, same, execution));
  Matrix points = rows_again(method, model, rows, same, execution);
  const BoundMetric bound = BoundMetric::of(metric, points, code_columns(rows), execution.part(0, 0));
  return on_demand(std::move(points), bound);
}

Compared reordered(const Compared& things, const std::vector<Index>& order) {
  const PackedPoints* rows = things.dissimilarities.points();
  return rows ? on_demand(things.points(order, Eigen::all), rows->metric()) : things;
}

NeighborLists nearest_things(const Compared& things, Index count, SearchBy search, const Execution& execution) {
  const PackedPoints* rows = things.dissimilarities.points();
  if (!rows) return near_in(things, {.neighbors = static_cast<int>(count)}, execution);
  return Neighbors(things.points, rows->metric(), SearchOptions{.structure = search}, execution.part(0, 0))
      .nearest_own(count, execution);
}

Needs needs_of_near(Input input, const Metric& metric, Needs usual) {
  const bool missing = usual.missing;
  usual = needs_for(input, metric, usual);
  if (input == Input::rows) usual.missing = missing;  // near is told by all columns
  return usual;
}

}  // namespace lemma
