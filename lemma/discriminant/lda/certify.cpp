// lemma/discriminant/lda/certify.cpp: the model held against the rows, seen anew.
#include <fmt/core.h>

#include <cmath>
#include <lemma/discriminant/lda/parts.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/multiply.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-8;

/// Plain sums about the model's own class means: no merged means, no block means, unlike the fit.
struct AboutMeans {
  const Matrix* means;
  Vector counts;
  Matrix shift;  // Σ w (x − m_k), a row per class
  Matrix upper;  // Σ w (x − m_k)(x − m_k)ᵀ

  explicit AboutMeans(const Matrix& m)
      : means(&m),
        counts(Vector::Zero(m.rows())),
        shift(Matrix::Zero(m.rows(), m.cols())),
        upper(Matrix::Zero(m.cols(), m.cols())) {}
  void accumulate(const Block& block) {
    Matrix a = Matrix::Zero(block.rows(), means->cols());
    for (Index i = 0; i < a.rows(); ++i) {
      const int k = block.label[static_cast<std::size_t>(i)];
      if (k < 0 || k >= means->rows()) continue;
      const double w = block.weight_of(i);
      a.row(i) = block.x.row(i) - means->row(k);
      counts(k) += w;
      shift.row(k) += w * a.row(i);
      a.row(i) *= std::sqrt(w);
    }
    blas::gram(a, upper, 1);
  }
  void merge(const AboutMeans& other) {
    counts += other.counts;
    shift += other.shift;
    upper += other.upper;
  }
};

/// Means and counts as the rows have them; a mean in units of its column's spread, beyond the last digits that so large a
/// number can have.
double means_error(const LdaModel& model, const AboutMeans& look, const Vector& sd) {
  double worst = (look.counts - model.counts).cwiseAbs().maxCoeff() / look.counts.sum();
  for (Index k = 0; k < model.class_count(); ++k)
    for (Index j = 0; j < model.width(); ++j)
      worst = std::max(worst, (std::abs(look.shift(k, j)) / look.counts(k) -
                               4 * std::numeric_limits<double>::epsilon() * std::abs(model.means(k, j))) /
                                  sd(j));
  return worst;
}

/// An entry in units of the two spreads.
double covariance_error(const LdaModel& model, const Matrix& covariance) {
  const Vector by = covariance.diagonal().cwiseSqrt().cwiseInverse();
  return (by.asDiagonal() * (model.covariance - covariance) * by.asDiagonal()).cwiseAbs().maxCoeff();
}

struct EigenError {
  double normalised, residual, outside;
};
/// Of B v = λ S v and VᵀSV = I, where B = MᵀM. Residuals are measured by S⁻¹, so units of the columns do not matter.
EigenError eigen_error(const LdaModel& model, const Matrix& covariance, const Matrix& between, const Rows& rows,
                       const Execution& execution) {
  const Vector sd = covariance.diagonal().cwiseSqrt();
  const auto triangle = lda::within_triangle(model, covariance, rows, execution);
  if (!triangle) return {NAN, NAN, NAN};
  const Matrix v = sd.asDiagonal() * model.scaling;  // in columns of unit spread, as the triangle
  const Matrix m = between * sd.cwiseInverse().asDiagonal();
  const Vector lambda = model.svd.cwiseAbs2();
  const Matrix rv = *triangle * v;  // S v = Rᵀ(R v)
  const Matrix normalised = rv.transpose() * rv - Matrix::Identity(v.cols(), v.cols());
  const Matrix residual = solve_upper_transposed(*triangle, m.transpose() * (m * v)) - rv * lambda.asDiagonal();
  const double trace = divide_by_upper(m, *triangle).squaredNorm();
  return {normalised.cwiseAbs().maxCoeff(), residual.colwise().norm().maxCoeff() / lambda(0),
          std::abs(trace - lambda.sum()) / lambda(0)};
}

}  // namespace

Certificate certify(const LdaModel& model, const Rows& rows, const Execution& execution) {
  const auto look = scan(rows, AboutMeans(model.means), execution);
  const double n = look.counts.sum(), k = static_cast<double>(model.class_count());
  Matrix scatter =
      look.upper.selfadjointView<Eigen::Upper>();  // about the means of these rows, not the model's rounded ones
  scatter -= look.shift.transpose() * look.counts.cwiseInverse().asDiagonal() * look.shift;
  const Matrix pooled = scatter / (n - (model.spec.covariance == PooledDivisor::unbiased ? k : 0));
  const Matrix covariance = lda::shrunk(pooled, model.spec.shrinkage.value_or(0));
  const Vector prior = prior_of(model.spec.prior, look.counts);
  const auto eigen =
      eigen_error(model, covariance, lda::between_rows(model.spec, model.means, prior, n), rows, execution.part(1, 1));
  const double of_means = means_error(model, look, covariance.diagonal().cwiseSqrt());
  const double of_covariance = covariance_error(model, covariance);
  const double of_prior = (prior - model.prior).cwiseAbs().maxCoeff();
  const double of_trace =
      (model.proportion_of_trace - model.svd.cwiseAbs2() / model.svd.squaredNorm()).cwiseAbs().maxCoeff();

  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "residual of B v = lambda S v";
  out.value = eigen.normalised + eigen.residual + eigen.outside + of_means + of_covariance + of_prior +
              of_trace;  // a sum: one NaN is enough
  out.tolerance = kTolerance;
  out.iterations = 1;
  out.stopped = "closed form";
  const bool parameters = of_means > kTolerance || of_prior > kTolerance;
  if (out.holds())
    out.message = fmt::format(
        "Means and priors are those of the rows, and B v = lambda S v with v'S v = 1, to within {:.1e} (allowed "
        "{:.0e}).",
        out.value, out.tolerance);
  else if (parameters)
    out.message = fmt::format("The means or the priors are not those of these rows: off by {:.1e} (allowed {:.0e}).",
                              std::max(of_means, of_prior), out.tolerance);
  else if (of_covariance > kTolerance)
    out.message =
        fmt::format("The pooled covariance is not that of these rows: off by {:.1e} of the spreads (allowed {:.0e}).",
                    of_covariance, out.tolerance);
  else
    out.message = fmt::format(
        "B v = lambda S v with v'S v = 1 is off by {:.1e} (allowed {:.0e}); nearly dependent columns lose these "
        "digits.",
        out.value, out.tolerance);
  return out;
}

}  // namespace lemma
