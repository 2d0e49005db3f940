// lemma/discriminant/lda/parts.hpp: what fitting and certifying share. Inner header: use lemma/discriminant/lda.hpp.
#pragma once
#include <lemma/discriminant/lda.hpp>
#include <lemma/math/moments.hpp>

namespace lemma::lda {

/// (1 − γ) S + γ diag(S).
Matrix shrunk(Matrix covariance, double shrinkage);

/// One row for each class, √(n π_k / (K − 1)) (m_k − m): its Gram matrix is B. The divisor is K with the ml covariance.
Matrix between_rows(const Lda& spec, const Matrix& means, const Vector& prior, double weight);

/// An Error that says why the pooled covariance is singular, and which columns make it so. `sizes` are those of the values.
void require_regular(const Rows& rows, const Matrix& covariance, const Matrix& means, double degrees);

/// R with RᵀR the pooled covariance in units of the columns' deviations within the classes. A Cholesky factor of it, which
/// loses the digits of nearly dependent columns; where it would, and nothing is shrunk, by one more scan that merges triangles
/// of the rows themselves, so that no condition is squared. Nothing when the covariance is singular.
std::optional<Matrix> within_triangle(const LdaModel& model, const Matrix& covariance, const Rows& rows,
                                      const Execution& execution);

/// The shrinkage towards the diagonal that makes the expected squared error of the correlations least (Schäfer and Strimmer,
/// 2005): Σ Var(r_ij) / Σ r_ij² over i ≠ j, by one more scan.
double best_shrinkage(const Rows& rows, const ClassMoments& moments, const Execution& execution);

}  // namespace lemma::lda
