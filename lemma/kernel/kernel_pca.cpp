// lemma/kernel/kernel_pca.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/kernel/kernel_pca.hpp>
#include <lemma/kernel/shared/kept_order.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/left_out.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/math/partial_eigen.hpp>
#include <lemma/model/column_sizes.hpp>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-8;
constexpr double kCarries = 1e-10;  // beside the largest eigenvalue; what is smaller is rounding of the kernel
constexpr Index kMostPreimageSteps = 500;

/// K of all rows, and of each row its weighted mean, and the mean of these.
struct CentredKernel {
  Matrix gram;  // W^½ K̃ W^½
  Vector means;
  double mean = 0;
};

CentredKernel centred_kernel(const BoundKernel& kernel, const Vector& weight, const Execution& execution) {
  CentredKernel out;
  out.gram = kernel.gram(execution.part(0, 0.8, "kernel matrix"));
  const Index n = out.gram.rows();
  const double mass = weight.sum();
  out.means.resize(n);
  parallel_for(n, execution.part(0.8, 0.9), [&](Index i) {
    double sum = 0;
    for (Index j = 0; j < n; ++j) sum += weight(j) * out.gram(i, j);
    out.means(i) = sum / mass;
  });
  out.mean = weight.dot(out.means) / mass;
  const Vector root = weight.cwiseSqrt();
  parallel_for(n, execution.part(0.9, 1), [&](Index i) {
    for (Index j = 0; j < n; ++j)
      out.gram(i, j) = root(i) * root(j) * ((out.gram(i, j) - out.means(i)) - (out.means(j) - out.mean));
  });
  return out;
}

struct Axes {
  Vector values;
  Matrix vectors;
};

/// As many as are asked for, or as reach the share asked for; those that carry nothing are left out.
Axes axes_of(const KernelPca& spec, const Matrix& gram, double total, const Execution& execution) {
  const Index n = gram.rows();
  const Index asked = spec.components < 1 ? n : std::min(n, static_cast<Index>(spec.components));
  Axes out;
  if (spec.components < 1) {
    Eigenpairs all = symmetric_eigen(gram);
    out = {std::move(all.values), std::move(all.vectors)};
  } else {
    PartialEigen some = largest_eigen(gram, asked, execution);
    out = {std::move(some.values), std::move(some.vectors)};
  }
  Index kept = 0;
  double reached = 0;
  while (kept < asked && out.values(kept) > kCarries * out.values(0) && out.values(kept) > 0) {
    reached += out.values(kept++);
    if (spec.components < 1 && reached >= spec.components * total) break;
  }
  return {out.values.head(kept), out.vectors.leftCols(kept)};
}

Certificate certificate_of(const KernelPcaModel& model, const CentredKernel& centred, const Vector& weight,
                           Comparison& same, const Execution& execution) {
  const Index kept = model.components();
  const Vector root = weight.cwiseSqrt();
  const Matrix vectors =
      root.cwiseInverse().asDiagonal() * model.dual_coefficients * model.eigenvalues.cwiseSqrt().asDiagonal();
  const Matrix left = multiply(centred.gram, vectors, execution) - vectors * model.eigenvalues.asDiagonal();
  const double first = model.eigenvalues(0);
  const double worst = std::max(left.colwise().norm().maxCoeff() / first,
                                (vectors.transpose() * vectors - Matrix::Identity(kept, kept)).cwiseAbs().maxCoeff());
  const bool complete = nothing_above(centred.gram, model.eigenvalues, vectors,
                                      model.eigenvalues(kept - 1) + kTolerance * first, execution);
  const double total = centred.gram.trace();
  same.relative("total", model.total, total, kTolerance);
  for (Index i = 0; i < weight.size(); ++i) same.entry("weights", i, model.weights(i), weight(i), weight(i));
  for (Index k = 0; k < kept; ++k) {
    same.entry("explained", k, model.explained(k), model.eigenvalues(k) / total, 1, kTolerance);
    same.entry("offset", k, model.offset(k), model.dual_coefficients.col(k).dot(centred.means),
               std::sqrt(first) + model.dual_coefficients.col(k).cwiseAbs().dot(centred.means.cwiseAbs()), kTolerance);
  }
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "residual of the eigenvectors";
  out.value = complete ? worst : 1;
  out.tolerance = kTolerance;
  out.iterations = 1;
  out.stopped = "closed form";
  out.message = complete
                    ? fmt::format(
                          "The components are eigenvectors of the centred kernel matrix to {:.1e} of the largest "
                          "eigenvalue (allowed {:.0e}), and no larger eigenvalue is left out.",
                          worst, out.tolerance)
                    : std::string("The centred kernel matrix has an eigenvalue that is larger than one that is kept.");
  return out;
}

