// lemma/kernel/svm/solve.cpp: one machine, solved for a C, for a budget of slack, and for cross-validation.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/random.hpp>
#include <lemma/kernel/svm/parts.hpp>
#include <numeric>

namespace lemma::svm {
namespace {

constexpr int kMostRounds = 8;
constexpr double kNothing = 1e-12;  // a multiplier beside its bound, or the largest one, that is rounding
constexpr int kFolds = 5;

/// α of the variables for the coefficients β: each row one variable, or one for each side of the tube.
Vector variables_of(const Machine& machine, const Vector& beta, double stretch, const Vector& bound) {
  const Index m = machine.count();
  Vector alpha(machine.of_classes ? m : 2 * m);
  if (machine.of_classes) alpha = beta.cwiseAbs();
  else alpha << beta.cwiseMax(0), (-beta).cwiseMax(0);
  return (stretch * alpha).cwiseMin(bound);
}

DualProblem problem_of(const Svm& spec, const Machine& machine, const BoundKernel& kernel, double cost) {
  DualProblem out;
  out.kernel = &kernel;
  const Index m = machine.count(), sides = machine.of_classes ? 1 : 2;
  out.linear.resize(sides * m);
  out.bound.resize(sides * m);
  for (Index side = 0; side < sides; ++side)
    for (Index i = 0; i < m; ++i) {
      const double sign = machine.of_classes ? machine.target(i) : side == 0 ? 1.0 : -1.0;
      out.row.push_back(i);
      out.sign.push_back(static_cast<signed char>(sign));
      out.linear(side * m + i) = machine.of_classes ? -1 : spec.epsilon - sign * machine.target(i);
      out.bound(side * m + i) = cost * machine.factor(i);
    }
  return out;
}

Machine without_fold(const Machine& machine, const std::vector<int>& fold, int left_out, std::vector<Index>& kept) {
  Machine out;
  out.negative = machine.negative;
  out.positive = machine.positive;
  for (Index i = 0; i < machine.count(); ++i)
    if (fold[at(i)] != left_out) kept.push_back(i);
  for (const Index i : kept) out.rows.push_back(machine.rows[at(i)]);
  out.target = machine.target(kept);
  out.factor = machine.factor(kept);
  out.weight = machine.weight(kept);
  return out;
}

/// Each class dealt out evenly, in random order.
std::vector<int> folds_of(const Machine& machine, std::uint64_t seed) {
  RandomStream stream(seed, 0x5f01d5);
  const auto order = permutation(stream, machine.count());
  std::vector<int> fold(at(machine.count()));
  int dealt[2] = {0, 0};
  for (const Index i : order) fold[at(i)] = dealt[machine.target(i) > 0 ? 1 : 0]++ % kFolds;
  return fold;
}

}  // namespace

Solver::Solver(const Svm& spec, const Machine& machine, const BoundKernel& kernel, bool has_gap)
    : spec_(spec), machine_(machine), kernel_(kernel), has_gap_(has_gap), unit_(unit_of(machine)) {}

Trained Solver::measured(const DualSolution& solution, double cost) const {
  const Index m = machine_.count();
  Trained out;
  const bool classes = machine_.of_classes;
  const auto gradient = solution.gradient.head(m).array();
  if (classes) {
    out.beta = machine_.target.cwiseProduct(solution.alpha);
    out.values = machine_.target.array() * (gradient + 1);  // ∇ᵢ = tᵢ Σ β k − 1
  } else {
    out.beta = solution.alpha.head(m) - solution.alpha.tail(m);
    out.values = gradient - spec_.epsilon + machine_.target.array();
  }
  const double largest = out.beta.size() > 0 ? out.beta.cwiseAbs().maxCoeff() : 0.0;
  for (Index i = 0; i < m; ++i)
    if (std::abs(out.beta(i)) <= kNothing * std::min(cost * machine_.factor(i), largest)) out.beta(i) = 0;
  out.bias = (machine_.centre + solution.bias) - machine_.centre;  // as a number with the centre has its digits
  out.cost = cost;
  out.steps = solution.steps;
  out.converged = solution.converged;
  out.unbounded = solution.unbounded;
  out.stopped = solution.stopped;
  out.measured = measure(spec_, machine_, cost, out.beta, out.values, out.bias);
  return out;
}

Trained Solver::solve(double cost, const Trained* from, const Execution& execution, double goal) const {
  DualProblem problem = problem_of(spec_, machine_, kernel_, cost);
  problem.kept = kept_;
  if (from) {
    const double stretch = std::isinf(cost) ? 1 : cost / from->cost;
    problem.start = variables_of(machine_, from->beta, stretch, problem.bound);
  }
  SmoOptions options;
  options.tolerance = goal * unit_;
  options.cache_megabytes = spec_.cache;
  options.shrinking = spec_.shrinking;
  options.working_set = spec_.working_set;
  long long steps = 0;
  for (int round = 0;; ++round) {
    const DualSolution solution = solve_dual(problem, options, execution);
    kept_ = problem.kept = solution.kept;
    Trained out = measured(solution, cost);
    steps += out.steps;
    out.steps = steps;
    const double left = has_gap_ ? out.measured.gap() : out.measured.violation;
    if (left <= goal || !solution.converged || solution.unbounded || round == kMostRounds) return out;
    problem.start = solution.alpha;
    problem.start_gradient = solution.gradient;
    options.tolerance *= std::clamp(0.5 * goal / left, 0.01, 0.5);
  }
}

Trained Solver::solve_for_slack(double slack, const Execution& execution) const {
  if (slack == 0) return solve(std::numeric_limits<double>::infinity(), nullptr, execution, spec_.tolerance);
  const double positive = machine_.of_classes ? machine_.factor.dot(machine_.target.cwiseMax(0)) : 0;
  const double constant = machine_.of_classes ? 2 * std::min(positive, machine_.total() - positive) : 0;
  if (machine_.of_classes && slack >= constant)
    throw Error(fmt::format("svm: slack is {}, must be below {}: that much a constant needs, without any margin", slack,
                            constant));
  // Σ ξ falls with C: a bracket first, then its logarithm by false position, each solution the start of the next.
  const double goal = 0.1 * spec_.tolerance, unit = kernel_.diagonal().cwiseAbs().mean();
  const double first = unit > 0 ? 1 / unit : 1;
  struct End {
    double log_cost, excess;
  };
  std::optional<End> low, high;  // of C: an excess of slack above and below 0
  double log_cost = std::log(first), last_side = 0;
  Trained now = solve(first, nullptr, execution, goal);
  for (int step = 0; step < 80; ++step) {
    const double excess = now.measured.slack - slack;
    if (gap_with_budget(spec_, now.measured, now.cost) <= spec_.tolerance || !now.converged) break;
    (excess > 0 ? low : high) = End{log_cost, excess};
    if (low && high) {
      if (last_side * excess > 0) (excess > 0 ? high : low)->excess /= 2;  // Illinois
      log_cost = low->log_cost +
                 (high->log_cost - low->log_cost) * std::clamp(low->excess / (low->excess - high->excess), 0.05, 0.95);
      last_side = excess;
    } else {
      log_cost += excess > 0 ? std::log(8) : -std::log(8);
    }
    if (std::abs(log_cost - std::log(first)) > std::log(1e9)) {
      now.converged = false;
      now.stopped = fmt::format("slack out of reach: it is {:.6g} at C = {:.3g}", now.measured.slack, now.cost);
      break;
    }
    execution.report(std::min(0.95, step / 40.0), "looking for the C of this slack");
    now = solve(std::exp(log_cost), &now, execution, goal);
  }
  return now;
}

Vector cross_validated(const Svm& spec, const Machine& machine, const BoundKernel& kernel, double cost, bool has_gap,
                       std::uint64_t seed, const Execution& execution) {
  const auto fold = folds_of(machine, seed);
  Vector out(machine.count());
  for (int k = 0; k < kFolds; ++k) {
    std::vector<Index> kept, left_out;
    for (Index i = 0; i < machine.count(); ++i)
      if (fold[at(i)] == k) left_out.push_back(i);
    if (left_out.empty()) continue;
    const Machine rest = without_fold(machine, fold, k, kept);
    const bool both = rest.count() > 0 && rest.target.minCoeff() < 0 && rest.target.maxCoeff() > 0;
    if (!both) {
      for (const Index i : left_out) out(i) = rest.count() > 0 ? rest.target(0) : 0.0;
      continue;
    }
    const BoundKernel own(kernel.kernel(), kernel.points().select(kept));
    const Trained trained = Solver(spec, rest, own, has_gap).solve(cost, nullptr, execution, spec.tolerance);
    const Matrix values = own.expand(kernel.points().rows(left_out), trained.beta, execution);
    for (std::size_t i = 0; i < left_out.size(); ++i)
      out(left_out[i]) = values(static_cast<Index>(i), 0) + trained.bias;
  }
  return out;
}

Sigmoid sigmoid_of(const Svm& spec, const Machine& machine, const BoundKernel& kernel, double cost, bool has_gap,
                   std::uint64_t seed, const Execution& execution) {
  const Vector f = cross_validated(spec, machine, kernel, cost, has_gap, seed, execution);
  return platt(f, machine.target, machine.weight);
}

}  // namespace lemma::svm
