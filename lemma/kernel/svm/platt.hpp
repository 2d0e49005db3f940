// lemma/kernel/svm/platt.hpp: probabilities from the values of machines that tell two classes apart.
#pragma once
#include <lemma/core/matrix.hpp>

namespace lemma {

/// P(t = +1 | f) = 1 / (1 + e^(A f + B)).
struct Sigmoid {
  double slope = 0, offset = 0;  // A and B
  double operator()(double f) const;
};

/// The sigmoid of the largest likelihood, with the targets (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2) in the place of 1 and 0
/// (Platt 1999), by Newton's method with a line search and sums that cannot overflow (Lin, Lin and Weng 2007). `weight`:
/// frequencies. `f` should be of rows that the machine did not learn from.
Sigmoid platt(const Vector& f, const Vector& target, const Vector& weight);

/// Probabilities p of K classes from those of all pairs, r(k, l) ≈ pₖ / (pₖ + pₗ): the minimum of Σ (r(l, k) pₖ − r(k, l) pₗ)²
/// over the simplex (Wu, Lin and Weng 2004, their second method).
Vector couple(const Matrix& r);

}  // namespace lemma
