// lemma/linear/bayes_linear.cpp: the evidence along one line, and the posterior.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <functional>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>
#include <lemma/linear/bayes_linear.hpp>
#include <lemma/linear/shared/learn_triangle.hpp>
#include <lemma/linear/shared/past_rows.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/svd.hpp>
#include <lemma/model/comparison.hpp>
#include <limits>
#include <numbers>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-7;
constexpr double kReach = 32;  // natural logarithms to either side of the largest singular value's square
constexpr int kGrid = 400;

/// Z and y reduced to a triangle: columns centred and divided by `scale`.
struct Reduced {
  Matrix a;  // p + 1 rows
  Vector z, scale, mean;
  double mean_y, mass, n;  // n' = mass − 1 with an intercept
  bool intercept;
};

Reduced reduce(const BayesLinear& spec, const LeastSquares& data) {
  const Index p = data.features();
  Eigen::MatrixXd square = Eigen::MatrixXd::Zero(p + 1, p + 1);
  square.topRows(data.triangle().rows()) = data.triangle();
  Reduced out{square.leftCols(p),
              square.col(p),
              Vector::Ones(p),
              data.mean().head(p),
              data.mean()(p),
              data.mass(),
              data.mass() - (spec.intercept ? 1 : 0),
              spec.intercept};
  for (Index j = 0; j < p; ++j) {
    const double sd = out.a.col(j).norm() / std::sqrt(out.mass);
    if (spec.standardize && sd > 1e-13 * std::abs(out.mean(j)) && sd > 0) out.scale(j) = sd;
    if (!(sd > 1e-13 * std::abs(out.mean(j)))) out.a.col(j).setZero();  // a column without a spread, but for rounding
    out.a.col(j) /= out.scale(j);
  }
  return out;
}

/// The evidence in the coordinates of the singular vectors.
struct Spectrum {
  Vector s2, along;  // σ², (Uᵀz)²
  double outside;    // Σ of z² outside of U
  double n, mass;
  bool intercept;

  double quadratic(double lambda) const {  // ‖y − Zm‖² + λ ‖m‖²
    return outside + (along.array() * lambda / (lambda + s2.array())).sum();
  }
  double rss(double lambda) const {
    return outside + (along.array() * (lambda / (lambda + s2.array())).square()).sum();
  }
  double length(double lambda) const { return (along.array() * s2.array() / (lambda + s2.array()).square()).sum(); }
  double gamma(double lambda) const { return (s2.array() / (lambda + s2.array())).sum(); }
  double log_evidence(double alpha, double beta) const {
    const double lambda = alpha / beta;
    return 0.5 * ((lambda / (lambda + s2.array())).log().sum() + n * std::log(beta / (2 * std::numbers::pi)) -
                  beta * quadratic(lambda) - (intercept ? std::log(mass) : 0.0));
  }
};

struct Precisions {
  double alpha, beta;
};

/// The greatest value on a grid of the logarithm, then the root of the slope around it by bisection.
double greatest(double middle, const std::function<double(double)>& value, const std::function<double(double)>& slope,
                bool& at_end) {
  const auto place = [&](int k) { return middle - kReach + 2 * kReach * k / kGrid; };
  int best = 0;
  for (int k = 1; k <= kGrid; ++k)
    if (value(std::exp(place(k))) > value(std::exp(place(best)))) best = k;
  at_end = best == 0 || best == kGrid;
  if (at_end) return std::exp(place(best));
  double low = place(best - 1), high = place(best + 1);
  for (int halving = 0; halving < 200 && high - low > 1e-16 * std::abs(high); ++halving) {
    const double between = 0.5 * (low + high);
    (slope(std::exp(between)) > 0 ? low : high) = between;
  }
  return std::exp(0.5 * (low + high));
}

