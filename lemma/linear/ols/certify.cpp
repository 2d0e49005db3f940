// lemma/linear/ols/certify.cpp: the model held against the rows, seen anew: first its coefficients, then every other number.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/hearing.hpp>
#include <lemma/linear/ols/parts.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/model/comparison.hpp>
#include <numbers>
#include <optional>

namespace lemma {
namespace {

constexpr double kNone = OlsModel::kNone;
constexpr double kFollows = 1e-12;  // what rounding may do to a sum of a few terms, in their size

/// What the rows say: a fresh triangle, the residuals at the model's coefficients, and the digits these can have.
struct Look {
  const LeastSquares& data;
  const LinearSolution& solution;  // with the model's coefficients
  double per_condition;            // allowed for what is found through R⁻¹
  OlsModel fresh;                  // the model with the triangle, and the scatter of the scores, that the rows have
};

void compare_design(Comparison& same, const OlsModel& model, const Look& look, const Rows& rows) {
  const LeastSquares& data = look.data;
  const LinearSolution& solution = look.solution;
  same.number("has_precision", model.has_precision, rows.has_precision, 0);
  same.number("rank", static_cast<double>(model.rank), static_cast<double>(solution.rank(model.spec.intercept)), 0);
  for (std::size_t i = 0; i < solution.kept.size() && i < model.kept.size(); ++i)
    same.entry("kept", static_cast<Index>(i), model.kept[i], static_cast<double>(solution.kept[i]), 0);
  same.relative("mass", model.mass, data.mass());
  same.relative("df_residual", model.df_residual, data.weight() - static_cast<double>(model.rank));
  for (Index j = 0; j < data.features(); ++j) {  // a mean is known to 1e-9 of the column's spread, beside its last bits
    const double spread = data.triangle().col(j).stableNorm() / std::sqrt(data.mass()), mean = data.mean()(j);
    const double d = (model.mean(j) - mean) + (model.mean_rest(j) - data.mean_rest()(j));
    same.entry("mean", j, d, 0, spread + 1e-6 * std::abs(mean));
  }
}

/// cov = σ² (XᵀWX)⁻¹, an entry in units of its two standard errors. Gives back the variances that standard errors are the
/// roots of: the stored ones, or, where they are not kept, those of the rows.
Vector compare_covariance(Comparison& same, const OlsModel& model, const Look& look) {
  if (same.finding()) return {};
  const double df = model.df_residual, variance = df > 0 ? model.rss / df : kNone;
  same.relative("sigma", model.sigma, or_none(std::sqrt(variance)));
  const Index lead = model.spec.intercept ? 1 : 0;
  std::vector<Index> taking_part;
  if (lead == 1) taking_part.push_back(0);
  for (const Index j : look.solution.kept) taking_part.push_back(j + lead);
  if (model.covariance.size() == 0 && model.width() + lead > 0) {
    Vector out = Vector::Constant(model.width() + lead, kNone);
    out(taking_part) = variance * unscaled_variances(look.data, look.solution);
    return out;
  }
  const Matrix part = look.fresh.errors() == StandardErrors::classical
                          ? variance * unscaled_covariance(look.data, look.solution)
                          : sandwich(look.fresh.scatter, look.fresh.centre());
  same.covariance(model.covariance, taking_part, part.unaryExpr(&or_none), look.per_condition);
  return model.covariance.diagonal();
}

/// The scores of these rows about the model's line, in the coordinates of the fresh triangle.
OlsModel with_own_scatter(const OlsModel& model, const LeastSquares& data, const LinearSolution& solution,
                          const Rows& rows, const Execution& execution) {
  OlsModel out = model;
  if (model.errors() == StandardErrors::classical) return out;
  chosen_errors(Ols::name, model.errors(), rows);
  out.kept.assign(solution.kept.begin(), solution.kept.end());
  out.triangle = solution.triangle;
  out.mean = data.mean().head(data.features());
  out.mean_rest = data.mean_rest().head(data.features());
  out.mass = data.mass();
  const auto found = ols::scatter_of(out, rows, execution);
  out.scatter = found.scatter;
  out.clusters = found.clusters;
  return out;
}

/// The test of one coefficient, each number from the stored ones before it.
struct Tested {
  double estimate, variance, error, t, p, lower, upper;
};
void compare_tested(Comparison& same, const OlsModel& model, const std::string& prefix, std::optional<Index> j,
                    const Tested& of) {
  const double df = model.df_tests();
  const double reach = df > 0 ? t_upper_quantile((1 - model.spec.level) / 2, df) : kNone;
  const auto check = [&](const std::string& field, double stored, double expected, double unit) {
    if (j) same.entry(field, *j, stored, or_none(expected), unit);
    else same.number(prefix + field, stored, or_none(expected), unit);
  };
  const double error = std::sqrt(of.variance), t = of.estimate / of.error;
  check(j ? "std_errors" : "std_error", of.error, error, error);
  check("t", of.t, t, std::abs(t));
  const double p = std::isfinite(of.t) && df > 0 ? t_two_sided(of.t, df) : kNone;
  check("p", of.p, p, p + 1e-300);  // beyond, numbers lose their digits
  const double half = reach * of.error, unit = std::abs(of.estimate) + half;
  check("lower", of.lower, of.estimate - half, unit);
  check("upper", of.upper, of.estimate + half, unit);
}

void compare_tests(Comparison& same, const OlsModel& model, const Vector& variances) {
  if (same.finding()) return;
  const Index lead = model.spec.intercept ? 1 : 0;
  if (lead == 1)
    compare_tested(same, model, "intercept_", {},
                   {model.intercept, variances(0), model.intercept_std_error, model.intercept_t, model.intercept_p,
                    model.intercept_lower, model.intercept_upper});
  else
    for (const auto& [field, stored] : {std::pair{"intercept_std_error", model.intercept_std_error},
                                        {"intercept_t", model.intercept_t},
                                        {"intercept_p", model.intercept_p},
                                        {"intercept_lower", model.intercept_lower},
                                        {"intercept_upper", model.intercept_upper}})
      same.number(field, stored, kNone, 0);
  for (Index j = 0; j < model.width(); ++j)
    compare_tested(same, model, "", j,
                   {model.coefficients(j), variances(j + lead), model.std_errors(j), model.t(j), model.p(j),
                    model.lower(j), model.upper(j)});
}

/// What rounding R may do to Σ w (fitted − mean)², relative to it.
double tolerance_of_explained(const Look& look, double explained) {
  if (explained == 0) return kLeastAgreement;
  const Vector b = look.solution.coefficients(look.solution.kept);
  const double terms = look.solution.triangle.colwise().norm().transpose().dot(b.cwiseAbs());
  return kAgree + 1e-13 * terms / std::sqrt(explained);
}

void compare_fit(Comparison& same, const OlsModel& model, const Look& look) {
  if (same.finding()) return;
  const double n = look.data.weight(), df = model.df_residual, lead = model.spec.intercept ? 1 : 0;
  const double slopes = static_cast<double>(model.kept.size()), explained = ols::explained_by(look.solution);
  same.entry("f_df", 0, model.f_df(0), slopes, slopes);
  same.entry("f_df", 1, model.f_df(1), model.df_tests(), std::abs(model.df_tests()));
  const bool tested = slopes > 0 && df > 0;
  const double of_explained = slopes > 0 ? tolerance_of_explained(look, explained) : kAgree;
  same.relative("r_squared", model.r_squared, slopes > 0 ? or_none(explained / (explained + model.rss)) : 0.0,
                of_explained);
  const double lost = (1 - model.r_squared) * ((n - lead) / df);
  same.number("adj_r_squared", model.adj_r_squared,
              slopes == 0 ? 0.0
              : tested    ? or_none(1 - lost)
                          : kNone,
              1 + std::abs(lost), kFollows);
  const bool classical = model.errors() == StandardErrors::classical;
  same.relative("f_statistic", model.f_statistic,
                !tested     ? kNone
                : classical ? or_none(explained / slopes / (model.rss / df))
                            : or_none(ols::wald_f(model)),
                of_explained);
  const double f_p =
      tested && std::isfinite(model.f_statistic) ? f_upper(model.f_statistic, slopes, model.df_tests()) : kNone;
  same.number("f_p", model.f_p, f_p, f_p + 1e-300);

  const double parameters = static_cast<double>(model.rank) + 1;
  const double likelihood =
      0.5 * (look.data.log_precision() - n * (std::log(2 * std::numbers::pi * model.rss / n) + 1));
  const double unit = n + std::abs(look.data.log_precision()) + std::abs(or_none(likelihood));
  same.number("log_likelihood", model.log_likelihood, or_none(likelihood), unit, kFollows);
  const double aic = -2 * model.log_likelihood + 2 * parameters,
               bic = -2 * model.log_likelihood + std::log(n) * parameters;
  same.number("aic", model.aic, or_none(aic), unit, kFollows);
  same.number("bic", model.bic, or_none(bic), unit, kFollows);
}

void compare_quantiles(Comparison& same, const OlsModel& model, const Look& look, const Rows& rows,
                       const Execution& execution) {
  if (same.finding()) return;
  const Vector expected = model.updates > 0 ? Vector() : ols::residual_quantiles(model, rows, execution);
  same.number("residual_quantiles", static_cast<double>(model.residual_quantiles.size()),
              static_cast<double>(expected.size()), 0, kAgree, "the length of ");
  if (same.finding() || expected.size() == 0) return;
  const Index y = look.data.features();  // a residual is known to the last bits of y
  const double length =
      std::hypot(look.data.triangle().col(y).stableNorm(), std::sqrt(look.data.mass()) * look.data.mean()(y));
  for (Index k = 0; k < expected.size(); ++k)
    same.entry("residual_quantiles", k, model.residual_quantiles(k), expected(k),
               expected.cwiseAbs().maxCoeff() + 1e-5 * length);
}

}  // namespace

/// Which columns take part is decided anew, so that a model that calls a useful column aliased does not pass.
Certificate certify(const OlsModel& model, const Rows& rows, const Execution& execution) {
  const Hearing hearing(execution);
  const LeastSquares data =
      learn_triangle(Ols::name, rows, model.spec.intercept, LeastSquares::Route::householder, execution.part(0, 0.6));
  LinearSolution solution = solve(data, model.spec.tolerance);
  solution.intercept = model.intercept;
  solution.coefficients = model.slopes();
  const Residuals residuals =
      scan(rows, Residuals(solution.intercept, solution.coefficients), execution.part(0.6, 0.85));
  solution.residual_ss = residuals.sum_of_squares();
  Certificate out = ols::certificate_of(excess(data, solution, residuals), 0);
  if (!out.holds()) return out;

  const Look look{data, solution, kAgree + 100 * std::numeric_limits<double>::epsilon() * solution.condition,
                  with_own_scatter(model, data, solution, rows, execution.part(0.85, 0.9))};
  Comparison same;
  compare_design(same, model, look, rows);
  same.triangle("triangle", model.triangle, look.solution.triangle, look.per_condition);
  same.relative("rss", model.rss, residuals.sum_of_squares());
  compare_scatter(same, model, look.fresh, look.per_condition);
  const Vector variances = compare_covariance(same, model, look);
  compare_tests(same, model, variances);
  compare_fit(same, model, look);
  compare_quantiles(same, model, look, rows, execution.part(0.9, 1));
  if (same.finding()) same.report(out);
  return out;
}

}  // namespace lemma
