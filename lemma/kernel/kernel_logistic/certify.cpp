// lemma/kernel/kernel_logistic/certify.cpp: the model held against the rows by duality, with the kernel made anew.
#include <cmath>
#include <fmt/core.h>
#include <lemma/kernel/kernel_logistic/softmax.hpp>
#include <lemma/kernel/shared/kept_order.hpp>
#include <lemma/model/held_out.hpp>
#include <lemma/model/one_vs_rest.hpp>

namespace lemma {
namespace {

/// λα = w (y − p) is above 0 in the function of the row's own class alone, and with equal features and class larger for a
/// larger weight.
Ties ties_of(const KernelLogisticModel& model, const KernelRows& given) {
  const Matrix& alpha = model.dual_coefficients.of;
  Ties out{Matrix(alpha.cols(), 2), Matrix(given.count(), 2)};
  for (Index i = 0; i < alpha.cols(); ++i) {
    Index own = alpha(0, i) > 0 ? 1 : 0;
    if (alpha.rows() > 1) alpha.col(i).maxCoeff(&own);
    out.kept.row(i) << static_cast<double>(own), std::abs(alpha(alpha.rows() > 1 ? own : 0, i));
  }
  for (Index i = 0; i < given.count(); ++i) out.given.row(i) << static_cast<double>(given.label_of(i)), given.weight(i);
  return out;
}

}  // namespace

Certificate certify(const KernelLogisticModel& model, const Rows& rows, const Execution& execution) {
  const KernelRows given = kernel_rows(KernelLogistic::name, model.spec.kernel, rows, execution.part(0, 0.1));
  const KernelRows data = in_kept_order(model.spec.kernel, model.points, given, [&] { return ties_of(model, given); });
  require(data.count() == model.dual_coefficients.of.cols(),
          fmt::format("kernel_logistic: the model keeps {} rows and there are {}", model.dual_coefficients.of.cols(),
                      data.count()));
  const BoundKernel kernel(model.spec.kernel, data.points);
  const bool positive = model.spec.kernel.is_positive() || check_gram(kernel, execution).is_positive();
  const Index count = model.functions();
  const Matrix alphas = model.dual_coefficients.of.transpose(), f = kernel.expand_own(alphas, execution.part(0.1, 0.5));
  const kernel_logistic::SoftmaxProblem together{data, model.counts.size(), *model.spec.lambda, model.spec.intercept};
  std::vector<kernel_logistic::Standing> standings;
  double worst = 0;
  kernel_logistic::SoftmaxStanding all;
  if (model.is_joint()) {
    all = standing_of(together, alphas, f, model.intercept.of,
                      [&](const Matrix& v) -> Matrix { return kernel.expand_own(v, execution); });
    worst = all.gap;
  }
  for (Index k = 0; k < count && !model.is_joint(); ++k) {
    const kernel_logistic::Problem problem(model.spec, data, k, count, positive);
    const auto of_kernel = [&](const Vector& v) -> Vector { return kernel.expand_own(Matrix(v), execution).col(0); };
    standings.push_back(kernel_logistic::standing_of(problem, model.dual_coefficients.of.row(k), f.col(k),
                                                     model.intercept.of(k), of_kernel));
    if (!(standings.back().gap <= worst)) worst = standings.back().gap;
  }
  Certificate out = kernel_logistic::certificate_of(model.spec, worst, positive, 0, Stop::looked_again);
  if (!out.holds()) return out;
  Comparison same;
  compare_rows(same, model.spec.kernel, model.points, model.places, data.points);
  const Vector counts = class_counts(KernelLogistic::name, data, rows.classes);
  const Vector own = kernel.diagonal().cwiseAbs().cwiseSqrt();
  for (Index k = 0; k < counts.size(); ++k) same.entry("counts", k, model.counts(k), counts(k), counts.sum());
  const auto compare_norm = [&](Index k, double expected) {
    const double terms = own.dot(model.dual_coefficients.of.row(k).cwiseAbs().transpose());  // ‖f‖² ≤ terms²
    same.entry("squared_norm", k, model.squared_norm.of(k), expected, std::abs(expected) + 1e-9 * terms * terms, 1e-6);
  };
  if (model.is_joint()) {
    const Vector best = kernel_logistic::best_intercepts(together, f);
    for (Index k = 0; k < count; ++k) {
      same.entry("intercept", k, model.intercept.of(k), best(k), best.cwiseAbs().maxCoeff() + 1e-3, 1e-7);
      compare_norm(k, all.squared_norm(k));
    }
    same.entry("objective", 0, model.objective.of(0), all.objective, all.objective, 1e-8);
    same.entry("deviance", 0, model.deviance.of(0), 2 * all.loss, all.objective, 1e-8);
  }
  for (Index k = 0; k < count && !model.is_joint(); ++k) {
    const kernel_logistic::Problem problem(model.spec, data, k, count, positive);
    const auto& at = standings[static_cast<std::size_t>(k)];
    const double best = kernel_logistic::best_intercept(problem, f.col(k));
    same.entry("intercept", k, model.intercept.of(k), best, std::abs(best) + 1e-3, 1e-7);
    same.entry("objective", k, model.objective.of(k), at.objective, at.objective, 1e-8);
    same.entry("deviance", k, model.deviance.of(k), 2 * at.loss, at.objective, 1e-8);
    compare_norm(k, at.squared_norm);
  }
  compare_choice(same, model, rows, execution);
  if (same.finding()) same.report(out);
  return out;
}

}  // namespace lemma
