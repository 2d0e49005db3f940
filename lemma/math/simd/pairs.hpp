// lemma/math/simd/pairs.hpp: the two passes over all variables that each step of sequential minimal optimisation takes.
#pragma once
#include <lemma/core/matrix.hpp>
#include <span>

namespace lemma::simd {

/// Lengths of the lists below are multiples of this.
constexpr Index kPairStep = 16;
inline Index padded_to_pairs(Index count) { return (count + kPairStep - 1) / kPairStep * kPairStep; }

struct Placed {
  double value;
  Index place;  // the first of equals
};

/// v −= size (a − b), then the greatest v + bar; a bar is 0, or −∞ where a variable is out of the question.
Placed move_and_find(double size, const double* a, const double* b, const double* bar, double* v, Index count);
Placed move_and_find(double size, const float* a, const float* b, const double* bar, double* v, Index count);

struct Partner {
  Index place = -1;  // of the greatest (up − v_j)² / (own + diagonal_j − 2 row_j) with v_j + bar_j < up; −1: none
  double least = 0;  // of all v_j + bar_j
};
/// A curvature that is not positive counts as `least_curvature`. Here a bar is 0 or +∞.
Partner find_partner(double up, double own, double least_curvature, const double* row, const double* diagonal,
                     const double* bar, const double* v, Index count);
Partner find_partner(double up, double own, double least_curvature, const float* row, const double* diagonal,
                     const double* bar, const double* v, Index count);

/// sum[j] += Σ_i weight[i] rows[i][first + j].
void add_weighted(std::span<const float* const> rows, std::span<const double> weight, Index first,
                  std::span<double> sum);

}  // namespace lemma::simd
