// lemma/math/factorise.hpp: factorisations of matrices that fit in memory.
#pragma once
#include <lemma/core/matrix.hpp>
#include <optional>

namespace lemma {

/// The upper triangle R (columns × columns) with RᵀR = AᵀA, diagonal not negative.
Matrix triangle_of(const MatrixView& a);

/// The w minimising ‖A w − b‖. Columns are brought to unit length first, so the rank does not depend on their
/// units; if several w qualify, it is the shortest in those unit-length columns.
struct MinimumNormSolution {
  Vector w;
  Index rank;
};
MinimumNormSolution least_squares(const MatrixView& a, const VectorView& b);

/// ‖A w − b‖² minus its least value, found as a sum of squares: no cancellation, never negative.
double excess(const MatrixView& a, const VectorView& b, const VectorView& w);

/// R upper with RᵀR = A, from A's upper triangle; nothing when A is not positive definite to working precision.
std::optional<Matrix> cholesky(const MatrixView& a);
/// R⁻¹ B and R⁻ᵀ B for an upper triangle R.
Matrix solve_upper(const MatrixView& r, Matrix b);
Matrix solve_upper_transposed(const MatrixView& r, Matrix b);
/// B R⁻¹: each row of B times R⁻¹.
Matrix divide_by_upper(Matrix b, const MatrixView& r);
/// log det A = 2 Σ log r_jj for A = RᵀR.
double log_determinant(const MatrixView& r);

}  // namespace lemma
