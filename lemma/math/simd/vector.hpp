// lemma/math/simd/vector.hpp: products and sums of long vectors in the widest registers this CPU has.
#pragma once
#include <span>

namespace lemma::simd {

/// Σ aⱼ bⱼ in working precision, summed in a few lanes: the same SIMD level gives the same bits.
double inner_product(std::span<const double> a, std::span<const double> b);
/// yⱼ += factor · xⱼ.
void add_multiple(double factor, std::span<const double> x, std::span<double> y);
/// A plane rotation: (x, y) becomes (c x + s y, c y − s x).
void rotate(double c, double s, std::span<double> x, std::span<double> y);

}  // namespace lemma::simd
