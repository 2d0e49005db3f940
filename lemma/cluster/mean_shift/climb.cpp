// lemma/cluster/mean_shift/climb.cpp
#include <cmath>
#include <lemma/cluster/mean_shift/climb.hpp>
#include <lemma/core/hearing.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/simd.hpp>

namespace lemma {
namespace {

constexpr double kNear = 1e-3;     // from a step so short on Newton's steps are tried
constexpr double kAtRest = 1e-12;  // a step that is rounding
constexpr double kReach = 0.1;     // of Newton's steps together
constexpr double kSaddle = 0.05;   // how far aside a climb goes on from a saddle

}  // namespace

Index near_mode(const Vector& u, const Matrix& modes) {
  for (Index k = 0; k < modes.rows(); ++k)
    if ((modes.row(k).transpose() - u).squaredNorm() < kOneMode * kOneMode) return k;
  return -1;
}

Hills::Hills(const Matrix& points, const Vector& weights, const Vector& bandwidth)
    : origin_(points.row(0).transpose()),
      bandwidth_(bandwidth),
      weights_(weights),
      columns_(points.rows(), points.cols()) {
  for (Index j = 0; j < points.cols(); ++j) columns_.col(j) = (points.col(j).array() - origin_(j)) / bandwidth_(j);
}

Vector Hills::scaled(const VectorView& x) const { return ((x - origin_).array() / bandwidth_.array()).matrix(); }
Vector Hills::unscaled(const VectorView& u) const { return origin_ + (u.array() * bandwidth_.array()).matrix(); }

/// gᵢ beside that of the nearest row, so that no place is so far away that nothing is left.
Vector Hills::weigh(const Vector& u, double& nearest) const {
  Vector g = Vector::Zero(weights_.size());
  for (Index j = 0; j < u.size(); ++j) g.array() += (columns_.col(j).array() - u(j)).square();
  nearest = g.minCoeff();
  g = (-0.5 * (g.array() - nearest)).matrix();
  simd::exp({g.data(), at(g.size())}, {g.data(), at(g.size())});
  return (g.array() * weights_.array()).matrix();
}

Surroundings Hills::around(const Vector& u) const {
  double nearest = 0;
  const Vector g = weigh(u, nearest);
  const double sum = g.sum();
  Surroundings out{u, std::log(sum) - 0.5 * nearest};
  for (Index j = 0; j < u.size(); ++j) out.mean(j) += (g.array() * (columns_.col(j).array() - u(j))).sum() / sum;
  return out;
}

Matrix Hills::covariance(const Vector& u) const {
  double nearest = 0;
  const Vector g = weigh(u, nearest);
  const Eigen::MatrixXd around = columns_.rowwise() - u.transpose();
  const Vector mean = around.transpose() * g / g.sum();
  const Eigen::MatrixXd weighted = around.array().colwise() * g.array();
  return Matrix(around.transpose() * weighted / g.sum() - mean * mean.transpose());
}

/// The mode that Newton's steps find near to u; none where they leave its surroundings, or end where it is no mode.
std::optional<Vector> Hills::newton(Vector u) const {
  const Vector start = u;
  for (int step = 0; step < 30; ++step) {
    const Vector shift = around(u).mean - u;
    const Eigenpairs axes = symmetric_eigen(covariance(u));
    if (!(axes.values(0) < 1)) return {};
    if (shift.norm() <= kAtRest * (1 + u.norm())) return u;
    Vector way = Vector::Zero(u.size());
    for (Index a = 0; a < axes.values.size(); ++a)
      way += axes.vectors.col(a) * (axes.vectors.col(a).dot(shift) / (1 - axes.values(a)));
    u += way;
    if (!((u - start).norm() < kReach)) return {};
    if (way.norm() <= kAtRest * (1 + u.norm())) return u;
  }
  return {};
}

Hills::Climb Hills::climb(Vector u, const Matrix& modes, int most_steps) const {
  double tried = kNear;
  for (int step = 0; step < most_steps; ++step) {
    ask();
    if (const Index mode = near_mode(u, modes); mode >= 0) return {u, mode, true};
    const Vector next = around(u).mean;
    const double way = (next - u).norm();
    u = next;
    if (!std::isfinite(way)) return {u, -1, false};  // farther away than numbers can say
    if (way > tried) continue;
    if (const auto top = newton(u)) return {*top, near_mode(*top, modes), true};
    tried *= 0.1;  // a ridge that hardly rises, or a saddle
    if (way > 1e-9) continue;
    const Eigenpairs axes = symmetric_eigen(covariance(u));
    if (!(axes.values(0) >= 1)) continue;
    Vector aside = axes.vectors.col(0);
    Index largest = 0;
    aside.cwiseAbs().maxCoeff(&largest);
    u += (aside(largest) > 0 ? kSaddle : -kSaddle) * aside;
    tried = kNear;
  }
  return {u, -1, false};
}

}  // namespace lemma
