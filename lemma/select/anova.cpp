// lemma/select/anova.cpp
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/params.hpp>
#include <lemma/core/text.hpp>
#include <lemma/linear/glm.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/select/anova.hpp>
#include <lemma/select/nested.hpp>
#include <limits>

namespace lemma {
namespace {

using Look = AnovaTable::Look;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr int kDigits = 5, kTestDigits = 4;  // of R's print.anova

TermTest test_for(const Fitness& fitness, std::optional<TermTest> asked) {
  if (asked == TermTest::f && !fitness.estimated)
    throw Error(fmt::format("--test f needs an estimated dispersion, and that of the {} family is 1; use --test lrt",
                            fitness.family));
  return asked.value_or(fitness.estimated ? TermTest::f : TermTest::lrt);
}

const char* name_of_deviance(const Fitness& fitness) {
  return fitness.family.empty() ? "RSS" : fitness.by_likelihood ? "-2 log-lik." : "Resid. Dev";
}

struct Tested {
  double statistic, p;
};
/// A drop in deviance by `df` degrees of freedom, judged in units of the largest model's dispersion.
Tested judge(double drop, double df, const Fitness& largest, TermTest test) {
  if (!(df > 0) || std::isnan(drop)) return {kNone, kNone};
  if (test == TermTest::lrt) {
    const double statistic = drop / largest.dispersion;
    return {statistic, chi_squared_upper(std::max(statistic, 0.0), df)};
  }
  const double statistic = drop / df / largest.dispersion;
  return {statistic, f_upper(std::max(statistic, 0.0), df, largest.df_residual)};
}

void require_comparable(const std::vector<TrainedModel>& models, const std::vector<Fitness>& fits) {
  const auto& first = models.front();
  for (std::size_t i = 1; i < models.size(); ++i) {
    const auto& other = models[i];
    if (fits[i].family != fits[0].family || fits[i].link != fits[0].link ||
        other.model->method().name() != first.model->method().name())
      throw Error("the models are not of one family and link, so their deviances cannot be compared");
    if (other.design.target() != first.design.target())
      throw Error(fmt::format("the models have different responses: '{}' and '{}'", first.design.target(),
                              other.design.target()));
    const bool same_null = fits[0].offset || fits[i].offset || std::isnan(fits[0].null_deviance) ||
                           std::isnan(fits[i].null_deviance) ||
                           std::abs(fits[0].null_deviance - fits[i].null_deviance) <= 1e-7 * fits[0].null_deviance;
    if (first.origin.rows.rows() != other.origin.rows.rows() || std::abs(fits[0].n - fits[i].n) > 1e-9 * fits[0].n ||
        !same_null)
      throw Error(fmt::format("the models were fitted to different rows ({} of {} and {} of {})",
                              first.origin.rows.rows(), first.origin.name, other.origin.rows.rows(),
                              other.origin.name));
    const auto &before = models[i - 1], &larger = fits[i].rank >= fits[i - 1].rank ? other : before,
               &smaller = fits[i].rank >= fits[i - 1].rank ? before : other;
    if (const auto outside = outside_of(larger, smaller); !outside.empty())
      throw Error(
          fmt::format("models {} and {} are not nested: {} of the smaller one {} no combination of the other's "
                      "columns",
                      i, i + 1, join_words(outside), outside.size() == 1 ? "is" : "are"));
  }
}

/// Sums of squares and deviances know nothing of robust standard errors.
std::string errors_line(const std::vector<const TrainedModel*>& models) {
  for (const TrainedModel* model : models) {
    const auto* ols = model_cast<OlsModel>(model->model);
    const auto* glm = model_cast<GlmModel>(model->model);
    const StandardErrors errors = ols ? ols->errors() : glm->errors();
    if (errors != StandardErrors::classical)
      return fmt::format("(by {}: standard errors {} take no part; see --test wald)\n",
                         ols ? "sums of squares" : "deviances", name_of(errors));
  }
  return "";
}

std::string model_lines(const std::vector<TrainedModel>& models) {
  std::string out;
  for (std::size_t i = 0; i < models.size(); ++i)
    out += fmt::format("Model {}: {}\n", i + 1, models[i].design.formula_text());
  return out;
}

void add_tests(AnovaTable& table, TermTest test, const std::vector<Tested>& tested, const char* header = "F") {
  if (test != TermTest::lrt) {
    auto& statistic = table.add(header, "f", Look::statistic);
    for (const auto& each : tested) statistic.values.push_back(each.statistic);
  }
  auto& p = table.add(test == TermTest::lrt ? "Pr(>Chi)" : "Pr(>F)", "p", Look::p);
  for (const auto& each : tested) p.values.push_back(each.p);
}

std::vector<std::string> blank_missing(const std::vector<double>& values, const auto& format) {
  std::vector<double> known;
  for (const double value : values)
    if (!std::isnan(value)) known.push_back(value);
  const auto cells = format(known);
  std::vector<std::string> out;
  for (std::size_t at = 0; const double value : values) out.push_back(std::isnan(value) ? "" : cells[at++]);
  return out;
}

/// R's zapsmall: decimals that show the largest number to five digits.
int decimals_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest > 0 ? std::max(0, static_cast<int>(std::floor(kDigits + 0.5 - std::log10(largest)))) : kDigits;
}
std::vector<double> rounded(std::vector<double> values, int decimals) {
  for (double& value : values) value = std::strtod(fmt::format("{:.{}f}", value, decimals).c_str(), nullptr);
  return values;
}

/// A term's coefficients that are determined, with their covariance.
struct Part {
  Vector b;
  Matrix covariance;
};
Part part_of(const Vector& coefficients, const Matrix& covariance, Index lead, const DesignTermColumns& term) {
  std::vector<Index> columns, places;
  for (Index j = term.first; j < term.first + term.width; ++j)
    if (std::isfinite(coefficients(j)) && std::isfinite(covariance(j + lead, j + lead))) {
      columns.push_back(j);
      places.push_back(j + lead);
    }
  return {coefficients(columns), covariance(places, places)};
}

}  // namespace

