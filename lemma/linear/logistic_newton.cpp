// lemma/linear/logistic_newton.cpp: Newton's method where the Hessian fits in memory.
#include <algorithm>
#include <cmath>
#include <lemma/linear/logistic_parts.hpp>
#include <lemma/math/blas.hpp>

namespace lemma::logit {
namespace {

constexpr double kBelowRounding = 1e-13;  // changes of the objective that cannot be seen in it
constexpr double kNearlyThere = 1e-5;     // predicted decrease from which on the last Hessian is good enough
// A gap certifies the objective, and coefficients only to its root: steps go on to where they come for a pass each.
constexpr double kFurther = 1e-4;
constexpr double kNoLoss = 1e-9;  // share of the null model's loss: what is left is separated
constexpr double kDependent = 1e-13, kDamping = 1e-10;
constexpr int kMostHalvings = 40, kMostSweeps = 2000, kMostStalls = 4;

/// The minimum of the quadratic model: J(x) ≈ loss + g·(x − β) + ½ (x − β)ᵀH(x − β) + pen(x).
struct Model {
  const Frame& frame;
  const PenaltyTerm& penalty;
  const Vector& beta;
  const Vector& gradient;
  const Matrix& hessian;

  double decrease(const Vector& x) const {
    const Vector d = x - beta;
    return -(gradient.dot(d) + 0.5 * d.dot(hessian * d) + penalty.value(frame, x) - penalty.value(frame, beta));
  }
};

/// (H + diag(l2 factor²)) d = −∇J by Cholesky, in units in which the diagonal is 1; where columns depend on each other,
/// the diagonal is raised a little, and of all minima the step goes to one nearby.
Vector by_cholesky(const Model& model, bool& dependent) {
  const Frame& frame = model.frame;
  const Index n = model.beta.size();
  Matrix a = model.hessian;
  Vector g = model.gradient;
  for (Index j = 0; j < frame.width(); ++j) {
    const double k = frame.inverse_scale(j) > 0 ? model.penalty.quadratic(frame.factor(j)) : 1.0;
    a(j + 1, j + 1) += k;
    g(j + 1) += k * model.beta(j + 1);
  }
  Vector unit(n);
  for (Index j = 0; j < n; ++j) unit(j) = a(j, j) > 0 ? 1 / std::sqrt(a(j, j)) : 1.0;
  a = unit.asDiagonal() * a * unit.asDiagonal();
  const Matrix scaled = a;
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

/// Coordinate descent on the model. Sweeps over the coefficients that are not 0 until they rest, then one over all.
Vector by_coordinates(const Model& model) {
  const Frame& frame = model.frame;
  const Index n = model.beta.size();
  Vector x = model.beta, slope = model.gradient;  // slope = g + H (x − β)
  const auto move = [&](Index j) {
    const double h = model.hessian(j, j);
    if (!(h > 0) || (j == 0 ? !frame.intercept : frame.inverse_scale(j - 1) == 0)) return 0.0;
    const double a = x(j) - slope(j) / h;
    const double to = j == 0 ? a : model.penalty.shrink(a, h, frame.factor(j - 1)), step = to - x(j);
    if (step == 0) return 0.0;
    x(j) = to;
    slope += step * model.hessian.row(j).transpose();
    return h * step * step;
  };
  double first = 0;
  for (int sweep = 0; sweep < kMostSweeps;) {
    double largest = 0;
    for (Index j = 0; j < n; ++j) largest = std::max(largest, move(j));
    first = std::max(first, largest);
    if (largest <= 1e-12 * first) break;
    for (++sweep; sweep < kMostSweeps; ++sweep) {
      double inner = 0;
      for (Index j = 0; j < n; ++j)
        if (j == 0 || x(j) != 0) inner = std::max(inner, move(j));
      if (inner <= 1e-12 * first) break;
    }
  }
  return x;
}

}  // namespace

Solution newton(const Loss& loss, const PenaltyTerm& penalty, Vector start, const SolveOptions& options,
                bool always_coordinates) {
  const Frame& frame = loss.frame();
  const bool certified_by_gap = penalty.lambda() > 0;
  Solution out;
  out.beta = std::move(start);
  out.stopped = "iteration limit";
  Vector gradient, step = Vector::Zero(out.beta.size()), from = out.beta;
  double before = std::numeric_limits<double>::infinity(), predicted = 0, last_ratio = 1;
  bool hessian_wanted = true;
  int halvings = 0, stalls = 0;
  double best_gap = std::numeric_limits<double>::infinity();
  const double nothing = kNoLoss * frame.mass;
  while (true) {
    bool done = false;
    double objective;
    if (hessian_wanted) {
      objective = loss.value(out.beta, gradient, out.hessian) + penalty.value(frame, out.beta);
    } else {
      const DualParts parts = loss.split(out.beta);
      gradient = parts.gradient();
      out.gap = duality_gap(loss, penalty, out.beta, parts);
      objective = out.gap.objective;
      done = out.gap.relative() <= kFurther * options.tolerance;
      if (out.gap.absolute > 0.5 * best_gap) ++stalls;
      best_gap = std::min(best_gap, out.gap.absolute);
    }
    if (!std::isfinite(objective) && out.iterations == 0) {
      out.stopped = "not a number";
      break;
    }
    const double enough = before - 1e-4 * std::ldexp(predicted, -halvings) + kBelowRounding * std::abs(before);
    if (!(objective <= enough) && halvings < kMostHalvings) {
      ++halvings;
      out.beta = from + std::ldexp(1.0, -halvings) * step;
      continue;
    }
    out.objective = objective;
    out.trace.push_back(objective);
    if (done) {
      out.stopped = "converged";
      break;
    }
    if (!certified_by_gap && objective - frame.saturated <= nothing) {
      out.stopped = "separated";
      break;
    }
    if (out.iterations >= options.max_iterations) break;
    options.execution.report(0.5, "Newton's method");
    if (options.execution.cancelled()) {
      out.stopped = "cancelled";
      break;
    }

    const Model model{frame, penalty, out.beta, gradient, out.hessian};
    const Vector to =
        penalty.smooth() && !always_coordinates ? by_cholesky(model, out.dependent) : by_coordinates(model);
    const double ratio = model.decrease(to) / std::max(objective, 1e-300);
    out.decrement = ratio;
    from = out.beta;
    step = to - from;
    before = objective;
    predicted = std::max(0.0, model.decrease(to));
    halvings = 0;
    if (!certified_by_gap && hessian_wanted && ratio <= options.tolerance) {
      out.last_step = step;
      out.stopped = "converged";
      break;
    }
    if (!hessian_wanted && (step.cwiseAbs().maxCoeff() == 0 || stalls > kMostStalls ||
                            (stalls > 0 && out.gap.relative() <= options.tolerance))) {
      out.stopped = out.gap.relative() <= options.tolerance ? "converged" : "no further descent";
      break;
    }
    out.beta = to;
    ++out.iterations;
    // Without a fresh Hessian the steps must still shrink fast; else the next look takes one.
    hessian_wanted = !certified_by_gap || ratio > kNearlyThere || stalls == kMostStalls - 1 ||
                     (!hessian_wanted && ratio > 0.01 * last_ratio && ratio > 1e-14);
    last_ratio = ratio;
  }
  out.last_step = step;
  return out;
}

Decrement newton_decrement(const Loss& loss, const PenaltyTerm& penalty, const Vector& beta) {
  Decrement out;
  Vector gradient;
  out.objective = loss.value(beta, gradient, out.hessian) + penalty.value(loss.frame(), beta);
  const Model model{loss.frame(), penalty, beta, gradient, out.hessian};
  bool dependent = false;
  const Vector to = penalty.smooth() ? by_cholesky(model, dependent) : by_coordinates(model);
  out.step = to - beta;
  out.relative = std::max(0.0, model.decrease(to)) / std::max(out.objective, 1e-300);
  return out;
}

}  // namespace lemma::logit
