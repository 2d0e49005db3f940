// lemma/mixture/factor_analysis.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/mixture/factor_analysis/rotate.hpp>
#include <lemma/mixture/shared/spread.hpp>
#include <lemma/model/claim.hpp>
#include <lemma/optimize/minimise.hpp>
#include <numbers>

namespace lemma {
namespace {

constexpr double kLeastUnique = 0.005;
constexpr double kAtBound = -16;   // log(ψ − 0.005) below which ψ is at its bound, where F would have it smaller
constexpr double kPinned = -1000;  // its exponential is 0

int df_of(Index p, Index q) { return static_cast<int>(((p - q) * (p - q) - (p + q)) / 2); }
/// Means, ψ and the standard deviations' place is that of L up to a rotation.
int parameter_count(Index p, Index q) { return static_cast<int>(p + p + p * q - q * (q - 1) / 2); }

/// F over θ, ψ = 0.005 + e^θ, with the best loadings for each ψ.
struct Discrepancy {
  const Matrix& r;
  Index q;

  Vector uniquenesses(const Vector& theta) const { return (kLeastUnique + theta.array().exp()).matrix(); }
  Eigenpairs pairs(const Vector& psi) const {
    const Vector root = psi.cwiseSqrt().cwiseInverse();
    return symmetric_eigen(root.asDiagonal() * r * root.asDiagonal());
  }
  Matrix loadings(const Vector& psi) const {
    const Eigenpairs found = pairs(psi);
    Matrix out(r.rows(), q);
    for (Index k = 0; k < q; ++k)
      out.col(k) = std::sqrt(std::max(0.0, found.values(k) - 1)) * psi.cwiseSqrt().cwiseProduct(found.vectors.col(k));
    return out;
  }
  double from(const Vector& values) const {
    double sum = 0;
    for (Index j = 0; j < values.size(); ++j) {
      const double kept = j < q ? std::max(values(j), 1.0) : 1.0;  // what the model has in the place of λ
      sum += values(j) / kept - std::log(values(j) / kept) - 1;
    }
    return sum;
  }
  double value(const Vector& theta) const { return from(pairs(uniquenesses(theta)).values); }
  double value(const Vector& theta, Vector& gradient) const {
    const Vector psi = uniquenesses(theta);
    const Matrix l = loadings(psi);
    gradient.resize(theta.size());
    for (Index j = 0; j < theta.size(); ++j)
      gradient(j) = (l.row(j).squaredNorm() + psi(j) - r(j, j)) / (psi(j) * psi(j)) * (psi(j) - kLeastUnique);
    return from(pairs(psi).values);
  }
};

Matrix correlation_of(const mixture::Spread& spread) {
  const Vector unit = spread.covariance.diagonal().cwiseSqrt();
  Matrix r = unit.cwiseInverse().asDiagonal() * spread.covariance * unit.cwiseInverse().asDiagonal();
  r = (0.5 * (r + r.transpose())).eval();
  r.diagonal().setOnes();
  return r;
}

/// log det Σ + tr Σ⁻¹R − log det R − p, by triangles.
double discrepancy_again(const Matrix& sigma, const Matrix& r) {
  const Matrix root = *cholesky(sigma);
  const Matrix half = solve_upper_transposed(root, r);
  const Matrix both = solve_upper_transposed(root, half.transpose());
  return log_determinant(root) + both.trace() - log_determinant(*cholesky(r)) - static_cast<double>(r.rows());
}

/// ℓ of n rows whose Gaussian lacks F / 2 to the best.
double log_likelihood_of(const mixture::Spread& spread, const Matrix& r, double discrepancy) {
  const auto p = static_cast<double>(r.rows());
  const double log_det = log_determinant(*cholesky(r)) + spread.covariance.diagonal().array().log().sum();
  return -0.5 * spread.weight * (p * (std::log(2 * std::numbers::pi) + 1) + log_det + discrepancy);
}

void tell(FactorAnalysisModel& model, const mixture::Spread& spread, const Matrix& r) {
  const auto p = static_cast<double>(r.rows());
  const Index q = model.output_width();
  model.parameters = parameter_count(r.rows(), q);
  model.df = df_of(r.rows(), q);
  model.log_likelihood = log_likelihood_of(spread, r, model.discrepancy);
  model.aic = -2 * model.log_likelihood + 2.0 * model.parameters;
  model.bic = -2 * model.log_likelihood + model.parameters * std::log(spread.weight);
  const double times = spread.weight - 1 - (2 * p + 5) / 6 - 2 * static_cast<double>(q) / 3;
  model.chi_squared = std::max(0.0, times) * model.discrepancy;
  model.p_value = model.df > 0 ? chi_squared_upper(model.chi_squared, model.df) : 1;
}

/// The largest entry of the gradient of F in L and log ψ; at its bound ψ may want to be smaller.
double gradient_of(const FactorAnalysisModel& model, const Matrix& r) {
  const Matrix sigma = model.correlation(), root = *cholesky(sigma);
  const auto solve = [&](const Matrix& b) { return solve_upper(root, solve_upper_transposed(root, b)); };
  const Matrix g = solve(solve(sigma - r).transpose());  // Σ⁻¹ (Σ − R) Σ⁻¹
  double most = (2 * g * model.loadings * model.factor_correlations).cwiseAbs().maxCoeff();
  for (Index j = 0; j < model.width(); ++j) {
    const double slope = g(j, j) * model.uniquenesses(j);
    const bool bound = model.uniquenesses(j) <= kLeastUnique * (1 + 1e-4);
    most = std::max(most, bound ? std::max(0.0, -slope) : std::abs(slope));
  }
  return most;
}

double unrotated(const FactorAnalysisModel& model) {
  const Matrix common = model.loadings * model.factor_correlations * model.loadings.transpose();
  const auto again =
      rotation::rotated(rotation::canonical(common, model.uniquenesses, model.output_width()), model.spec.rotation);
  double worst = std::max((again.loadings - model.loadings).cwiseAbs().maxCoeff(),
                          (again.correlations - model.factor_correlations).cwiseAbs().maxCoeff());
  if (model.spec.rotation == Rotation::varimax) worst = std::max(worst, rotation::varimax_residue(model.loadings));
  return worst;
}

}  // namespace

Matrix FactorAnalysisModel::correlation() const {
  Matrix out = loadings * factor_correlations * loadings.transpose();
  out = (0.5 * (out + out.transpose())).eval();
  out.diagonal() += uniquenesses;
  return out;
}

factors::Factors FactorAnalysisModel::latent() const {
  const Matrix root = *cholesky(factor_correlations);  // Φ = RᵀR
  return {mean, deviations.asDiagonal() * (loadings * root.transpose()),
          deviations.array().square() * uniquenesses.array()};
}

void FactorAnalysisModel::check() const {
  const Index p = width(), q = output_width();
  require(p > 1 && deviations.size() == p && uniquenesses.size() == p && loadings.rows() == p && q == spec.factors &&
              factor_correlations.rows() == q && factor_correlations.cols() == q,
          "factor_analysis: the columns and factors do not fit together");
  require(mean.allFinite() && deviations.allFinite() && (deviations.array() > 0).all() && uniquenesses.allFinite() &&
              (uniquenesses.array() > 0).all() && loadings.allFinite() && factor_correlations.allFinite() &&
              std::isfinite(discrepancy) && std::isfinite(log_likelihood) && std::isfinite(aic) && std::isfinite(bic) &&
              std::isfinite(chi_squared) && p_value >= 0 && p_value <= 1,
          "factor_analysis: a number is not usable");
  require(factor_correlations == factor_correlations.transpose() &&
              (factor_correlations.diagonal().array() == 1).all() && cholesky(factor_correlations).has_value(),
          "factor_analysis: the correlations of the factors are none");
  require(cholesky(correlation()).has_value(), "factor_analysis: the covariance is not positive definite");
  require(parameters == parameter_count(p, q) && df == df_of(p, q) && df >= 0,
          "factor_analysis: the number of parameters is wrong");
}

Vector FactorAnalysisModel::log_density(const MatrixView& x) const {
  require_width(*this, x.cols());
  return factors::log_densities(latent(), x);
}

Matrix FactorAnalysisModel::transform(const MatrixView& x) const {
  require_width(*this, x.cols());
  const Matrix root = *cholesky(correlation());
  const Matrix by = solve_upper(root, solve_upper_transposed(root, loadings * factor_correlations));
  const Matrix z = ((x.rowwise() - mean.transpose()).array().rowwise() / deviations.transpose().array()).matrix();
  return row_products(z, by);
}

std::vector<std::string> FactorAnalysisModel::output_names(const std::vector<std::string>&) const {
  std::vector<std::string> names;
  for (Index k = 1; k <= output_width(); ++k) names.push_back(fmt::format("factor{}", k));
  return names;
}

DrawnRows FactorAnalysisModel::draw(Index count, std::uint64_t seed) const {
  return {factors::draw(latent(), count, seed)};
}

std::string FactorAnalysisModel::summary(const Names& names) const {
  TextTable table;
  std::vector<std::string> features;
  for (Index j = 0; j < width(); ++j)
    features.push_back(at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1));
  table.words("column", features);
  for (Index k = 0; k < output_width(); ++k) {
    std::vector<std::string> cells;
    for (const double each : loadings.col(k)) cells.push_back(format_fixed(each, 3));
    table.right(fmt::format("factor{}", k + 1), cells);
  }
  std::vector<std::string> cells;
  for (const double each : uniquenesses) cells.push_back(format_fixed(each, 3));
  table.right("uniqueness", cells);
  std::string out = fmt::format(
      "Factor analysis by maximum likelihood: {}, {}\n\nLoadings of columns in units of their "
      "standard deviations:\n",
      count_of(output_width(), "factor"),
      spec.rotation == Rotation::none ? "not rotated" : fmt::format("{} rotation", name_of(spec.rotation)));
  out += table.str({.width = 100});
  if (spec.rotation == Rotation::promax && output_width() > 1) {
    TextTable phi;
    std::vector<std::string> rows;
    for (Index k = 0; k < output_width(); ++k) rows.push_back(fmt::format("factor{}", k + 1));
    phi.words("correlations", rows);
    for (Index k = 0; k < output_width(); ++k) {
      std::vector<std::string> column;
      for (const double each : factor_correlations.col(k)) column.push_back(format_fixed(each, 3));
      phi.right(rows[at(k)], column);
    }
    out += "\n" + phi.str();
  }
  out += fmt::format("\nlog-likelihood {}   {}   AIC {}   BIC {}\n", format_significant(log_likelihood, 7),
                     count_of(parameters, "parameter"), format_significant(aic, 7), format_significant(bic, 7));
  if (df > 0)
    out += fmt::format("{} {} enough? chi-squared {} on {} df, p-value {}\n", output_width() == 1 ? "Is" : "Are",
                       count_of(output_width(), "factor"), format_significant(chi_squared, 4), df, format_p(p_value));
  return out;
}

