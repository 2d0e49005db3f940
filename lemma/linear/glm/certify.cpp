// lemma/linear/glm/certify.cpp: the model held against the rows, seen anew: first its coefficients, then every other number.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/linear/glm/parts.hpp>
#include <lemma/linear/shared/learn_triangle.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/model/comparison.hpp>
#include <optional>

namespace lemma {
namespace {

constexpr double kNone = GlmModel::kNone;
constexpr double kFollows = 1e-12;  // what rounding may do to a sum of a few terms, in their size

/// What the rows say: a fresh triangle at the model's coefficients, sums over the rows, and the digits these can have.
struct Look {
  const glm::Survey& known;
  const glm::Problem& problem;
  const glm::Totals& totals;
  const LeastSquares& data;
  const LinearSolution& solution;
  double per_condition;  // allowed for what is found through R⁻¹
  GlmModel fresh;        // the model with the triangle, and the scatter of the scores, that the rows have
};

void compare_design(Comparison& same, const GlmModel& model, const Look& look, const std::vector<Index>& kept,
                    const Rows& rows) {
  same.number("classes", model.classes, !rows.classes.empty(), 0);
  same.number("counts", model.counts, rows.counts, 0);
  same.number("rank", static_cast<double>(model.rank),
              static_cast<double>(kept.size()) + (model.spec.intercept ? 1 : 0), 0);
  for (std::size_t i = 0; i < kept.size() && i < model.kept.size(); ++i)
    same.entry("kept", static_cast<Index>(i), model.kept[i], static_cast<double>(kept[i]), 0);
  const double n = look.known.n, lead = model.spec.intercept ? 1 : 0;
  same.number("df_null", model.df_null, n - lead, n);
  same.number("df_residual", model.df_residual, n - static_cast<double>(model.rank), n);
  same.relative("mass", model.mass, look.data.mass());
  Vector mean = Vector::Zero(model.width()), rest = mean, spread = mean;
  for (std::size_t k = 0; k < model.kept.size(); ++k) {
    const auto at = static_cast<Index>(k);
    const int j = model.kept[k];
    mean(j) = look.data.mean()(at);
    rest(j) = look.data.mean_rest()(at);
    spread(j) = look.data.triangle().col(at).stableNorm() / std::sqrt(look.data.mass());
  }
  for (Index j = 0; j < mean.size(); ++j)
    same.entry("mean", j, (model.mean(j) - mean(j)) + (model.mean_rest(j) - rest(j)), 0,
               spread(j) + 1e-6 * std::abs(mean(j)));
}

/// A covariance in units of its two standard errors.
void compare_covariance(Comparison& same, const GlmModel& model, const Look& look) {
  if (same.finding()) return;
  const int lead = model.spec.intercept ? 1 : 0;
  std::vector<Index> taking_part;
  if (lead == 1) taking_part.push_back(0);
  for (const int j : model.kept) taking_part.push_back(j + lead);
  const Matrix part = model.errors() == StandardErrors::classical
                          ? Matrix(model.dispersion * unscaled_covariance(look.data, look.solution))
                          : sandwich(look.fresh.scatter, look.fresh.centre());
  same.covariance(model.covariance, taking_part, part.unaryExpr(&or_none), look.per_condition);
}

/// The scores of these rows at the model's coefficients, in the coordinates of the fresh triangle.
GlmModel with_own_scatter(const GlmModel& model, const LeastSquares& data, const LinearSolution& solution,
                          const Rows& rows, const Execution& execution) {
  GlmModel out = model;
  if (model.errors() == StandardErrors::classical) return out;
  chosen_errors(Glm::name, model.errors(), rows);
  out.triangle = solution.triangle;
  const auto k = static_cast<Index>(model.kept.size());
  out.mean(model.kept) = data.mean().head(k);
  out.mean_rest(model.kept) = data.mean_rest().head(k);
  out.mass = data.mass();
  const auto found = glm::scatter_of(out, rows, execution);
  out.scatter = found.scatter;
  out.clusters = found.clusters;
  return out;
}

/// The test of one coefficient, each number from the stored ones before it.
struct Tested {
  double estimate, variance, error, z, p, lower, upper;
};
void compare_tested(Comparison& same, const GlmModel& model, std::optional<Index> j, const Tested& of) {
  const auto df = model.df_tests();
  const bool by_t = df.has_value();
  const double tail = (1 - model.spec.level) / 2;
  const double reach = !by_t ? -normal_quantile(tail) : *df > 0 ? t_upper_quantile(tail, *df) : kNone;
  const auto check = [&](const std::string& field, double stored, double expected, double unit) {
    if (j) same.entry(field, *j, stored, or_none(expected), unit);
    else same.number("intercept_" + field, stored, or_none(expected), unit);
  };
  const double error = std::sqrt(of.variance), z = of.estimate / of.error;
  check(j ? "std_errors" : "std_error", of.error, error, error);
  check("z", of.z, z, std::abs(z));
  const double p = !std::isfinite(of.z) ? kNone
                   : !by_t              ? 2 * normal_upper(std::abs(of.z))
                   : *df > 0            ? t_two_sided(of.z, *df)
                                        : kNone;
  check("p", of.p, p, p + 1e-300);  // beyond, numbers lose their digits
  if (model.spec.interval == CoefficientInterval::profile) return;
  const double half = reach * of.error, unit = std::abs(of.estimate) + half;
  check("lower", of.lower, of.estimate - half, unit);
  check("upper", of.upper, of.estimate + half, unit);
}

void compare_tests(Comparison& same, const GlmModel& model) {
  if (same.finding()) return;
  const Index lead = model.spec.intercept ? 1 : 0;
  const double variance = lead == 1 ? model.covariance(0, 0) : kNone, estimate = lead == 1 ? model.intercept : kNone;
  compare_tested(same, model, {},
                 {estimate, variance, model.intercept_std_error, model.intercept_z, model.intercept_p,
                  model.intercept_lower, model.intercept_upper});
  for (Index j = 0; j < model.width(); ++j) {
    compare_tested(same, model, j,
                   {model.coefficients(j), model.covariance(j + lead, j + lead), model.std_errors(j), model.z(j),
                    model.p(j), model.lower(j), model.upper(j)});
    if (model.t.size() > 0) same.entry("t", j, model.t(j), model.z(j), std::abs(model.z(j)));
    if (model.odds_ratios.size() > 0) {
      const double odds = or_none(std::exp(model.coefficients(j)));
      same.entry("odds_ratios", j, model.odds_ratios(j), odds, odds);
    }
  }
}

/// At a profile limit the signed root of the drop in deviance is the normal quantile.
void compare_profile(Comparison& same, const GlmModel& model, const Look& look, const Rows& rows,
                     const Execution& execution) {
  if (same.finding() || model.spec.interval != CoefficientInterval::profile) return;
  glm::Fit fit{look.problem, {model.base, model.slopes}, {}, LeastSquares(0), {}, look.totals.deviance};
  const double reach = -normal_quantile((1 - model.spec.level) / 2);
  const auto check = [&](const char* field, Index term, double estimate, double limit, double target) {
    if (same.finding() || std::isnan(limit)) return;
    const double root = glm::profile_root(fit, term, estimate, limit, model.dispersion, rows, execution);
    same.number(field, root, target, reach, 1e-6, term < 0 ? "" : fmt::format("number {} of ", term + 1));
  };
  if (model.spec.intercept) {
    check("intercept_lower", -1, model.intercept, model.intercept_lower, -reach);
    check("intercept_upper", -1, model.intercept, model.intercept_upper, reach);
  }
  for (const int j : model.kept) {
    check("lower", j, model.coefficients(j), model.lower(j), -reach);
    check("upper", j, model.coefficients(j), model.upper(j), reach);
  }
}

void compare_fit(Comparison& same, const GlmModel& model, const Look& look, double null_deviance) {
  if (same.finding()) return;
  const bool estimated = model.law().estimates_dispersion();
  const double df = model.df_residual, n = look.known.n;
  same.relative("residual_deviance", model.residual_deviance, or_none(look.totals.deviance));
  same.relative("null_deviance", model.null_deviance, or_none(null_deviance), 1e-8);
  same.relative("pearson_chi2", model.pearson_chi2, or_none(look.totals.pearson));
  same.relative("dispersion", model.dispersion, !estimated ? 1.0 : df > 0 ? or_none(model.pearson_chi2 / df) : kNone);
  const double parameters = glm::parameters_of(model);
  const double unit = n + std::abs(or_none(look.totals.log_likelihood));
  same.number("log_likelihood", model.log_likelihood, or_none(look.totals.log_likelihood), unit, 1e-10);
  same.number("aic", model.aic, or_none(-2 * model.log_likelihood + 2 * parameters), unit, kFollows);
  same.number("bic", model.bic, or_none(-2 * model.log_likelihood + std::log(n) * parameters), unit, kFollows);
}

/// At the maximum a Newton step moves θ by nothing: by rounding, in units of θ and of its standard error.
void compare_theta(Comparison& same, const GlmModel& model, const Look& look, const Rows& rows,
                   const Execution& execution) {
  if (same.finding() || !model.theta_learned) return;
  const auto found = glm::look_at_theta(look.problem, {model.base, model.slopes}, rows, execution);
  const double error = or_none(1 / std::sqrt(found.information));
  same.number("theta", model.theta, model.theta * std::exp(found.step), model.theta + error, 1e-7);
  same.relative("theta_std_error", model.theta_std_error, error, 1e-6);
}

void compare_quantiles(Comparison& same, const GlmModel& model, const Look& look, const Rows& rows,
                       const Execution& execution) {
  if (same.finding()) return;
  const Vector expected = glm::residual_quantiles(look.problem, {model.base, model.slopes}, rows, execution);
  same.number("residual_quantiles", static_cast<double>(model.residual_quantiles.size()),
              static_cast<double>(expected.size()), 0, kAgree, "the length of ");
  if (same.finding()) return;
  const double size = std::sqrt(look.totals.null_deviance / look.known.n);  // residuals are known to the bits of this
  for (Index k = 0; k < expected.size(); ++k)
    same.entry("residual_quantiles", k, model.residual_quantiles(k), expected(k),
               expected.cwiseAbs().maxCoeff() + 1e-3 * size);
}

/// That there is no maximum is shown by the direction the model stores.
Certificate certify_separation(const GlmModel& model, const glm::Problem& problem, const Rows& rows,
                               const Execution& execution) {
  const auto found = scan(rows, glm::Separation{&problem, model.separating, 0, 0, false}, execution);
  Certificate out = glm::certificate_of(problem.law, {}, nullptr);
  glm::say_separated(out, found.complete());
  if (!found.holds()) {
    out.kind = "difference of separating";
    out.message = "The stored direction does not separate these rows, so nothing is known of the maximum.";
  }
  return out;
}

}  // namespace

/// Which columns take part is decided anew, so that a model that calls a useful column aliased does not pass.
Certificate certify(const GlmModel& model, const Rows& rows, const Execution& execution) {
  if (model.updates > 0) return glm::certify_updated(model, rows, execution);
  glm::Problem problem = glm::problem_of(model.spec, rows);
  problem.law.theta_learned = model.theta_learned;
  problem.columns.assign(model.kept.begin(), model.kept.end());
  const glm::Survey known = glm::survey(problem, rows, execution.part(0, 0.1));
  if (model.separating.size() > 0) return certify_separation(model, problem, rows, execution.part(0.1, 1));

  const auto householder = LeastSquares::Route::householder;
  const glm::Coefficients at{model.base, model.slopes};
  const glm::WorkingRows working(rows, problem, &at);
  const LeastSquares data =
      learn_triangle(Glm::name, working, model.spec.intercept, householder, execution.part(0.1, 0.4));
  LinearSolution solution = solve(data, 1e-15);
  solution.coefficients = model.slopes(problem.columns);
  solution.intercept = model.base;
  const auto k = static_cast<Index>(problem.columns.size());
  const Residuals gradient = scan(working, Residuals(0, Vector::Zero(k)), execution.part(0.4, 0.6));
  glm::Totals totals{&problem, at, known.mean(), 1, 0, 0, 0, 0};
  totals.dispersion = glm::likelihood_dispersion(problem.law, known, model.residual_deviance);
  totals = scan(rows, totals, execution.part(0.6, 0.61));
  const Excess gap = glm::beside_deviance(excess(data, solution, gradient), gradient.sum_of_squares(), totals.deviance);
  const Excess found = glm::beside_rounding(gap, problem, at, rows, execution.part(0.61, 0.62));
  Certificate out = glm::certificate_of(problem.law, found, nullptr);
  if (out.holds() && glm::can_be_separated(problem.law)) {
    const auto overlap = glm::judge_overlap(problem, at, rows, execution.part(0.6, 0.65));
    if (overlap.separated()) glm::say_separated(out, overlap.verdict == separation::Verdict::complete);
    else if (overlap.verdict == separation::Verdict::undecided) glm::say_undecided(out);
  }
  if (!out.holds()) return out;

  const auto kept =
      solve(glm::first_triangle(problem, known, rows, householder, execution.part(0.6, 0.8)), model.spec.tolerance)
          .kept;
  const Look look{known,
                  problem,
                  totals,
                  data,
                  solution,
                  kAgree + 100 * std::numeric_limits<double>::epsilon() * solution.condition,
                  with_own_scatter(model, data, solution, rows, execution.part(0.9, 0.92))};
  Comparison same;
  compare_design(same, model, look, kept, rows);
  same.triangle("triangle", model.triangle, look.solution.triangle, look.per_condition);
  compare_fit(same, model, look, glm::null_deviance(problem, known, totals, rows, execution.part(0.9, 0.95)));
  compare_theta(same, model, look, rows, execution.part(0.92, 0.93));
  compare_scatter(same, model, look.fresh, look.per_condition);
  compare_covariance(same, model, look);
  compare_tests(same, model);
  compare_profile(same, model, look, rows, execution.part(0.95, 0.97));
  compare_quantiles(same, model, look, rows, execution.part(0.97, 1));
  if (same.finding()) same.report(out);
  return out;
}

}  // namespace lemma
