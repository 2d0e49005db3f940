// lemma/geometry/graph/edge_order.hpp: the order in which spanning trees take edges. Inner header: use
// lemma/geometry/graph.hpp.
#pragma once
#include <algorithm>
#include <lemma/geometry/graph.hpp>
#include <utility>

namespace lemma {

/// By weight, then by vertices: no two edges are equal, so there is one minimum tree.
inline bool before(const Edge& a, const Edge& b) {
  return a.weight != b.weight ? a.weight < b.weight : std::pair(a.from, a.to) < std::pair(b.from, b.to);
}
inline Edge edge(Index i, Index j, double weight) { return {std::min(i, j), std::max(i, j), weight}; }

/// The minimum spanning tree (forest, where the edges leave several parts) of these edges.
std::vector<Edge> kruskal(Index vertices, std::vector<Edge> edges);

}  // namespace lemma
