// lemma/math/inertia.hpp: how many eigenvalues of a sparse symmetric matrix lie below a number, without finding one of them.
#pragma once
#include <lemma/core/sparse.hpp>
#include <optional>

namespace lemma {

/// Sylvester's law: A − σI = L D Lᵀ has as many negative entries in D as A has eigenvalues below σ. Both triangles of A are
/// stored. Nothing when a pivot vanishes, σ being an eigenvalue of a leading part. The order of elimination is that of least
/// degree; there is no pivoting, so σ should lie well between eigenvalues.
std::optional<Index> eigenvalues_below(const Csr& symmetric, double sigma);

}  // namespace lemma