Precisions best_precisions(const BayesLinear& spec, const Spectrum& of, bool& at_end) {
  at_end = false;
  if (spec.alpha && spec.beta) return {*spec.alpha, *spec.beta};
  const double top = of.s2.size() > 0 && of.s2.maxCoeff() > 0 ? of.s2.maxCoeff() : 1;
  const auto fitted = [&](double a, double b) { return of.log_evidence(a, b); };
  if (spec.alpha) {
    const double a = *spec.alpha;
    const double b = greatest(
        std::log(of.n / of.quadratic(top)), [&](double each) { return fitted(a, each); },
        [&](double each) { return of.n - of.gamma(a / each) - each * of.rss(a / each); }, at_end);
    return {a, b};
  }
  if (spec.beta) {
    const double b = *spec.beta;
    const double a = greatest(
        std::log(b * top), [&](double each) { return fitted(each, b); },
        [&](double each) { return of.gamma(each / b) - each * of.length(each / b); }, at_end);
    return {a, b};
  }
  const auto beta_at = [&](double lambda) { return of.n / of.quadratic(lambda); };
  const double lambda =
      of.s2.size() == 0 || of.s2.maxCoeff() == 0
          ? 1
          : greatest(
                std::log(top), [&](double each) { return fitted(each * beta_at(each), beta_at(each)); },
                [&](double each) { return of.gamma(each) - each * beta_at(each) * of.length(each); }, at_end);
  return {lambda * beta_at(lambda), beta_at(lambda)};
}

/// Everything that follows from a mean and a covariance in the scaled columns.
void fill(BayesLinearModel& model, const Reduced& from, const Vector& m, const Matrix& spread, double beta) {
  const Index p = m.size(), lead = from.intercept ? 1 : 0;
  const Vector by = from.scale.cwiseInverse();
  model.coefficients = m.cwiseProduct(by);
  model.mean = from.mean;
  model.scale = from.scale;
  model.mass = from.mass;
  const Matrix covariance = by.asDiagonal() * spread * by.asDiagonal();
  model.covariance.resize(p + lead, p + lead);
  model.covariance.bottomRightCorner(p, p) = covariance;
  if (lead == 1) {
    model.intercept = from.mean_y - model.coefficients.dot(from.mean);
    model.covariance.col(0).tail(p) = -(covariance * from.mean);
    model.covariance.row(0).tail(p) = model.covariance.col(0).tail(p).transpose();
    model.covariance(0, 0) = 1 / (from.mass * beta) + from.mean.dot(covariance * from.mean);
    model.intercept_std_error = std::sqrt(model.covariance(0, 0));
  }
  model.std_errors = covariance.diagonal().cwiseSqrt();
  model.sigma = 1 / std::sqrt(beta);
}

/// The posterior again, by a triangle of [√β Z; √α I].
struct Second {
  Vector m;
  Matrix triangle, covariance;
  double gamma, rss, log_evidence;
};

Second second_look(const Reduced& from, double alpha, double beta) {
  const Index p = from.a.cols();
  Matrix stacked(from.a.rows() + p, p);
  stacked << std::sqrt(beta) * from.a, std::sqrt(alpha) * Matrix::Identity(p, p);
  Second out;
  out.triangle = triangle_of(stacked);
  const Vector pull = beta * (from.a.transpose() * from.z);
  out.m = solve_upper(out.triangle, solve_upper_transposed(out.triangle, Matrix(pull)));
  const Matrix inverse = solve_upper(out.triangle, Matrix::Identity(p, p));
  out.covariance = inverse * inverse.transpose();
  out.gamma = static_cast<double>(p) - alpha * inverse.squaredNorm();
  out.rss = (from.z - from.a * out.m).squaredNorm();
  out.log_evidence = 0.5 * (static_cast<double>(p) * std::log(alpha) - (p > 0 ? log_determinant(out.triangle) : 0.0) +
                            from.n * std::log(beta / (2 * std::numbers::pi)) - beta * out.rss -
                            alpha * out.m.squaredNorm() - (from.intercept ? std::log(from.mass) : 0.0));
  return out;
}

