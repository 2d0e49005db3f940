// lemma/tree/oblique_tree/directions.cpp
#include <cmath>
#include <lemma/math/factorise.hpp>
#include <lemma/tree/oblique_tree/directions.hpp>
#include <optional>

namespace lemma::oblique {
namespace {

constexpr double kRidge = 1e-6;          // of the mean variance, added to each: a direction for any number of rows
constexpr double kLogisticRidge = 1e-3;  // for each row

/// Σ w z zᵀ, the upper triangle.
Matrix products(const Matrix& z, const Vector& w) {
  Matrix out = Matrix::Zero(z.cols(), z.cols());
  for (Index i = 0; i < z.rows(); ++i)
    for (Index j = 0; j < z.cols(); ++j)
      for (Index k = j; k < z.cols(); ++k) out(j, k) += w(i) * z(i, j) * z(i, k);
  return out;
}
/// A⁻¹ b by Cholesky; nothing where A has none.
std::optional<Vector> solved(const Matrix& a, const Vector& b) {
  const auto r = cholesky(a);
  if (!r) return {};
  const Matrix out = solve_upper(*r, solve_upper_transposed(*r, Matrix(b)));
  return Vector(out.col(0));
}

/// (S + εI)⁻¹ s of centred columns. Of an indicator it is Fisher's discriminant.
std::optional<Vector> regression_direction(const Matrix& z, const Vector& w, const Vector& t) {
  Matrix s = products(z, w);
  const double mean_variance = s.trace() / static_cast<double>(z.cols());
  if (!(mean_variance > 0)) return {};
  s.diagonal().array() += kRidge * mean_variance;
  Vector to = Vector::Zero(z.cols());
  for (Index i = 0; i < z.rows(); ++i) to += w(i) * t(i) * z.row(i).transpose();
  return solved(s, to);
}

/// The least Σ w log(1 + exp(−±(b·z + c))) + ½ λ ‖b‖², by Newton's steps, halved while they lead upwards. λ keeps it finite where
/// the sides can be told apart without a mistake.
std::optional<Vector> logistic_direction(const Matrix& columns, const Vector& w, const Vector& t) {
  const Index p = columns.cols();
  Matrix z(columns.rows(), p + 1);
  z << columns, Vector::Ones(columns.rows());
  const double lambda = kLogisticRidge * w.sum();
  const auto cost = [&](const Vector& b) {
    double sum = 0.5 * lambda * b.head(p).squaredNorm();
    for (Index i = 0; i < z.rows(); ++i) {
      const double eta = z.row(i).dot(b), signed_eta = t(i) > 0.5 ? eta : -eta;
      sum +=
          w(i) * (signed_eta > 0 ? std::log1p(std::exp(-signed_eta)) : std::log1p(std::exp(signed_eta)) - signed_eta);
    }
    return sum;
  };
  Vector b = Vector::Zero(p + 1);
  double now = cost(b);
  for (int steps = 0; steps < 20; ++steps) {
    Vector gradient = lambda * b, weight(z.rows());
    gradient(p) = 0;
    for (Index i = 0; i < z.rows(); ++i) {
      const double q = 1 / (1 + std::exp(-z.row(i).dot(b)));
      gradient += w(i) * (q - t(i)) * z.row(i).transpose();
      weight(i) = w(i) * q * (1 - q);
    }
    Matrix h = products(z, weight);
    h.diagonal().array() += lambda;
    const auto step = solved(h, gradient);
    if (!step) break;
    double length = 1, next = cost(b - *step);
    while (!(next <= now) && length > 1e-6) next = cost(b - (length *= 0.5) * *step);
    if (!(next <= now)) break;
    b -= length * *step;
    const bool done = now - next <= 1e-12 * now;
    now = next;
    if (done) break;
  }
  return Vector(b.head(p));
}

}  // namespace

Directions::Directions(const ObliqueTree& spec, const MatrixView& x, const Block& outcome, Index classes,
                       std::uint64_t seed)
    : spec_(spec), x_(x), outcome_(outcome), classes_(classes), stream_(seed) {
  const Index p = x_.cols();
  mean_ = deviation_ = Vector::Zero(p);
  Vector size = Vector::Zero(p);
  double weight = 0;
  for (Index row = 0; row < x_.rows(); ++row) {
    const double w = outcome_.weight_of(row);
    if (!(w > 0)) continue;
    weight += w;
    mean_ += w / weight * (x_.row(row).transpose() - mean_);
    size = size.cwiseMax(x_.row(row).transpose().cwiseAbs());
  }
  for (Index row = 0; row < x_.rows(); ++row)
    deviation_.array() += outcome_.weight_of(row) / weight * (x_.row(row).transpose() - mean_).array().square();
  deviation_ = deviation_.cwiseSqrt();
  for (Index j = 0; j < p; ++j)
    if (!(deviation_(j) > 1e-12 * size(j))) deviation_(j) = 0;
}

std::vector<Vector> Directions::at_node(const std::vector<Index>& rows, const Tallies& node,
                                        std::uint64_t number) const {
  std::vector<Vector> out;
  for (Index j = 0; j < x_.cols(); ++j) out.push_back(Vector::Unit(x_.cols(), j));
  if (spec_.directions == ObliqueDirections::linear) add_linear(rows, node, out);
  else add_random(number, out);
  return out;
}

/// Of columns in units of their deviation: the largest coefficient made 1, then in the user's units. Of equals it is the first, and
/// rounding does not say which are equal.
Vector Directions::in_users_units(Vector b) const {
  const double size = b.cwiseAbs().maxCoeff();
  Index largest = 0;
  while (std::abs(b(largest)) < (1 - 1e-6) * size) ++largest;
  b /= b(largest);
  for (Index j = 0; j < b.size(); ++j) b(j) = deviation_(j) > 0 ? b(j) / deviation_(j) : 0;
  return b;
}

/// Columns of a node in units of their deviation, about their means there.
Matrix Directions::standardised(const std::vector<Index>& rows, double weight) const {
  const Index p = x_.cols(), m = static_cast<Index>(rows.size());
  Matrix z(m, p);
  Vector centre = Vector::Zero(p);
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < p; ++j) z(i, j) = deviation_(j) > 0 ? (x_(rows[at(i)], j) - mean_(j)) / deviation_(j) : 0;
    centre += outcome_.weight_of(rows[at(i)]) / weight * z.row(i).transpose();
  }
  z.rowwise() -= centre.transpose();
  return z;
}