AnovaTable::Column& AnovaTable::add(std::string header, std::string key, Look look) {
  columns.push_back({std::move(header), std::move(key), {}, look});
  return columns.back();
}

const std::vector<double>& AnovaTable::column(std::string_view key) const {
  for (const auto& each : columns)
    if (each.key == key) return each.values;
  throw Error(fmt::format("the table has no column '{}'", key));
}

std::string AnovaTable::str() const {
  TextTable table;
  table.words("", rows);
  std::vector<std::string> marks;
  for (const auto& each : columns) {
    if (each.look == Look::p) {
      table.right(each.header,
                  blank_missing(each.values, [](const auto& v) { return format_p_column(v, kTestDigits); }));
      for (const double p : each.values) marks.emplace_back(std::isnan(p) ? "" : significance_mark(p));
    } else {
      const bool is_test = each.look == Look::statistic;
      table.right(each.header, blank_missing(each.values, [&](const std::vector<double>& v) {
                    return format_column(rounded(v, is_test ? kTestDigits : decimals_of(v)), kDigits);
                  }));
    }
  }
  const bool any = std::any_of(marks.begin(), marks.end(), [](const auto& mark) { return !mark.empty(); });
  if (any) table.words("", marks);
  std::string out = title + table.str({.gap = 1});
  return any ? out + fmt::format("---\nSignif. codes:  {}\n", kSignificanceLegend) : out;
}

Value AnovaTable::to_value() const {
  Value out = Value::object();
  out.set("rows", rows);
  for (const auto& each : columns)
    out.set(each.key, Value(Value::Array{{static_cast<Index>(each.values.size())}, each.values}));
  return out;
}