FactorAnalysisModel fit(const Valid<FactorAnalysis>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const Index p = rows.width(), q = spec->factors;
  if (q >= p || df_of(p, q) < 0) {
    Index most = 0;
    while (df_of(p, most + 1) >= 0 && most + 1 < p) ++most;
    throw Error(fmt::format("factor_analysis: {} are too many for {}; {}", count_of(q, "factor"), count_of(p, "column"),
                            most > 0 ? fmt::format("take at most {}", most) : "give at least 3 columns"));
  }
  const auto spread = mixture::spread_of(FactorAnalysis::name, rows, execution.part(0, 0.4));
  mixture::require_spread_in_each(FactorAnalysis::name, spread, rows, "");
  mixture::triangle_of(FactorAnalysis::name, spread, rows, "");
  FactorAnalysisModel model;
  model.spec = *spec;
  model.mean = spread.mean;
  model.deviations = spread.covariance.diagonal().cwiseSqrt();
  const Matrix r = correlation_of(spread), root = *cholesky(r);
  const Matrix inverse = solve_upper(root, solve_upper_transposed(root, Matrix::Identity(p, p)));
  Vector theta(p);
  const double share = 1 - 0.5 * static_cast<double>(q) / static_cast<double>(p);
  for (Index j = 0; j < p; ++j) theta(j) = std::log(std::max(share / inverse(j, j) - kLeastUnique, 1e-3));
  const Discrepancy objective{r, q};
  MinimiseOptions how;
  how.most_iterations = spec->max_iterations;
  how.tolerance = std::min(1e-9, 1e-3 * spec->tolerance);
  bool cancelled = false, bound = false;
  long long before = 0;
  how.stop = [&](const Iterate& at) {
    execution.report(0.4 + 0.4 * static_cast<double>(before + at.iteration) / spec->max_iterations,
                     "discrepancy " + format_significant(at.value, 6));
    bound = (at.x.array() < kAtBound && at.x.array() > kPinned && at.gradient.array() > 0).any();
    return (cancelled = execution.cancelled()) || bound;
  };
  Minimum found = lbfgs(objective, theta, how);
  while (bound &&
         !cancelled) {  // log ψ would go on falling for ever: such a ψ stays at its bound, and the others go on
    before += found.iterations;
    how.most_iterations = std::max(1LL, spec->max_iterations - before);
    theta = (found.x.array() < kAtBound).select(kPinned, found.x);
    found = lbfgs(objective, theta, how);
  }
  model.uniquenesses = objective.uniquenesses(found.x);
  const auto turned = rotation::rotated(objective.loadings(model.uniquenesses), spec->rotation);
  model.loadings = turned.loadings;
  model.factor_correlations = turned.correlations;
  model.discrepancy = found.value;
  const long long iterations = before + found.iterations;
  tell(model, spread, r);
  for (Index j = 0; j < p; ++j)
    if (model.uniquenesses(j) <= kLeastUnique * (1 + 1e-4))
      model.warnings.push_back(
          fmt::format("'{}' is explained by the factors alone (a Heywood case): its uniqueness is at "
                      "its bound of {:g}; take fewer factors",
                      rows.features[at(j)], kLeastUnique));
  if (cancelled) {
    model.certificate = {.strength = Strength::stationary,
                         .kind = "gradient of the discrepancy",
                         .value = std::numeric_limits<double>::quiet_NaN(),
                         .iterations = iterations,
                         .stopped = "cancelled",
                         .message = fmt::format("Cancelled after {}; nothing was checked. 'lemma verify' looks again.",
                                                count_of(iterations, "iteration"))};
    return model;
  }
  model.certificate = certify(model, rows, execution.part(0.8, 1));
  model.certificate.iterations = iterations;
  model.certificate.stopped = model.certificate.holds()            ? "converged"
                              : iterations >= spec->max_iterations ? "iteration limit"
                                                                   : "not converged";
  return model;
}

