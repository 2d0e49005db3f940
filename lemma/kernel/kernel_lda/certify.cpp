// lemma/kernel/kernel_lda/certify.cpp: the equations of the discriminants in their dual form, with the kernel made anew.
#include <cmath>
#include <fmt/core.h>
#include <lemma/kernel/kernel_lda/parts.hpp>
#include <lemma/kernel/shared/kept_order.hpp>
#include <lemma/model/held_out.hpp>
#include <limits>

namespace lemma {
namespace kernel_lda {
namespace {
constexpr double kTolerance = 1e-8;
}

/// A function Σ cᵢ φ(xᵢ) is a column c; H = K V are the discriminants at the rows. S V has the coefficients
/// G = (w (H − class means) + λ V) / (n − K), so that VᵀSV = HᵀG, and M V = (coefficients of M)ᵀ H. With VᵀSV = I and
/// Mᵀ = S V (M V)ᵀ: B V = MᵀM V = S V (M V)ᵀ(M V) = S V diag ρ, and tr S⁻¹B = Σρ.
Certificate certificate_of(const KernelLdaModel& model, const BoundKernel& kernel, const KernelRows& data,
                           const Frame& frame, const Execution& execution) {
  const Matrix& v = model.dual_coefficients;
  const Index d = v.cols();
  const double lambda = *model.spec.lambda;
  const Vector rho = model.svd.cwiseAbs2();
  const Matrix h = kernel.expand_own(v, execution.part(0, 0.5));
  const Matrix of_means = frame.means.transpose() * h;
  const Matrix g = (data.weight.asDiagonal() * frame.within(data, h, of_means) + lambda * v) / frame.divisor();
  const Matrix mv = frame.between.transpose() * of_means;
  const double normalised = (h.transpose() * g - Matrix::Identity(d, d)).cwiseAbs().maxCoeff();
  const double diagonal = (mv.transpose() * mv - Matrix(rho.asDiagonal())).cwiseAbs().maxCoeff() / rho(0);
  const Matrix left = frame.means * frame.between - g * mv.transpose();
  const double squares = left.cwiseProduct(kernel.expand_own(left, execution.part(0.5, 1))).sum();
  // Coefficients that the kernel does not see (it has few features) need not be small: what they leave is rounding.
  const Vector own = kernel.diagonal().cwiseAbs().cwiseSqrt();
  const double rounding =
      4 * std::numeric_limits<double>::epsilon() * (own.transpose() * left.cwiseAbs()).squaredNorm();
  const double counted = std::abs(squares) <= rounding ? 0 : std::abs(squares) - rounding;
  const double outside = std::sqrt(counted * frame.divisor() / (lambda * rho(0)));

  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "residual of B v = rho S v";
  out.value = normalised + diagonal + outside;  // a sum: one NaN is enough
  out.tolerance = kTolerance;
  out.iterations = 1;
  out.stopped = "closed form";
  out.message = fmt::format(
      "B v = rho S v with v'S v = 1, and nothing between the classes is left out, to within {:.1e} (allowed {:.0e}), "
      "with "
      "the kernel's values made anew from the rows.{}",
      out.value, out.tolerance, out.holds() ? "" : " A larger lambda keeps more digits.");
  if (!model.spec.kernel.is_positive() && !check_gram(kernel, execution).is_positive())
    out.strength = Strength::stationary;
  return out;
}

}  // namespace kernel_lda

Certificate certify(const KernelLdaModel& model, const Rows& rows, const Execution& execution) {
  // Which of several rows with equal features has which coefficient does not matter: only their sum does.
  const KernelRows data = in_kept_order(model.spec.kernel, model.points,
                                        kernel_rows(KernelLda::name, model.spec.kernel, rows, execution.part(0, 0.1)));
  require(data.count() == model.dual_coefficients.rows(),
          fmt::format("kernel_lda: the model keeps {} rows and there are {}", model.dual_coefficients.rows(),
                      data.count()));
  const kernel_lda::Frame frame(model.spec, data, rows.classes);
  const BoundKernel kernel(model.spec.kernel, data.points);
  Certificate out = kernel_lda::certificate_of(model, kernel, data, frame, execution.part(0.1, 0.9));
  if (!out.holds()) return out;
  Comparison same;
  compare_rows(same, model.spec.kernel, model.points, model.places, data.points);
  const Matrix means = frame.means.transpose() * kernel.expand_own(model.dual_coefficients, execution.part(0.9, 1));
  const Vector offset = means.transpose() * frame.prior;
  const double size = means.cwiseAbs().maxCoeff();
  for (Index k = 0; k < model.class_count(); ++k) {
    same.entry("counts", k, model.counts(k), frame.counts(k), frame.counts.sum());
    same.entry("prior", k, model.prior(k), frame.prior(k), 1);
    for (Index d = 0; d < model.discriminants(); ++d)
      same.entry("means", k * model.discriminants() + d, model.means(k, d), means(k, d) - offset(d), size, 1e-8);
  }
  const double trace = model.svd.squaredNorm();
  for (Index d = 0; d < model.discriminants(); ++d) {
    same.entry("offset", d, model.offset(d), offset(d), std::abs(offset(d)) + 1e-6 * size, 1e-6);
    same.entry("proportion_of_trace", d, model.proportion_of_trace(d), model.svd(d) * model.svd(d) / trace, 1);
  }
  compare_choice(same, model, rows, execution);
  if (same.finding()) same.report(out);
  return out;
}

}  // namespace lemma
