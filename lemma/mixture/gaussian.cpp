// lemma/mixture/gaussian.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/random.hpp>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/moments.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/math/rows_like.hpp>
#include <lemma/mixture/gaussian.hpp>
#include <lemma/mixture/gaussian/mcd.hpp>
#include <lemma/mixture/shared/plain_scatter.hpp>
#include <lemma/mixture/shared/spread.hpp>
#include <limits>
#include <numbers>

namespace lemma {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

Vector squared_distances(const GaussianModel& model, const MatrixView& x) {
  require_width(model, x.cols());
  return *mcd::distances({model.mean, model.covariance}, x);
}

/// −½ (p log 2π + log det Σ).
double log_constant(const Matrix& covariance) {
  return -0.5 * (static_cast<double>(covariance.rows()) * std::log(2 * std::numbers::pi) +
                 log_determinant(*cholesky(covariance)));
}

double cutoff_of(const Gaussian& spec, Index p) {
  return chi_squared_quantile(1 - spec.false_alarm, static_cast<double>(p));
}

/// Σ w log f(x), and the weight of the rows beyond the cutoff.
struct Tally {
  const GaussianModel* model;
  double constant, log_likelihood = 0, outliers = 0;

  explicit Tally(const GaussianModel& m) : model(&m), constant(log_constant(m.covariance)) {}
  void accumulate(const Block& block) {
    const Vector d = squared_distances(*model, block.x);
    for (Index i = 0; i < d.size(); ++i) {
      const double w = block.weight_of(i);
      if (w == 0) continue;
      log_likelihood += w * (constant - 0.5 * d(i));
      if (d(i) > model->cutoff) outliers += w;
    }
  }
  void merge(const Tally& other) {
    log_likelihood += other.log_likelihood;
    outliers += other.outliers;
  }
};

Index set_size(const Gaussian& spec, Index n, Index p) {
  const Index least = (n + p + 1) / 2;
  if (!spec.support) return std::min(n, least);
  return std::clamp(static_cast<Index>(std::ceil(*spec.support * static_cast<double>(n))), std::min(least, n), n);
}

void estimate_robustly(GaussianModel& model, const Rows& rows, std::uint64_t seed, const Execution& execution) {
  if (rows.has_weights)
    throw Error("gaussian: the minimum covariance determinant takes no weights; repeat the rows instead");
  if (rows.count() < 2 * (rows.width() + 1))
    throw Error(fmt::format("gaussian: estimate mcd needs at least {} for {}, and there are {}",
                            count_of(2 * (rows.width() + 1), "row"), count_of(rows.width(), "column"),
                            format_count(rows.count())));
  const Matrix x = gather(rows, execution.part(0, 0.1));
  const Index h = set_size(model.spec, x.rows(), x.cols());
  const mcd::Set set = mcd::search(x, h, model.spec.restarts, seed, execution.part(0.1, 1));
  const mcd::Set all = mcd::reweighted(set, x, h);
  model.mean = all.mean;
  model.covariance = all.covariance;
  model.set_rows = static_cast<int>(h);
  model.set_mean = set.mean;
  model.set_covariance = set.covariance;
  if (!model.spec.support) model.spec.support = static_cast<double>(h) / static_cast<double>(x.rows());
}

// ---- the certifier ----

/// How far one Gaussian is from another with covariance `from`, in units of it: of the mean, and of the covariance.
double apart(const Vector& mean, const Matrix& covariance, const Vector& other_mean, const Matrix& other) {
  const Eigenpairs pairs = symmetric_eigen(other);
  const Vector length = pairs.values.cwiseMax(std::numeric_limits<double>::min()).cwiseSqrt();
  const Vector way = (pairs.vectors.transpose() * (mean - other_mean)).cwiseQuotient(length);
  Matrix change = pairs.vectors.transpose() * (covariance - other) * pairs.vectors;
  change = length.cwiseInverse().asDiagonal() * change * length.cwiseInverse().asDiagonal();
  return std::max(way.norm(), change.cwiseAbs().maxCoeff());
}

/// What rounding of the mean, and of a covariance of that shape, may cost, in units of the covariance.
double rounding_of(const GaussianModel& model) {
  const Vector unit = model.covariance.diagonal().cwiseSqrt();
  const Matrix correlation = unit.cwiseInverse().asDiagonal() * model.covariance * unit.cwiseInverse().asDiagonal();
  const double narrow = std::max(symmetric_eigen(correlation).values.minCoeff(), kEpsilon);
  return 16 * kEpsilon *
         (static_cast<double>(unit.size()) / narrow +
          model.mean.cwiseQuotient(unit).cwiseAbs().maxCoeff() / std::sqrt(narrow));
}

struct Finding {
  double value = 0, weight = 0;  // of the certificate, and of the rows
};

/// What the likelihood lacks to the greatest, a row: ½ (tr Σ⁻¹S − log det Σ⁻¹S − p + δᵀΣ⁻¹δ), never negative.
Finding lack_of_likelihood(const GaussianModel& model, const Rows& rows, const Execution& execution) {
  const auto sums = scan(rows, PlainScatter(model.mean), execution);
  const Vector delta = sums.shift / sums.weight;
  const Matrix s = sums.scatter / sums.weight - delta * delta.transpose();
  const Eigenpairs pairs = generalised_eigen(s, model.covariance);
  double lack = 0;
  for (const double value : pairs.values)
    lack += value > 0 ? value - 1 - std::log(value) : std::numeric_limits<double>::infinity();
  const Matrix way = solve_upper_transposed(*cholesky(model.covariance), delta);
  return {0.5 * (lack + way.squaredNorm()), sums.weight};
}

/// The h rows nearest to the set are the set; what follows from it is the model.
Finding unlike_its_set(const GaussianModel& model, const Rows& rows, const Execution& execution) {
  const Matrix x = gather(rows, execution);
  const Index h = set_size(model.spec, x.rows(), x.cols());
  if (h != model.set_rows) return {1, static_cast<double>(x.rows())};
  const mcd::Set set{model.set_mean, model.set_covariance};
  const auto far = mcd::distances(set, x);
  if (!far) return {1, static_cast<double>(x.rows())};
  const mcd::Set again = mcd::set_of(x, mcd::nearest(*far, h)), all = mcd::reweighted(set, x, h);
  return {std::max(apart(again.mean, again.covariance, set.mean, set.covariance),
                   apart(all.mean, all.covariance, model.mean, model.covariance)),
          static_cast<double>(x.rows())};
}

}  // namespace

