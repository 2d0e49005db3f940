// lemma/math/eigen.hpp: symmetric eigenproblems.
#pragma once
#include <lemma/core/matrix.hpp>

namespace lemma {

/// Values descending; the vector of values(k) is column k of `vectors`, of unit length, turned so that its largest
/// entry in size is positive (the first of equals).
struct Eigenpairs {
  Vector values;
  Matrix vectors;
};

/// Reads the upper triangle of the symmetric matrix.
Eigenpairs symmetric_eigen(const MatrixView& symmetric);
/// The `count` largest.
Eigenpairs symmetric_eigen(const MatrixView& symmetric, Index count);
/// A v = λ B v with B positive definite, through B = RᵀR and R⁻ᵀ A R⁻¹; vᵀ B v = 1. Error when B is not positive
/// definite to working precision.
Eigenpairs generalised_eigen(const MatrixView& a, const MatrixView& b);

/// Turns each column so that its largest entry in size is positive (the first of equals, up to rounding).
void turn_columns(Eigen::Ref<Matrix> vectors);

/// ‖A v − λ v‖ / ‖A‖ at its worst over the pairs, and how far VᵀV is from the identity: what certifies eigenpairs.
double eigen_residual(const MatrixView& symmetric, const Eigenpairs& pairs);

}  // namespace lemma
