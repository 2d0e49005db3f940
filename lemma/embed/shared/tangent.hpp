// lemma/embed/shared/tangent.hpp: the plane that a surface is near a row, and pictures made of such planes.
#pragma once
#include <lemma/embed/shared/spectral.hpp>

namespace lemma {

/// A matrix Σ_i S_iᵀ Q_i Q_iᵀ S_i, where S_i takes the rows near row i (itself among them) and the columns of Q_i are what a good
/// picture has none of there: YᵀMY says how much.
struct LocalPlanes {
  Neighborhood near;
  std::vector<std::vector<std::int32_t>> which;  // of each row those near it, itself first
  std::vector<Matrix> outside;                   // Q_i
};

/// outside(tangent coordinates) makes each Q_i: the coordinates of the rows near i along the `dimensions` directions in which they spread
/// most, orthonormal and centred, a row each. Error naming the row whose neighbours span fewer, and the column that hides the others.
LocalPlanes local_planes(std::string_view method, const ComparedPoints& data, const NearRows& how, Index dimensions,
                         const std::function<Matrix(const Matrix& tangent)>& outside, const Execution& execution);

/// Its eigenproblem; the planes must outlive it.
SpectralProblem problem_of(const LocalPlanes& planes);

/// The part of [basis] orthonormalised that lies in its columns from `first` on.
Matrix orthogonal_part(const Matrix& basis, Index first);

}  // namespace lemma
