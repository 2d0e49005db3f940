// lemma/mixture/gaussian/mcd.hpp: the minimum covariance determinant.
#pragma once
#include <cstdint>
#include <lemma/core/parallel.hpp>
#include <optional>
#include <vector>

namespace lemma::mcd {

/// A set of rows by its mean and covariance (divisor: their number).
struct Set {
  Vector mean;
  Matrix covariance;
  double log_determinant = 0;
};

/// d² of each row from the set; nothing when its covariance is singular.
std::optional<Vector> distances(const Set& set, const MatrixView& x);
/// The h rows with the least distances: the first of equals.
std::vector<Index> nearest(const Vector& distances, Index h);
Set set_of(const MatrixView& x, const std::vector<Index>& which);
/// The least determinant that was found. Error when h rows lie in a plane.
Set search(const MatrixView& x, Index h, int restarts, std::uint64_t seed, const Execution& execution);

/// α / P(χ²_{p+2} ≤ χ²_{p, α}): what the covariance of the nearest share α of Gaussian rows lacks.
double consistency(double share, Index p);

/// The rows within the 0.975 quantile of the set's corrected distances: their mean, and their covariance corrected in turn.
Set reweighted(const Set& set, const MatrixView& x, Index h);

}  // namespace lemma::mcd
