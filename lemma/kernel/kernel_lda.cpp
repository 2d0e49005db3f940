// lemma/kernel/kernel_lda.cpp: one factorisation of the kernel matrix centred by class, then K × K matrices.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/kernel/kernel_lda_parts.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/tiled_cholesky.hpp>

namespace lemma {
namespace {

constexpr double kLeastDiscriminant = 1e-8;  // beside the first; what is smaller is rounding of the means

}  // namespace

namespace kernel_lda {
namespace {

/// ΦΦᵀ + λI in the upper triangle: √wᵢ√wⱼ (k(xᵢ, xⱼ) − ⟨φᵢ, m_class j⟩ − ⟨φⱼ, m_class i⟩ + ⟨m_class i, m_class j⟩).
Matrix centred_by_class(const BoundKernel& kernel, const KernelRows& data, const Matrix& with_means,
                        const Matrix& of_means, double lambda, const Execution& execution) {
  const Index n = data.count();
  const Vector root = data.weight.cwiseSqrt();
  Matrix out(n, n);
  gram_upper(kernel, out, execution);
  parallel_for(n, Execution{execution.threads, execution.progress, 0, 1, {}}, [&](Index i) {
    const int of_i = data.label_of(i);
    for (Index j = i; j < n; ++j) {
      const int of_j = data.label_of(j);
      out(i, j) =
          root(i) * root(j) * ((out(i, j) - with_means(i, of_j)) - (with_means(j, of_i) - of_means(of_i, of_j)));
    }
  });
  out.diagonal().array() += lambda;
  return out;
}

[[noreturn]] void refuse(const BoundKernel& kernel, double lambda, const Execution& execution) {
  const GramCheck check = check_gram(kernel, execution);
  throw Error(fmt::format(
      "kernel_lda: with lambda {} the scatter within the classes is singular to working precision ({}): take a larger "
      "lambda{}",
      lambda, check.text(), check.is_positive() ? "" : ", or another kernel"));
}

/// Coefficients of (ΦᵀΦ + λI)⁻¹Mᵀ on the φ(xᵢ), a column for each class.
Matrix solve_within(const Frame& frame, const BoundKernel& kernel, const KernelRows& data, const Matrix& with_means,
                    const Matrix& of_means, double lambda, const Execution& execution) {
  Matrix a = centred_by_class(kernel, data, with_means, of_means, lambda, execution.part(0, 0.3, "kernel matrix"));
  if (!tiled_cholesky(a, execution.part(0.3, 1, "factorising"))) refuse(kernel, lambda, execution);
  const Vector root = data.weight.cwiseSqrt();
  Matrix x = root.asDiagonal() * frame.within(data, with_means * frame.between, of_means * frame.between);
  tiled_solve_upper_transposed(a, x, execution);
  tiled_solve_upper(a, x, execution);
  x = root.asDiagonal() * x;
  Matrix sums = Matrix::Zero(frame.counts.size(), x.cols());  // Φᵀx: what a row gives, its class's mean takes
  for (Index i = 0; i < x.rows(); ++i) sums.row(data.label_of(i)) += x.row(i);
  return (frame.means * (frame.between + sums) - x) / lambda;
}

}  // namespace

Frame::Frame(const KernelLda& spec, const KernelRows& data, const std::vector<std::string>& classes)
    : counts(class_counts(KernelLda::name, data, classes)), prior(prior_of(spec.prior, counts)) {
  const Index k = counts.size();
  means = Matrix::Zero(data.count(), k);
  for (Index i = 0; i < data.count(); ++i) means(i, data.label_of(i)) = data.weight(i) / counts(data.label_of(i));
  const Vector size = (counts.sum() * prior / static_cast<double>(k - 1)).cwiseSqrt();
  between = (Matrix::Identity(k, k) - prior * Vector::Ones(k).transpose()) * size.asDiagonal();
}

Matrix Frame::within(const KernelRows& data, Matrix values, const Matrix& of_means) const {
  for (Index i = 0; i < values.rows(); ++i) values.row(i) -= of_means.row(data.label_of(i));
  return values;
}

}  // namespace kernel_lda

KernelLdaModel fit(const Valid<KernelLda>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  check_prior(KernelLda::name, spec->prior, rows.classes);
  require_memory(KernelLda::name, rows.count(), spec->memory);
  const KernelRows data = kernel_rows(KernelLda::name, spec->kernel, rows, execution);
  KernelLdaModel model;
  model.spec = *spec;
  model.spec.kernel = spec->kernel.resolved(data.points, data.weights());
  const kernel_lda::Frame frame(model.spec, data, rows.classes);
  require(frame.divisor() > 0, fmt::format("kernel_lda: {:g} rows in {} classes leave nothing to learn the covariance "
                                           "from; there must be more rows than classes",
                                           frame.counts.sum(), frame.counts.size()));
  const BoundKernel kernel(model.spec.kernel, data.points);
  if (!model.spec.kernel.is_positive())
    if (const GramCheck check = check_gram(kernel, execution); !check.is_positive())
      model.warnings.push_back(
          fmt::format("the matrix of {} is not positive semidefinite ({}): these are no distances in any space",
                      model.spec.kernel.text(), check.text()));

  const Matrix with_means = kernel.expand_own(frame.means, execution.part(0, 0.1));  // ⟨φ(xᵢ), m_k⟩
  const Matrix of_means = frame.means.transpose() * with_means;
  const double apart = (frame.between.transpose() * of_means * frame.between).trace();
  if (!(apart > 1e-13 * frame.counts.sum() * kernel.diagonal().cwiseAbs().maxCoeff())) {
    if (!model.warnings.empty()) kernel_lda::refuse(kernel, spec->lambda, execution);
    throw Error("kernel_lda: the class means are equal, so there is no direction that tells the classes apart");
  }
  const Matrix solved =
      kernel_lda::solve_within(frame, kernel, data, with_means, of_means, spec->lambda, execution.part(0.1, 0.9));
  const Matrix ratio = frame.divisor() * (with_means * frame.between).transpose() * solved;  // M S⁻¹ Mᵀ
  const Eigenpairs pairs = symmetric_eigen(Matrix(0.5 * (ratio + ratio.transpose())));
  Index rank = 0;
  while (rank < frame.counts.size() - 1 && pairs.values(rank) > 0 &&
         std::sqrt(pairs.values(rank)) > kLeastDiscriminant * std::sqrt(pairs.values(0)))
    ++rank;
  require(rank > 0 && solved.allFinite(),
          "kernel_lda: no direction tells the classes apart beyond rounding; take a larger lambda");

  model.svd = pairs.values.head(rank).cwiseSqrt();
  model.proportion_of_trace = pairs.values.head(rank) / pairs.values.head(rank).sum();
  model.dual_coefficients =
      frame.divisor() * solved * pairs.vectors.leftCols(rank) * model.svd.cwiseInverse().asDiagonal();
  Matrix means = with_means.transpose() * model.dual_coefficients;
  means.rowwise() -= (frame.prior.transpose() * means).eval();
  Matrix turned = means;
  turn_columns(turned);
  for (Index d = 0; d < rank; ++d)
    if (turned.col(d).dot(means.col(d)) < 0) model.dual_coefficients.col(d) *= -1;
  means = with_means.transpose() * model.dual_coefficients;
  model.offset = means.transpose() * frame.prior;
  model.means = means.rowwise() - model.offset.transpose();
  model.prior = frame.prior;
  model.counts = frame.counts;
  model.points = KeptRows::of(model.spec.kernel, data.points);
  model.places = kept_places(model.spec.kernel, data.points);
  model.certificate = kernel_lda::certificate_of(model, kernel, data, frame, execution.part(0.9, 1));
  return model;
}

}  // namespace lemma
