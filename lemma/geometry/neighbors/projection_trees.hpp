// lemma/geometry/neighbors/projection_trees.hpp: neighbours that are found with a share that is measured. Inner header: use
// lemma/geometry/neighbors.hpp.
#pragma once
#include <lemma/geometry/neighbors/structure.hpp>

namespace lemma::neighbors {

/// Several trees over the same points. A node parts its points at the median of ⟨z, z_a − z_b⟩, a and b two of them drawn by chance,
/// so that in many dimensions parts follow the directions in which the points lie (Dasgupta and Freund 2008). A query goes down
/// all trees at once, always on where what it has crossed so far is least, Σ (how far it lies beyond a parting)², until it has
/// met `looks` points; these are compared exactly.
///
/// How many are looked at is found by trial, on points of the structure itself, each left out: the least number, on a ladder,
/// with which the share of their true neighbours that is found reaches `recall`. The share that is told is that of other points.
struct ProjectionTrees {
  std::unique_ptr<const SearchStructure> search;
  double recall = 0;  // of the kTellers points that did not choose
  Index looks = 0;
};
constexpr Index kTellers = 64, kToldNeighbors = 10;

ProjectionTrees projection_trees(const BoundMetric& metric, const Matrix& mapped, double recall,
                                 const Execution& execution);

}  // namespace lemma::neighbors
