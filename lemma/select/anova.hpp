// lemma/select/anova.hpp: what the terms of a linear model are worth: tests of nested models and of each term.
#pragma once
#include <lemma/select/refit.hpp>
#include <optional>

namespace lemma {

/// lrt: the drop in deviance over the dispersion is χ². f: the drop for each degree of freedom, over the dispersion of the
/// largest model. wald: bᵀ Cov⁻¹ b over a term's coefficients, without another fit. By default f where the dispersion is
/// estimated, else lrt.
enum class TermTest { lrt, f, wald };
constexpr auto names_of(TermTest) { return std::array<std::string_view, 3>{"lrt", "f", "wald"}; }

/// A table as R prints them: lines with a name, columns of numbers. NaN is an empty cell.
struct AnovaTable {
  enum class Look { number, statistic, p };
  struct Column {
    std::string header, key;  // as R calls it, and in JSON
    std::vector<double> values;
    Look look = Look::number;
  };
  std::string title;  // the lines above it
  std::vector<std::string> rows;
  std::vector<Column> columns;

  Column& add(std::string header, std::string key, Look look = Look::number);
  const std::vector<double>& column(std::string_view key) const;
  std::string str() const;
  Value to_value() const;
};

/// Models in the order given, each against the one before it. Error when they are not nested, or not fitted to the same
/// rows and response.
AnovaTable compare_models(const std::vector<TrainedModel>& models, std::optional<TermTest> test = {});

/// Type I: the terms added one after the other. Fits again.
AnovaTable sequential_anova(const TrainedModel& model, const Refit& refit, std::optional<TermTest> test = {});
/// R's drop1: the model without each term that may leave it. Fits again.
AnovaTable drop_terms(const TrainedModel& model, const Refit& refit, std::optional<TermTest> test = {});
/// Wald's test of each term, all columns of a factor together.
AnovaTable wald_tests(const TrainedModel& model);

}  // namespace lemma
