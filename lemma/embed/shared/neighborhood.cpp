// lemma/embed/shared/neighborhood.cpp
#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
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
std::vector<Edge> joints_of(const Components& parts, const Matrix& points, const BoundMetric& metric,
                            const Execution& execution) {
  UnionFind joined(parts.count());
  std::vector<Edge> out;
  for (const Edge& edge : spanning_tree(Dissimilarities::on_demand(points, metric, {}, execution), execution))
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

Neighborhood neighborhood(std::string_view method, const Neighbors& rows, const Matrix& points, const NearRows& how,
                          const Execution& execution) {
  require_enough(method, rows.count(), how);
  Neighborhood out;
  const Execution search = execution.part(0, 0.6, "neighbours");
  out.lists = how.radius ? rows.within_own(*how.radius, search) : rows.nearest_own(how.neighbors, search);
  out.graph = graph_of(out.lists, Join::either);
  const Components parts = components(out.graph);
  out.parts = parts.count();
  if (out.parts == 1) return out;
  if (how.pieces == Pieces::refuse)
    throw Error(
        fmt::format("{}: the graph is in {} pieces (the largest has {} of {}); take {}, or '--pieces join', which "
                    "joins them by their "
                    "nearest rows",
                    method, out.parts, parts.size[at(parts.largest())], count_of(rows.count(), "row"),
                    how.radius ? "a larger radius" : "more neighbors"));
  out.joints = joints_of(parts, points, rows.metric(), execution.part(0.6, 1, "joining pieces"));
  out.lists = with_joints(out.lists, out.joints);
  out.graph = graph_of(out.lists, Join::either);
  return out;
}

std::optional<std::string> warning_of(const Neighborhood& near, const NearRows& how) {
  if (near.parts == 1) return {};
  return fmt::format("the graph of {} is in {} pieces, which were joined by their {}",
                     how.radius ? fmt::format("rows within {:g}", *how.radius) : count_of(how.neighbors, "neighbour"),
                     near.parts, count_of(static_cast<Index>(near.joints.size()), "shortest edge"));
}

ComparedPoints points_of(std::string_view method, const Rows& rows, const Metric& metric, const Execution& execution) {
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
  BoundMetric bound = BoundMetric::of(metric, points, {}, execution.part(0.6, 1));
  return {std::move(points), std::move(bound), rows.features};
}

ComparedPoints points_again(std::string_view method, const Embedded& model, const Rows& rows, const Metric& metric,
                            Comparison& same, const Execution& execution) {
  Matrix points = rows_again(method, model, rows, same, execution);
  BoundMetric bound = BoundMetric::of(metric, points, {}, execution.part(0, 0));
  return {std::move(points), std::move(bound), rows.features};
}

}  // namespace lemma
