// lemma/kernel/kernel_logistic.cpp: from rows to a model; the objective and its dual are in here, the solvers beside it.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/kernel/kernel_logistic/softmax.hpp>
#include <lemma/kernel/shared/held_out_lambdas.hpp>
#include <lemma/kernel/shared/support.hpp>
#include <lemma/math/simd/logistic.hpp>
#include <lemma/math/special.hpp>
#include <lemma/model/claim.hpp>
#include <lemma/model/held_out.hpp>
#include <lemma/model/one_vs_rest.hpp>

namespace lemma {
namespace kernel_logistic {
namespace {

std::span<const double> span_of(const Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }
std::span<double> span_of(Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

}  // namespace

Problem::Problem(const KernelLogistic& spec, const KernelRows& rows, Index function, Index functions, bool is_psd)
    : data(rows), y(rows.count()), lambda(*spec.lambda), intercept(spec.intercept), positive(is_psd) {
  for (Index i = 0; i < rows.count(); ++i) y(i) = is_positive(rows.label_of(i), function, functions) ? 1 : 0;
}

Loss loss_at(const Problem& problem, const Vector& eta) {
  Loss out{0, Vector(eta.size()), Vector(eta.size())};
  out.value = simd::logistic_loss(span_of(eta), span_of(problem.y), problem.data.weights(), span_of(out.residual),
                                  span_of(out.curvature));
  return out;
}

/// Newton's method on one number, kept between two bounds that hold whatever f is.
double best_intercept(const Problem& problem, const Vector& f) {
  if (!problem.intercept) return 0;
  const double positives = problem.data.weight.dot(problem.y), n = problem.data.mass();
  const double middle = std::log(positives / (n - positives));
  double low = middle - f.maxCoeff(), high = middle - f.minCoeff(), b = 0.5 * (low + high);
  for (int step = 0; step < 200 && low < high; ++step) {
    const Loss loss = loss_at(problem, f.array() + b);
    const double slope = loss.residual.sum(), bend = loss.curvature.sum();
    if (slope == 0) break;
    (slope > 0 ? high : low) = b;
    double next = b - slope / bend;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    const double moved = std::abs(next - b);
    b = next;
    if (moved <= 1e-15 * (1 + std::abs(b))) break;
  }
  return b;
}

/// With b* the best intercept and q the probabilities there, α̃ = w (y − q)/λ, the gap is
///     Σ w (log(1 + e^η) − log(1 + e^η*) − q (η − η*)) + ½ λ (α − α̃)ᵀ K (α − α̃):   no large numbers cancel.
Standing standing_of(const Problem& problem, const Vector& alpha, const Vector& f, double intercept,
                     const std::function<Vector(const Vector&)>& of_kernel) {
  const double best = best_intercept(problem, f);
  const Loss at_best = loss_at(problem, f.array() + best);
  Standing out;
  out.loss = intercept == best ? at_best.value : loss_at(problem, f.array() + intercept).value;
  out.squared_norm = alpha.dot(f);
  out.objective = out.loss + 0.5 * problem.lambda * out.squared_norm;
  const Vector off = alpha + at_best.residual / problem.lambda;
  if (!problem.positive) {
    out.gap =
        problem.lambda * off.cwiseAbs().cwiseQuotient(problem.data.weight).maxCoeff() + std::abs(intercept - best);
    return out;
  }
  const double above = out.loss - at_best.value + 0.5 * problem.lambda * off.dot(of_kernel(off));
  out.gap = std::isfinite(above) ? std::max(0.0, above) / out.objective : above;
  return out;
}

double tolerance_of(const KernelLogistic& spec) {
  return spec.solver == KernelLogisticSolver::stochastic ? std::max(spec.tolerance, 1e-3) : spec.tolerance;
}

Certificate certificate_of(const KernelLogistic& spec, double worst, bool positive, long long iterations,
                           Stop stopped) {
  Certificate out;
  out.strength = positive ? Strength::optimal : Strength::stationary;
  out.kind = positive ? "relative duality gap" : "residual of λα = w (y − p)";
  out.value = worst;
  out.tolerance = claimed(tolerance_of(spec));
  out.iterations = iterations;
  out.stopped = name_of(stopped);
  out.message = positive
                    ? fmt::format(
                          "The objective is at most {:.1e} of itself above the least one (allowed {:.0e}), with the "
                          "kernel's values made anew from the rows.",
                          out.value, out.tolerance)
                    : fmt::format(
                          "λα = w (y − p) up to {:.1e} of w (allowed {:.0e}); the kernel is not positive "
                          "semidefinite, so that this is a stationary point and no more.",
                          out.value, out.tolerance);
  if (!out.holds() && out.value <= tolerance_of(spec)) out.message += ended_too_soon(tolerance_of(spec));
  else if (!out.holds())
    out.message += spec.solver == KernelLogisticSolver::stochastic
                       ? " More iterations, a larger lambda, or the solver newton."
                       : " More iterations or a larger lambda may do it.";
  return out;
}

}  // namespace kernel_logistic

namespace {

/// The worst gap of the functions, and how it came to be.
struct Found {
  double gap = 0;
  long long iterations = 0;
  Stop stopped = Stop::converged;
};

/// One class after the other, against all others; of two classes one function.
Found fit_each(KernelLogisticModel& model, const KernelRows& data, const BoundKernel& kernel, bool positive,
               const FitOptions& options, const Execution& execution) {
  const bool by_newton = model.spec.solver == KernelLogisticSolver::newton;
  const Index count = functions_for(model.counts.size());
  model.dual_coefficients.of.resize(count, data.count());
  for (PathNumbers* each : {&model.intercept, &model.objective, &model.deviance, &model.squared_norm})
    each->of.resize(count);
  std::optional<kernel_logistic::GramAndFactor> gram;
  if (by_newton) gram.emplace(kernel, execution.part(0, 0.1, "kernel matrix"));
  Found out;
  for (Index k = 0; k < count; ++k) {
    const kernel_logistic::Problem problem(model.spec, data, k, count, positive);
    const auto share = [&](double done) { return 0.1 + 0.9 * done / static_cast<double>(count); };
    const Execution part = execution.part(share(static_cast<double>(k)), share(static_cast<double>(k) + 1));
    const auto solution = by_newton ? kernel_logistic::newton(model.spec, problem, *gram, part)
                                    : kernel_logistic::stochastic(model.spec, problem, kernel, options.seed,
                                                                  static_cast<std::uint64_t>(k), part);
    model.dual_coefficients.of.row(k) = solution.alpha;
    model.intercept.of(k) = solution.intercept;
    model.objective.of(k) = solution.standing.objective;
    model.deviance.of(k) = 2 * solution.standing.loss;
    model.squared_norm.of(k) = solution.standing.squared_norm;
    if (!(solution.standing.gap <= out.gap)) out.gap = solution.standing.gap;
    out.iterations += solution.iterations;
    if (solution.stopped != Stop::converged) out.stopped = solution.stopped;
  }
  return out;
}

/// All classes of a softmax.
Found fit_together(KernelLogisticModel& model, const KernelRows& data, const BoundKernel& kernel,
                   const Execution& execution) {
  const kernel_logistic::SoftmaxProblem problem{data, model.counts.size(), *model.spec.lambda, model.spec.intercept};
  const Matrix gram = kernel.gram(execution.part(0, 0.1, "kernel matrix"));
  const auto solution = kernel_logistic::newton(model.spec, problem, gram, execution.part(0.1, 1));
  model.dual_coefficients.of = solution.alpha.transpose();
  model.intercept.of = solution.intercept;
  model.objective.of = Vector::Constant(1, solution.standing.objective);
  model.deviance.of = Vector::Constant(1, 2 * solution.standing.loss);
  model.squared_norm.of = solution.standing.squared_norm;
  return {solution.standing.gap, solution.iterations, solution.stopped};
}

}  // namespace

KernelLogisticModel fit(const Valid<KernelLogistic>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const bool by_newton = spec->solver == KernelLogisticSolver::newton;
  if (by_newton) require_memory(KernelLogistic::name, rows.count(), spec->gigabytes);
  const KernelRows data = kernel_rows(KernelLogistic::name, spec->kernel, rows, execution);
  KernelLogisticModel model;
  model.spec = *spec;
  model.spec.kernel = spec->kernel.resolved(data.points, data.weights());
  if (!spec->lambda)
    return fit_with_chosen(model.spec, held_out_lambdas(KernelLogistic::name, model.spec.kernel, data), rows, options);
  model.counts = class_counts(KernelLogistic::name, data, rows.classes);
  const BoundKernel kernel(model.spec.kernel, data.points);
  if (model.is_joint()) require_positive(KernelLogistic::name, kernel, execution);
  bool positive = true;
  if (!model.spec.kernel.is_positive())
    if (const GramCheck check = check_gram(kernel, execution); !check.is_positive()) {
      positive = false;
      model.warnings.push_back(
          fmt::format("the matrix of {} is not positive semidefinite ({}): there may be a stationary point, but no "
                      "space in which it "
                      "is the least",
                      model.spec.kernel.text(), check.text()));
    }

  const Found found = model.is_joint() ? fit_together(model, data, kernel, execution)
                                       : fit_each(model, data, kernel, positive, options, execution);
  require(model.dual_coefficients.of.allFinite() && model.objective.of.allFinite(),
          "kernel_logistic: the kernel's values are too large to be added up; use other units, or a larger lambda");
  model.points = KeptRows::of(model.spec.kernel, data.points);
  model.places = kept_places(model.spec.kernel, data.points);
  model.certificate = kernel_logistic::certificate_of(model.spec, found.gap, positive, found.iterations, found.stopped);
  if (!model.certificate.holds())
    model.warnings.push_back(fmt::format("the objective may still be {} of itself above the least one ({})",
                                         format_significant(found.gap, 2), name_of(found.stopped)));
  return model;
}

template const Method& method_of<KernelLogistic>();

}  // namespace lemma
