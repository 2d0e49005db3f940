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

}  // namespace lemma
