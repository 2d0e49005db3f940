// lemma/embed/shared/spectral.hpp: places as eigenvectors of the smallest eigenvalues of a sparse matrix.
#pragma once
#include <lemma/embed/shared/neighborhood.hpp>

namespace lemma {

/// A symmetric matrix A, positive semidefinite by its making, and the vector t with A t = 0 that says nothing of the rows.
struct SpectralProblem {
  Csr matrix;
  Vector trivial;  // of unit length
  /// A v for each column, by the factors that A is made of: not by A.
  std::function<Matrix(const Matrix&)> times;
};

/// The eigenvectors of the `count` smallest eigenvalues among those orthogonal to t, ascending, of unit length. Error where there
/// are not so many.
struct SpectralAxes {
  Vector values;
  Matrix vectors;
};
SpectralAxes spectral_axes(std::string_view method, const SpectralProblem& problem, Index count,
                           const Execution& execution);

/// optimal: ‖A v − λ v‖ beside λ, by the factors of A; V and t orthonormal; and by the inertia of A − 0.99 λ I no smaller
/// eigenvalue is left out.
Certificate spectral_certificate(const SpectralProblem& problem, const SpectralAxes& axes, const Execution& execution);

/// Sum of small dense blocks, each on rows of its own: Σ_b S_bᵀ M_b S_b, as compressed rows.
class SparseSum {
 public:
  explicit SparseSum(Index side) : rows_(at(side)) {}
  void add(std::span<const std::int32_t> which, const Matrix& block);
  Csr matrix() const;

 private:
  std::vector<std::vector<std::pair<std::int32_t, double>>> rows_;
};

}  // namespace lemma
