// lemma/mixture/factor_analysis/rotate.cpp
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/svd.hpp>
#include <lemma/mixture/factor_analysis/rotate.hpp>
#include <numeric>

namespace lemma::rotation {
namespace {

constexpr int kMostSteps = 2000;
constexpr double kPower = 4;  // of promax: |l|³ l

/// Rows of unit length (Kaiser's normalisation); one of zeros stays.
Matrix normalised(const Matrix& l, Vector& length) {
  length = l.rowwise().norm();
  for (double& each : length)
    if (!(each > 0)) each = 1;
  return length.cwiseInverse().asDiagonal() * l;
}

/// B: the gradient of the variance of squares within columns.
Matrix slopes(const Matrix& l) {
  const Vector mean_square = l.colwise().squaredNorm().transpose() / static_cast<double>(l.rows());
  return (l.array().cube().matrix() - l * mean_square.asDiagonal());
}

/// The rotation of the greatest varimax criterion near the identity: planes of two columns one after the other (Kaiser 1958), whose best
/// angle is a closed form, until none turns.
Matrix varimax(const Matrix& loadings) {
  Vector length;
  Matrix l = normalised(loadings, length);
  const Index q = l.cols();
  const auto p = static_cast<double>(l.rows());
  Matrix t = Matrix::Identity(q, q);
  for (int step = 0; step < kMostSteps; ++step) {
    double most = 0;
    for (Index a = 0; a < q; ++a)
      for (Index b = a + 1; b < q; ++b) {
        const Vector u = l.col(a).array().square() - l.col(b).array().square(), v = 2 * l.col(a).cwiseProduct(l.col(b));
        const double su = u.sum(), sv = v.sum();
        const double numerator = 2 * (u.dot(v) - su * sv / p);
        const double denominator = u.squaredNorm() - v.squaredNorm() - (su * su - sv * sv) / p;
        if (std::hypot(numerator, denominator) <= 1e-300) continue;
        const double angle = 0.25 * std::atan2(numerator, denominator), c = std::cos(angle), s = std::sin(angle);
        most = std::max(most, std::abs(angle));
        for (Matrix* m : {&l, &t}) {
          const Vector x = m->col(a), y = m->col(b);
          m->col(a) = c * x + s * y;
          m->col(b) = c * y - s * x;
        }
      }
    if (most <= 1e-13) break;
  }
  return t;
}

/// Φ = (TᵀT)⁻¹ for factors of variance 1.
Rotated promax(const Matrix& l) {
  const Matrix target = l.array() * l.array().abs().pow(kPower - 1);
  Matrix t(l.cols(), l.cols());
  for (Index k = 0; k < l.cols(); ++k) t.col(k) = least_squares(l, target.col(k)).w;
  const auto root = cholesky(t.transpose() * t);
  require(root.has_value(), "factor_analysis: promax finds factors that depend on each other; take --rotation varimax");
  const Matrix inverse = solve_upper(*root, solve_upper_transposed(*root, Matrix::Identity(l.cols(), l.cols())));
  const Vector scale = inverse.diagonal().cwiseSqrt();
  t = t * scale.asDiagonal();
  Matrix phi = scale.cwiseInverse().asDiagonal() * inverse * scale.cwiseInverse().asDiagonal();
  phi = (0.5 * (phi + phi.transpose())).eval();
  phi.diagonal().setOnes();
  return {l * t, phi};
}

Rotated in_order(Rotated from) {
  const Index q = from.loadings.cols();
  std::vector<Index> order(at(q));
  std::iota(order.begin(), order.end(), Index{0});
  const Vector size = from.loadings.colwise().squaredNorm().transpose();
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return size(a) > size(b); });
  Rotated out{from.loadings(Eigen::all, order), from.correlations(order, order)};
  const Matrix before = out.loadings;
  turn_columns(out.loadings);
  for (Index k = 0; k < q; ++k)
    if (before.col(k).dot(out.loadings.col(k)) < 0) {
      out.correlations.row(k) *= -1;
      out.correlations.col(k) *= -1;
    }
  out.correlations.diagonal().setOnes();
  return out;
}

}  // namespace

Rotated rotated(const Matrix& loadings, Rotation how) {
  const Matrix identity = Matrix::Identity(loadings.cols(), loadings.cols());
  if (how == Rotation::none || loadings.cols() == 1) return in_order({loadings, identity});
  const Matrix turned = loadings * varimax(loadings);
  return in_order(how == Rotation::varimax ? Rotated{turned, identity} : promax(turned));
}

double varimax_residue(const Matrix& loadings) {
  if (loadings.cols() < 2) return 0;
  Vector length;
  const Matrix l = normalised(loadings, length), m = l.transpose() * slopes(l);
  return (m - m.transpose()).cwiseAbs().maxCoeff() / static_cast<double>(l.rows());
}

Matrix canonical(const Matrix& common, const Vector& uniquenesses, Index factors) {
  const Vector root = uniquenesses.cwiseSqrt();
  const Eigenpairs pairs =
      symmetric_eigen(root.cwiseInverse().asDiagonal() * common * root.cwiseInverse().asDiagonal());
  Matrix out(common.rows(), factors);
  for (Index k = 0; k < factors; ++k)
    out.col(k) = std::sqrt(std::max(0.0, pairs.values(k))) * root.cwiseProduct(pairs.vectors.col(k));
  return out;
}

}  // namespace lemma::rotation
