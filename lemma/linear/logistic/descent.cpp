// lemma/linear/logistic/descent.cpp: the solvers that need slopes alone.
#include <algorithm>
#include <cmath>
#include <lemma/linear/logistic/parts.hpp>
#include <lemma/linear/logistic/sparse.hpp>
#include <lemma/math/special.hpp>
#include <lemma/optimize/minimise.hpp>
#include <lemma/optimize/stochastic.hpp>

namespace lemma::logit {
namespace {

/// J = loss + ½ Σ k β², as the optimisers see it.
struct Smooth {
  Smooth(const Loss& of, const PenaltyTerm& with) : loss(of), penalty(with), ridge(Vector::Zero(of.size())) {
    for (Index j = 0; j < loss.frame().width(); ++j) ridge(j + 1) = penalty.quadratic(loss.frame().factor(j));
  }
  double value(const Vector& beta) const { return loss.value(beta) + penalty.value(loss.frame(), beta); }
  double value(const Vector& beta, Vector& gradient) const {
    const double out = loss.value(beta, gradient) + penalty.value(loss.frame(), beta);
    gradient += ridge.cwiseProduct(beta);
    return out;
  }
  const Loss& loss;
  const PenaltyTerm& penalty;
  Vector ridge;
};

/// Looks at the gap of an iterate, the cheap way first.
class GapReached {
 public:
  /// `careful`: how much smaller the cheap gap must be the next time, when the true one is not small enough.
  GapReached(const Loss& loss, const PenaltyTerm& penalty, const SolveOptions& options, double careful = 0.1)
      : loss_(loss), penalty_(penalty), options_(options), wanted_(options.tolerance), careful_(careful) {}
  bool operator()(const Iterate& at) {
    options_.execution.report(0.5, "descending");
    if (penalty_.lambda() == 0 || slope_gap(loss_.frame(), penalty_, at.gradient) > wanted_ * at.value) return false;
    gap = duality_gap(loss_, penalty_, at.x, loss_.split(at.x));
    if (gap.relative() <= options_.tolerance) return true;
    wanted_ *= careful_;
    return false;
  }
  Gap gap;

 private:
  const Loss& loss_;
  const PenaltyTerm& penalty_;
  const SolveOptions& options_;
  double wanted_, careful_;
};

/// One term for each row, with a share of the penalty by its weight.
struct Terms {
  Terms(const SparseLoss& of, const Smooth& all) : loss(of), smooth(all) {}
  const SparseLoss& loss;
  const Smooth& smooth;

  Index terms() const { return loss.rows(); }
  double batch(const Vector& beta, std::span<const Index> which, Vector& gradient) const {
    double value = 0;
    for (const Index i : which) value += loss.add_term(i, beta, gradient);
    const double share = static_cast<double>(which.size()) / static_cast<double>(terms());
    gradient += share * smooth.ridge.cwiseProduct(beta);
    return value + share * smooth.penalty.value(loss.frame(), beta);
  }
};

Solution solution_of(Minimum&& found, const Gap& gap, const SolveOptions& options) {
  Solution out;
  out.beta = std::move(found.x);
  out.objective = found.value;
  out.iterations = found.iterations;
  out.trace = std::move(found.trace);
  out.gap = gap;
  const bool reached = found.stopped == Stop::by_caller && gap.objective > 0;
  out.stopped = reached && gap.relative() <= options.tolerance ? Stop::converged : found.stopped;
  return out;
}

}  // namespace

double slope_gap(const Frame& frame, const PenaltyTerm& penalty, const Vector& gradient) {
  double sum = 0;
  for (Index j = 0; j < frame.width(); ++j)
    if (frame.inverse_scale(j) > 0 && penalty.l2() > 0)
      sum += gradient(j + 1) * gradient(j + 1) / (2 * penalty.quadratic(frame.factor(j)));
  return sum;
}

Solution descend(LogisticSolver solver, const Loss& loss, const PenaltyTerm& penalty, Vector start,
                 const SolveOptions& options) {
  const Smooth smooth(loss, penalty);
  GapReached reached(loss, penalty, options);
  MinimiseOptions how;
  how.most_iterations = options.max_iterations;
  how.tolerance = penalty.lambda() > 0 ? 1e-15 : 1e-12;  // the gap ends the work
  how.keep_trace = true;
  how.stop = std::ref(reached);
  Minimum found = solver == LogisticSolver::lbfgs ? lbfgs(smooth, std::move(start), how)
                  : solver == LogisticSolver::cg  ? conjugate_gradient(smooth, std::move(start), how)
                                                  : gradient_descent(smooth, std::move(start), how);
  return solution_of(std::move(found), reached.gap, options);
}

Solution stochastic(const SparseLoss& loss, const PenaltyTerm& penalty, Vector start, const SolveOptions& options) {
  const Smooth smooth(loss, penalty);
  const Terms terms(loss, smooth);
  GapReached reached(loss, penalty, options, 1);  // its points come near and go away again
  SgdOptions how;
  how.passes = options.max_iterations;
  how.tolerance = 1e-15;
  how.keep_trace = true;
  how.seed = options.seed;
  how.execution = options.execution;
  how.stop = std::ref(reached);
  return solution_of(stochastic_gradient(terms, std::move(start), how), reached.gap, options);
}

}  // namespace lemma::logit
