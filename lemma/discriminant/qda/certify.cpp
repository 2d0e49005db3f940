// lemma/discriminant/qda/certify.cpp: the model held against the rows, seen anew.
#include <cmath>
#include <fmt/core.h>
#include <lemma/discriminant/qda/parts.hpp>
#include <lemma/math/blas.hpp>
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
  Matrix upper;  // Σ w (x − m_k)(x − m_k)ᵀ of each class below each other, upper triangles

  explicit AboutMeans(const Matrix& m)
      : means(&m),
        counts(Vector::Zero(m.rows())),
        shift(Matrix::Zero(m.rows(), m.cols())),
        upper(Matrix::Zero(m.rows() * m.cols(), m.cols())) {}
  void accumulate(const Block& block) {
    const Index p = means->cols();
    for (Index k = 0; k < means->rows(); ++k) {
      std::vector<Index> own;
      for (Index i = 0; i < block.rows(); ++i)
        if (block.label[at(i)] == k && block.weight_of(i) > 0) own.push_back(i);
      if (own.empty()) continue;
      Matrix a(static_cast<Index>(own.size()), p);
      for (Index i = 0; i < a.rows(); ++i) {
        const double w = block.weight_of(own[at(i)]);
        a.row(i) = block.x.row(own[at(i)]) - means->row(k);
        counts(k) += w;
        shift.row(k) += w * a.row(i);
        a.row(i) *= std::sqrt(w);
      }
      Matrix sum = upper.middleRows(k * p, p);
      blas::gram(a, sum, 1);
      upper.middleRows(k * p, p) = sum;
    }
  }
  void merge(const AboutMeans& other) {
    counts += other.counts;
    shift += other.shift;
    upper += other.upper;
  }
  /// About the means of these rows, not the model's rounded ones.
  Matrix scatter(Index k) const {
    const Index p = means->cols();
    Matrix out = Matrix(upper.middleRows(k * p, p)).selfadjointView<Eigen::Upper>();
    out -= shift.row(k).transpose() * shift.row(k) / counts(k);
    return out;
  }
};

/// Beyond the last digits that so large a number can have, in units of the spread.
double apart(double a, double b, double size, double spread) {
  const double d = std::abs(a - b) - 8 * std::numeric_limits<double>::epsilon() * size;
  if (std::isnan(d)) return d;
  return d <= 0 ? 0 : spread > 0 ? d / spread : std::numeric_limits<double>::infinity();
}

/// The largest difference of two matrices, an entry in units of two spreads.
double apart(const Matrix& a, const Matrix& b, const Vector& spread) {
  double worst = 0;
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < a.cols(); ++j) {
      const double d = apart(a(i, j), b(i, j), 0, spread(i) * spread(j));
      if (!(d <= worst)) worst = d;
      if (std::isnan(worst)) return worst;
    }
  return worst;
}

}  // namespace

Certificate certify(const QdaModel& model, const Rows& rows, const Execution& execution) {
  const Index p = model.width(), classes = model.class_count();
  const auto look = scan(rows, AboutMeans(model.means), execution);
  double of_means = (look.counts - model.counts).cwiseAbs().maxCoeff() / look.counts.sum();
  double of_own = 0, of_covariances = 0, of_factors = 0;
  Matrix own = Matrix::Zero(classes * p, p);
  for (Index k = 0; k < classes; ++k) {
    const double by = qda::divisor(model.spec, look.counts, k);
    if (look.counts(k) > 0 && by > 0) own.middleRows(k * p, p) = look.scatter(k) / by;
  }
  const Matrix covariances = qda::regularised(model.spec, look.counts, own);
  for (Index k = 0; k < classes; ++k) {
    const Matrix covariance = covariances.middleRows(k * p, p), r = model.triangles.middleRows(k * p, p);
    const Vector spread = covariance.diagonal().cwiseSqrt();
    for (Index j = 0; j < p; ++j)
      of_means += apart(look.shift(k, j) / look.counts(k), 0, std::abs(model.means(k, j)), spread(j));
    const Matrix of_class = own.middleRows(k * p, p);
    of_own += apart(Matrix(model.own.middleRows(k * p, p)), of_class, spread);
    of_covariances += apart(Matrix(model.covariance(k)), covariance, spread);
    of_factors += apart(Matrix(r.transpose() * r), Matrix(model.covariance(k)), spread);
    for (Index i = 0; i < p; ++i)
      for (Index j = 0; j < i; ++j) of_factors += std::abs(r(i, j)) / spread(j);  // nothing below the diagonal
    of_factors += std::abs(model.log_determinants(k) - 2 * r.diagonal().array().log().sum()) / static_cast<double>(p);
  }
  const Vector prior = prior_of(model.spec.prior, look.counts);
  const double of_prior = (prior - model.prior).cwiseAbs().maxCoeff();

  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "distance from the classes' moments";
  out.value = of_means + of_own + of_covariances + of_factors + of_prior;  // a sum: one NaN is enough
  out.tolerance = kTolerance;
  out.iterations = 1;
  out.stopped = "closed form";
  const auto says = [&](std::string_view what) {
    return fmt::format("{} not those of these rows: off by {:.1e} of the spreads (allowed {:.0e}).", what, out.value,
                       out.tolerance);
  };
  if (out.holds())
    out.message = fmt::format(
        "Means, priors and covariances are those of the rows, and the factors those of the covariances, to within "
        "{:.1e} of the spreads (allowed {:.0e}).",
        out.value, out.tolerance);
  else if (of_means + of_prior > kTolerance) out.message = says("The means, counts or priors are");
  else if (of_own > kTolerance) out.message = says("The covariances of the classes are");
  else out.message = says("Covariances after shape, pooling and sphere, or their factors, are");
  if (!std::isfinite(out.value)) {
    out.value = std::numeric_limits<double>::max();
    out.message = "A number of the model is not usable, or far from that of the rows.";
  }
  return out;
}

}  // namespace lemma
