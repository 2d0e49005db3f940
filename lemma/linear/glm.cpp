// lemma/linear/glm.cpp: the fit and what it says about the coefficients.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/glm/parts.hpp>
#include <lemma/linear/shared/coefficient_table.hpp>
#include <lemma/math/distributions.hpp>

namespace lemma {
namespace {

constexpr double kNone = GlmModel::kNone;

}  // namespace

void glm::take_point(GlmModel& model, const Fit& fit, const Rows& rows) {
  model.slopes = fit.at.slopes;
  model.base = fit.at.intercept;
  model.kept.assign(fit.problem.columns.begin(), fit.problem.columns.end());
  model.triangle = fit.solution.triangle;
  model.mean = model.mean_rest = Vector::Zero(rows.width());
  const Index k = static_cast<Index>(fit.problem.columns.size());
  model.mean(fit.problem.columns) = fit.data.mean().head(k);
  model.mean_rest(fit.problem.columns) = fit.data.mean_rest().head(k);
  model.mass = fit.data.mass();
  model.separating = fit.separating;
  model.classes = !rows.classes.empty();
  model.counts = rows.counts;
  model.iterations = fit.iterations;
  model.residual_deviance = or_none(fit.deviance);
  model.rank = static_cast<Index>(fit.problem.columns.size()) + (fit.problem.intercept ? 1 : 0);
}

namespace {

/// Columns (and, at the end, the intercept) whose coefficient is determined: neither aliased nor without a limit.
std::vector<bool> determined(const GlmModel& model) {
  const Index p = model.width();
  std::vector<bool> out(static_cast<std::size_t>(p + 1), false);
  for (const int j : model.kept) out[static_cast<std::size_t>(j)] = true;
  out.back() = model.spec.intercept;
  for (Index j = 0; j < model.separating.size(); ++j)
    if (model.separating(j) != 0) out[static_cast<std::size_t>(j)] = false;
  return out;
}

/// The inverse of the Fisher information, the intercept first; NaN where a coefficient is not determined.
Matrix inverse_information(const GlmModel& model, const glm::Fit& fit, const std::vector<bool>& known) {
  const Index p = model.width(), lead = model.spec.intercept ? 1 : 0;
  Matrix out = Matrix::Constant(p + lead, p + lead, kNone);
  std::vector<Index> terms;
  if (lead == 1) terms.push_back(0);
  for (const int j : model.kept) terms.push_back(j + lead);
  if (static_cast<Index>(fit.solution.kept.size()) < static_cast<Index>(model.kept.size())) return out;
  out(terms, terms) = unscaled_covariance(fit.data, fit.solution).unaryExpr(&or_none);
  for (Index term = 0; term < p + lead; ++term) {
    const Index place = lead == 1 ? (term == 0 ? p : term - 1) : term;
    if (known[static_cast<std::size_t>(place)]) continue;
    out.row(term).setConstant(kNone);
    out.col(term).setConstant(kNone);
  }
  return out;
}

/// The covariance from the scatter of the scores, in the places of the inverse information.
Matrix robust_covariance(const GlmModel& model, const std::vector<bool>& known) {
  const Index p = model.width(), lead = model.spec.intercept ? 1 : 0;
  const Matrix all = sandwich(model.scatter, model.centre());
  std::vector<Index> from, to;
  if (lead == 1 && known.back()) {
    from.push_back(0);
    to.push_back(0);
  }
  for (std::size_t k = 0; k < model.kept.size(); ++k)
    if (known[static_cast<std::size_t>(model.kept[k])]) {
      from.push_back(static_cast<Index>(k) + lead);
      to.push_back(model.kept[k] + lead);
    }
  Matrix out = Matrix::Constant(p + lead, p + lead, kNone);
  out(to, to) = all(from, from);
  return out;
}

}  // namespace

void glm::judge_coefficients(GlmModel& model, const Fit& fit) {
  const Index p = model.width(), lead = model.spec.intercept ? 1 : 0;
  const auto known = determined(model);
  const auto df = model.df_tests();
  const bool by_t = df.has_value();
  const Matrix covariance = model.scatter.size() > 0
                                ? robust_covariance(model, known)
                                : Matrix(model.dispersion * inverse_information(model, fit, known));
  model.covariance = covariance.unaryExpr(&or_none);
  const double tail = (1 - model.spec.level) / 2;
  const double reach = !by_t ? -normal_quantile(tail) : *df > 0 ? t_upper_quantile(tail, *df) : kNone;
  const auto judge = [&](Index term, double estimate, double& error, double& z, double& p_value, double& lower,
                         double& upper) {
    error = or_none(std::sqrt(model.covariance(term, term)));
    z = or_none(estimate / error);
    p_value = std::isnan(z) || (by_t && !(*df > 0)) ? kNone
              : by_t                                ? t_two_sided(z, *df)
                                                    : 2 * normal_upper(std::abs(z));
    lower = or_none(estimate - reach * error);
    upper = or_none(estimate + reach * error);
  };
  model.coefficients = model.std_errors = model.z = model.p = model.lower = model.upper = Vector::Constant(p, kNone);
  for (Index j = 0; j < p; ++j) {
    if (!known[static_cast<std::size_t>(j)]) continue;
    model.coefficients(j) = model.slopes(j);
    judge(j + lead, model.slopes(j), model.std_errors(j), model.z(j), model.p(j), model.lower(j), model.upper(j));
  }
  model.intercept = lead == 1 && !known.back() ? kNone : model.base;
  if (lead == 1 && known.back())
    judge(0, model.base, model.intercept_std_error, model.intercept_z, model.intercept_p, model.intercept_lower,
          model.intercept_upper);
  model.t = by_t ? model.z : Vector();
  model.odds_ratios = model.law().base() == GlmFamily::binomial
                          ? model.coefficients.unaryExpr([](double b) { return or_none(std::exp(b)); }).eval()
                          : Vector();
}

namespace {

/// Limits by the profile likelihood in the place of Wald's.
void profile(GlmModel& model, const glm::Fit& fit, const Rows& rows, const Execution& execution) {
  const Index p = model.width(), lead = model.spec.intercept ? 1 : 0;
  std::vector<Index> terms;
  if (lead == 1) terms.push_back(-1);
  for (const int j : model.kept) terms.push_back(j);
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const Index j = terms[k], row = j + lead;
    const double estimate = j < 0 ? model.intercept : model.coefficients(j);
    const double error = j < 0 ? model.intercept_std_error : model.std_errors(j);
    Vector along = Vector::Zero(p + 1);  // how the others follow: their covariance with this one, over its variance
    for (const Index other : terms)
      along(other < 0 ? p : other) = model.covariance(other + lead, row) / model.covariance(row, row);
    if (!along.allFinite()) along.setZero();
    const double size = static_cast<double>(terms.size()), at = static_cast<double>(k);
    const auto [lower, upper] =
        glm::profile_limits(fit, j, estimate, error, along, model.dispersion, model.spec.level, rows,
                            execution.part(at / size, (at + 1) / size, "profile likelihood"));
    (j < 0 ? model.intercept_lower : model.lower(j)) = lower;
    (j < 0 ? model.intercept_upper : model.upper(j)) = upper;
  }
}

void judge_fit(GlmModel& model, const glm::Survey& known, const glm::Totals& totals) {
  const double parameters = glm::parameters_of(model);
  model.log_likelihood = or_none(totals.log_likelihood);
  model.aic = or_none(-2 * model.log_likelihood + 2 * parameters);
  model.bic = or_none(-2 * model.log_likelihood + std::log(known.n) * parameters);
}

std::string names_text(const std::vector<std::string>& all, const std::vector<Index>& which) {
  std::vector<std::string> names;
  for (const Index j : which) names.push_back("'" + all[static_cast<std::size_t>(j)] + "'");
  return join_words(names);
}

std::string separation_warning(const GlmModel& model, const glm::Fit& fit, const Rows& rows) {
  std::vector<Index> which;
  for (Index j = 0; j < model.width(); ++j)
    if (model.separating(j) != 0) which.push_back(j);
  const bool counts = model.law().base() != GlmFamily::binomial;
  const std::string columns =
      which.size() == 1 ? names_text(rows.features, which) : "a combination of " + names_text(rows.features, which);
  const std::string what =
      counts ? fmt::format("{} tells rows that are all 0 from the others", columns)
             : fmt::format("{} separates the two outcomes {}", columns,
                           fit.completely ? "completely" : "quasi-completely (some rows lie on the border)");
  return fmt::format(
      "{}: the likelihood grows without end along it, so {} no estimate; penalise ('lemma fit logistic --lambda 1'), "
      "leave {} out, or gather more data",
      what, which.size() == 1 ? "its coefficient has" : "their coefficients have", which.size() == 1 ? "it" : "one");
}

std::vector<std::string> warnings_of(const GlmModel& model, const glm::Fit& fit, const glm::Survey& known,
                                     const Rows& rows, bool family_was_given) {
  std::vector<std::string> out;
  const std::string_view before = model.spec.intercept ? "the intercept and the columns before" : "the columns before";
  if (fit.aliased.size() == 1)
    out.push_back(fmt::format("{} is a linear combination of {} it; it takes no part and its coefficient is NA",
                              names_text(rows.features, fit.aliased), before));
  if (fit.aliased.size() > 1)
    out.push_back(fmt::format("{} are linear combinations of {} them; they take no part and their coefficients are NA",
                              names_text(rows.features, fit.aliased), before));
  if (fit.separating.size() > 0) out.push_back(separation_warning(model, fit, rows));
  else if (fit.undecided)
    out.push_back("it was not decided whether the likelihood has a maximum: the rows may be separated");
  else if (fit.cancelled) out.push_back("cancelled before the maximum was reached");
  else if (!fit.converged)
    out.push_back(
        fmt::format("no maximum after {}: the deviance still changes; raise --max_iterations, or look at "
                    "the scale of the columns",
                    count_of(fit.iterations, "iteration")));
  if (model.law().estimates_dispersion() && model.df_residual <= 0)
    out.push_back(
        fmt::format("no residual degrees of freedom: {} coefficients for {} rows; there are no standard errors",
                    model.rank, format_significant(known.n, 7)));
  else if (model.law().estimates_dispersion() && !(model.dispersion > 0) && !fit.cancelled)
    out.push_back("essentially perfect fit: summary may be unreliable");
  else if (model.law().estimates_dispersion() && model.law().has_likelihood() && std::isnan(model.log_likelihood) &&
           !fit.cancelled)
    out.push_back("the likelihood cannot be expressed as a number: the residuals are too small or too large");
  if (model.law().family == GlmFamily::binomial && !known.whole)
    out.push_back("some proportions are no whole number of successes; give the trials by --precision or cbind()");
  if (!family_was_given && model.law().family == GlmFamily::gaussian && known.zero_one)
    out.push_back(
        "the response is 0 or 1 in every row, and the family is gaussian; --family binomial fits probabilities");
  return out;
}

}  // namespace