Certificate certify(const FactorAnalysisModel& model, const Rows& rows, const Execution& execution) {
  const auto spread = mixture::spread_of(FactorAnalysis::name, rows, execution);
  const Matrix r = correlation_of(spread);
  require(cholesky(r).has_value(), "factor_analysis: the columns are linearly dependent");
  double told = std::max(((model.mean - spread.mean).array() / model.deviations.array()).abs().maxCoeff(),
                         (model.deviations.array() / spread.covariance.diagonal().array().sqrt() - 1).abs().maxCoeff());
  FactorAnalysisModel again = model;
  again.discrepancy = discrepancy_again(model.correlation(), r);
  tell(again, spread, r);
  const double unit = std::abs(again.log_likelihood) + spread.weight * static_cast<double>(model.width());
  told =
      std::max({told, std::abs(again.discrepancy - model.discrepancy),
                std::abs(again.log_likelihood - model.log_likelihood) / unit, std::abs(again.aic - model.aic) / unit,
                std::abs(again.bic - model.bic) / unit, std::abs(again.chi_squared - model.chi_squared) / spread.weight,
                std::abs(again.p_value - model.p_value) / std::max(again.p_value, 1e-300) / spread.weight});
  const double offset = (model.mean.array() / model.deviations.array()).abs().maxCoeff();
  const double rounding = 1e-14 * (1 + offset) / model.uniquenesses.minCoeff();
  Certificate out;
  out.strength = Strength::stationary;
  out.kind = "gradient of the discrepancy";
  out.tolerance = std::min(kLoosestClaim, claimed(model.spec.tolerance) + rounding);
  out.value = gradient_of(model, r);
  const double turn = unrotated(model), allowed = 1e-6 + rounding;
  const bool same = told <= 1e-8 + rounding, is_turned = turn <= allowed;
  if (!same || !is_turned) out.value = std::max(out.value, 2 * out.tolerance + std::max(told, turn));
  out.stopped = "looked at again";
  if (!same)
    out.message = fmt::format("Means, deviations or the likelihood are not those of these rows (off by {}).",
                              format_significant(told, 2));
  else if (!is_turned)
    out.message = fmt::format("The loadings are not turned as {} asks (off by {}).", name_of(model.spec.rotation),
                              format_significant(turn, 2));
  else
    out.message =
        fmt::format("{}: no entry of the gradient in the loadings and uniquenesses is larger than {} (allowed {}).",
                    out.holds() ? "The likelihood is stationary" : "The likelihood is not stationary",
                    residue_text(out.value, out.tolerance), format_significant(out.tolerance, 2));
  return out;
}

template const Method& method_of<FactorAnalysis>();

}  // namespace lemma
