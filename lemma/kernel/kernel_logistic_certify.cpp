// lemma/kernel/kernel_logistic_certify.cpp: the model held against the rows by duality, with the kernel made anew.
#include <fmt/core.h>
#include <lemma/kernel/kernel_logistic_parts.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/model/one_vs_rest.hpp>

namespace lemma {

Certificate certify(const KernelLogisticModel& model, const Rows& rows, const Execution& execution) {
  check_rows(KernelLogistic::name, KernelLogistic::about, rows);
  require(rows.width() == model.width() && static_cast<Index>(rows.classes.size()) == model.counts.size(),
          "kernel_logistic: the rows do not have the columns and classes of the model");
  model.check();
  const KernelRows data = kernel_rows(KernelLogistic::name, model.spec.kernel, rows, execution.part(0, 0.1));
  require(data.count() == model.dual_coefficients.of.cols(),
          fmt::format("kernel_logistic: the model keeps {} rows and there are {}", model.dual_coefficients.of.cols(),
                      data.count()));
  const BoundKernel kernel(model.spec.kernel, data.points);
  const bool positive = model.spec.kernel.is_positive() || check_gram(kernel, execution).is_positive();
  const Index count = model.functions();
  const Matrix f = kernel.expand_own(model.dual_coefficients.of.transpose(), execution.part(0.1, 0.5));
  std::vector<kernel_logistic::Standing> standings;
  double worst = 0;
  for (Index k = 0; k < count; ++k) {
    const kernel_logistic::Problem problem(model.spec, data, k, count, positive);
    const auto of_kernel = [&](const Vector& v) -> Vector { return kernel.expand_own(Matrix(v), execution).col(0); };
    standings.push_back(kernel_logistic::standing_of(problem, model.dual_coefficients.of.row(k), f.col(k),
                                                     model.intercept.of(k), of_kernel));
    if (!(standings.back().gap <= worst)) worst = standings.back().gap;
  }
  Certificate out = kernel_logistic::certificate_of(model.spec, worst, positive, 0, "looked at again");
  if (!out.holds()) return out;
  Comparison same;
  compare_rows(same, model.spec.kernel, model.points, model.places, data.points);
  const Vector counts = class_counts(KernelLogistic::name, data, rows.classes);
  for (Index k = 0; k < counts.size(); ++k) same.entry("counts", k, model.counts(k), counts(k), counts.sum());
  for (Index k = 0; k < count; ++k) {
    const kernel_logistic::Problem problem(model.spec, data, k, count, positive);
    const auto& at = standings[static_cast<std::size_t>(k)];
    const double best = kernel_logistic::best_intercept(problem, f.col(k));
    same.entry("intercept", k, model.intercept.of(k), best, std::abs(best) + 1e-3, 1e-7);
    same.entry("objective", k, model.objective.of(k), at.objective, at.objective, 1e-8);
    same.entry("deviance", k, model.deviance.of(k), 2 * at.loss, at.objective, 1e-8);
    same.entry("squared_norm", k, model.squared_norm.of(k), at.squared_norm, std::abs(at.squared_norm), 1e-6);
  }
  if (same.finding()) same.report(out);
  return out;
}

}  // namespace lemma
