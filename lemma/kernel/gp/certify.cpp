// lemma/kernel/gp/certify.cpp: the model held against the rows: the equations with the kernel made anew, the likelihood by
// eigenvalues, the gradient by differences of it.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/kernel/gp/parts.hpp>
#include <lemma/kernel/shared/kept_order.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/model/comparison.hpp>
#include <numbers>

namespace lemma {
namespace {

constexpr double kResidual = 1e-10;  // of the terms that cancel in y − m − Aα
constexpr double kFollows = 1e-7;

/// W^½ A W^½ = U (Λ + s²) Uᵀ: log p(y) and its gradient by another route than the Cholesky factor of the fit.
class ByEigenvalues {
 public:
  ByEigenvalues(const gp::Setting& setting, GpMean mean, double jitter, const KernelRows& data,
                const Execution& execution)
      : setting_(setting), data_(data), s2_(setting.noise + jitter), root_(data.weight.cwiseSqrt()) {
    Eigenpairs pairs = symmetric_eigen(upper_of(BoundKernel(setting.kernel, data.points), execution));
    u_ = std::move(pairs.vectors);
    values_ = pairs.values.array() + s2_;
    z_ = u_.transpose() * root_.cwiseProduct((data.y.array() - gp::mean_of(mean, data)).matrix());
  }

  bool is_positive() const { return values_.minCoeff() > 0; }
  /// log det A = Σ log values − Σ log w; of the copies −½ Σ (w − 1) log 2πs² − ½ Σ log w.
  double log_likelihood() const {
    if (!is_positive()) return -std::numeric_limits<double>::infinity();
    const double copies = (data_.weight.array() - 1).sum();
    return -0.5 * (z_.dot(z_.cwiseQuotient(values_)) + values_.array().log().sum() +
                   static_cast<double>(data_.count()) * std::log(2 * std::numbers::pi) +
                   (copies == 0 ? 0 : copies * std::log(2 * std::numbers::pi * s2_)));
  }
  /// ½ (αᵀ ∂A α − tr A⁻¹∂A), where ∂K is the central difference of the kernel's values: these have all their digits, which
  /// differences of log p(y) itself have not when A is ill conditioned.
  Vector gradient(const Execution& execution) const {
    const Vector theta = setting_.values();
    Vector out = Vector::Constant(theta.size(), GpModel::kNone);
    if (!is_positive()) return out;
    const Vector along = z_.cwiseQuotient(values_), alpha = u_ * along;
    const Matrix pull = alpha * alpha.transpose() -
                        multiply_transposed(Matrix(u_ * values_.cwiseInverse().asDiagonal()), u_, execution.part(1, 1));
    for (Index t = 0; t + 1 < theta.size(); ++t) {
      const Matrix change = difference(theta, t, execution);
      double sum = 0.5 * pull.diagonal().dot(change.diagonal());
      for (Index i = 0; i + 1 < change.rows(); ++i)
        sum += pull.row(i).tail(change.rows() - i - 1).dot(change.row(i).tail(change.rows() - i - 1));
      out(t) = sum;
    }
    const double copies = (data_.weight.array() - 1).sum();
    out(theta.size() - 1) =
        setting_.noise == 0
            ? 0
            : 0.5 * setting_.noise *
                  (along.squaredNorm() - values_.cwiseInverse().sum() - (copies == 0 ? 0 : copies / s2_));
    return out;
  }

 private:
  /// W^½ K W^½ in the upper triangle.
  Matrix upper_of(const BoundKernel& kernel, const Execution& execution) const {
    const Index n = data_.count();
    Matrix k = Matrix::Zero(n, n);
    kernel.gram_upper(k, execution);
    for (Index i = 0; i < n; ++i) k.row(i).tail(n - i).array() *= root_(i) * root_.tail(n - i).transpose().array();
    return k;
  }
  Matrix difference(const Vector& theta, Index t, const Execution& execution) const {
    constexpr double h = 2e-3;  // the error of these differences is about h⁴, and the rounding of k / h
    const auto at = [&](double step) {
      Vector moved = theta;
      moved(t) *= std::exp(step);
      return upper_of(BoundKernel(gp::with_values(setting_, moved).kernel, data_.points), execution);
    };
    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
  }

  const gp::Setting& setting_;
  const KernelRows& data_;
  double s2_;
  Vector root_;
  Matrix u_;
  Vector values_, z_;
};

/// log p(y) and its gradient, from the rows anew: by eigenvalues where these do not take too long.
struct Anew {
  double log_likelihood = GpModel::kNone;
  Vector gradient;
};
Anew anew(const GpModel& model, const gp::Setting& setting, const KernelRows& data, const Execution& execution) {
  Anew out;
  if (data.count() > gp::kMostByEigenvalues) {
    const gp::Likelihood likelihood(data, model.spec.mean, model.jitter, execution);
    const bool with_gradient = model.lml_gradient.allFinite();
    out.log_likelihood = likelihood.value(setting, with_gradient ? &out.gradient : nullptr);
    if (!with_gradient) out.gradient = model.lml_gradient;
    return out;
  }
  const ByEigenvalues again(setting, model.spec.mean, model.jitter, data, execution);
  return {again.log_likelihood(), again.gradient(execution)};
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

void compare_likelihood(Comparison& same, const GpModel& model, const KernelRows& data, const Anew& found) {
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
  return ByEigenvalues(setting, model.spec.mean, model.jitter, data, execution).gradient(execution);
}

/// An error E of A, of the rounding ε ‖A‖, moves α and A⁻¹ by ‖A⁻¹E‖ of themselves, and with them the two parts of an
/// entry, which at a maximum are equal and at most about n.
double accuracy_of_gradient(const GpModel& model, const BoundKernel& kernel, const KernelRows& data) {
  const double most = kernel.diagonal().cwiseAbs().dot(data.weight), least = model.noise + model.jitter;
  return std::numeric_limits<double>::epsilon() * (1 + most / least);
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
  const double accuracy = accuracy_of_gradient(model, kernel, data);
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
  check_rows(Gp::name, Gp::about, rows);
  require(rows.width() == model.width(),
          fmt::format("gp: the model has {} columns and the rows have {}", model.width(), rows.width()));
  model.check();
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
    const Anew found = anew(model, setting, data, execution.part(0.3, 1));
    if (model.spec.optimise) out = certificate(found.gradient);
    compare_likelihood(same, model, data, found);
  }
  if (out.holds() && same.finding()) same.report(out);
  return out;
}

}  // namespace lemma