void Gaussian::check() const {
  if (support && estimate != GaussianEstimate::mcd)
    throw Error("gaussian: support is the share of rows of the minimum covariance determinant; it needs estimate mcd");
}

void GaussianModel::check() const {
  const Index p = width();
  require(p > 0 && covariance.rows() == p && covariance.cols() == p,
          "gaussian: mean and covariance do not fit together");
  require(mean.allFinite() && covariance.allFinite() && std::isfinite(log_likelihood) &&
              (std::isnan(outliers) || (std::isfinite(outliers) && outliers >= 0)) && std::isfinite(weight) &&
              weight >= 0,
          "gaussian: a number is not usable");
  require(covariance == covariance.transpose() && (covariance.diagonal().array() > 0).all() &&
              cholesky(covariance).has_value(),
          "gaussian: the covariance is not symmetric and positive definite");
  require(std::abs(cutoff - cutoff_of(spec, p)) <= 1e-9 * cutoff,
          "gaussian: the cutoff is not that of the false alarm");
  const bool robust = spec.estimate == GaussianEstimate::mcd;
  const Index q = robust ? p : 0;
  require(set_mean.size() == q && set_covariance.rows() == q && set_covariance.cols() == q &&
              (set_rows > 0) == robust && set_mean.allFinite() && set_covariance.allFinite() &&
              set_covariance == set_covariance.transpose() && !(robust && std::isnan(outliers)),
          "gaussian: the set of rows does not fit the estimate");
}

Vector GaussianModel::log_density(const MatrixView& x) const {
  return (log_constant(covariance) - 0.5 * squared_distances(*this, x).array()).matrix();
}
Vector GaussianModel::distance(const MatrixView& x) const { return squared_distances(*this, x).cwiseSqrt(); }
Vector GaussianModel::tail(const MatrixView& x) const {
  return squared_distances(*this, x).unaryExpr(
      [&](double d) { return std::isfinite(d) ? chi_squared_upper(d, static_cast<double>(width())) : d * 0; });
}
Vector GaussianModel::outlier(const MatrixView& x) const {
  return squared_distances(*this, x).unaryExpr([&](double d) { return d > cutoff ? 1.0 : 0.0; });
}

DrawnRows GaussianModel::draw(Index count, std::uint64_t seed) const {
  const Matrix root = *cholesky(covariance);
  DrawnRows out{Matrix(count, width())};
  Vector z(width());
  for (Index i = 0; i < count; ++i) {
    RandomStream random(seed, at(i));
    for (double& each : z) each = random.normal();
    for (Index j = 0; j < width(); ++j) {
      double value = mean(j);
      for (Index l = 0; l <= j; ++l) value += root(l, j) * z(l);
      out.x(i, j) = value;
    }
  }
  return out;
}

