// lemma/kernel/svm/smo.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/kernel/svm/cache.hpp>
#include <lemma/kernel/svm/smo_parts.hpp>

namespace lemma {
namespace smo {
namespace {

void check(const DualProblem& problem) {
  const Index n = problem.size();
  require(problem.kernel != nullptr, "the dual problem has no kernel");
  require(n > 0, "the dual problem has no variables");
  require(static_cast<Index>(problem.sign.size()) == n && problem.linear.size() == n && problem.bound.size() == n &&
              (problem.start.size() == 0 || problem.start.size() == n),
          fmt::format("the dual problem's lists differ in length: {} rows, {} signs, {} linear terms, {} bounds, {} "
                      "starting values",
                      n, problem.sign.size(), problem.linear.size(), problem.bound.size(), problem.start.size()));
  for (Index i = 0; i < n; ++i) {
    const Index row = problem.row[at(i)];
    if (row < 0 || row >= problem.kernel->count())
      throw Error(fmt::format("variable {} of the dual problem is of row {}, but there are {}", i + 1, row,
                              problem.kernel->count()));
    if (problem.sign[at(i)] != 1 && problem.sign[at(i)] != -1)
      throw Error(fmt::format("sign {} of the dual problem is {}, not 1 or -1", i + 1, int{problem.sign[at(i)]}));
    if (!(problem.bound(i) >= 0) || !std::isfinite(problem.linear(i)))
      throw Error(
          fmt::format("variable {} of the dual problem has the bound {} and the linear term {}: bounds are at "
                      "least 0, and linear terms finite",
                      i + 1, problem.bound(i), problem.linear(i)));
    if (problem.start.size() > 0 && !(problem.start(i) >= 0 && problem.start(i) <= problem.bound(i)))
      throw Error(fmt::format("starting value {} of the dual problem is {}, outside [0, {}]", i + 1, problem.start(i),
                              problem.bound(i)));
  }
}

/// The kernel at the points that some variable has, and where each of them stands there.
struct Compact {
  std::optional<BoundKernel> some;
  std::vector<Index> point;
  const BoundKernel* kernel = nullptr;

