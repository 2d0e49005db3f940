// lemma/math/simd/ranks.hpp: who comes first among many numbers. What is found does not depend on the width of the vectors.
#pragma once
#include <lemma/core/matrix.hpp>
#include <span>

namespace lemma::simd {

/// The places of the smallest, as many as `places` has, in the order of (number, place). No number is NaN.
void smallest(std::span<const double> x, std::span<Index> places);

/// How many come before x[j] in that order.
Index rank_of(std::span<const double> x, Index j);

}  // namespace lemma::simd