/// α and β are about 1 over the square of the response, and are multiplied with such squares.
void require_usable_precisions(const Reduced& from, const std::string& target) {
  constexpr double kLeast = 1e-100, kGreatest = 1e100;
  const double size = std::hypot(from.mean_y, from.z.stableNorm() / std::sqrt(from.mass));
  if (size == 0 || (size > kLeast && size < kGreatest)) return;
  throw Error(fmt::format(
      "bayes_linear: the values of '{}' are too {} for precisions, which are 1 over their squares (they are about "
      "{:.0e}); use another unit",
      target, size > 1 ? "large" : "small", size));
}

struct Stationarity {
  double of_mean, of_alpha, of_beta;
  double worst() const { return std::max({of_mean, of_alpha, of_beta}); }
};
Stationarity stationarity(const BayesLinearModel& model, const Reduced& from, const Second& second) {
  const Vector m = model.coefficients.cwiseProduct(from.scale);
  const double p = std::max(1.0, static_cast<double>(m.size()));
  Stationarity out{};
  out.of_mean = m.size() > 0 ? (second.triangle * (m - second.m)).norm() / std::sqrt(p) : 0;
  const double rss = (from.z - from.a * m).squaredNorm();
  if (!model.spec.alpha) out.of_alpha = std::abs(second.gamma - model.alpha * m.squaredNorm()) / p;
  if (!model.spec.beta) out.of_beta = std::abs(from.n - second.gamma - model.beta * rss) / from.n;
  if (!model.coefficients.allFinite()) out.of_mean = NAN;
  return out;
}

Certificate certificate_of(const Stationarity& found) {
  Certificate out;
  out.strength = Strength::stationary;
  out.kind = "evidence and posterior mean";
  out.value = std::isnan(found.of_mean) ? NAN : found.worst();
  out.tolerance = kTolerance;
  out.iterations = 1;
  out.stopped = "greatest evidence";
  out.message = fmt::format(
      "The posterior mean is right to {:.1e} of its standard deviations, and the evidence is flat in alpha to {:.1e} "
      "and in "
      "beta to {:.1e} (allowed {:.0e}).",
      found.of_mean, found.of_alpha, found.of_beta, kTolerance);
  return out;
}

}  // namespace

void BayesLinearModel::check() const {
  const Index p = width(), terms = p + (spec.intercept ? 1 : 0);
  require(std_errors.size() == p && mean.size() == p && scale.size() == p && covariance.rows() == terms &&
              covariance.cols() == terms,
          "bayes_linear: the arrays do not fit together");
  require(coefficients.allFinite() && std::isfinite(intercept) && covariance.allFinite() && mean.allFinite(),
          "bayes_linear: a coefficient or its covariance is not usable");
  require(alpha > 0 && beta > 0 && std::isfinite(alpha) && std::isfinite(beta) && mass > 0 && std::isfinite(mass),
          "bayes_linear: a precision is not usable");
  require((scale.array() > 0).all(), "bayes_linear: a scale is not usable");
  const Index seen = seen_triangle.size() > 0 ? p + 1 : 0;  // a file may be older
  require(
      seen_mean.size() == seen && seen_mean.allFinite() && seen_triangle.cols() == seen && seen_triangle.allFinite(),
      "bayes_linear: what was seen of the rows is not usable");
}

Vector BayesLinearModel::predict(const MatrixView& x) const {
  require_width(*this, x.cols());
  Vector out(x.rows());
  for (Index i = 0; i < x.rows(); ++i) out(i) = x.row(i).dot(coefficients) + intercept;
  return out;
}