std::string GaussianModel::summary(const Names& names) const {
  TextTable table;
  std::vector<std::string> features;
  for (Index j = 0; j < width(); ++j)
    features.push_back(at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1));
  const Vector deviation = covariance.diagonal().cwiseSqrt();
  table.words("column", features)
      .numbers("mean", {mean.begin(), mean.end()})
      .numbers("sd", {deviation.begin(), deviation.end()});
  constexpr Index kMost = 12;
  for (Index j = 0; j < width() && width() <= kMost; ++j) {
    const Vector r = covariance.col(j).cwiseQuotient(deviation) / deviation(j);
    std::vector<std::string> cells;
    for (const double each : r) cells.push_back(format_fixed(each, 3));
    table.right(features[at(j)], cells);
  }
  std::string out =
      spec.estimate == GaussianEstimate::mcd
          ? fmt::format("Gaussian by the minimum covariance determinant of {}\n\n", count_of(set_rows, "row"))
          : std::string("Gaussian by maximum likelihood\n\n");
  out += fmt::format("Means, standard deviations{}:\n", width() <= kMost ? " and correlations" : "");
  out += table.str({.width = 100});
  out += fmt::format("\nlog-likelihood {}   outliers {} (squared distance above {}, false alarm {:g})\n",
                     format_significant(log_likelihood, 7),
                     std::isnan(outliers) ? "not counted after an update" : format_significant(outliers, 7),
                     format_significant(cutoff, 5), spec.false_alarm);
  return out;
}

GaussianModel fit(const Valid<Gaussian>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  GaussianModel model;
  model.spec = *spec;
  const auto spread = mixture::spread_of("gaussian", rows, execution.part(0, 0.3));
  mixture::require_spread_in_each("gaussian", spread, rows, "");
  mixture::triangle_of("gaussian", spread, rows, "");
  model.mean = spread.mean;
  model.covariance = spread.covariance;
  model.weight = spread.weight;
  if (spec->estimate == GaussianEstimate::mcd) estimate_robustly(model, rows, options.seed, execution.part(0.3, 0.8));
  model.cutoff = cutoff_of(model.spec, model.width());
  const auto tally = scan(rows, Tally(model), execution.part(0.8, 0.9));
  model.log_likelihood = tally.log_likelihood;
  model.outliers = tally.outliers;
  model.certificate = certify(model, rows, execution.part(0.9, 1));
  return model;
}

Certificate certify(const GaussianModel& model, const Rows& rows, const Execution& execution) {
  const bool robust = model.spec.estimate == GaussianEstimate::mcd;
  const double rounding = rounding_of(model);
  const Finding found = robust ? unlike_its_set(model, rows, execution.part(0, 0.7))
                               : lack_of_likelihood(model, rows, execution.part(0, 0.7));
  const auto tally = scan(rows, Tally(model), execution.part(0.7, 1));
  const double unit = std::abs(tally.log_likelihood) + found.weight * static_cast<double>(model.width());
  double told = std::abs(tally.log_likelihood - model.log_likelihood) / unit;
  if (!std::isnan(model.outliers)) told = std::max(told, std::abs(tally.outliers - model.outliers) / found.weight);
  if (model.weight > 0) told = std::max(told, std::abs(model.weight - found.weight) / found.weight);
  Certificate out;
  out.strength = robust ? Strength::consistent : Strength::optimal;
  out.kind = robust ? "change in one more concentration step" : "log-likelihood short of the greatest, a row";
  out.tolerance =
      robust ? std::min(1e-3, 1e-8 + rounding) : 1e-9 + std::min(1e-4, rounding * rounding + 1e-3 * rounding);
  out.value = told <= 1e-9 + rounding ? found.value : std::max(found.value, told + 2 * out.tolerance);
  out.iterations = 1;
  out.stopped = robust ? "converged" : "closed form";
  const std::string off = residue_text(out.value, out.tolerance), allowed = format_significant(out.tolerance, 2);
  out.message =
      !(told <= 1e-9 + rounding)
          ? fmt::format("The likelihood, the weight or the number of outliers is not that of these rows (off by {}).",
                        format_significant(told, 2))
      : robust ? fmt::format(
                     "The {} nearest to their own mean, by their own covariance, are the set that was kept: mean and "
                     "covariance "
                     "change by {} (allowed {}). Another set may have a smaller determinant.",
                     count_of(model.set_rows, "row"), off, allowed)
               : fmt::format(
                     "No Gaussian is likelier: the log-likelihood is short of the greatest by {} a row (allowed {}).",
                     off, allowed);
  return out;
}

/// Weight, mean and scatter give the likelihood and its maximum; which of the old rows lie far out they do not tell.
GaussianModel updated(const GaussianModel& model, const Rows& rows, const FitOptions& options) {
  require(rows.width() == model.width(), "gaussian: the rows do not have the columns of the model");
  if (model.spec.estimate == GaussianEstimate::mcd)
    throw Error("gaussian: estimate mcd looks at single rows, which a model does not keep; fit it to all rows");
  if (!(model.weight > 0))
    throw Error(
        "gaussian: the model comes from a version that did not keep the weight of the rows, which an update "
        "needs; fit it to all rows");
  const WeightedRows past =
      rows_like(model.weight, model.mean, root_of_scatter(Matrix(model.weight * model.covariance)));
  MemoryRows before(past.x);
  before.weights(past.weight).features = rows.features;
  GaussianModel out = fit(Valid<Gaussian>(model.spec), StackedRows({&before, &rows}), options);
  out.outliers = std::numeric_limits<double>::quiet_NaN();
  out.certificate.message += " The rows before the update are in it by their mean and covariance.";
  return out;
}

template const Method& method_of<Gaussian>();

}  // namespace lemma