  explicit Compact(const DualProblem& problem) : point(problem.row), kernel(problem.kernel) {
    std::vector<Index> place(at(kernel->count()), -1), used;
    for (const Index row : problem.row) place[at(row)] = 0;
    for (Index row = 0; row < kernel->count(); ++row)
      if (place[at(row)] == 0) {
        place[at(row)] = std::ssize(used);
        used.push_back(row);
      }
    if (std::ssize(used) == kernel->count()) return;
    some.emplace(kernel->kernel(), kernel->points().select(used));
    kernel = &*some;
    for (Index& row : point) row = place[at(row)];
  }
};

SignedDual signed_dual(const DualProblem& problem, const Compact& compact) {
  SignedDual dual{.kernel = compact.kernel, .kept = {}, .point = compact.point, .c = {}, .low = {}, .high = {}};
  if (!compact.some) dual.kept = problem.kept;  // else they are of other points
  const Index n = problem.size();
  dual.c.resize(n);
  dual.low = dual.high = Vector::Zero(n);
  for (Index i = 0; i < n; ++i) {
    const double t = problem.sign[at(i)];
    dual.c(i) = -t * problem.linear(i);
    (t > 0 ? dual.high : dual.low)(i) = t * problem.bound(i);
  }
  return dual;
}

void refresh(const SignedDual& dual, Descent& descent, const Execution& execution) {
  const Vector f = exact_expansion(dual, descent.beta, execution);
  for (Index i = 0; i < dual.size(); ++i) descent.v(i) = dual.c(i) - f(dual.point[at(i)]);
  descent.violation = extremes(dual, descent).violation();
}

Descent begin(const DualProblem& problem, const SignedDual& dual, const Execution& execution) {
  Descent descent;
  descent.beta = Vector::Zero(dual.size());
  descent.v = dual.c;
  if (problem.start.size() == 0) return descent;
  for (Index i = 0; i < dual.size(); ++i) descent.beta(i) = problem.sign[at(i)] * problem.start(i);
  if (problem.start_gradient.size() == 0) {
    refresh(dual, descent, execution);
  } else {
    for (Index i = 0; i < dual.size(); ++i) descent.v(i) = -problem.sign[at(i)] * problem.start_gradient(i);
    descent.violation = extremes(dual, descent).violation();
  }
  return descent;
}

std::string in_words(const Descent& descent, const SmoOptions& options) {
  const std::string violation = format_significant(descent.violation, 3);
  switch (descent.end) {
    case Descent::End::optimal: return "the KKT conditions hold to the tolerance";
    case Descent::End::steps:
      return fmt::format("the limit of {} steps was reached with a KKT violation of {}", options.most_steps, violation);
    case Descent::End::unbounded: return "the objective falls without end: no machine meets all conditions";
    case Descent::End::rounding:
      return fmt::format("rounding allows no further progress: the KKT violation stays at {}", violation);
    case Descent::End::cancelled: return fmt::format("cancelled with a KKT violation of {}", violation);
  }
  return {};
}

/// Between free variables −t∇ is the bias; the others say which side of theirs it lies on.
void set_bias(const SignedDual& dual, const Descent& descent, DualSolution& solution) {
  double sum = 0, low = -kInfinity, high = kInfinity;
  Index free = 0;
  for (Index i = 0; i < dual.size(); ++i) {
    const bool grows = descent.beta(i)<dual.high(i), falls = descent.beta(i)> dual.low(i);
    if (grows && falls) {
      sum += descent.v(i);
      ++free;
    } else if (grows) {
      low = std::max(low, descent.v(i));
    } else if (falls) {
      high = std::min(high, descent.v(i));
    }
  }
  solution.bias_low = low;
  solution.bias_high = high;
  if (free > 0) solution.bias = sum / static_cast<double>(free);
  else if (low > -kInfinity && high < kInfinity) solution.bias = (low + high) / 2;
  else solution.bias = low > -kInfinity ? low : high < kInfinity ? high : 0;
}

DualSolution solution_of(const DualProblem& problem, const SignedDual& dual, const Descent& descent,
                         const SmoOptions& options) {
  DualSolution solution;
  solution.alpha.resize(dual.size());
  solution.gradient.resize(dual.size());
  for (Index i = 0; i < dual.size(); ++i) {
    const double t = problem.sign[at(i)];
    solution.alpha(i) = std::abs(descent.beta(i));
    solution.gradient(i) = -t * descent.v(i);
  }
  set_bias(dual, descent, solution);
  solution.objective = -0.5 * (descent.beta.dot(dual.c) + descent.beta.dot(descent.v));
  solution.violation = descent.violation;
  solution.steps = descent.steps;
  solution.converged = descent.violation <= options.tolerance && descent.end != Descent::End::unbounded;
  solution.unbounded = descent.end == Descent::End::unbounded;
  solution.stopped = in_words(descent, options);
  if (dual.kernel == problem.kernel) solution.kept = dual.kept;
  return solution;
}

}  // namespace

Vector SignedDual::diagonal() const {
  const Vector at_points = kernel->diagonal();
  Vector out(size());
  for (Index i = 0; i < size(); ++i) out(i) = at_points(point[at(i)]);
  return out;
}

bool SignedDual::is_without_bounds() const {
  for (Index i = 0; i < size(); ++i)
    if (low(i) > -kInfinity && high(i) < kInfinity) return false;
  return true;
}

Extremes extremes(const SignedDual& dual, const Descent& descent) {
  Extremes ends;
  for (Index i = 0; i < dual.size(); ++i) {
    if (descent.beta(i) < dual.high(i)) ends.up = std::max(ends.up, descent.v(i));
    if (descent.beta(i) > dual.low(i)) ends.low = std::min(ends.low, descent.v(i));
  }
  return ends;
}

Vector exact_expansion(const SignedDual& dual, const Vector& beta, const Execution& execution) {
  Matrix weight = Matrix::Zero(dual.points(), 1);
  for (Index i = 0; i < dual.size(); ++i) weight(dual.point[at(i)], 0) += beta(i);
  return dual.kernel->expand_own(weight, Execution{.threads = execution.threads});
}

double best_stretch(const SignedDual& dual, const Descent& descent, double greatest_diagonal) {
  const double slope = dual.c.dot(descent.beta), bend = slope - descent.v.dot(descent.beta);
  const double size = dual.c.cwiseAbs().maxCoeff();
  if (!(slope > 0) || !(size > 0) || std::abs(descent.beta.sum()) > 1e-9 * descent.beta.lpNorm<1>()) return 1;
  constexpr double kLeastMargin = 1e-6;  // beside the size of the features
  if (std::sqrt(std::max(bend, 0.0) / greatest_diagonal) <= kLeastMargin * slope / size) return kInfinity;
  return bend > 0 ? slope / bend : 1;
}

void tell(double violation, double first_violation, const SmoOptions& options, const Execution& execution) {
  if (!(violation > 0) || !(first_violation > options.tolerance)) return;
  const double way = std::log(first_violation / options.tolerance);
  execution.report(std::clamp(1 - std::log(violation / options.tolerance) / way, 0.0, 1.0),
                   fmt::format("KKT violation {}", format_significant(violation, 2)));
}

}  // namespace smo

DualSolution solve_dual(const DualProblem& problem, const SmoOptions& given, const Execution& execution) {
  smo::check(problem);
  SmoOptions options = given;
  if (options.most_steps <= 0) options.most_steps = std::max<Index>(10'000'000, 100 * problem.size());
  const smo::Compact compact(problem);
  const smo::SignedDual dual = smo::signed_dual(problem, compact);
  require_two_rows(dual.points(), options.cache_megabytes);
  smo::Descent descent = smo::begin(problem, dual, execution);
  constexpr Index kFewVariables = 1000;
  const bool by_blocks = options.working_set == WorkingSet::block ||
                         (options.working_set == WorkingSet::automatic && dual.size() > kFewVariables);
  constexpr int kMostRounds = 30;
  for (int round = 0; round < kMostRounds; ++round) {
    if (by_blocks) smo::descend_by_blocks(dual, options, execution, descent);
    else smo::descend_by_pairs(dual, options, execution, descent);
    if (descent.end == smo::Descent::End::cancelled || (descent.v_is_exact && options.tolerance >= 1e-6)) break;
    smo::refresh(dual, descent, execution);  // what rounding has added up in v is gone
    if (descent.end != smo::Descent::End::optimal || descent.violation <= options.tolerance) break;
    if (round + 1 == kMostRounds) descent.end = smo::Descent::End::rounding;
  }
  return smo::solution_of(problem, dual, descent, options);
}

}  // namespace lemma