AnovaTable compare_models(const std::vector<TrainedModel>& models, std::optional<TermTest> asked) {
  require(models.size() >= 2, "to compare models there must be two or more");
  std::vector<Fitness> fits;
  for (const auto& model : models) fits.push_back(fitness_of(model));
  require_comparable(models, fits);
  const Fitness& largest = *std::min_element(
      fits.begin(), fits.end(), [](const auto& a, const auto& b) { return a.df_residual < b.df_residual; });
  const bool ols = largest.family.empty();
  const TermTest test = test_for(largest, asked);
  require(test != TermTest::wald, "--test wald looks at the terms of one model; to compare models use lrt or f");
  AnovaTable out;
  std::vector<const TrainedModel*> all;
  for (const auto& model : models) all.push_back(&model);
  out.title =
      fmt::format("Analysis of {} Table\n{}\n{}", ols ? "Variance" : "Deviance", errors_line(all), model_lines(models));
  out.columns.reserve(6);
  auto &df_residual = out.add(ols ? "Res.Df" : "Resid. Df", "df_residual"),
       &deviance = out.add(name_of_deviance(largest), "deviance"), &df = out.add("Df", "df"),
       &drop = out.add(ols ? "Sum of Sq" : "Deviance", "drop_in_deviance");
  std::vector<Tested> tested;
  for (std::size_t i = 0; i < fits.size(); ++i) {
    out.rows.push_back(std::to_string(i + 1));
    df_residual.values.push_back(fits[i].df_residual);
    deviance.values.push_back(fits[i].deviance);
    df.values.push_back(i == 0 ? kNone : fits[i - 1].df_residual - fits[i].df_residual);
    drop.values.push_back(i == 0 ? kNone : fits[i - 1].deviance - fits[i].deviance);
    const double sign = df.values.back() < 0 ? -1 : 1;  // the larger model may come first
    tested.push_back(judge(sign * drop.values.back(), sign * df.values.back(), largest, test));
  }
  add_tests(out, test, tested);
  return out;
}

AnovaTable sequential_anova(const TrainedModel& model, const Refit& refit, std::optional<TermTest> asked) {
  const Fitness full = fitness_of(model);
  const bool ols = full.family.empty();
  const TermTest test = test_for(full, asked);
  std::vector<Fitness> fits;
  std::vector<Term> terms;
  fits.push_back(fitness_of(refit.fit(terms)));
  for (const Term& term : refit.terms()) {
    terms.push_back(term);
    fits.push_back(terms.size() == refit.terms().size() ? full : fitness_of(refit.fit(terms)));
  }
  AnovaTable out;
  out.columns.reserve(7);
  out.title =
      ols ? fmt::format("Analysis of Variance Table\n{}\nResponse: {}\n", errors_line({&model}), model.design.target())
          : fmt::format(
                "Analysis of Deviance Table\n{}\nModel: {}, link: {}\n\nResponse: {}\n\n"
                "Terms added sequentially (first to last)\n\n",
                errors_line({&model}), full.family, full.link, model.design.target());
  std::vector<Tested> tested;
  if (ols) {
    auto &df = out.add("Df", "df"), &squares = out.add("Sum Sq", "sum_of_squares"),
         &mean = out.add("Mean Sq", "mean_square");
    for (std::size_t i = 1; i < fits.size(); ++i) {
      out.rows.push_back(refit.terms()[i - 1].name());
      df.values.push_back(fits[i - 1].df_residual - fits[i].df_residual);
      squares.values.push_back(fits[i - 1].deviance - fits[i].deviance);
      tested.push_back(judge(squares.values.back(), df.values.back(), full, test));
    }
    out.rows.emplace_back("Residuals");
    df.values.push_back(full.df_residual);
    squares.values.push_back(full.deviance);
    tested.push_back({kNone, kNone});
    for (std::size_t i = 0; i < df.values.size(); ++i) mean.values.push_back(squares.values[i] / df.values[i]);
  } else {
    auto &df = out.add("Df", "df"), &drop = out.add("Deviance", "drop_in_deviance"),
         &df_residual = out.add("Resid. Df", "df_residual"), &deviance = out.add(name_of_deviance(full), "deviance");
    for (std::size_t i = 0; i < fits.size(); ++i) {
      out.rows.push_back(i == 0 ? "NULL" : refit.terms()[i - 1].name());
      df.values.push_back(i == 0 ? kNone : fits[i - 1].df_residual - fits[i].df_residual);
      drop.values.push_back(i == 0 ? kNone : fits[i - 1].deviance - fits[i].deviance);
      df_residual.values.push_back(fits[i].df_residual);
      deviance.values.push_back(fits[i].deviance);
      tested.push_back(judge(drop.values.back(), df.values.back(), full, test));
    }
  }
  add_tests(out, test, tested, ols ? "F value" : "F");
  return out;
}