void Glm::check() const {
  const auto only = [&](bool given, const char* parameter, GlmFamily of) {
    if (given && family != of)
      throw Error(fmt::format("glm: {} is of the {} family; add --family {}", parameter, name_of(of), name_of(of)));
  };
  only(variance.has_value(), "variance", GlmFamily::quasi);
  only(theta.has_value(), "theta", GlmFamily::negative_binomial);
  if (interval == CoefficientInterval::profile && errors && *errors != StandardErrors::classical)
    throw Error(fmt::format("glm: interval profile trusts the likelihood, and errors {} do not; use --interval wald",
                            name_of(*errors)));
  if (!family || !link) return;
  const auto links = GlmLaw::links_of(*family);
  if (std::find(links.begin(), links.end(), *link) != links.end()) return;
  std::vector<std::string> names;
  for (const GlmLink each : links) names.emplace_back(name_of(each));
  throw Error(fmt::format("glm: link {} does not go with the {} family, which has {}", name_of(*link), name_of(*family),
                          join_words(names)));
}

namespace glm {

double parameters_of(const GlmModel& model) {
  return static_cast<double>(model.rank) + (model.law().estimates_dispersion() ? 1 : 0) + (model.theta_learned ? 1 : 0);
}

ScoreScatter scatter_of(const GlmModel& model, const Rows& rows, const Execution& execution) {
  Problem problem;
  problem.law = model.law();
  problem.counts = model.counts;
  const auto parts = [&](const Block& block) {
    const Evaluated here = evaluate(problem, block, {model.base, model.slopes}, true);
    ScoreParts out{here.frequency, {}, {}};
    for (Index i = 0; i < here.size(); ++i) {
      out.weight.push_back(here.prior[static_cast<std::size_t>(i)] * here[i].information);
      out.residual.push_back(here[i].residual);
    }
    return out;
  };
  const double free = model.df_residual, n = free + static_cast<double>(model.rank);
  const bool corrected = model.errors() == StandardErrors::hc1;
  return score_scatter(model.errors(), model.centre(), parts,
                       !corrected ? 1
                       : free > 0 ? n / free
                                  : kNone,
                       rows, execution);
}

Certificate certificate_of(const GlmLaw& law, const std::optional<Excess>& excess, const Fit* fit) {
  Certificate out;
  out.strength = law.concave() ? Strength::optimal : Strength::stationary;
  out.kind = "relative gain of one more step";
  out.tolerance = kGapTolerance;
  out.iterations = fit ? fit->iterations : 0;
  out.stopped = fit && fit->cancelled ? "cancelled" : fit && !fit->converged ? "iteration limit" : "converged";
  out.value = excess ? excess->relative : GlmModel::kNone;
  if (!excess) {
    out.message = "The work ended before the maximum was reached; what one more step would gain is not known.";
    return out;
  }
  out.error_bound = excess->coefficient_error_bound;
  out.message = fmt::format(
      "One more step would lower the deviance by {:.1e}, {:.1e} of the squares that cancel in it (allowed {:.0e}){}; "
      "no "
      "coefficient is further than {:.1e} from the {} one.",
      2 * excess->gap, excess->relative, out.tolerance,
      law.concave() ? ", and the likelihood has no other maximum" : "", excess->coefficient_error_bound,
      law.concave() ? "best" : "stationary");
  return out;
}

void say_separated(Certificate& certificate, bool completely) {
  certificate.kind = "separation";
  certificate.value = 1;
  certificate.tolerance = 0;
  certificate.stopped = "separated";
  certificate.error_bound.reset();
  certificate.message = fmt::format(
      "The likelihood has no maximum: along the stored direction every row is as likely or likelier ({}), without end.",
      completely ? "all rows lie on their side of it" : "some rows lie on the border");
}

void say_undecided(Certificate& certificate) {
  certificate.kind = "separation";
  certificate.value = 1;
  certificate.tolerance = 0;
  certificate.stopped = "overlap not decided";
  certificate.error_bound.reset();
  certificate.message = "Whether the likelihood has a maximum was not decided: the rows may be separated.";
}

}  // namespace glm

