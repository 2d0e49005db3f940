// lemma/kernel/gp/certify.cpp: the model held against the rows: the equations with the kernel made anew, the likelihood and
// its gradient by another route.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/kernel/gp/parts.hpp>
#include <lemma/kernel/shared/kept_order.hpp>
#include <lemma/model/comparison.hpp>

namespace lemma {
namespace {

constexpr double kResidual = 1e-10;  // of the terms that cancel in y − m − Aα
constexpr double kFollows = 1e-7;

/// What the model repeats of its spec and its rows.
void compare_given(Comparison& same, const GpModel& model, const gp::Setting& setting, const KernelRows& data) {
  compare_rows(same, model.spec.kernel, model.points, model.places, data.points);
  const Vector values = setting.values();
  for (Index t = 0; t < values.size(); ++t) same.entry("hyperparameters", t, model.hyperparameters(t), values(t), 0);
  same.relative("noise", model.noise, setting.noise, 0);
  same.number("mean", model.mean, gp::mean_of(model.spec.mean, data), data.y.cwiseAbs().mean());
  for (Index i = 0; i < data.count(); ++i) same.entry("weights", i, model.weights(i), data.weight(i), 0);
}

void compare_likelihood(Comparison& same, const GpModel& model, const KernelRows& data, const gp::Anew& found) {
  const auto n = static_cast<double>(data.count());
  same.number("log_marginal_likelihood", model.log_marginal_likelihood, found.log_likelihood,
              std::abs(found.log_likelihood) + n, kFollows);
  if (model.lml_gradient.allFinite())
    for (Index t = 0; t < found.gradient.size(); ++t)
      same.entry("lml_gradient", t, model.lml_gradient(t), found.gradient(t), std::abs(found.gradient(t)) + 0.03 * n,
                 1e-4);
}

}  // namespace

namespace gp {

Vector certified_gradient(const GpModel& model, const Setting& setting, const KernelRows& data,
                          const Execution& execution) {
  if (data.count() > kMostByEigenvalues) return model.lml_gradient;
  return by_eigenvalues(setting, model.spec.mean, model.jitter, data, execution).gradient;
}

Certificate certificate_of(const GpModel& model, const Setting& setting, const BoundKernel& kernel,
                           const KernelRows& data, const Vector& gradient, const Execution& execution) {
  const Vector& alpha = model.dual_coefficients;
  const Vector f = kernel.expand_own(Matrix(alpha), execution).col(0);
  const Vector own = kernel.diagonal().cwiseAbs().cwiseSqrt();
  const double reach = own.dot(alpha.cwiseAbs());
  double residual = 0, unit = 0;
  for (Index i = 0; i < data.count(); ++i) {
    const double held = (model.noise + model.jitter) * alpha(i) / data.weight(i);
    const double r = data.y(i) - model.mean - f(i) - held;
    const double terms = std::abs(data.y(i)) + std::abs(model.mean) + own(i) * reach + std::abs(held);
    residual += data.weight(i) * r * r;
    unit += data.weight(i) * terms * terms;
  }
  residual = residual == 0 ? 0 : std::sqrt(residual / unit);
  Certificate out;
  out.stopped = "closed form";
  if (!model.spec.optimise) {
    out.strength = Strength::optimal;
    out.kind = "relative residual of the equations";
    out.value = residual;
    out.tolerance = kResidual;
    out.message = fmt::format(
        "(K + noise)α = y − mean up to {:.1e} of its terms (allowed {:.0e}), with the kernel's values made anew from "
        "the "
        "rows.",
        residual, kResidual);
    return out;
  }
  double slope = 0;
  const auto flat = must_be_flat(model.spec, setting, references(setting, data), gradient);
  for (Index t = 0; t < gradient.size(); ++t)
    if (flat[static_cast<std::size_t>(t)]) slope = std::abs(gradient(t)) <= slope ? slope : std::abs(gradient(t));
  slope /= data.mass();
  out.strength = Strength::stationary;
  out.kind = "equations and gradient of the likelihood";
  out.value = std::isnan(residual + slope) ? GpModel::kNone : std::max(residual / kResidual, slope / gp::kFlat);
  out.tolerance = 1;
  const double accuracy = rounding_of(kernel, data, model.noise + model.jitter);
  out.message = fmt::format(
      "(K + noise)α = y − mean up to {:.1e} of its terms (allowed {:.0e}), and the log marginal likelihood changes "
      "with "
      "no hyperparameter by more than {:.1e} for each row (allowed {:.0e}; {}).",
      residual, kResidual, slope, gp::kFlat,
      accuracy < 1e-2 ? fmt::format("rounding leaves this accurate to about {:.0e}", accuracy)
                      : std::string("with so little noise rounding leaves nothing of it"));
  return out;
}

}  // namespace gp

Certificate certify(const GpModel& model, const Rows& rows, const Execution& execution) {
  const KernelRows given = kernel_rows(Gp::name, model.spec.kernel, rows, execution.part(0, 0.1));
  const KernelRows data = in_kept_order(model.spec.kernel, model.points, given, [&] {
    Ties ties{Matrix(model.weights.size(), 2), Matrix(given.count(), 2)};  // of equal rows a larger y has a larger α/w
    ties.kept << model.weights, model.dual_coefficients;
    ties.given << given.weight, given.y;
    return ties;
  });
  require(data.count() == model.dual_coefficients.size(),
          fmt::format("gp: the model keeps {} rows and there are {}", model.dual_coefficients.size(), data.count()));
  const gp::Setting setting{model.spec.kernel, model.spec.noise.value_or(model.noise)};
  const BoundKernel kernel(setting.kernel, data.points);
  const auto certificate = [&](const Vector& gradient) {
    return gp::certificate_of(model, setting, kernel, data, gradient, execution.part(0.1, 0.3));
  };
  Certificate out = certificate(Vector::Zero(model.hyperparameters.size()));  // the equations alone
  if (!out.holds()) return out;
  Comparison same;
  compare_given(same, model, setting, data);
  if (!same.finding()) {
    const bool few = data.count() <= gp::kMostByEigenvalues, with_gradient = few || model.lml_gradient.allFinite();
    const gp::Anew found =
        few ? gp::by_eigenvalues(setting, model.spec.mean, model.jitter, data, execution.part(0.3, 1))
            : gp::by_inverse(setting, model.spec.mean, model.jitter, data, with_gradient, execution.part(0.3, 1));
    if (model.spec.optimise) out = certificate(found.gradient);
    compare_likelihood(same, model, data, found);
  }
  if (out.holds() && same.finding()) same.report(out);
  return out;
}

}  // namespace lemma
