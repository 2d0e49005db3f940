// lemma/geometry/graph.hpp: sparse graphs: who is joined to whom, and how far it is.
//
// A graph of n vertices is an n × n matrix in compressed rows: entry (i, j) is the weight of the edge from i to j, a
// length or an affinity, whichever its user asks for. Zero is a weight like any other (copies of a row are 0 apart): an
// entry is an edge. There are no loops.
#pragma once
#include <functional>
#include <lemma/core/sparse.hpp>
#include <lemma/geometry/dissimilarities.hpp>
#include <lemma/geometry/neighbors.hpp>

namespace lemma {

struct Edge {
  Index from = 0, to = 0;
  double weight = 1;
  bool operator==(const Edge&) const = default;
};

/// How lists of neighbours become edges: as they are; i ~ j when each is among the other's; when one is among the
/// other's.
enum class Join { directed, mutual, either };
constexpr auto names_of(Join) { return std::array<std::string_view, 3>{"directed", "mutual", "either"}; }

class Graph {
 public:
  /// Of no vertices.
  Graph() { matrix_.start = {0}; }
  /// Edges in both directions, or as they stand. Error naming the first that leads nowhere, to itself, or whose weight
  /// is negative or not finite, or that is given twice with different weights.
  static Graph of_edges(Index vertices, std::span<const Edge> edges, bool directed = false);

  Index count() const { return matrix_.rows(); }
  /// Entries; an edge in both directions has two.
  Index entries() const { return static_cast<Index>(matrix_.value.size()); }
  bool is_directed() const { return is_directed_; }
  const Csr& matrix() const { return matrix_; }
  std::span<const std::int32_t> neighbors_of(Index i) const;
  std::span<const double> weights_of(Index i) const;
  /// Σⱼ w_ij.
  Vector degrees() const;

  /// The same edges with other weights: f(w), which must be finite and not negative. For affinities: exp(−w²/(2σ²)), or
  /// 1.
  Graph reweighted(const std::function<double(double)>& f) const;
  /// Some of its vertices, renumbered in the order given (each at most once), and the edges between them.
  Graph induced(std::span<const Index> vertices) const;

 private:
  friend Graph graph_of(const NeighborLists& lists, Join join);
  Graph(Csr matrix, bool directed) : matrix_(std::move(matrix)), is_directed_(directed) {}
  Csr matrix_;
  bool is_directed_ = false;
};

/// The graph of lists of neighbours among n points, weights are distances. Two distances of a pair are equal, as
/// metrics are symmetric.
Graph graph_of(const NeighborLists& lists, Join join);
/// Each point joined to its k nearest others.
Graph knn_graph(const Neighbors& points, Index k, Join join = Join::either, const Execution& execution = {});
/// Points joined that are at most `radius` apart.
Graph radius_graph(const Neighbors& points, double radius, const Execution& execution = {});

/// Vertices that a way joins, whichever direction its edges have. Parts are numbered by their first vertices.
struct Components {
  Labels label;
  std::vector<Index> size;
  Index count() const { return static_cast<Index>(size.size()); }
  Index largest() const;  // the first of equals
};
Components components(const Graph& graph);

/// A minimum spanning tree (forest, of a graph in several parts): from < to, in the order of (weight, from, to). Pairs
/// of equal weight are taken in the order of their vertices, so that the tree is unique whoever finds it.
///
/// Of dissimilarities: Prim. O(n²) time, O(n) memory besides them; on demand they are computed once each and never
/// kept.
std::vector<Edge> spanning_tree(const Dissimilarities& dissimilarities, const Execution& execution = {});
/// Of a graph: Kruskal. O(m log m) time for m edges. Of two directions of an edge the lighter counts.
std::vector<Edge> spanning_tree(const Graph& graph);

/// out(s, j): the length of the shortest way from sources[s] to vertex j along the edges' directions, infinity where
/// there is none. Dijkstra from each source, O((n + m) log n) for each, on all threads.
Matrix shortest_paths(const Graph& graph, std::span<const Index> sources, const Execution& execution = {});

/// The same to each vertex from a place outside the graph, which is far[k] away from vertex doors[k].
Vector shortest_paths_from(const Graph& graph, std::span<const std::int32_t> doors, std::span<const double> far);

/// With weights W (affinities) and D = diag(W 1):
///     unnormalised  D − W        symmetric  I − D^(−1/2) W D^(−1/2)        random_walk  I − D⁻¹ W
/// The row of a vertex without edges is zero. Each has the eigenvalue 0 as often as the graph has parts.
enum class Laplacian { unnormalised, symmetric, random_walk };
constexpr auto names_of(Laplacian) {
  return std::array<std::string_view, 3>{"unnormalised", "symmetric", "random_walk"};
}
/// As compressed rows, the diagonal included. Error when the graph is directed.
Csr laplacian(const Graph& graph, Laplacian kind = Laplacian::unnormalised);

}  // namespace lemma
