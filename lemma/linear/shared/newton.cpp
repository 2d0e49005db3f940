// lemma/linear/shared/newton.cpp
#include <algorithm>
#include <cmath>
#include <lemma/linear/shared/newton.hpp>
#include <limits>

namespace lemma::logit {
namespace {

constexpr double kBelowRounding = 1e-13;  // changes of the objective that cannot be seen in it
constexpr double kNearlyThere = 1e-5;     // predicted decrease from which on the last Hessian is good enough
// A gap certifies the objective, and coefficients only to its root: steps go on to where they come for a pass each.
constexpr double kFurther = 1e-4;
constexpr int kMostHalvings = 40, kMostStalls = 4;

}  // namespace

Solution newton(const NewtonProblem& problem, const PenaltyTerm& penalty, const Vector& factor, Vector start,
                const SolveOptions& options, bool always_coordinates) {
  const bool certified_by_gap = penalty.lambda() > 0;
  Solution out;
  out.beta = std::move(start);
  out.stopped = Stop::iteration_limit;
  Vector gradient, step = Vector::Zero(out.beta.size()), from = out.beta;
  double before = std::numeric_limits<double>::infinity(), predicted = 0, last_ratio = 1;
  bool hessian_wanted = true;
  int halvings = 0, stalls = 0;
  double best_gap = std::numeric_limits<double>::infinity();
  while (true) {
    bool done = false;
    double objective;
    if (hessian_wanted) {
      objective = problem.look(out.beta, gradient, out.hessian);
    } else {
      out.gap = problem.look_at_gap(out.beta, gradient);
      objective = out.gap.objective;
      done = out.gap.relative() <= kFurther * options.tolerance;
      if (out.gap.absolute > 0.5 * best_gap) ++stalls;
      best_gap = std::min(best_gap, out.gap.absolute);
    }
    if (!std::isfinite(objective) && out.iterations == 0) {
      out.stopped = Stop::not_a_number;
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
      out.stopped = Stop::converged;
      break;
    }
    if (!certified_by_gap && problem.is_nothing(objective)) {
      out.stopped = Stop::separated;
      break;
    }
    if (out.iterations >= options.max_iterations) break;
    options.execution.report(0.5, "Newton's method");
    if (options.execution.cancelled()) {
      out.stopped = Stop::cancelled;
      break;
    }

    const QuadraticModel model{penalty, factor, out.beta, gradient, out.hessian};
    const Vector to = penalty.smooth() && !always_coordinates ? minimum_by_cholesky(model, out.dependent)
                                                              : minimum_by_coordinates(model);
    const double ratio = model.decrease(to) / std::max(objective, 1e-300);
    out.decrement = ratio;
    from = out.beta;
    step = to - from;
    before = objective;
    predicted = std::max(0.0, model.decrease(to));
    halvings = 0;
    if (!certified_by_gap && hessian_wanted &&
        (ratio <= kFurther * options.tolerance || (ratio <= options.tolerance && ratio > 0.5 * last_ratio))) {
      out.stopped = Stop::converged;
      break;
    }
    if (!hessian_wanted && (step.cwiseAbs().maxCoeff() == 0 || stalls > kMostStalls ||
                            (stalls > 0 && out.gap.relative() <= options.tolerance))) {
      out.stopped = out.gap.relative() <= options.tolerance ? Stop::converged : Stop::no_descent;
      break;
    }
    out.beta = to;
    ++out.iterations;
    // Without a fresh Hessian the steps must still shrink fast; else the next look takes one.
    hessian_wanted = !certified_by_gap || ratio > kNearlyThere || stalls == kMostStalls - 1 ||
                     (!hessian_wanted && ratio > 0.01 * last_ratio && ratio > 1e-14);
    last_ratio = ratio;
  }
  return out;
}

}  // namespace lemma::logit
