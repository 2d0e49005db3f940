// lemma/kernel/gp/model.cpp: what a fitted process says of rows, and of itself.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/geometry/kernel/shown.hpp>
#include <lemma/kernel/gp/parts.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/math/tiled_cholesky.hpp>

namespace lemma {
namespace {

constexpr Index kRows = 256;  // new rows that are looked at together

const Matrix& factor_of(const GpModel& model, const BoundKernel& kernel) {
  return model.factor->get([&] {
    if (model.spec.kernel.get<Precomputed>())
      throw Error("gp: with a precomputed kernel a loaded model knows its mean alone: it keeps no kernel matrix");
    auto r = gp::factorise(kernel, model.weights, model.noise + model.jitter, {});
    if (!r) throw Error("gp: the matrix of the kept rows cannot be factorised");
    return std::move(*r);
  });
}

BoundKernel kernel_of(const GpModel& model) {
  return {model.spec.kernel, model.points.points(model.spec.kernel, model.places.of)};
}

void require_width(const GpModel& model, const MatrixView& x) { require_width(model, x.cols()); }

/// k(x, xⱼ) for some rows, and the same times R⁻¹: their squares are what the rows of the fit explain.
Matrix explained(const BoundKernel& kernel, const Matrix& r, const MatrixView& x) {
  Matrix block(x.rows(), kernel.count());
  kernel.cross_block(x, 0, block);
  RightTriangle(r).divide(block);
  return block;
}

}  // namespace

std::vector<std::string> gp::names_of(const Kernel& kernel) {
  std::vector<std::string> out;
  for (const auto& each : lemma::hyperparameters(kernel)) out.push_back(each.name);
  out.emplace_back("noise");
  return out;
}

void GpModel::check() const {
  const Index n = dual_coefficients.size();
  points.check(Gp::name, spec.kernel, n);
  check_places(Gp::name, spec.kernel, places, points.width, n);
  require(n > 0 && dual_coefficients.allFinite(), "gp: a dual coefficient is not usable");
  require(weights.size() == n && weights.allFinite() && (weights.array() > 0).all(), "gp: a weight is not usable");
  require(noise >= 0 && jitter >= 0 && std::isfinite(noise) && std::isfinite(jitter), "gp: the noise is not usable");
  require(std::isfinite(mean) && (spec.mean == GpMean::constant || mean == 0), "gp: the mean is not usable");
  const auto count = static_cast<Index>(lemma::hyperparameters(spec.kernel).size()) + 1;
  require(hyperparameters.size() == count && lml_gradient.size() == count && hyperparameters.allFinite(),
          "gp: the hyperparameters do not fit the kernel");
  require(hyperparameter_names.empty() || hyperparameter_names == gp::names_of(spec.kernel),
          "gp: the names of the hyperparameters do not fit the kernel");
  const auto of_one_length = [](const Kernel& part) {
    const auto* rbf = part.get<Rbf>();
    const auto* matern = part.get<Matern>();
    return (rbf && rbf->lengths.empty() && rbf->metric.size() == 0) || (matern && matern->lengths.empty());
  };
  require(!spec.ard || !spec.kernel.any_of(of_one_length), "gp: there is no length for each feature, as ard says");
  require(lml_gradient.allFinite() || lml_gradient.array().isNaN().all(), "gp: the gradient is not usable");
}

Vector GpModel::predict(const MatrixView& x) const {
  require_width(*this, x);
  return kernel_of(*this).expand(x, Matrix(dual_coefficients)).col(0).array() + mean;
}

GpModel::Posterior GpModel::posterior(const MatrixView& x) const {
  require_width(*this, x);
  const BoundKernel kernel = kernel_of(*this);
  const RightTriangle r(factor_of(*this, kernel));
  const RightFactor weights_of_rows{Matrix(dual_coefficients)};
  Posterior out{Vector(x.rows()), kernel.diagonal_of(x)};
  parallel_for((x.rows() + kRows - 1) / kRows, {}, [&](Index tile) {
    const Index first = tile * kRows, rows = std::min(kRows, x.rows() - first);
    Matrix block(rows, kernel.count());
    kernel.cross_block(x.middleRows(first, rows), 0, block);
    Matrix means(rows, 1);
    weights_of_rows.multiply(block, means);
    out.mean.segment(first, rows) = means.col(0).array() + mean;
    r.divide(block);
    for (Index i = 0; i < rows; ++i)
      out.variance(first + i) = std::max(0.0, out.variance(first + i) - block.row(i).squaredNorm());
  });
  return out;
}

Matrix GpModel::deviations(const MatrixView& x) const {
  const Vector variance = posterior(x).variance;
  Matrix out(x.rows(), 2);
  out.col(0) = variance.cwiseSqrt();
  out.col(1) = (variance.array() + noise).sqrt();
  return out;
}

Interval GpModel::interval(const MatrixView& x, IntervalKind kind, double level) const {
  require(level > 0 && level < 1, fmt::format("the level of an interval is {}, must be above 0 and below 1", level));
  const Posterior at = posterior(x);
  const double reach = -normal_quantile((1 - level) / 2), own = kind == IntervalKind::prediction ? noise : 0;
  const Vector half = reach * (at.variance.array() + own).sqrt();
  return {at.mean - half, at.mean + half};
}

Matrix GpModel::samples(const MatrixView& x, const SampleOptions& options) const {
  require_width(*this, x);
  require(options.count >= 1, fmt::format("gp: {} samples were asked for, must be at least 1", options.count));
  require_memory(Gp::name, x.rows(), spec.gigabytes);
  if (spec.kernel.get<Precomputed>())
    throw Error("gp: a precomputed kernel does not tell the values of new rows with each other, which samples need");
  const BoundKernel among(spec.kernel, Points(Matrix(x)));
  Matrix covariance = among.gram();
  Vector centre = Vector::Constant(x.rows(), mean);
  if (!options.prior) {
    const BoundKernel kernel = kernel_of(*this);
    const Matrix known = explained(kernel, factor_of(*this, kernel), x);
    covariance -= multiply_transposed(known, known);
    centre = predict(x);
  }
  const double size = std::max(among.diagonal().mean(), 1e-300);
  const Matrix given = covariance;
  for (double share = 1e-12;; share *= 10) {  // f at rows that nearly agree nearly agrees: no factor without a jitter
    covariance = given;
    covariance.diagonal().array() += share * size;
    if (tiled_cholesky(covariance)) break;
    if (share > 1e-5) throw Error("gp: the covariance of f at these rows cannot be factorised");
  }
  Matrix out = covariance.triangularView<Eigen::Upper>().transpose() *
               normal_matrix(x.rows(), options.count, options.seed, options.prior ? 2 : 1);
  out.colwise() += centre;
  return out;
}

std::string GpModel::summary(const Names&) const {
  TextTable table;
  table.words("", gp::names_of(spec.kernel)).numbers("value", {hyperparameters.begin(), hyperparameters.end()}, 5);
  if (lml_gradient.allFinite() && !spec.optimise)
    table.numbers("d lml / d log", {lml_gradient.begin(), lml_gradient.end()}, 4);
  std::string out = fmt::format("Kernel: {}\n{} kept\n\nHyperparameters{}:\n{}\n", shown(spec.kernel),
                                count_of(dual_coefficients.size(), "row"),
                                spec.optimise ? " of greatest likelihood" : "", table.str());
  if (spec.mean == GpMean::constant) out += fmt::format("Mean: {}\n", format_significant(mean, 6));
  return out + fmt::format("Noise sd: {}\nLog marginal likelihood: {}\n", format_significant(std::sqrt(noise), 5),
                           format_significant(log_marginal_likelihood, 8));
}

}  // namespace lemma
