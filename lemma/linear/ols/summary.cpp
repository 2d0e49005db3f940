// lemma/linear/ols/summary.cpp: what R's print(summary(lm)) prints.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/linear/shared/coefficient_table.hpp>

namespace lemma {
namespace {

std::string residual_lines(const OlsModel& model) {
  const std::string title = model.has_precision ? "Weighted Residuals:\n" : "Residuals:\n";
  if (model.df_residual <= 0) return title + "none: there are no residual degrees of freedom\n\n";
  return model.residual_quantiles.size() == 0 ? "" : title + five_numbers(model.residual_quantiles) + "\n";
}

std::string coefficient_lines(const OlsModel& model, const std::vector<std::string>& features) {
  CoefficientTable table;
  if (model.spec.intercept)
    table.add("(Intercept)", model.intercept, model.intercept_std_error, model.intercept_t, model.intercept_p);
  const bool limits = model.spec.interval == PrintedInterval::wald;
  table.level = model.spec.level;
  if (model.spec.intercept && limits) table.add_limits(model.intercept_lower, model.intercept_upper);
  for (Index j = 0; j < model.width(); ++j) {
    table.add(features[static_cast<std::size_t>(j)], model.coefficients(j), model.std_errors(j), model.t(j),
              model.p(j));
    if (limits) table.add_limits(model.lower(j), model.upper(j));
  }
  if (table.names.empty()) return "No Coefficients\n";
  const auto aliased = model.width() - static_cast<Index>(model.kept.size());
  const std::string note = aliased > 0 ? fmt::format(" ({} not defined because of singularities)", aliased) : "";
  return "Coefficients:" + note + "\n" + table.str() + errors_line(model.errors(), model.clusters, model.df_tests());
}

}  // namespace

std::string OlsModel::summary(const Names& names) const {
  require(static_cast<Index>(names.features.size()) == width(), "ols: each column needs a name");
  std::string out = residual_lines(*this) + coefficient_lines(*this, names.features);
  const std::string df = format_significant(df_residual, 7), df_of_f = format_significant(f_df(1), 7);
  out += fmt::format("\nResidual standard error: {} on {} degrees of freedom\n", format_rounded(sigma), df);
  if (kept.empty()) return out;
  return out + fmt::format("Multiple R-squared:  {},  Adjusted R-squared:  {}\n{}: {} on {} and {} DF,  p-value: {}\n",
                           format_general(r_squared), format_general(adj_r_squared),
                           errors() == StandardErrors::classical ? "F-statistic" : "F-statistic (Wald, robust)",
                           format_general(f_statistic), kept.size(), df_of_f, format_p(f_p, 4));
}

}  // namespace lemma