Interval BayesLinearModel::interval(const MatrixView& x, IntervalKind kind, double level) const {
  require(level > 0 && level < 1, fmt::format("the level of an interval is {}, must be above 0 and below 1", level));
  const Index p = width();
  const Matrix within = covariance.bottomRightCorner(p, p);
  const double own = (spec.intercept ? 1 / (mass * beta) : 0) + (kind == IntervalKind::prediction ? 1 / beta : 0);
  const double reach = -normal_quantile((1 - level) / 2);
  const Vector fitted = predict(x);
  Vector half(x.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    const Vector row = x.row(i).transpose() - (spec.intercept ? mean : Vector::Zero(p).eval());
    half(i) = reach * std::sqrt(std::max(0.0, row.dot(within * row)) + own);
  }
  return {fitted - half, fitted + half};
}

std::string BayesLinearModel::summary(const Names& names) const {
  require(static_cast<Index>(names.features.size()) == width(), "bayes_linear: each column needs a name");
  std::vector<std::string> terms;
  std::vector<double> means, sds, low, high;
  const auto add = [&](const std::string& term, double at, double sd) {
    terms.push_back(term);
    means.push_back(at);
    sds.push_back(sd);
    low.push_back(at - 1.959963984540054 * sd);
    high.push_back(at + 1.959963984540054 * sd);
  };
  if (spec.intercept) add("(Intercept)", intercept, intercept_std_error);
  for (Index j = 0; j < width(); ++j) add(names.features[static_cast<std::size_t>(j)], coefficients(j), std_errors(j));
  TextTable table;
  table.words("", terms).numbers("Mean", means).numbers("SD", sds).numbers("2.5 %", low).numbers("97.5 %", high);
  return fmt::format(
      "Posterior:\n{}\nalpha {}, beta {} (noise sd {}); {} effective parameters of {}\nLog evidence: {}\n",
      terms.empty() ? std::string("no coefficients\n") : table.str({.gap = 2}), format_significant(alpha, 5),
      format_significant(beta, 5), format_significant(sigma, 5), format_significant(gamma, 5), width(),
      format_significant(log_evidence, 7));
}

BayesLinearModel fit(const Valid<BayesLinear>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const LeastSquares data = learn_triangle(BayesLinear::name, rows, spec->intercept, LeastSquares::Route::by_condition,
                                           execution.part(0, 0.9, "reading rows"));
  const Reduced from = reduce(*spec, data);
  require(from.n > 0, "bayes_linear: one row says nothing about the noise; at least two are needed");
  require_usable_precisions(from, rows.target);
  require(from.z.squaredNorm() > 0,
          fmt::format("bayes_linear: '{}' is constant, so there is no noise to learn from", rows.target));
  const Svd svd = thin_svd(from.a);
  const Vector projected = svd.u.transpose() * from.z;
  const Spectrum of{svd.s.cwiseAbs2(), projected.cwiseAbs2(), (from.z - svd.u * projected).squaredNorm(), from.n,
                    from.mass,         from.intercept};
  bool at_end = false;
  const auto [alpha, beta] = best_precisions(*spec, of, at_end);
  BayesLinearModel model;
  model.spec = *spec;
  model.alpha = alpha;
  model.beta = beta;
  const Vector weights = (alpha + beta * of.s2.array()).inverse();
  const Vector m = svd.v * (beta * weights.cwiseProduct(svd.s).cwiseProduct(projected));
  fill(model, from, m, svd.v * weights.asDiagonal() * svd.v.transpose(), beta);
  model.gamma = of.gamma(alpha / beta);
  model.rss = of.rss(alpha / beta);
  model.log_evidence = of.log_evidence(alpha, beta);
  model.seen_mean = data.mean() + data.mean_rest();
  model.seen_triangle = data.triangle();
  require(
      std::isfinite(alpha) && std::isfinite(beta) && std::isfinite(model.log_evidence) && model.covariance.allFinite(),
      "bayes_linear: the rows are fitted without an error, so no finite precision of the noise is best; give beta");
  if (at_end)
    model.warnings.push_back(
        model.gamma < 0.5 ? "the evidence grows as the coefficients shrink to 0: it sees no use in the columns"
                          : "the evidence grows as the noise vanishes: the rows are fitted (almost) without an error");
  model.certificate = certificate_of(stationarity(model, from, second_look(from, alpha, beta)));
  return model;
}

