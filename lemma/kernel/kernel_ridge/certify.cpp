// lemma/kernel/kernel_ridge/certify.cpp: the model held against the rows by duality, and its numbers by the other route.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/kernel/kernel_ridge/parts.hpp>
#include <lemma/kernel/shared/kept_order.hpp>
#include <lemma/model/comparison.hpp>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-20;  // of the squares that cancel: an error of 1e-10 in what they are squares of
constexpr double kFollows = 1e-7;

/// Where the fit took a Cholesky factorisation an eigendecomposition is taken, and the other way round.
void compare_numbers(Comparison& same, const KernelRidgeModel& model, const BoundKernel& kernel, const KernelRows& data,
                     const Execution& execution) {
  const auto& spec = model.spec;
  const Index count = model.lambda.size();
  for (Index k = 0; k < count; ++k)
    same.entry("lambda", k, model.lambda.of(k), spec.lambda[static_cast<std::size_t>(k)], 0);
  const bool leave_out = kernel_ridge::leaves_out(spec, data.count());
  const auto solutions = [&] {
    if (count == 1 && leave_out) return kernel_ridge::solve_path(spec, kernel, data, model.lambda.of, execution);
    std::vector<kernel_ridge::Solution> out;
    for (const double lambda : model.lambda.of)
      out.push_back(kernel_ridge::solve_one(spec, kernel, data, lambda, leave_out, execution));
    return out;
  }();
  const double total = data.weight.dot(kernel_ridge::centred(spec, data).y.cwiseAbs2());
  for (Index k = 0; k < count; ++k) {
    const auto& solution = solutions[static_cast<std::size_t>(k)];
    const auto n = kernel_ridge::numbers_of(data, solution, model.lambda.of(k));
    same.entry("effective_df", k, model.effective_df.of(k), n.effective_df, 1 + n.effective_df, kFollows);
    same.entry("rss", k, model.rss.of(k), n.rss, n.rss + 1e-6 * total, kFollows);
    same.entry("objective", k, model.objective.of(k), n.objective, n.objective + 1e-6 * total, kFollows);
    same.entry("loocv_mse", k, model.loocv_mse.of(k), n.loocv_mse, n.loocv_mse + 1e-6 * total / data.mass(), kFollows);
  }
  const Index best = kernel_ridge::choose(model.loocv_mse.of, model.lambda.of);
  same.relative("chosen_lambda", model.chosen_lambda, model.lambda.of(best), 0);
}

/// λα = w (y − f − b): of rows with equal features and weights a larger y has a larger α; with other weights f is needed.
Ties ties_of(const KernelRidgeModel& model, const KernelRows& given) {
  if ((given.weight.array() == given.weight(0)).all()) return {model.dual_coefficients, given.y};
  constexpr Index kTogether = 1024;
  Vector expected(given.count());
  for (Index first = 0; first < given.count(); first += kTogether) {
    const Index size = std::min(kTogether, given.count() - first);
    expected.segment(first, size) = given.y.segment(first, size) - model.predict(given.points.rows(first, size));
  }
  return {model.dual_coefficients, given.weight.cwiseProduct(expected)};
}

}  // namespace

namespace kernel_ridge {

/// P − D = ½ Σ w (y − b − Kα − λα/w)² + λ b Σα: the second part is 0 when α is a point of the dual at all.
Certificate certificate_of(const KernelRidgeModel& model, const BoundKernel& kernel, const KernelRows& data,
                           const Execution& execution) {
  const Vector& alpha = model.dual_coefficients;
  const double lambda = model.chosen_lambda, b = model.intercept;
  const Vector f = kernel.expand_own(Matrix(alpha), execution).col(0);
  const Vector own = kernel.diagonal().cwiseAbs().cwiseSqrt();
  const double reach = own.dot(alpha.cwiseAbs());  // |f(xᵢ)| ≤ Σ |αⱼ| √kᵢᵢ √kⱼⱼ
  double gap = 0, unit = 0;
  for (Index i = 0; i < data.count(); ++i) {
    const double w = data.weight(i), held = lambda * alpha(i) / w, r = data.y(i) - b - f(i) - held;
    const double terms = std::abs(data.y(i)) + std::abs(b) + own(i) * reach + std::abs(held);
    gap += w * r * r;
    unit += w * terms * terms;
  }
  const double size = alpha.lpNorm<1>(), off = model.spec.intercept && size > 0 ? alpha.sum() / size : 0;
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "relative duality gap";
  out.value = (gap == 0 ? 0 : gap / unit) + off * off;
  out.tolerance = kTolerance;
  out.stopped = "closed form";
  out.message = fmt::format(
      "The objective is {:.1e} above its dual bound, beside the squares that cancel in it (allowed {:.0e}), with the "
      "kernel's values made anew from the rows.",
      out.value, out.tolerance);
  if (!model.spec.kernel.is_positive() && !check_gram(kernel, execution).is_positive()) {
    out.strength = Strength::stationary;
    out.kind = "relative residual of the equations";
    out.message = fmt::format(
        "(K + λI)α + b = y up to {:.1e} of the squares that cancel in it (allowed {:.0e}); the kernel is not positive "
        "semidefinite, so that this is a stationary point and no more.",
        out.value, out.tolerance);
  }
  return out;
}

}  // namespace kernel_ridge

Certificate certify(const KernelRidgeModel& model, const Rows& rows, const Execution& execution) {
  const KernelRows given = kernel_rows(KernelRidge::name, model.spec.kernel, rows, execution.part(0, 0.1));
  const KernelRows data = in_kept_order(model.spec.kernel, model.points, given, [&] { return ties_of(model, given); });
  require(data.count() == model.dual_coefficients.size(),
          fmt::format("kernel_ridge: the model keeps {} rows and there are {}", model.dual_coefficients.size(),
                      data.count()));
  const BoundKernel kernel(model.spec.kernel, data.points);
  Certificate out = kernel_ridge::certificate_of(model, kernel, data, execution.part(0.1, 0.4));
  if (!out.holds()) return out;
  Comparison same;
  compare_rows(same, model.spec.kernel, model.points, model.places, data.points);
  if (!same.finding()) compare_numbers(same, model, kernel, data, execution.part(0.4, 1));
  if (same.finding()) same.report(out);
  return out;
}

}  // namespace lemma
