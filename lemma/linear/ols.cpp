// lemma/linear/ols.cpp: the fit and what it says about the coefficients.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/hearing.hpp>
#include <lemma/core/text.hpp>
#include <lemma/linear/ols/parts.hpp>
#include <lemma/linear/shared/coefficient_table.hpp>
#include <lemma/math/distributions.hpp>
#include <numbers>

namespace lemma {
namespace {

constexpr double kNone = OlsModel::kNone;

/// σ², standard errors, t, p and intervals from (XᵀWX)⁻¹, or from the scatter of the scores.
void judge_coefficients(OlsModel& model, const LeastSquares& data, const LinearSolution& solution) {
  const Index p = data.features(), lead = data.intercept() ? 1 : 0;
  const double df = model.df_residual, variance = df > 0 ? model.rss / df : kNone;
  model.sigma = or_none(std::sqrt(variance));
  std::vector<Index> terms;  // rows of the covariance: the intercept, then the columns
  if (lead == 1) terms.push_back(0);
  for (const Index j : solution.kept) terms.push_back(j + lead);
  Vector variances = Vector::Constant(p + lead, kNone);
  if (model.errors() != StandardErrors::classical) {
    model.covariance = Matrix::Constant(p + lead, p + lead, kNone);
    model.covariance(terms, terms) = sandwich(model.scatter, model.centre()).unaryExpr(&or_none);
    variances = model.covariance.diagonal();
  } else if (p + lead <= kMostCovariances) {
    model.covariance = Matrix::Constant(p + lead, p + lead, kNone);
    model.covariance(terms, terms) = (variance * unscaled_covariance(data, solution)).unaryExpr(&or_none);
    variances = model.covariance.diagonal();
  } else {
    variances(terms) = variance * unscaled_variances(data, solution);
  }

  const double df_tests = model.df_tests(),
               reach = df_tests > 0 ? t_upper_quantile((1 - model.spec.level) / 2, df_tests) : kNone;
  const auto judge = [&](Index term, double estimate, double& error, double& t, double& p_value, double& lower,
                         double& upper) {
    error = or_none(std::sqrt(variances(term)));
    t = or_none(estimate / error);
    p_value = std::isnan(t) || !(df_tests > 0) ? kNone : t_two_sided(t, df_tests);
    lower = or_none(estimate - reach * error);
    upper = or_none(estimate + reach * error);
  };
  model.std_errors = model.t = model.p = model.lower = model.upper = Vector::Constant(p, kNone);
  for (const Index j : solution.kept)
    judge(j + lead, model.coefficients(j), model.std_errors(j), model.t(j), model.p(j), model.lower(j), model.upper(j));
  if (lead == 1)
    judge(0, model.intercept, model.intercept_std_error, model.intercept_t, model.intercept_p, model.intercept_lower,
          model.intercept_upper);
}

/// R², F, likelihood and what follows from it, each as R's summary.lm and logLik.lm define it.
void judge_fit(OlsModel& model, const LeastSquares& data, double explained_ss) {
  const double n = data.weight(), df = model.df_residual, lead = data.intercept() ? 1 : 0;
  const double slopes = static_cast<double>(model.kept.size());
  model.f_df = Vector{{slopes, model.df_tests()}};
  if (slopes == 0) {
    model.r_squared = model.adj_r_squared = 0;
  } else {
    model.r_squared = or_none(explained_ss / (explained_ss + model.rss));
    if (df > 0) {
      model.adj_r_squared = or_none(1 - (1 - model.r_squared) * ((n - lead) / df));
      const bool classical = model.errors() == StandardErrors::classical;
      model.f_statistic = or_none(classical ? explained_ss / slopes / (model.rss / df) : ols::wald_f(model));
      if (!std::isnan(model.f_statistic)) model.f_p = f_upper(model.f_statistic, slopes, model.df_tests());
    }
  }
  // A frequency counts as copies; a precision multiplies a row's density by its root.
  const double parameters = static_cast<double>(model.rank) + 1;
  model.log_likelihood = or_none(
      0.5 * (data.log_precision() - n * (std::log(2 * std::numbers::pi) + 1 - std::log(n) + std::log(model.rss))));
  model.aic = or_none(-2 * model.log_likelihood + 2 * parameters);
  model.bic = or_none(-2 * model.log_likelihood + std::log(n) * parameters);
}

std::vector<std::string> warnings_of(const OlsModel& model, const LeastSquares& data, const LinearSolution& solution,
                                     const std::vector<std::string>& features, double explained_ss) {
  std::vector<std::string> out;
  std::vector<std::string> names;
  for (const Index j : solution.aliased) names.push_back("'" + features[static_cast<std::size_t>(j)] + "'");
  const std::string_view before = data.intercept() ? "the intercept and the columns before" : "the columns before";
  if (names.size() == 1)
    out.push_back(fmt::format("{} is a linear combination of {} it; it takes no part and its coefficient is NA",
                              names[0], before));
  if (names.size() > 1)
    out.push_back(fmt::format("{} are linear combinations of {} them; they take no part and their coefficients are NA",
                              join_words(names), before));
  const double n = data.weight(), mean = data.mean()(data.features()), per_row = n / data.mass();
  if (model.df_residual <= 0)
    out.push_back(
        fmt::format("no residual degrees of freedom: {} coefficients for {} rows; there are no standard errors",
                    model.rank, format_significant(n, 7)));
  else if (model.rss / model.df_residual * per_row <= (mean * mean + explained_ss / data.mass()) * 1e-30)
    out.push_back("essentially perfect fit: summary may be unreliable");
  return out;
}

}  // namespace

namespace ols {

double explained_by(const LinearSolution& solution) {
  if (solution.residual_ss < 0.5 * solution.total_ss) return solution.total_ss - solution.residual_ss;
  return (solution.triangle * solution.coefficients(solution.kept)).squaredNorm();
}

Vector residual_quantiles(const OlsModel& model, const Rows& rows, const Execution& execution) {
  if (rows.count() > kMostResiduals) return {};
  std::vector<WeightedValue> residuals(static_cast<std::size_t>(rows.count()));
  for_each_block(rows, execution, [&](const Block& block) {
    const Vector fitted = model.predict(block.x);
    for (Index i = 0; i < block.rows(); ++i)
      residuals[static_cast<std::size_t>(block.first + i)] = {
          std::sqrt(block.precision_of(i)) * (block.y[static_cast<std::size_t>(i)] - block.offset_of(i) - fitted(i)),
          block.weight_of(i)};
  });
  return five_quantiles(std::move(residuals));
}

ScoreScatter scatter_of(const OlsModel& model, const Rows& rows, const Execution& execution) {
  const Index terms = model.width() + (model.spec.intercept ? 1 : 0);
  if (terms > kMostCovariances)
    throw Error(
        fmt::format("ols: errors {} are found for at most {} coefficients, and there are {}; use --errors classical",
                    name_of(model.errors()), kMostCovariances, terms));
  const auto parts = [&](const Block& block) {
    const Vector fitted = model.predict(block.x);
    ScoreParts out;
    for (Index i = 0; i < block.rows(); ++i) {
      out.frequency.push_back(block.precision_of(i) > 0 ? block.weight_of(i) : 0);
      out.weight.push_back(block.precision_of(i));
      out.residual.push_back(block.y[static_cast<std::size_t>(i)] - block.offset_of(i) - fitted(i));
    }
    return out;
  };
  const double free = model.df_residual, n = free + static_cast<double>(model.rank);
  const double ours = model.errors() == StandardErrors::cluster ? n - 1 : n;
  return score_scatter(model.errors(), model.centre(), parts, free > 0 ? ours / free : kNone, rows, execution);
}

double wald_f(const OlsModel& model) {
  const Index lead = model.spec.intercept ? 1 : 0;
  std::vector<Index> terms;
  for (const int j : model.kept) terms.push_back(j + lead);
  return wald_statistic(model.coefficients(model.kept), model.covariance(terms, terms)) /
         static_cast<double>(model.kept.size());
}

Certificate certificate_of(const Excess& excess, long long refinements) {
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "relative excess over the least sum of squares";
  out.value = excess.relative;
  out.tolerance = kExcessTolerance;
  out.iterations = refinements;
  out.stopped = "closed form";
  out.error_bound = excess.coefficient_error_bound;
  out.message = fmt::format(
      "The sum of squares exceeds the least possible one by {:.1e} of the squares that cancel in it (allowed {:.0e}); "
      "no coefficient is further than {:.1e} from the best one.",
      excess.relative, out.tolerance, excess.coefficient_error_bound);
  return out;
}

}  // namespace ols

OlsModel fit(const Valid<Ols>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const Hearing hearing(execution);
  const StandardErrors errors = chosen_errors(Ols::name, spec->errors, rows);
  const LeastSquares data = learn_triangle(Ols::name, rows, spec->intercept, LeastSquares::Route::by_condition,
                                           execution.part(0, 0.6, "reading rows"));
  const auto [solution, residuals, excess, refinements] =
      solve_refined(rows, data, execution.part(0.6, 0.85, "looking at the residuals"), spec->tolerance);

  OlsModel model;
  model.spec = *spec;
  model.spec.errors = errors;
  model.intercept = solution.intercept;
  model.coefficients = solution.coefficients;
  model.coefficients(solution.aliased).setConstant(kNone);
  model.kept.assign(solution.kept.begin(), solution.kept.end());
  model.triangle = solution.triangle;
  model.mean = data.mean().head(data.features());
  model.mean_rest = data.mean_rest().head(data.features());
  model.mass = data.mass();
  model.has_precision = rows.has_precision;
  model.rank = solution.rank(spec->intercept);
  model.rss = solution.residual_ss;
  model.df_residual = data.weight() - static_cast<double>(model.rank);

  const double explained_ss = ols::explained_by(solution);
  Index whole = 0;
  if (errors != StandardErrors::classical) {
    auto found = ols::scatter_of(model, rows, execution.part(0.85, 0.9));
    model.scatter = std::move(found.scatter);
    model.clusters = found.clusters;
    whole = found.whole;
  }
  judge_coefficients(model, data, solution);
  judge_fit(model, data, explained_ss);
  model.residual_quantiles = ols::residual_quantiles(model, rows, execution.part(0.9, 1));
  model.warnings = warnings_of(model, data, solution, rows.features, explained_ss);
  warn_of_errors(errors, {{}, model.clusters, whole}, model.rank, model.warnings);
  model.certificate = ols::certificate_of(excess, refinements);
  return model;
}

template const Method& method_of<Ols>();

}  // namespace lemma