/// What is told apart at a node: each class from the rest (of two, one is enough), or the numbers above the mean from those below.
std::vector<Vector> Directions::sides_to_tell(const std::vector<Index>& rows, const Tallies& node) const {
  const Index there = classes_ > 0 ? (node.counts.row(0).array() > 0).count() : 1;
  std::vector<Vector> out;
  for (Index k = 0; k < std::max<Index>(1, classes_); ++k) {
    if (classes_ > 0 && (!(node.counts(0, k) > 0) || (there == 2 && out.size() == 1))) continue;
    Vector t(static_cast<Index>(rows.size()));
    for (Index i = 0; i < t.size(); ++i) {
      const auto row = at(rows[at(i)]);
      t(i) = classes_ > 0 ? outcome_.label[row] == k : outcome_.y[row] > node.estimates(0, 0);
    }
    out.push_back(std::move(t));
  }
  return out;
}

void Directions::add_linear(const std::vector<Index>& rows, const Tallies& node, std::vector<Vector>& out) const {
  const Matrix z = standardised(rows, node.weight(0));
  Vector w(z.rows());
  for (Index i = 0; i < w.size(); ++i) w(i) = outcome_.weight_of(rows[at(i)]);
  const auto offer = [&](const std::optional<Vector>& b) {
    if (b && b->allFinite() && b->cwiseAbs().maxCoeff() > 0) out.push_back(in_users_units(*b));
  };
  if (classes_ == 0) {
    Vector y(z.rows());
    for (Index i = 0; i < y.size(); ++i) y(i) = outcome_.y[at(rows[at(i)])] - node.estimates(0, 0);
    if (const double most = y.cwiseAbs().maxCoeff(); most > 0) offer(regression_direction(z, w, y / most));
  }
  for (const Vector& t : sides_to_tell(rows, node)) {
    if (classes_ > 0) offer(regression_direction(z, w, t));
    offer(logistic_direction(z, w, t));
  }
}

void Directions::add_random(std::uint64_t number, std::vector<Vector>& out) const {
  RandomStream own = stream_.split(number);
  for (int t = 0; t < spec_.tries; ++t) {
    Vector b(x_.cols());
    for (double& each : b) each = own.normal();
    for (Index j = 0; j < b.size(); ++j)
      if (deviation_(j) == 0) b(j) = 0;
    if (b.cwiseAbs().maxCoeff() > 0) out.push_back(in_users_units(std::move(b)));
  }
}

}  // namespace lemma::oblique
