// lemma/kernel/gp_certify.cpp: the model held against the rows: the equations with the kernel made anew, the likelihood by
// eigenvalues, the gradient by differences of it.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/kernel/gp_parts.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/model/comparison.hpp>
#include <numbers>

namespace lemma {
namespace {

constexpr double kResidual = 1e-10;  // of the terms that cancel in y − m − Aα
constexpr Index kMostByEigenvalues = 600;
constexpr double kFollows = 1e-7;

/// log p(y) by the eigenvalues of W^½ A W^½.
double by_eigenvalues(const gp::Setting& setting, GpMean mean, double jitter, const KernelRows& data,
                      const Execution& execution) {
  const Index n = data.count();
  const BoundKernel kernel(setting.kernel, data.points);
  Matrix k(n, n);
  kernel.gram_upper(k, execution);
  const Vector root = data.weight.cwiseSqrt();
  for (Index i = 0; i < n; ++i) k.row(i).tail(n - i).array() *= root(i) * root.tail(n - i).transpose().array();
  const Eigenpairs pairs = symmetric_eigen(k);
  const double s2 = setting.noise + jitter;
  const Vector values = pairs.values.array() + s2;
  if (!(values.minCoeff() > 0)) return -std::numeric_limits<double>::infinity();
  const double centre = gp::mean_of(mean, data);
  const Vector z = pairs.vectors.transpose() * root.cwiseProduct((data.y.array() - centre).matrix());
  // log det A = Σ log values − Σ log w; of the copies −½ Σ (w − 1) log 2πs² − ½ Σ log w
  const double copies = (data.weight.array() - 1).sum();
  return -0.5 * (z.dot(z.cwiseQuotient(values)) + values.array().log().sum() +
                 static_cast<double>(n) * std::log(2 * std::numbers::pi) +
                 (copies == 0 ? 0 : copies * std::log(2 * std::numbers::pi * s2)));
}

/// The gradient by central differences, or by the fit's own formula where eigenvalues would take too long.
Vector gradient_again(const GpModel& model, const gp::Setting& setting, const KernelRows& data,
                      const Execution& execution) {
  if (data.count() > kMostByEigenvalues) {
    Vector gradient;
    gp::Likelihood(data, model.spec.mean, model.jitter, execution).value(setting, &gradient);
    return gradient;
  }
  const Vector values = setting.values();
  Vector out = Vector::Zero(values.size());
  constexpr double h = 2e-3;  // the error of these differences is about h⁴, and the rounding of log p / h
  for (Index t = 0; t < values.size(); ++t) {
    if (values(t) == 0) continue;
    const auto at = [&](double step) {
      Vector moved = values;
      moved(t) *= std::exp(step);
      return by_eigenvalues(gp::with_values(setting, moved), model.spec.mean, model.jitter, data, execution);
    };
    out(t) = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
  }
  return out;
}

/// What the model repeats of its spec and its rows.
void compare_given(Comparison& same, const GpModel& model, const gp::Setting& setting, const KernelRows& data) {
  compare_rows(same, model.spec.kernel, model.points, model.places, data.points);
  const Vector values = setting.values();
  for (Index t = 0; t < values.size(); ++t) same.entry("hyperparameters", t, model.hyperparameters(t), values(t), 0);
  same.relative("noise", model.noise, setting.noise, 0);
  same.number("mean", model.mean, gp::mean_of(model.spec.mean, data), data.y.cwiseAbs().mean());
  for (Index i = 0; i < data.count(); ++i) same.entry("weights", i, model.weights(i), data.weight(i), 0);
}

void compare_likelihood(Comparison& same, const GpModel& model, const gp::Setting& setting, const KernelRows& data,
                        const Vector& gradient, const Execution& execution) {
  const auto n = static_cast<double>(data.count());
  const double lml = data.count() <= kMostByEigenvalues
                         ? by_eigenvalues(setting, model.spec.mean, model.jitter, data, execution)
                         : gp::Likelihood(data, model.spec.mean, model.jitter, execution).value(setting);
  same.number("log_marginal_likelihood", model.log_marginal_likelihood, lml, std::abs(lml) + n, kFollows);
  if (model.lml_gradient.allFinite())
    for (Index t = 0; t < gradient.size(); ++t)
      same.entry("lml_gradient", t, model.lml_gradient(t), gradient(t), std::abs(gradient(t)) + 0.03 * n, 1e-4);
}

}  // namespace

namespace gp {

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
  out.message = fmt::format(
      "(K + noise)α = y − mean up to {:.1e} of its terms (allowed {:.0e}), and the log marginal likelihood changes "
      "with "
      "no hyperparameter by more than {:.1e} for each row (allowed {:.0e}).",
      residual, kResidual, slope, gp::kFlat);
  return out;
}

}  // namespace gp

Certificate certify(const GpModel& model, const Rows& rows, const Execution& execution) {
  check_rows(Gp::name, Gp::about, rows);
  require(rows.width() == model.width(),
          fmt::format("gp: the model has {} columns and the rows have {}", model.width(), rows.width()));
  model.check();
  const KernelRows data = kernel_rows(Gp::name, model.spec.kernel, rows, execution.part(0, 0.1));
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
    Vector gradient = model.lml_gradient;
    if (gradient.allFinite()) gradient = gradient_again(model, setting, data, execution.part(0.3, 0.9));
    if (model.spec.optimise) out = certificate(gradient);
    compare_likelihood(same, model, setting, data, gradient, execution.part(0.9, 1));
  }
  if (out.holds() && same.finding()) same.report(out);
  return out;
}

}  // namespace lemma
