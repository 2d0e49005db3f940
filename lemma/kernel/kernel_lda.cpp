// lemma/kernel/kernel_lda.cpp: one factorisation of the kernel matrix centred by class, then K × K matrices; where λ is too
// small for that, its eigenvectors.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/kernel/kernel_lda/parts.hpp>
#include <lemma/kernel/shared/held_out_lambdas.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/math/svd.hpp>
#include <lemma/math/tiled_cholesky.hpp>
#include <lemma/model/held_out.hpp>
#include <limits>

namespace lemma {
namespace kernel_lda {
namespace {

constexpr double kLeastDiscriminant = 1e-8;  // beside the first; what is smaller is rounding of the means

/// ΦΦᵀ + λI in the upper triangle: √wᵢ√wⱼ (k(xᵢ, xⱼ) − ⟨φᵢ, m_class j⟩ − ⟨φⱼ, m_class i⟩ + ⟨m_class i, m_class j⟩).
Matrix centred_by_class(const BoundKernel& kernel, const KernelRows& data, const Matrix& with_means,
                        const Matrix& of_means, double lambda, const Execution& execution) {
  const Index n = data.count();
  const Vector root = data.weight.cwiseSqrt();
  Matrix out(n, n);
  kernel.gram_upper(out, execution);
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

/// Coefficients of the v on the φ(xᵢ), a column each, and √ρ.
struct Discriminants {
  Matrix coefficients;
  Vector svd;
};

Index rank_of(const Vector& descending, Index classes) {
  Index rank = 0;
  while (rank < std::min(classes - 1, descending.size()) && descending(rank) > kLeastDiscriminant * descending(0))
    ++rank;
  require(rank > 0, "kernel_lda: no direction tells the classes apart beyond rounding; take a larger lambda");
  return rank;
}

Discriminants by_cholesky(const Frame& frame, const BoundKernel& kernel, const KernelRows& data,
                          const Matrix& with_means, const Matrix& of_means, double lambda, const Execution& execution) {
  Matrix a = centred_by_class(kernel, data, with_means, of_means, lambda, execution.part(0, 0.3, "kernel matrix"));
  if (!tiled_cholesky(a, execution.part(0.3, 1, "factorising"))) refuse(kernel, lambda, execution);
  const Vector root = data.weight.cwiseSqrt();
  Matrix x = root.asDiagonal() * frame.within(data, with_means * frame.between, of_means * frame.between);
  tiled_solve_upper_transposed(a, x, execution);
  tiled_solve_upper(a, x, execution);
  x = root.asDiagonal() * x;
  Matrix sums = Matrix::Zero(frame.counts.size(), x.cols());  // Φᵀx: what a row gives, its class's mean takes
  for (Index i = 0; i < x.rows(); ++i) sums.row(data.label_of(i)) += x.row(i);
  const Matrix solved = frame.divisor() / lambda * (frame.means * (frame.between + sums) - x);  // S⁻¹Mᵀ
  const Matrix ratio = (with_means * frame.between).transpose() * solved;                       // M S⁻¹ Mᵀ
  const Eigenpairs pairs = symmetric_eigen(Matrix(0.5 * (ratio + ratio.transpose())));
  const Vector svd = pairs.values.cwiseMax(0).cwiseSqrt();
  const Index rank = rank_of(svd, frame.counts.size());
  return {solved * pairs.vectors.leftCols(rank) * svd.head(rank).cwiseInverse().asDiagonal(), svd.head(rank)};
}

/// `lda` in the coordinates of the rows along the axes of their own space, W^½KW^½ = U Λ Uᵀ: z = w^−½ u Λ^½, as many as K has
/// rank. About 30 times the work, but where λ is small no large coefficients cancel that the kernel does not see.
Discriminants by_eigenvectors(const Frame& frame, const BoundKernel& kernel, const KernelRows& data, double lambda,
                              const Execution& execution) {
  const Index n = data.count();
  const Vector root = data.weight.cwiseSqrt();
  Matrix k(n, n);
  kernel.gram_upper(k, execution.part(0, 0.1, "kernel matrix"));
  for (Index i = 0; i < n; ++i) k.row(i).tail(n - i).array() *= root(i) * root.tail(n - i).transpose().array();
  execution.report(0.1, "eigenvalues of the kernel matrix");
  const Eigenpairs pairs = symmetric_eigen(k);
  const double noise = static_cast<double>(n) * std::numeric_limits<double>::epsilon() * pairs.values(0);
  const Index rank = (pairs.values.array() > noise).count();
  const Matrix u = pairs.vectors.leftCols(rank);
  const Vector length = pairs.values.head(rank).cwiseSqrt();
  const Matrix z = root.cwiseInverse().asDiagonal() * u * length.asDiagonal();
  const Matrix means = frame.means.transpose() * z;
  Matrix scatter = gram(Matrix(root.asDiagonal() * frame.within(data, z, means)), execution.part(0.9, 0.95));
  scatter.diagonal().array() += lambda;
  const auto triangle = cholesky(scatter);
  if (!triangle) refuse(kernel, lambda, execution);
  const double size = std::sqrt(frame.divisor());
  const Svd svd = thin_svd(divide_by_upper(frame.between.transpose() * means, *triangle));
  const Index count = rank_of(svd.s, frame.counts.size());
  const Matrix v = solve_upper(*triangle, size * svd.v.leftCols(count));
  return {root.asDiagonal() * (u * (length.cwiseInverse().asDiagonal() * v)), size * svd.s.head(count)};
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

void place_means(KernelLdaModel& model, const Matrix& with_means) {
  const auto along = [&]() -> Matrix { return with_means.transpose() * model.dual_coefficients; };
  Matrix means = along();
  means.rowwise() -= (model.prior.transpose() * means).eval();
  Matrix turned = means;
  turn_columns(turned);
  for (Index d = 0; d < means.cols(); ++d)
    if (turned.col(d).dot(means.col(d)) < 0) model.dual_coefficients.col(d) *= -1;
  means = along();
  model.offset = means.transpose() * model.prior;
  model.means = means.rowwise() - model.offset.transpose();
}

Matrix Frame::within(const KernelRows& data, Matrix values, const Matrix& of_means) const {
  for (Index i = 0; i < values.rows(); ++i) values.row(i) -= of_means.row(data.label_of(i));
  return values;
}

}  // namespace kernel_lda

KernelLdaModel fit(const Valid<KernelLda>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  check_prior(KernelLda::name, spec->prior, rows.classes);
  require_memory(KernelLda::name, rows.count(), spec->gigabytes);
  const KernelRows data = kernel_rows(KernelLda::name, spec->kernel, rows, execution);
  KernelLdaModel model;
  model.spec = *spec;
  model.spec.kernel = spec->kernel.resolved(data.points, data.weights());
  if (!spec->lambda)
    return fit_with_chosen(model.spec, held_out_lambdas(KernelLda::name, model.spec.kernel, data), rows, options);
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
    if (!model.warnings.empty()) kernel_lda::refuse(kernel, *spec->lambda, execution);
    throw Error("kernel_lda: the class means are equal, so there is no direction that tells the classes apart");
  }
  model.prior = frame.prior;
  model.counts = frame.counts;
  model.points = KeptRows::of(model.spec.kernel, data.points);
  model.places = kept_places(model.spec.kernel, data.points);
  const auto take = [&](const kernel_lda::Discriminants& found, const Execution& part) {
    require(found.coefficients.allFinite(), "kernel_lda: a coefficient is beyond the range of numbers");
    model.svd = found.svd;
    model.proportion_of_trace = found.svd.cwiseAbs2() / found.svd.squaredNorm();
    model.dual_coefficients = found.coefficients;
    kernel_lda::place_means(model, with_means);
    model.certificate = kernel_lda::certificate_of(model, kernel, data, frame, part);
  };
  take(kernel_lda::by_cholesky(frame, kernel, data, with_means, of_means, *spec->lambda, execution.part(0.1, 0.4)),
       execution.part(0.4, 0.5));
  if (!model.certificate.holds() && data.count() <= KernelLdaModel::kMostEigen)
    take(kernel_lda::by_eigenvectors(frame, kernel, data, *spec->lambda, execution.part(0.5, 0.9)),
         execution.part(0.9, 1));
  return model;
}

template const Method& method_of<KernelLda>();

}  // namespace lemma
