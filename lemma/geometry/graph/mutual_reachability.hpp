// lemma/geometry/graph/mutual_reachability.hpp: the spanning tree that hierarchies of densities go by.
#pragma once
#include <lemma/geometry/graph.hpp>

namespace lemma {

/// The minimum spanning tree of the mutual reachability distances
///
///     max(d(i, j), core_i, core_j),
///
/// with core_i how far vertex i must reach for enough others. As `spanning_tree`: Prim, O(n²) time, and of dissimilarities on
/// demand O(n) memory.
std::vector<Edge> mutual_reachability_tree(const Dissimilarities& dissimilarities, std::span<const double> core,
                                           const Execution& execution = {});

/// The same tree of rows, from the lists of their nearest ones (which may hold each row itself). The edges of the lists, joined by
/// a few between samples of the parts that they leave, have a minimum tree T; a pair belongs to the tree of all pairs only
/// where it is no longer than the longest edge of its way through T, and a float32 filter over all pairs finds those. O(n² p)
/// time, a few float32 operations for each pair. Takes metrics whose sums are squares; Prim where more than
/// a few dozen pairs a row get through.
std::vector<Edge> mutual_reachability_tree(const Matrix& rows, const BoundMetric& metric, const NeighborLists& nearest,
                                           std::span<const double> core, const Execution& execution = {});

/// The minimum spanning tree of the distances themselves, the one that Prim finds; of more than a few thousand rows and a metric
/// whose sums are squares by way of lists of nearest rows.
std::vector<Edge> spanning_tree(const Matrix& rows, const BoundMetric& metric, const Execution& execution = {});

}  // namespace lemma
