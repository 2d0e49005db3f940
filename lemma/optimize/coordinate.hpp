// lemma/optimize/coordinate.hpp: a quadratic function plus a penalty on each coordinate, one coordinate at a time.
#pragma once
#include <lemma/optimize/minimise.hpp>

namespace lemma {

/// Σ_j l1_j |x_j| + ½ l2_j x_j², with lower_j ≤ x_j ≤ upper_j. An empty vector is 0, or no bound.
struct SeparablePenalty {
  Vector l1, l2, lower, upper;
};

/// minimise ½ xᵀQx − b·x + penalty(x) for a positive semidefinite Q, by exact minimisation over one coordinate after the other:
///     x_j ← clamp( S(b_j − Σ_{k≠j} q_jk x_k, l1_j) / (q_jj + l2_j) ),   S(r, l) = sign(r) max(|r| − l, 0).
/// After each full round only the coordinates that are not 0 (nor at a bound) are visited until they rest, then all again: so
/// the work goes with the number of those. Iterations are rounds over all coordinates.
///
/// `gradient` of the result is the smallest subgradient: 0 in coordinates that rest where they should.
Minimum coordinate_descent(const MatrixView& q, const VectorView& b, const SeparablePenalty& penalty, Vector start,
                           const MinimiseOptions& options = {});

}  // namespace lemma