void report(const Comparison& same, Certificate& certificate) {
  if (!same.finding()) return;
  same.report(certificate);
  certificate.message =
      fmt::format("What the model tells is not what the rows give: {}'{}' is off by {:.1e} (allowed {:.0e}).",
                  same.finding()->place, same.finding()->field, same.finding()->value, same.finding()->tolerance);
}

}  // namespace

void KernelPca::check() const {
  if (components >= 1 && components != std::floor(components))
    throw Error(fmt::format("kernel_pca: components is {}, must be a whole number, or a share of the variance below 1",
                            components));
}

void KernelPcaModel::check() const {
  const Index k = components();
  require(k > 0 && explained.size() == k && dual_coefficients.cols() == k && offset.size() == k &&
              eigenvalues.allFinite() && explained.allFinite() && dual_coefficients.allFinite() && offset.allFinite(),
          "kernel_pca: eigenvalues and coefficients do not fit together");
  for (Index j = 0; j < k; ++j)
    require(eigenvalues(j) > 0 && (j == 0 || eigenvalues(j) <= eigenvalues(j - 1)),
            "kernel_pca: the eigenvalues do not fall, or one is not above 0");
  require(spec.components < 1 || k == static_cast<Index>(spec.components),
          "kernel_pca: there are not as many components as told");
  require(std::isfinite(total) && total > 0, "kernel_pca: the total is not usable");
  require(weights.size() == dual_coefficients.rows() && weights.allFinite() && (weights.array() > 0).all(),
          "kernel_pca: the weights are not usable");
  points.check(KernelPca::name, spec.kernel, dual_coefficients.rows());
  check_places(KernelPca::name, spec.kernel, places, points.width, dual_coefficients.rows());
}

Matrix KernelPcaModel::transform(const MatrixView& x) const {
  require_width(*this, x.cols());
  const BoundKernel kernel(spec.kernel, points.points(spec.kernel, places.of));
  Matrix z = kernel.expand(x, dual_coefficients);
  for (Index i = 0; i < z.rows(); ++i)
    for (Index k = 0; k < components(); ++k) z(i, k) -= offset(k);
  return z;
}

bool KernelPcaModel::has_preimages() const {
  const Rbf* rbf = spec.kernel.get<Rbf>();
  return rbf && rbf->rate() && !points.sparse;
}

Matrix KernelPcaModel::preimages(const MatrixView& z) const {
  if (!has_preimages())
    throw Error(fmt::format(
        "kernel_pca: pre-images are known of a Gaussian kernel with one width (rbf) on dense rows, not of {}",
        spec.kernel.text()));
  if (z.cols() != components())
    throw Error(fmt::format("kernel_pca has {} components and is given {} columns of scores", components(), z.cols()));
  const Matrix& rows = points.dense;
  const Matrix scores = transform(rows);
  const double gamma = *spec.kernel.get<Rbf>()->rate(), mass = weights.sum();
  Matrix out(z.rows(), rows.cols());
  Vector weight(rows.rows());  // γ of the rows
  for (Index i = 0; i < z.rows(); ++i) {
    Index nearest = 0;
    for (Index j = 0; j < rows.rows(); ++j) {
      weight(j) = weights(j) / mass;
      for (Index k = 0; k < components(); ++k) weight(j) += z(i, k) * dual_coefficients(j, k);
      if ((scores.row(j) - z.row(i)).squaredNorm() < (scores.row(nearest) - z.row(i)).squaredNorm()) nearest = j;
    }
    Vector x = rows.row(nearest);
    for (Index step = 0; step < kMostPreimageSteps; ++step) {
      double sum = 0;
      Vector next = Vector::Zero(x.size());
      for (Index j = 0; j < rows.rows(); ++j) {
        const double w = weight(j) * std::exp(-gamma * (rows.row(j).transpose() - x).squaredNorm());
        sum += w;
        next += w * rows.row(j).transpose();
      }
      if (!(sum > 1e-12)) break;  // nothing near pulls: the place found so far stands
      next /= sum;
      const double moved = (next - x).norm(), size = next.norm() + 1 / std::sqrt(gamma);
      x = next;
      if (moved <= 1e-12 * size) break;
    }
    out.row(i) = x;
  }
  return out;
}

Matrix KernelPcaModel::inverse(const MatrixView& z) const {
  if (!has_preimages())
    throw Error(
        fmt::format("kernel_pca has no inverse here: pre-images are known of a Gaussian kernel with one width (rbf) on "
                    "dense rows, not of {}",
                    spec.kernel.text()));
  return preimages(z);
}

std::vector<std::string> KernelPcaModel::output_names(const std::vector<std::string>&) const {
  std::vector<std::string> names;
  for (Index k = 1; k <= components(); ++k) names.push_back(fmt::format("KPC{}", k));
  return names;
}

