// lemma/math/nonnegative.hpp: least squares with coefficients that are not negative.
#pragma once
#include <lemma/core/matrix.hpp>
#include <span>

namespace lemma {

/// argmin_{w ≥ 0} ½ wᵀ Q w − c·w for a positive semidefinite Q = AᵀA and c = Aᵀb, by Lawson and Hanson's active set: exact, and the same
/// whatever was asked before. Where several w qualify, one of them.
Vector nonnegative_least_squares(const Matrix& q, const VectorView& c);

/// One round of coordinate descent on the same: each w_j in turn becomes its best value, the others as they are. Never rises.
void nonnegative_sweep(const Matrix& q, const double* c, Eigen::Ref<Vector> w);

/// √(Σ_j Q_jj δ_j²), δ_j how far that would move w_j: 0 exactly where w is a minimiser.
double nonnegative_slack(const Matrix& q, const VectorView& c, const VectorView& w);

}  // namespace lemma
