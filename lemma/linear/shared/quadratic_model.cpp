// lemma/linear/shared/quadratic_model.cpp
#include <algorithm>
#include <cmath>
#include <lemma/linear/shared/quadratic_model.hpp>
#include <lemma/math/blas.hpp>

namespace lemma::logit {
namespace {

constexpr double kDamping = 1e-10;
constexpr double kAtRest = 1e-12;  // of the largest step's square
constexpr int kMostSweeps = 2000;

}  // namespace

double QuadraticModel::penalty_of(const Vector& x) const {
  double sum = 0;
  for (Index i = 0; i < x.size(); ++i)
    if (factor(i) >= 0 && x(i) != 0) sum += penalty.value(x(i), factor(i));
  return sum;
}

double QuadraticModel::decrease(const Vector& x) const {
  const Vector d = x - beta;
  return -(gradient.dot(d) + 0.5 * d.dot(hessian * d) + penalty_of(x) - penalty_of(beta));
}

Vector minimum_by_cholesky(const QuadraticModel& model, bool& dependent) {
  const Index n = model.beta.size();
  Matrix a = model.hessian;
  Vector g = model.gradient;
  for (Index i = 0; i < n; ++i) {
    if (model.factor(i) == QuadraticModel::kFixed) {
      a.row(i).setZero();
      a.col(i).setZero();
      a(i, i) = 1;
      g(i) = 0;
    } else if (model.factor(i) >= 0) {
      const double k = model.penalty.quadratic(model.factor(i));
      a(i, i) += k;
      g(i) += k * model.beta(i);
    }
  }
  Vector unit(n);
  for (Index i = 0; i < n; ++i) unit(i) = a(i, i) > 0 ? 1 / std::sqrt(a(i, i)) : 1.0;
  const Matrix scaled = unit.asDiagonal() * a * unit.asDiagonal();
  for (double raised = 0;; raised = raised == 0 ? kDamping : 10 * raised) {
    a = scaled;
    a.diagonal() = a.diagonal().array().max(kDamping) + raised;
    if (blas::cholesky(a) && (raised > 0 || blas::reciprocal_condition(a) > kDependent)) {
      dependent = raised > 0;
      break;
    }
    if (raised > 1) return model.beta;  // not a number somewhere
  }
  Vector d = -unit.cwiseProduct(g);
  blas::solve_upper(blas::Op::transposed, a, d);
  blas::solve_upper(blas::Op::plain, a, d);
  return model.beta + unit.cwiseProduct(d);
}

Vector minimum_by_coordinates(const QuadraticModel& model) {
  const Index n = model.beta.size();
  Vector x = model.beta, slope = model.gradient;  // slope = g + H (x − β)
  const auto move = [&](Index i) {
    const double h = model.hessian(i, i), factor = model.factor(i);
    if (!(h > 0) || factor == QuadraticModel::kFixed) return 0.0;
    const double a = x(i) - slope(i) / h, to = factor >= 0 ? model.penalty.shrink(a, h, factor) : a, step = to - x(i);
    if (step == 0) return 0.0;
    x(i) = to;
    slope += step * model.hessian.row(i).transpose();
    return h * step * step;
  };
  double first = 0;
  for (int sweep = 0; sweep < kMostSweeps;) {
    double largest = 0;
    for (Index i = 0; i < n; ++i) largest = std::max(largest, move(i));
    first = std::max(first, largest);
    if (largest <= kAtRest * first) break;
    for (++sweep; sweep < kMostSweeps; ++sweep) {
      double inner = 0;
      for (Index i = 0; i < n; ++i)
        if (x(i) != 0 || model.factor(i) < 0) inner = std::max(inner, move(i));
      if (inner <= kAtRest * first) break;
    }
  }
  return x;
}

Vector factors_of(const Frame& frame) {
  Vector out(frame.width() + 1);
  out(0) = frame.intercept ? QuadraticModel::kFree : QuadraticModel::kFixed;
  for (Index j = 0; j < frame.width(); ++j)
    out(j + 1) = frame.inverse_scale(j) > 0 ? frame.factor(j) : QuadraticModel::kFixed;
  return out;
}

}  // namespace lemma::logit