GlmModel fit(const Valid<Glm>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  glm::Problem problem = glm::problem_of(*spec, rows);
  const StandardErrors errors = chosen_errors(Glm::name, spec->errors, rows);
  const glm::Survey known = glm::survey(problem, rows, execution.part(0, 0.1, "reading rows"));
  const bool learns_theta = problem.law.family == GlmFamily::negative_binomial && !spec->theta;
  if (learns_theta) problem.law.theta = glm::learn_theta(problem, known, rows, *spec, execution.part(0.1, 0.6));
  problem.law.theta_learned = learns_theta;
  const glm::Fit found = glm::maximise(problem, known, rows, *spec, execution.part(learns_theta ? 0.6 : 0.1, 0.8));

  GlmModel model;
  model.spec = *spec;
  model.spec.family = problem.law.family;
  model.spec.link = problem.law.link;
  model.spec.errors = errors;
  if (problem.law.family == GlmFamily::quasi) model.spec.variance = problem.law.variance;
  if (problem.law.family == GlmFamily::negative_binomial) {
    model.spec.theta = model.theta = problem.law.theta;
    model.theta_learned = learns_theta;
  }
  model.spec.check();
  glm::take_point(model, found, rows);
  const double lead = problem.intercept ? 1 : 0;
  model.df_null = known.n - lead;
  model.df_residual = known.n - static_cast<double>(model.rank);
  glm::Totals totals{&found.problem, found.at, known.mean(), 1, 0, 0, 0, 0};
  totals.dispersion = glm::likelihood_dispersion(problem.law, known, found.deviance);
  model.dispersion = problem.law.estimates_dispersion() ? kNone : 1;
  if (!found.cancelled) {
    totals = scan(rows, totals, execution.part(0.8, 0.85));
    model.residual_deviance = or_none(totals.deviance);
    model.null_deviance = or_none(glm::null_deviance(found.problem, known, totals, rows, execution.part(0.85, 0.9)));
    model.pearson_chi2 = or_none(totals.pearson);
    if (problem.law.estimates_dispersion())
      model.dispersion = model.df_residual > 0 ? or_none(model.pearson_chi2 / model.df_residual) : kNone;
    judge_fit(model, known, totals);
    model.residual_quantiles = glm::residual_quantiles(found.problem, found.at, rows, execution.part(0.9, 0.92));
  }
  ScoreScatter scores;
  if (errors != StandardErrors::classical) {
    scores = glm::scatter_of(model, rows, execution.part(0.92, 0.94));
    model.scatter = scores.scatter;
    model.clusters = scores.clusters;
  }
  if (learns_theta && !found.cancelled) {
    const auto look = glm::look_at_theta(found.problem, found.at, rows, execution.part(0.94, 0.95));
    model.theta_std_error = 1 / std::sqrt(look.information);
  }
  glm::judge_coefficients(model, found);
  if (spec->interval == CoefficientInterval::profile && !found.cancelled)
    profile(model, found, rows, execution.part(0.95, 1));
  model.warnings = warnings_of(model, found, known, rows, spec->family.has_value());
  warn_of_errors(errors, scores, model.rank, model.warnings);
  model.certificate = glm::certificate_of(problem.law, found.excess, &found);
  if (found.separating.size() > 0) glm::say_separated(model.certificate, found.completely);
  else if (found.undecided) glm::say_undecided(model.certificate);
  return model;
}

template const Method& method_of<Glm>();

}  // namespace lemma