AnovaTable drop_terms(const TrainedModel& model, const Refit& refit, std::optional<TermTest> asked) {
  const Fitness full = fitness_of(model);
  const bool ols = full.family.empty();
  const TermTest test = test_for(full, asked);
  AnovaTable out;
  out.columns.reserve(7);
  out.title = fmt::format("Single term deletions\n{}\nModel:\n{}\n", errors_line({&model}), refit.text(refit.terms()));
  auto &df = out.add("Df", "df"),
       &drop = out.add(ols              ? "Sum of Sq"
                       : full.estimated ? "scaled dev."
                                        : "LRT",
                       "drop_in_deviance", ols ? Look::number : Look::statistic),
       &deviance = out.add(full.by_likelihood ? "-2 log-lik."
                           : ols              ? "RSS"
                                              : "Deviance",
                           "deviance"),
       &aic = out.add("AIC", "aic");
  std::vector<Tested> tested;
  Fitness scale = full;
  if (!ols && test == TermTest::f) scale.dispersion = full.deviance / full.df_residual;  // as R's drop1 has it
  const auto add = [&](const std::string& name, const Fitness& without) {
    const bool none = name == "<none>";
    out.rows.push_back(name);
    df.values.push_back(none ? kNone : without.df_residual - full.df_residual);
    deviance.values.push_back(without.deviance);
    aic.values.push_back(without.aic);
    const double fall = none ? kNone : without.deviance - full.deviance;
    drop.values.push_back(ols || none ? fall : fall / full.dispersion);
    tested.push_back(judge(fall, df.values.back(), scale, test));
  };
  add("<none>", full);
  for (const Term& term : refit.terms()) {
    if (!may_leave(term, refit.terms())) continue;
    std::vector<Term> others;
    for (const Term& each : refit.terms())
      if (!(each == term)) others.push_back(each);
    add(term.name(), fitness_of(refit.fit(others)));
  }
  if (!ols) std::rotate(out.columns.begin() + 1, out.columns.begin() + 2, out.columns.end());  // LRT stands last
  if (!ols && test == TermTest::f) out.columns.pop_back();
  add_tests(out, test, tested, "F value");
  return out;
}

AnovaTable wald_tests(const TrainedModel& model) {
  const Fitness fitness = fitness_of(model);
  const auto* ols = model_cast<OlsModel>(model.model);
  const auto* glm = model_cast<GlmModel>(model.model);
  const Vector& coefficients = ols ? ols->coefficients : glm->coefficients;
  const Matrix& covariance = ols ? ols->covariance : glm->covariance;
  const Index lead = covariance.rows() - coefficients.size();
  const double df_tests = ols ? ols->df_tests() : glm->df_tests().value_or(fitness.df_residual);
  AnovaTable out;
  out.columns.reserve(3);
  out.title = fmt::format("Wald tests of the terms\n\nModel:\n{}\n", model.design.formula_text());
  auto &df = out.add("Df", "df"),
       &statistic =
           out.add(fitness.estimated ? "F" : "Chisq", fitness.estimated ? "f" : "chi_squared", Look::statistic),
       &p = out.add(fitness.estimated ? "Pr(>F)" : "Pr(>Chi)", "p", Look::p);
  for (const auto& term : model.design.terms()) {
    const Part part = part_of(coefficients, covariance, lead, term);
    const auto count = static_cast<double>(part.b.size());
    out.rows.push_back(term.name);
    df.values.push_back(count);
    const auto root = part.b.size() > 0 ? cholesky(part.covariance) : std::nullopt;
    const double w = root ? solve_upper_transposed(*root, Matrix(part.b)).squaredNorm() : kNone;
    statistic.values.push_back(fitness.estimated ? w / count : w);
    p.values.push_back(std::isnan(w)       ? kNone
                       : fitness.estimated ? f_upper(w / count, count, df_tests)
                                           : chi_squared_upper(w, count));
  }
  return out;
}

}  // namespace lemma
