// lemma/linear/bayes_logistic/variational.cpp: Jaakkola and Jordan's Gaussian, and what it must be at its fixed point.
#include <algorithm>
#include <cmath>
#include <lemma/linear/bayes_logistic/parts.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/special.hpp>
#include <numbers>

namespace lemma::bayes_logistic {
namespace {

constexpr double kEnough = 1e-9;  // of a turn, in posterior standard deviations

/// λ(ξ) = tanh(ξ/2) / 4ξ.
double lambda_of(double xi) { return xi < 1e-4 ? 0.125 - xi * xi / 96 : std::tanh(0.5 * xi) / (4 * xi); }

/// What a row adds to the bound: log σ(ξ) − ξ/2 + λ(ξ) ξ².
double bound_of(double xi) { return -log1p_exp(-xi) - 0.5 * xi + lambda_of(xi) * xi * xi; }

/// One turn's sums at the ξ of a mean and the root of a covariance, S = root rootᵀ.
struct Turn {
  const Columns* columns;
  const Vector* mean;
  const Matrix* root;
  bool intercept;
  Index plane, planes;
  double value = 0;
  Vector pull;
  Matrix precision;  // upper triangle

  Turn(const Likelihood& like, const Vector& at, const Matrix& covariance_root)
      : columns(like.columns),
        mean(&at),
        root(&covariance_root),
        intercept(like.intercept),
        plane(like.plane),
        planes(like.planes),
        pull(Vector::Zero(at.size())),
        precision(Matrix::Zero(at.size(), at.size())) {}
  void accumulate(const Block& block) {
    Matrix z = terms_of(*columns, intercept, block.x);
    const Vector eta = z * *mean, spread = (z * *root).rowwise().squaredNorm();
    Vector toward(block.rows()), root_weight(block.rows());
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = block.weight_of(i), xi = std::sqrt(spread(i) + eta(i) * eta(i));
      toward(i) = is_positive(block.label[static_cast<std::size_t>(i)], plane, planes) ? 0.5 * w : -0.5 * w;
      value += w * bound_of(xi);
      root_weight(i) = std::sqrt(2 * w * lambda_of(xi));
    }
    pull.noalias() += z.transpose() * toward;
    z = root_weight.asDiagonal() * z;
    blas::gram(z, precision, 1);
  }
  void merge(const Turn& other) {
    value += other.value;
    pull += other.pull;
    precision += other.precision;
  }
};

double log_prior_constant(const BayesLogistic& spec, Index terms) {
  const Index p = terms - (spec.intercept ? 1 : 0);
  return 0.5 * static_cast<double>(p) * std::log(spec.alpha) +
         0.5 * static_cast<double>(terms - p) * std::log(2 * std::numbers::pi);
}

}  // namespace

Bounded bounded_from(const BayesLogistic& spec, const Likelihood& mode, const Posterior& laplace, const Rows& rows,
                     const Execution& execution) {
  const Index terms = mode.w.size(), p = terms - (spec.intercept ? 1 : 0);
  Bounded out{mode.w, laplace};
  const auto start = cholesky(laplace.covariance);
  Matrix root = start ? Matrix(start->transpose()) : Matrix::Zero(terms, terms);
  for (; out.iterations < spec.max_iterations && !out.done; ++out.iterations) {
    if (execution.cancelled()) break;
    Turn turn = scan(rows, Turn(mode, out.mean, root), execution);
    turn.precision.diagonal().tail(p).array() += spec.alpha;
    const auto r = cholesky(turn.precision);
    if (!r) break;
    const Vector half = solve_upper_transposed(*r, Matrix(turn.pull)), mean = solve_upper(*r, Matrix(half));
    const double moved = (*r * (mean - out.mean)).norm();
    const Matrix ratio = *r * root;  // S'⁻¹ S = I at a fixed point
    const double changed = (ratio * ratio.transpose() - Matrix::Identity(terms, terms)).cwiseAbs().maxCoeff();
    out.mean = mean;
    root = solve_upper(*r, Matrix::Identity(terms, terms));
    out.posterior.covariance = root * root.transpose();
    out.posterior.log_evidence =
        turn.value + 0.5 * half.squaredNorm() - 0.5 * log_determinant(*r) + log_prior_constant(spec, terms);
    out.done = std::max(moved, changed) <= kEnough;
  }
  return out;
}

namespace {

/// The sums of a turn, one row after the other.
struct PlainTurn {
  const Columns* columns;
  const BayesLogistic* spec;
  const Vector* mean;
  const Matrix* covariance;
  Index plane, planes;
  double value = 0;
  Vector pull;
  Matrix precision;

  void accumulate(const Block& block) {
    const Matrix z = terms_of(*columns, spec->intercept, block.x);
    for (Index i = 0; i < z.rows(); ++i) {
      const Vector row = z.row(i);
      const double w = block.weight_of(i), eta = row.dot(*mean);
      const double xi = std::sqrt(std::max(0.0, row.dot(*covariance * row) + eta * eta));
      value += w * bound_of(xi);
      pull += w * (is_positive(block.label[static_cast<std::size_t>(i)], plane, planes) ? 0.5 : -0.5) * row;
      precision += 2 * w * lambda_of(xi) * row * row.transpose();
    }
  }
  void merge(const PlainTurn& other) {
    value += other.value;
    pull += other.pull;
    precision += other.precision;
  }
};

}  // namespace

BoundCheck bound_check(const BayesLogistic& spec, const Columns& columns, const Vector& mean, const Matrix& covariance,
                       Index plane, Index planes, const Rows& rows, const Execution& execution) {
  const Index terms = mean.size(), p = terms - (spec.intercept ? 1 : 0);
  PlainTurn turn = scan(
      rows,
      PlainTurn{&columns, &spec, &mean, &covariance, plane, planes, 0, Vector::Zero(terms), Matrix::Zero(terms, terms)},
      execution);
  turn.precision.diagonal().tail(p).array() += spec.alpha;
  const auto root = cholesky(covariance);
  if (!root) return {NAN, NAN};
  const Matrix off = *root * turn.precision * root->transpose() - Matrix::Identity(terms, terms);
  const double residual = (*root * (turn.precision * mean - turn.pull)).norm();
  return {std::max(residual, off.cwiseAbs().maxCoeff()),
          turn.value + 0.5 * mean.dot(turn.pull) + 0.5 * log_determinant(*root) + log_prior_constant(spec, terms)};
}

}  // namespace lemma::bayes_logistic
