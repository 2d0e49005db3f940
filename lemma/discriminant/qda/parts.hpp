// lemma/discriminant/qda/parts.hpp: what fitting and certifying share. Inner header: use lemma/discriminant/qda.hpp.
#pragma once
#include <lemma/discriminant/qda.hpp>

namespace lemma::qda {

bool is_common(QdaShape shape);

/// What the scatter of class k is divided by, and (k = −1) that of all. Not above 0 where it has none.
double divisor(const Qda& spec, const Vector& counts, Index k);

/// Σ_k of each class, below each other, from the covariances of the rows, by shape, pooling and sphere.
Matrix regularised(const Qda& spec, const Vector& counts, const Matrix& own);

/// Each covariance in units of its columns' deviations is factorised: R_kᵀ R_k = Σ_k. Nothing where that of some class is
/// singular to working precision.
std::optional<Matrix> triangles_of(const Matrix& covariances);

/// Error that says of which class the covariance is singular, which columns make it so and what to do about it. `means`: of
/// the classes, for the size of the values.
void require_regular(const Rows& rows, const QdaModel& model);

}  // namespace lemma::qda
