// lemma/mixture/factor_analysis/rotate.hpp: loadings turned for people. Inner header.
#pragma once
#include <lemma/mixture/factor_analysis.hpp>

namespace lemma::rotation {

struct Rotated {
  Matrix loadings, correlations;
};
/// Columns by their sums of squares, the largest entry of each positive.
Rotated rotated(const Matrix& loadings, Rotation how);

/// How far varimax's first-order conditions are from being met: BᵀL not symmetric, beside its size.
double varimax_residue(const Matrix& loadings);

/// L with L Lᵀ the common part of Σ and LᵀΨ⁻¹L diagonal: where every rotation begins, the same for all that turn into each other.
Matrix canonical(const Matrix& common, const Vector& uniquenesses, Index factors);

}  // namespace lemma::rotation
