// lemma/math/simd/panels.hpp: how far rows are from panels of points, by columns: sums of squares, of sizes, the
// largest.
//
// A panel holds kPanel points side by side: [column][point]. Lanes are points, so each lane is the textbook loop over
// the columns in their order, without fused operations: a sum has the same bits on every CPU, whatever stands beside
// it. And since rounding is monotone, a box that encloses a point is never farther than the point, to the last bit.
#pragma once
#include <cstdint>
#include <lemma/core/matrix.hpp>
#include <span>

namespace lemma::simd {

constexpr Index kPanel = 16;

/// Σⱼ (xⱼ − zⱼ)²,  Σⱼ |xⱼ − zⱼ|,  maxⱼ |xⱼ − zⱼ|,  the number of j with xⱼ ≠ zⱼ.
enum class Gap { squares, absolute, maximum, unequal };

/// out(i, 16 k + l): row i of x with point l of panel k. Rows of x have `columns` numbers each, those of out 16 ·
/// panels.
void panel_sums(Gap gap, const double* x, Index rows, Index columns, const double* panels, Index count, double* out);

/// Of one panel: bit l is set when the sum of point l is at most `limit`; then out[l] is that sum.
std::uint32_t panel_within(Gap gap, const double* x, Index columns, const double* panel, double limit, double* out);

/// Square roots in place; a number outside [low, high] becomes −1, and then the answer is true.
bool roots_between(double low, double high, std::span<double> numbers);

/// The least of them; infinity of none.
double least(std::span<const double> numbers);

}  // namespace lemma::simd