std::string KernelPcaModel::summary(const Names&) const {
  constexpr Index kMost = 10;
  const Index shown = std::min(components(), kMost);
  std::vector<std::string> names, share, sum;
  std::vector<double> values;
  for (Index k = 0; k < shown; ++k) {
    names.push_back(fmt::format("KPC{}", k + 1));
    values.push_back(eigenvalues(k));
    share.push_back(format_fixed(explained(k), 4));
    sum.push_back(format_fixed(explained.head(k + 1).sum(), 4));
  }
  std::string text = fmt::format("Kernel: {}\n\n", spec.kernel.text());
  text += TextTable()
              .words("", names)
              .numbers("eigenvalue", values)
              .right("proportion", share)
              .right("cumulative", sum)
              .str();
  if (shown < components()) text += fmt::format("… and {} more components\n", components() - shown);
  return text;
}

KernelPcaModel fit(const Valid<KernelPca>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  require_memory(KernelPca::name, rows.count(), spec->gigabytes);
  scan(rows, ColumnSizes(rows.width()), execution.part(0, 0)).require_usable(KernelPca::name, rows);
  const KernelRows data = kernel_rows(KernelPca::name, spec->kernel, rows, execution.part(0, 0.05));
  require(data.count() >= 2, "kernel_pca: there must be at least 2 rows to have a variance");
  KernelPcaModel model;
  model.spec = *spec;
  model.spec.kernel = spec->kernel.resolved(data.points, data.weights());
  const BoundKernel kernel(model.spec.kernel, data.points);
  const CentredKernel centred = centred_kernel(kernel, data.weight, execution.part(0.05, 0.4));
  model.total = centred.gram.trace();
  if (!(model.total > 1e-14 * data.weight.dot(kernel.diagonal().cwiseAbs())))
    throw Error("kernel_pca: the features of all rows are equal: there is no variance to explain");
  execution.report(0.4, "eigenvalues");
  const Axes axes = axes_of(*spec, centred.gram, model.total, execution.part(0.4, 0.9));
  const Index kept = axes.values.size();
  require(kept > 0, "kernel_pca: the kernel matrix has no positive eigenvalue; take another kernel");
  if (spec->components >= 1 && kept < static_cast<Index>(spec->components)) {
    model.warnings.push_back(fmt::format("{} of {} components carry nothing beyond rounding and are left out",
                                         static_cast<Index>(spec->components) - kept,
                                         static_cast<Index>(spec->components)));
    model.spec.components = static_cast<double>(kept);
  }
  if (!model.spec.kernel.is_positive())
    if (const GramCheck check = check_gram(kernel, execution.part(0, 0)); !check.is_positive())
      model.warnings.push_back(
          fmt::format("the matrix of {} is not positive semidefinite ({}): its eigenvalues are no variances",
                      model.spec.kernel.text(), check.text()));
  model.eigenvalues = axes.values;
  model.explained = axes.values / model.total;
  model.weights = data.weight;
  // Scores and not coefficients are turned so that the largest in size is positive.
  Matrix scores = data.weight.cwiseSqrt().cwiseInverse().asDiagonal() * axes.vectors, turned = scores;
  turn_columns(turned);
  model.dual_coefficients =
      data.weight.cwiseSqrt().asDiagonal() * axes.vectors * axes.values.cwiseSqrt().cwiseInverse().asDiagonal();
  for (Index k = 0; k < kept; ++k)
    if (scores.col(k).dot(turned.col(k)) < 0) model.dual_coefficients.col(k) *= -1;
  model.offset = model.dual_coefficients.transpose() * centred.means;
  model.points = KeptRows::of(model.spec.kernel, data.points);
  model.places = kept_places(model.spec.kernel, data.points);
  Comparison same;
  model.certificate = certificate_of(model, centred, data.weight, same, execution.part(1, 1));
  return model;
}

Certificate certify(const KernelPcaModel& model, const Rows& rows, const Execution& execution) {
  KernelRows data = kernel_rows(KernelPca::name, model.spec.kernel, rows, execution.part(0, 0.1));
  if (data.count() != model.dual_coefficients.rows())
    throw Error(fmt::format("kernel_pca: the model was fitted on {} and is given {}",
                            count_of(model.dual_coefficients.rows(), "row"), count_of(data.count(), "row")));
  const Matrix kept = model.weights, given = data.weight;
  data = in_kept_order(model.spec.kernel, model.points, std::move(data), [&] { return Ties{kept, given}; });
  Comparison same;
  compare_rows(same, model.spec.kernel, model.points, model.places, data.points);
  const BoundKernel kernel(model.spec.kernel, data.points);
  const CentredKernel centred = centred_kernel(kernel, data.weight, execution.part(0.1, 0.7));
  Certificate out = certificate_of(model, centred, data.weight, same, execution.part(1, 1));
  report(same, out);
  return out;
}

template const Method& method_of<KernelPca>();

}  // namespace lemma
