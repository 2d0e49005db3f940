// lemma/math/graded_eigen.hpp: eigenvalues of covariances whose columns have very different units.
#pragma once
#include <lemma/math/eigen.hpp>
#include <optional>

namespace lemma {

/// The eigenpairs of S = D C D, D diagonal, to a relative accuracy that depends on the condition of C alone, where
/// `symmetric_eigen` has every value only to ε of the largest: C = RᵀR by Cholesky, and one-sided Jacobi rotations that make
/// the columns of R D orthogonal (Demmel and Veselić 1992). Nothing when C is not positive definite.
///
/// Cost  O(p³) for each of about six sweeps.
std::optional<Eigenpairs> graded_eigen(const MatrixView& correlation, const Vector& deviation);

}  // namespace lemma
