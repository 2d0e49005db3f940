// lemma/bayes/gaussian_wishart.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/bayes/gaussian_wishart.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/moments.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/math/rows_like.hpp>
#include <lemma/math/wishart.hpp>
#include <lemma/model/comparison.hpp>
#include <numbers>

namespace lemma {
namespace {

constexpr double kLeastShare = 1e-9;  // of a column's spread that is its own
const double kLogPi = std::log(std::numbers::pi);

/// R with RᵀR = A, by way of A in units of its columns' sizes. Nothing where a column has next to no spread of its own.
std::optional<Matrix> triangle(const Matrix& a) {
  const Vector size = a.diagonal().cwiseSqrt(), by = size.cwiseInverse();
  if (!by.allFinite()) return {};
  const auto r = cholesky(Matrix(by.asDiagonal() * a * by.asDiagonal()));
  if (!r || !(r->diagonal().cwiseAbs2().minCoeff() > kLeastShare)) return {};
  return Matrix(*r * size.asDiagonal());
}

/// Ψ of the prior, with E Σ = Ψ / (ν − p − 1) the covariance expected.
Matrix prior_scale(const GaussianWishart& spec) {
  return (*spec.degrees - static_cast<double>(spec.covariance.cols()) - 1) * spec.covariance;
}
Vector prior_mean(const GaussianWishart& spec) {
  return Eigen::Map<const Vector>(spec.mean.data(), static_cast<Index>(spec.mean.size()));
}

double predictive_degrees(const GaussianWishartModel& m) { return m.degrees - static_cast<double>(m.width()) + 1; }

/// The values that were left to choose, and Error where those given do not fit the columns.
GaussianWishart completed(const GaussianWishart& spec, const Rows& rows) {
  GaussianWishart out = spec;
  const auto p = static_cast<std::size_t>(rows.width());
  if (out.mean.empty()) out.mean.assign(p, 0);
  if (out.mean.size() != p)
    throw Error(fmt::format("gaussian_wishart: mean has {} and there are {}: {}",
                            count_of(std::ssize(spec.mean), "number"), count_of(rows.width(), "column"),
                            join_words(rows.features)));
  if (!out.degrees) out.degrees = static_cast<double>(p) + 2;
  if (!(*out.degrees > static_cast<double>(p) + 1))
    throw Error(fmt::format("gaussian_wishart: degrees is {:g}, must be above {} for {}", *out.degrees, p + 1,
                            count_of(rows.width(), "column")));
  if (out.covariance.size() == 0) out.covariance = Matrix::Identity(rows.width(), rows.width());
  if (out.covariance.rows() != rows.width() || out.covariance.cols() != rows.width())
    throw Error(fmt::format("gaussian_wishart: covariance is {} x {}, and there are {}", out.covariance.rows(),
                            out.covariance.cols(), count_of(rows.width(), "column")));
  const double off = (out.covariance - out.covariance.transpose()).cwiseAbs().maxCoeff();
  require(off <= 1e-12 * out.covariance.cwiseAbs().maxCoeff() && triangle(out.covariance).has_value(),
          "gaussian_wishart: covariance is not symmetric and positive definite");
  return out;
}

/// The posterior, and what follows from it, from the mean and scatter of the rows.
void finish(GaussianWishartModel& m) {
  const auto& spec = m.spec;
  const Index p = m.row_mean.size();
  const double n = m.rows, k = spec.strength, columns = static_cast<double>(p);
  const Vector apart = m.row_mean - prior_mean(spec);
  m.strength = k + n;
  m.degrees = *spec.degrees + n;
  m.mean = prior_mean(spec) + n / m.strength * apart;
  m.scale = prior_scale(spec) + m.scatter;
  m.scale += k * n / m.strength * apart * apart.transpose();
  m.covariance = m.scale / (m.degrees - columns - 1);
  const auto before = triangle(prior_scale(spec)), after = triangle(m.scale);
  require(
      before.has_value() && after.has_value(),
      "gaussian_wishart: the mean that was expected is so far from the rows that their spread is lost beside it, or "
      "columns are combinations of others on a larger scale than the covariance expected; give --mean and "
      "--covariance");
  m.log_evidence = -0.5 * n * columns * kLogPi + log_multigamma(p, 0.5 * m.degrees) -
                   log_multigamma(p, 0.5 * *spec.degrees) + 0.5 * *spec.degrees * log_determinant(*before) -
                   0.5 * m.degrees * log_determinant(*after) + 0.5 * columns * std::log(k / m.strength);
  const double df = predictive_degrees(m), t = t_quantile(0.5 + 0.5 * spec.level, df);
  m.intervals.resize(p, 3);
  for (Index j = 0; j < p; ++j) {
    const double size = std::sqrt(m.scale(j, j) / (m.strength * df));
    m.intervals.row(j) << size * std::sqrt(df / (df - 2)), m.mean(j) - t * size, m.mean(j) + t * size;
  }
}

/// Plain sums about the model's own mean of the rows.
struct AboutMean {
  const Vector* mean;
  double rows = 0;
  Vector shift;
  Matrix upper;

