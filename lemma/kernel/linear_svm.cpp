// lemma/kernel/linear_svm.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/kernel/entry_rows.hpp>
#include <lemma/kernel/margin_problem.hpp>
#include <memory>

namespace lemma {
namespace {

using namespace margin;

constexpr Index kFewColumns = 200, kMostColumns = 1000;
constexpr double kMostWork = 4e9;  // n p²: what a step of the exact solvers may cost
constexpr double kRough = 1e-6;    // tolerance from which on float32 entries are enough

LinearSvmSolver chosen_solver(const LinearSvm& spec, const Rows& rows) {
  if (spec.solver != LinearSvmSolver::automatic) return spec.solver;
  const auto n = static_cast<double>(rows.count()), p = static_cast<double>(rows.width());
  const bool few = rows.width() <= kFewColumns || (rows.width() <= kMostColumns && p <= n && n * p * p <= kMostWork);
  return few ? LinearSvmSolver::exact : LinearSvmSolver::dual;
}

/// The exact solvers work about the means where that changes nothing but b: x·w + b = (x − mean)·w + (b + mean·w).
Point solve_exactly(const Problem& problem, const Rows& rows, const Vector& centre, const SolveOptions& how) {
  const bool centred = problem.free_bias() && centre.size() > 0;
  const RowProducts products(rows, centred ? centre : Vector{}, how.execution);
  Point point = problem.squared() ? newton(problem, products, how) : interior_point(problem, products, how);
  if (centred) {
    point.theta(0) -= centre.dot(point.theta.tail(centre.size()));
    judge(problem, RowProducts(rows, {}, how.execution), point);
  }
  return point;
}

}  // namespace

namespace margin {

Problem problem_of(const LinearSvm& spec, const Rows& rows, const std::vector<double>& factors, Index plane) {
  Problem out;
  out.loss = spec.loss;
  out.intercept = spec.intercept;
  out.bias = spec.bias;
  set_sides(out, rows, spec.C, factors, plane);
  return out;
}

double tolerance_of(const LinearSvm& spec) {
  return spec.solver == LinearSvmSolver::pegasos ? std::min(0.1, 100 * spec.tolerance) : spec.tolerance;
}

Certificate certificate_of(const Point& worst, double tolerance) {
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "relative duality gap";
  out.value = worst.gap();
  out.tolerance = tolerance;
  out.iterations = worst.iterations;
  out.stopped = worst.stopped;
  out.error_bound =
      std::sqrt(2 * std::max(worst.primal - worst.dual, 1e-15 * worst.primal));  // P is 1-strongly convex in w
  out.message = fmt::format(
      "The objective exceeds the least possible one by at most {:.1e} of itself (allowed {:.0e}), as a feasible point "
      "of the "
      "dual proves; the coefficients are within {:.1e} of the best ones.",
      out.value, out.tolerance, *out.error_bound);
  return out;
}

}  // namespace margin

LinearSvmModel fit(const Valid<LinearSvm>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const Columns columns = look_at_columns(LinearSvm::name, rows, execution.part(0, 0.05, "looking at the columns"));
  const auto factors =
      class_factors(LinearSvm::name, spec->class_weights, class_counts(LinearSvm::name, rows), rows.classes);

  LinearSvmModel model;
  model.spec = *spec;
  model.spec.solver = chosen_solver(*spec, rows);
  model.class_factors = Eigen::Map<const Vector>(factors.data(), static_cast<Index>(factors.size()));
  if (auto complaint = complaint_about(LinearSvm::name, rows, columns); !complaint.empty())
    model.warnings.push_back(std::move(complaint));
  const Index planes = planes_for(rows);
  model.coefficients.of.resize(planes, rows.width());
  for (PathNumbers* each :
       {&model.intercept, &model.objective_primal, &model.objective_dual, &model.gap, &model.n_support})
    each->of.resize(planes);

  const RowProducts products(rows, {}, execution);
  std::unique_ptr<EntryRows> entries;
  if (model.spec.solver != LinearSvmSolver::exact)
    entries = std::make_unique<EntryRows>(rows, tolerance_of(model.spec) >= kRough, execution);
  for (Index k = 0; k < planes; ++k) {
    const auto share = [&](Index of) { return 0.05 + 0.95 * static_cast<double>(of) / static_cast<double>(planes); };
    const SolveOptions how{tolerance_of(model.spec), spec->max_iterations, options.seed + static_cast<std::uint64_t>(k),
                           execution.part(share(k), share(k + 1))};
    const Problem problem = problem_of(*spec, rows, factors, k);
    const Point point = model.spec.solver == LinearSvmSolver::exact  ? solve_exactly(problem, rows, columns.centre, how)
                        : model.spec.solver == LinearSvmSolver::dual ? descend(problem, products, *entries, how)
                                                                     : pegasos(problem, products, *entries, how);
    require(point.theta.allFinite(), "linear_svm: a coefficient is beyond the range of numbers; use other units");
    model.coefficients.of.row(k) = point.theta.tail(rows.width()).transpose();
    model.intercept.of(k) = point.theta(0);
    model.objective_primal.of(k) = point.primal;
    model.objective_dual.of(k) = point.dual;
    model.gap.of(k) = point.gap();
    model.n_support.of(k) = support_weight(problem, rows, products.times(point.theta));
    if (k == 0 || !(point.gap() <= model.certificate.value))
      model.certificate = certificate_of(point, tolerance_of(model.spec));
  }
  if (!model.certificate.holds())
    model.warnings.push_back(
        fmt::format("the optimum was not reached ({}, gap {:.1e}): more --max_iterations or a smaller C, or "
                    "columns on like scales ('scale | linear_svm'), will help",
                    model.certificate.stopped, model.certificate.value));
  return model;
}

}  // namespace lemma