Certificate certify(const BayesLinearModel& model, const Rows& rows, const Execution& execution) {
  const LeastSquares data =
      learn_triangle(BayesLinear::name, rows, model.spec.intercept, LeastSquares::Route::householder, execution);
  const Reduced from = reduce(model.spec, data);
  const Second second = second_look(from, model.alpha, model.beta);
  Certificate out = certificate_of(stationarity(model, from, second));
  if (!out.holds()) return out;
  BayesLinearModel expected;
  fill(expected, from, second.m, second.covariance, model.beta);
  Comparison same;
  // What is found through the inverse of the triangle has as many digits as its condition leaves.
  const Vector unit = second.triangle.colwise().norm().cwiseInverse().transpose();
  const double share = second.triangle.size() > 0 ? blas::reciprocal_condition(second.triangle * unit.asDiagonal()) : 1;
  const double follows = 1e-7 + 100 * std::numeric_limits<double>::epsilon() / share;
  if (model.spec.alpha) same.relative("alpha", model.alpha, *model.spec.alpha);
  if (model.spec.beta) same.relative("beta", model.beta, *model.spec.beta);
  for (Index j = 0; j < model.width(); ++j) {
    same.entry("mean", j, model.mean(j), from.mean(j), from.scale(j) + 1e-6 * std::abs(from.mean(j)));
    same.entry("scale", j, model.scale(j), from.scale(j), from.scale(j));
  }
  same.relative("mass", model.mass, from.mass);
  compare_seen(same, model.seen_mean, model.seen_triangle, data);
  same.number("gamma", model.gamma, second.gamma, 1 + second.gamma, follows);
  same.number("rss", model.rss, second.rss, second.rss + 1e-9 * from.z.squaredNorm(), follows);
  same.number("log_evidence", model.log_evidence, second.log_evidence, from.n + std::abs(second.log_evidence), follows);
  same.relative("sigma", model.sigma, expected.sigma);
  Vector size = expected.covariance.diagonal().cwiseSqrt();
  if (model.spec.intercept)  // its variance is a sum in which the covariances of nearly dependent columns cancel
    size(0) = std::sqrt(
        1 / (from.mass * model.beta) +
        from.mean.cwiseAbs().dot(expected.covariance.bottomRightCorner(model.width(), model.width()).cwiseAbs() *
                                 from.mean.cwiseAbs()));
  for (Index i = 0; i < size.size(); ++i)
    for (Index j = 0; j < size.size(); ++j)
      same.entry("covariance", i * size.size() + j, model.covariance(i, j), expected.covariance(i, j),
                 size(i) * size(j), follows);
  for (Index j = 0; j < model.width(); ++j)
    same.entry("std_errors", j, model.std_errors(j), expected.std_errors(j), expected.std_errors(j), follows);
  const double of_intercept = model.spec.intercept ? size(0) : 0;
  same.number("intercept", model.intercept, expected.intercept, std::abs(expected.intercept) + of_intercept, follows);
  same.number("intercept_std_error", model.intercept_std_error, expected.intercept_std_error, of_intercept, follows);
  if (same.finding()) same.report(out);
  return out;
}

BayesLinearModel updated(const BayesLinearModel& model, const Rows& rows, const FitOptions& options) {
  require_width(model, rows.width());
  require(model.seen_triangle.size() > 0,
          "bayes_linear: the file of this model is older than updates, and lacks what they need; fit it to all rows");
  const PastRows past(model.mass, model.mass, model.seen_mean, model.seen_triangle, rows);
  BayesLinearModel out = fit(Valid<BayesLinear>(model.spec), StackedRows({&past.rows(), &rows}), options);
  out.certificate.message += " The rows before the update are in it by their triangle.";
  return out;
}

template const Method& method_of<BayesLinear>();

}  // namespace lemma