  explicit AboutMean(const Vector& m)
      : mean(&m), shift(Vector::Zero(m.size())), upper(Matrix::Zero(m.size(), m.size())) {}
  void accumulate(const Block& block) {
    Matrix a = block.x.rowwise() - mean->transpose();
    for (Index i = 0; i < a.rows(); ++i) {
      const double w = block.weight_of(i);
      rows += w;
      shift += w * a.row(i).transpose();
      a.row(i) *= std::sqrt(w);
    }
    blas::gram(a, upper, 1);
  }
  void merge(const AboutMean& other) {
    rows += other.rows;
    shift += other.shift;
    upper += other.upper;
  }
};

/// log of the densities N(μ; m, Σ/k) and inverse Wishart(Σ; ν, Ψ), with Σ = RᵀR.
double log_prior(const Vector& mu, const Matrix& r, const Vector& m, double k, double nu, const Matrix& psi) {
  const Index p = mu.size();
  const auto columns = static_cast<double>(p);
  const double log_det = log_determinant(r);
  const double normal = -0.5 * columns * std::log(2 * std::numbers::pi / k) - 0.5 * log_det -
                        0.5 * k * solve_upper_transposed(r, Matrix(mu - m)).squaredNorm();
  const Matrix half = solve_upper_transposed(r, psi);                                // R⁻ᵀ Ψ
  const double trace = solve_upper_transposed(r, Matrix(half.transpose())).trace();  // R⁻ᵀ Ψ R⁻¹
  const auto root = triangle(psi);
  if (!root) return std::numeric_limits<double>::quiet_NaN();
  return normal + 0.5 * nu * log_determinant(*root) - 0.5 * nu * columns * std::numbers::ln2 -
         log_multigamma(p, 0.5 * nu) - 0.5 * (nu + columns + 1) * log_det - 0.5 * trace;
}

/// Likelihood times prior over posterior at μ = m', Σ = Ψ'/ν'.
double evidence_at_a_point(const GaussianWishartModel& m) {
  const auto r = triangle(Matrix(m.scale / m.degrees));
  if (!r) return std::numeric_limits<double>::quiet_NaN();
  const double n = m.rows;
  const Matrix half = solve_upper_transposed(*r, m.scatter);
  const double trace = solve_upper_transposed(*r, Matrix(half.transpose())).trace();
  const double apart = solve_upper_transposed(*r, Matrix(m.row_mean - m.mean)).squaredNorm();
  const double likelihood = -0.5 * n * static_cast<double>(m.width()) * std::log(2 * std::numbers::pi) -
                            0.5 * n * log_determinant(*r) - 0.5 * (trace + n * apart);
  return likelihood + log_prior(m.mean, *r, prior_mean(m.spec), m.spec.strength, *m.spec.degrees, prior_scale(m.spec)) -
         log_prior(m.mean, *r, m.mean, m.strength, m.degrees, m.scale);
}

}  // namespace

void GaussianWishartModel::check() const {
  const Index p = width();
  require(p >= 1 && row_mean.size() == p && spec.mean.size() == at(p) && spec.degrees.has_value() &&
              spec.covariance.rows() == p && spec.covariance.cols() == p,
          "gaussian_wishart: the columns do not fit together");
  for (const Matrix* each : {&scale, &covariance, &scatter})
    require(each->rows() == p && each->cols() == p && each->allFinite(), "gaussian_wishart: a matrix does not fit");
  require(intervals.rows() == p && intervals.cols() == 3 && intervals.allFinite() && mean.allFinite() &&
              row_mean.allFinite() && std::isfinite(log_evidence),
          "gaussian_wishart: a number is not finite");
  require(std::isfinite(rows) && rows >= 0 && std::isfinite(strength) && strength > 0 && std::isfinite(degrees) &&
              degrees > static_cast<double>(p) + 1 && *spec.degrees > static_cast<double>(p) + 1,
          "gaussian_wishart: a number of the posterior is not usable");
  require(triangle(scale).has_value() && triangle(spec.covariance).has_value(),
          "gaussian_wishart: a scale is not positive definite");
}

Vector GaussianWishartModel::log_density(const MatrixView& x) const {
  require_width(*this, x.cols());
  const Index p = width();
  const double df = predictive_degrees(*this);
  const Matrix r = *triangle(Matrix(scale * ((strength + 1) / (strength * df))));
  const double log_det = log_determinant(r);
  Vector out(x.rows());
  Vector rest(p);
  for (Index i = 0; i < x.rows(); ++i) {  // R⁻ᵀ (x − m') by substitution: numbers of this row alone
    double sum = 0;
    for (Index j = 0; j < p; ++j) rest(j) = x(i, j) - mean(j);
    for (Index j = 0; j < p; ++j) {
      const double z = rest(j) / r(j, j);
      sum += z * z;
      for (Index l = j + 1; l < p; ++l) rest(l) -= z * r(j, l);
    }
    out(i) = t_log_density(p, df, log_det, sum);
  }
  return out;
}

DrawnRows GaussianWishartModel::draw(Index count, std::uint64_t seed) const {
  const double df = predictive_degrees(*this);
  const Matrix r = *triangle(Matrix(scale * ((strength + 1) / (strength * df))));
  DrawnRows out{Matrix(count, width())};
  for (Index i = 0; i < count; ++i) {
    RandomStream random(seed, static_cast<std::uint64_t>(i));
    const double stretch = std::sqrt(df / chi_squared_quantile(random.uniform() + 0x1p-54, df));
    Vector z(width());
    for (double& each : z) each = random.normal();
    out.x.row(i) = mean.transpose() + stretch * (z.transpose() * r);
  }
  return out;
}

std::string GaussianWishartModel::summary(const Names& names) const {
  std::vector<std::string> features;
  for (Index j = 0; j < width(); ++j)
    features.push_back(at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1));
  const auto column = [](const Matrix& m, Index j) {
    const Vector c = m.col(j);
    return std::vector<double>(c.begin(), c.end());
  };
  TextTable means, expected;
  means.words("", features).numbers("mean", {mean.begin(), mean.end()}, 5).numbers("sd", column(intervals, 0), 4);
  means.numbers("lower", column(intervals, 1), 5).numbers("upper", column(intervals, 2), 5);
  expected.words("", features);
  for (Index j = 0; j < width(); ++j) expected.numbers(features[at(j)], column(covariance, j), 5);
  return fmt::format("After {} rows: strength {}, degrees {}\n\nMeans, with credible intervals of {}%:\n",
                     format_significant(rows), format_significant(strength), format_significant(degrees),
                     format_significant(100 * spec.level)) +
         means.str() + "\nExpected covariance:\n" + expected.str({.gap = 2, .width = 100}) +
         fmt::format("\nLog evidence: {}\n", format_significant(log_evidence, 6));
}

