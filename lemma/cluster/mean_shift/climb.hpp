// lemma/cluster/mean_shift/climb.hpp: up the density of weighted rows. Inner header: use lemma/cluster/mean_shift.hpp.
#pragma once
#include <lemma/core/matrix.hpp>
#include <optional>

namespace lemma {

/// Two places that are nearer, in bandwidths, are one mode.
inline constexpr double kOneMode = 0.01;
/// The first of the modes (a row each) that u is so near to; −1 where it is near to none.
Index near_mode(const Vector& u, const Matrix& modes);

/// What the rows are around a place, in units of the bandwidth.
struct Surroundings {
  Vector mean;            // m(u)
  double log_weight = 0;  // log Σ gᵢ
};

class Hills {
 public:
  Hills(const Matrix& points, const Vector& weights, const Vector& bandwidth);

  Vector scaled(const VectorView& x) const;    // u of x
  Vector unscaled(const VectorView& u) const;  // x of u
  Surroundings around(const Vector& u) const;
  /// C(u): the covariance of the rows as they weigh there.
  Matrix covariance(const Vector& u) const;

  struct Climb {
    Vector top;            // a mode of its own, where it came near to none that was known
    Index mode = -1;       // the known one that it came near to
    bool finished = true;  // not: the steps were not enough
  };
  /// From u upwards, until it is near to one of the modes (a row each) or at one of its own.
  Climb climb(Vector u, const Matrix& modes, int most_steps) const;

 private:
  std::optional<Vector> newton(Vector u) const;
  Vector weigh(const Vector& u, double& nearest) const;

  Vector origin_, bandwidth_, weights_;
  Eigen::MatrixXd columns_;  // of the rows in units of the bandwidth, each column in one piece
};

}  // namespace lemma
