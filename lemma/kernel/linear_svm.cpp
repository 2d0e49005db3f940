// lemma/kernel/linear_svm.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/kernel/entry_rows.hpp>
#include <lemma/kernel/margin_problem.hpp>
#include <lemma/math/column_moments.hpp>
#include <memory>

namespace lemma {
namespace {

using namespace margin;

constexpr Index kFewColumns = 200, kMostColumns = 1000;
constexpr double kMostWork = 4e9;       // n p²: what a step of the exact solvers may cost
constexpr double kTooLarge = 1e100;     // values whose squares, and sums of them, leave the range of numbers
constexpr double kUnlike = 100;         // ratio of spreads from which on columns are on very different scales
constexpr double kUnlikeSparse = 1000;  // rare columns differ by chance
constexpr double kRough = 1e-6;         // tolerance from which on float32 entries are enough
constexpr Index kRowsAtOnce = 16'384;

/// What is learned of the columns before the work begins.
struct Columns {
  Vector centre;  // dense rows: their means
  Vector spread;  // of each column: standard deviation, for sparse rows the largest entry
};

void refuse_large(const Rows& rows, const Vector& size) {
  for (Index j = 0; j < size.size(); ++j)
    if (!(size(j) <= kTooLarge))
      throw Error(fmt::format(
          "linear_svm: the values of '{}' are about {:.0e}; divide them by a constant, or use 'scale | linear_svm'",
          rows.features[static_cast<std::size_t>(j)], size(j)));
}

Columns look_at_columns(const Rows& rows, const Execution& execution) {
  Columns out;
  if (const Csr* x = rows.sparse()) {
    for (const double v : x->value)
      if (!std::isfinite(v)) require_finite(rows, execution);
    out.spread = Vector::Zero(rows.width());
    for (std::size_t k = 0; k < x->value.size(); ++k)
      out.spread(x->column[k]) = std::max(out.spread(x->column[k]), std::abs(x->value[k]));
    refuse_large(rows, out.spread);
    return out;
  }
  require_finite(rows, execution);
  const auto moments = scan(rows, ColumnMoments(rows.width()), execution);
  refuse_large(rows, moments.least().cwiseAbs().cwiseMax(moments.greatest().cwiseAbs()));
  out.centre = moments.mean();
  out.spread = moments.deviation();
  return out;
}

void warn_of_columns(LinearSvmModel& model, const Rows& rows, const Vector& spread) {
  Index least = -1, greatest = -1;
  for (Index j = 0; j < spread.size(); ++j) {
    if (!(spread(j) > 0)) continue;
    if (least < 0 || spread(j) < spread(least)) least = j;
    if (greatest < 0 || spread(j) > spread(greatest)) greatest = j;
  }
  const auto name = [&](Index j) { return rows.features[static_cast<std::size_t>(j)]; };
  if (greatest < 0) {
    model.warnings.push_back("no column varies: the plane can only tell which class is the larger one");
  } else if (spread(greatest) > (rows.sparse() ? kUnlikeSparse : kUnlike) * spread(least)) {
    model.warnings.push_back(
        fmt::format("the columns are on very different scales ('{}' spreads {:.0f} times as far as '{}'), and the "
                    "penalty sees them as "
                    "they are; 'scale | linear_svm' treats them alike",
                    name(greatest), spread(greatest) / spread(least), name(least)));
  }
}

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

std::vector<double> class_counts(const Rows& rows) {
  std::vector<double> counts(rows.classes.size());
  BlockBuffer buffer;
  for (Index first = 0; first < rows.count(); first += kRowsAtOnce) {
    const Index size = std::min(kRowsAtOnce, rows.count() - first);
    const Block block = rows.outcome(first, size, buffer);
    for (Index i = 0; i < size; ++i) {
      const double weight = block.weight_of(i);
      if (!(weight >= 0) || !std::isfinite(weight))
        throw Error(fmt::format("linear_svm: the weight of row {} is {}; it must be finite and not negative",
                                first + i + 1, weight));
      counts[static_cast<std::size_t>(block.label[static_cast<std::size_t>(i)])] += weight;
    }
  }
  return counts;
}

Problem problem_of(const LinearSvm& spec, const Rows& rows, const std::vector<double>& factors, Index plane) {
  Problem out;
  out.loss = spec.loss;
  out.intercept = spec.intercept;
  out.bias = spec.bias;
  out.t.resize(rows.count());
  out.c.resize(rows.count());
  const int positive = rows.classes.size() == 2 ? 1 : static_cast<int>(plane);
  BlockBuffer buffer;
  for (Index first = 0; first < rows.count(); first += kRowsAtOnce) {
    const Index size = std::min(kRowsAtOnce, rows.count() - first);
    const Block block = rows.outcome(first, size, buffer);
    for (Index i = 0; i < size; ++i) {
      const int label = block.label[static_cast<std::size_t>(i)];
      out.t(first + i) = label == positive ? 1 : -1;
      out.c(first + i) = spec.C * block.weight_of(i) * factors[static_cast<std::size_t>(label)];
    }
  }
  return out;
}

double support_weight(const Problem& problem, const Rows& rows, const Vector& f) {
  constexpr double kOnIt = 1 + 1e-7;
  double sum = 0;
  BlockBuffer buffer;
  for (Index first = 0; first < rows.count(); first += kRowsAtOnce) {
    const Index size = std::min(kRowsAtOnce, rows.count() - first);
    const Block block = rows.outcome(first, size, buffer);
    for (Index i = 0; i < size; ++i)
      if (problem.t(first + i) * f(first + i) <= kOnIt) sum += block.weight_of(i);
  }
  return sum;
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
  const Columns columns = look_at_columns(rows, execution.part(0, 0.05, "looking at the columns"));
  const auto factors = class_factors(LinearSvm::name, spec->class_weights, class_counts(rows), rows.classes);

  LinearSvmModel model;
  model.spec = *spec;
  model.spec.solver = chosen_solver(*spec, rows);
  model.class_factors = Eigen::Map<const Vector>(factors.data(), static_cast<Index>(factors.size()));
  warn_of_columns(model, rows, columns.spread);
  const Index planes = planes_for(rows.classes.size());
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