GaussianWishartModel fit(const Valid<GaussianWishart>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  GaussianWishartModel model;
  model.spec = completed(*spec, rows);
  require_finite(rows, execution.part(0, 0.2));
  const auto moments = scan(rows, Moments(rows.width()), execution.part(0.2, 0.6, "mean and scatter"));
  model.rows = moments.weight();
  model.row_mean = model.rows > 0 ? moments.mean() : Vector::Zero(rows.width());
  model.scatter = model.rows > 0 ? moments.scatter() : Matrix::Zero(rows.width(), rows.width());
  for (Index j = 0; j < rows.width(); ++j) {
    const double apart = model.row_mean(j) - model.spec.mean[at(j)];
    if (!std::isfinite(model.scatter(j, j)) || !(std::abs(apart) < 1e140))
      throw Error(
          fmt::format("gaussian_wishart: the values of '{}' are so large that their squares are not finite; divide "
                      "them by a constant",
                      rows.features[at(j)]));
  }
  finish(model);
  model.certificate = certify(model, rows, execution.part(0.6, 1, "certificate"));
  return model;
}

Certificate certify(const GaussianWishartModel& model, const Rows& rows, const Execution& execution) {
  const auto look = scan(rows, AboutMean(model.row_mean), execution);
  GaussianWishartModel anew = model;
  const Vector off = look.rows > 0 ? Vector(look.shift / look.rows) : look.shift;
  anew.rows = look.rows;
  anew.scatter = Matrix(look.upper.selfadjointView<Eigen::Upper>());
  anew.scatter -= look.rows * off * off.transpose();
  finish(anew);
  const Index p = model.width();
  const Vector unit = anew.covariance.diagonal().cwiseSqrt();
  Comparison same;
  same.relative("rows", model.rows, look.rows);
  for (Index j = 0; j < p; ++j) same.entry("row_mean", j, off(j), 0, unit(j) + 1e-6 * std::abs(model.row_mean(j)));
  same.relative("strength", model.strength, anew.strength);
  same.relative("degrees", model.degrees, anew.degrees);
  for (Index j = 0; j < p; ++j) {
    same.entry("mean", j, model.mean(j), anew.mean(j), unit(j) + 1e-6 * std::abs(anew.mean(j)));
    for (Index c = 0; c < 3; ++c)
      same.entry("intervals", 3 * j + c, model.intervals(j, c), anew.intervals(j, c),
                 c == 0 ? anew.intervals(j, 0) : unit(j) + 1e-6 * std::abs(anew.mean(j)));
    for (Index l = 0; l < p; ++l) {
      const double size = std::sqrt(anew.scale(j, j) * anew.scale(l, l));
      same.entry("scatter", j * p + l, model.scatter(j, l), anew.scatter(j, l), size);
      same.entry("scale", j * p + l, model.scale(j, l), anew.scale(j, l), size);
      same.entry("covariance", j * p + l, model.covariance(j, l), anew.covariance(j, l), unit(j) * unit(l));
    }
  }
  const double found = evidence_at_a_point(anew), size = std::abs(found) + look.rows;
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "difference of the evidence";
  out.value = std::abs(model.log_evidence - found) / size;
  out.tolerance = 1e-7;
  out.iterations = 1;
  out.stopped = "closed form";
  out.message = fmt::format(
      "The posterior is that of the rows, and the evidence is prior times likelihood over posterior at one point, up "
      "to "
      "{:.1e} of its size (allowed {:.0e}).",
      out.value, out.tolerance);
  if (same.finding()) {
    same.report(out);
    out.message = fmt::format("'{}' is not that of the rows: it is off by {:.1e} of its size (allowed {:.0e}).",
                              same.finding()->field, out.value, out.tolerance);
  } else if (std::isnan(out.value)) {
    out.message = "A scale matrix has no digits left to tell the evidence from.";
  }
  return out;
}

/// The rows before are given back as rows of their mean and scatter.
GaussianWishartModel updated(const GaussianWishartModel& model, const Rows& rows, const FitOptions& options) {
  require(rows.width() == model.width(), "gaussian_wishart: the rows do not have the columns of the model");
  const WeightedRows past = rows_like(model.rows, model.row_mean, root_of_scatter(model.scatter));
  MemoryRows before(past.x);
  before.weights(past.weight).features = rows.features;
  GaussianWishartModel out = fit(Valid<GaussianWishart>(model.spec), StackedRows({&before, &rows}), options);
  out.certificate.message += " The rows before the update are in it by their mean and scatter.";
  return out;
}

template const Method& method_of<GaussianWishart>();

}  // namespace lemma
