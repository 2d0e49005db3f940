// lemma/geometry/lloyd.hpp
#pragma once
#include <lemma/core/rows.hpp>
#include <lemma/math/simd/distance.hpp>

namespace lemma {

/// Lloyd's algorithm from given centres. Each iteration gives every row to its nearest centre (the first of equals), then
/// moves every centre to the mean of its rows, until nothing moves:
///
///     aᵢ = argmin_k ‖xᵢ − c_k‖²        c_k = Σ_{aᵢ = k} wᵢ xᵢ / Σ_{aᵢ = k} wᵢ
///
/// The assignments are those of the plain distances Σⱼ (xⱼ − cⱼ)², to the last bit, though few of these are computed:
///   1. a row stays when its centre is nearer than half the way to any other centre, or nearer than a lower bound on
///      all others that falls by the largest move of a centre (Hamerly 2010);
///   2. of the other rows, float32 scores with an error bound settle nearly all;
///   3. the plain search does the rest.
/// Every bound has a margin for rounding.
///
/// A centre without rows goes to the row that is farthest from its own centre; several go to the farthest different
/// points. The other centres stay the means of their rows, so the objective cannot rise.
///
/// Cost    an iteration is one scan: O(n p) and O(p K) for each row that rule 1 does not settle.
/// Memory  8 bytes for each row, and centres for each block that is being merged.
struct LloydRun {
  Matrix centers;
  Vector sizes;                   // weight of the rows of each centre
  Vector within;                  // Σ w ‖x − c‖² over them
  std::vector<double> objective;  // Σ within after each assignment, before the centres move
  double movement = 0;            // the largest way a centre would go in one more step
  bool cancelled = false;

  double total_within() const { return within.sum(); }
};

struct LloydLimits {
  Index iterations = 300;
  double movement = 0;  // stop when no centre moves farther; 0: only at a fixed point
};

/// sizes, within and movement always belong to `centers`. Throws Cancelled when there is no assignment to give back yet.
LloydRun lloyd(const Rows& rows, const simd::Frame& frame, const Matrix& start, const LloydLimits& limits,
               const Execution& execution);

}  // namespace lemma
