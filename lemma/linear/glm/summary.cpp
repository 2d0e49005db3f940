// lemma/linear/glm/summary.cpp: what R's print(summary(glm)) prints.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/glm.hpp>
#include <lemma/linear/shared/coefficient_table.hpp>

namespace lemma {
namespace {

std::string coefficient_lines(const GlmModel& model, const std::vector<std::string>& features) {
  CoefficientTable table;
  if (!model.law().estimates_dispersion()) {
    table.statistic = "z value";
    table.p_value = "Pr(>|z|)";
  }
  if (model.spec.intercept)
    table.add("(Intercept)", model.intercept, model.intercept_std_error, model.intercept_z, model.intercept_p);
  const bool limits = model.spec.interval != CoefficientInterval::none;
  table.level = model.spec.level;
  if (model.spec.intercept && limits) table.add_limits(model.intercept_lower, model.intercept_upper);
  for (Index j = 0; j < model.width(); ++j) {
    table.add(features[static_cast<std::size_t>(j)], model.coefficients(j), model.std_errors(j), model.z(j),
              model.p(j));
    if (limits) table.add_limits(model.lower(j), model.upper(j));
  }
  if (table.names.empty()) return "No Coefficients\n";
  const auto aliased = model.width() - static_cast<Index>(model.kept.size());
  std::string note = aliased > 0 ? fmt::format(" ({} not defined because of singularities)", aliased) : "";
  if (model.separating.size() > 0)
    note += fmt::format(" ({} without limit because of separation)", (model.separating.array() != 0).count());
  return "Coefficients:" + note + "\n" + table.str() + errors_line(model.errors(), model.clusters, model.df_tests());
}

std::string deviance_lines(const GlmModel& model) {
  const auto deviances = format_column({model.null_deviance, model.residual_deviance}, 5);
  std::string df[2] = {format_significant(model.df_null, 7), format_significant(model.df_residual, 7)};
  const auto width = std::max(df[0].size(), df[1].size());
  for (auto& each : df) each = pad_left(each, static_cast<int>(width));
  return fmt::format(
      "    Null deviance: {}  on {}  degrees of freedom\nResidual deviance: {}  on {}  degrees of freedom\nAIC: {}\n\n"
      "Number of Fisher Scoring iterations: {}\n",
      deviances[0], df[0], deviances[1], df[1], format_significant(model.aic, 5), model.iterations);
}

/// What MASS adds for a negative binomial model.
std::string theta_lines(const GlmModel& model) {
  if (!model.theta_learned) return "";
  const auto shown = format_column({model.theta, model.theta_std_error}, 3);
  return fmt::format("\n              Theta:  {}\n          Std. Err.:  {}\n\n 2 x log-likelihood:  {}\n", shown[0],
                     shown[1], format_significant(2 * model.log_likelihood));
}

}  // namespace

std::string GlmModel::summary(const Names& names) const {
  require(static_cast<Index>(names.features.size()) == width(), "glm: each column needs a name");
  std::string out;
  if (residual_quantiles.size() > 0) out += "Deviance Residuals:\n" + five_numbers(residual_quantiles, 4, 2) + "\n";
  out += coefficient_lines(*this, names.features);
  out += fmt::format("\n(Dispersion parameter for {} family taken to be {})\n\n", law().family_in_r(),
                     format_significant(dispersion));
  return out + deviance_lines(*this) + theta_lines(*this);
}

}  // namespace lemma
