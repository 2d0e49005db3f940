// lemma/select/choose.hpp: lemma select: the columns of a table chosen by any of the ways there are.
#pragma once
#include <array>
#include <lemma/reduce/select.hpp>
#include <lemma/select/anova.hpp>
#include <lemma/select/embedded.hpp>
#include <lemma/select/wrapper.hpp>

namespace lemma {

enum class ChooseBy { filter, forward, backward, both, best, lasso, importance, stability, knockoffs };
constexpr auto names_of(ChooseBy) {
  return std::array<std::string_view, 9>{"filter", "forward",    "backward",  "both",     "best",
                                         "lasso",  "importance", "stability", "knockoffs"};
}
/// Of forward, backward, both and best: criteria of least squares (ols alone), or the errors of any method.
enum class ChooseScore { aic, bic, adjusted_r_squared, cp, holdout, cross, loo, bootstrap };
constexpr auto names_of(ChooseScore) {
  return std::array<std::string_view, 8>{"aic",   "bic", "adjusted_r_squared", "cp", "holdout",
                                         "cross", "loo", "bootstrap"};
}

struct ChooseOptions {
  ChooseBy by = ChooseBy::filter;
  Select filter;                     // by filter, and of the samples of stability
  std::optional<AnySpec> method;     // none: ols for numbers, lda for classes
  std::optional<ChooseScore> score;  // none: bic where the method is ols, else cross
  std::optional<Index> size;         // forward, backward, best: so many columns
  int folds = 10;                    // of cross
  double holdout = 0.2;              // the share of rows held out, of holdout and importance
  int samples = 100;                 // of stability and the bootstrap; shuffles of importance are a tenth of them
  StabilitySample sample = StabilitySample::half;
  double share = 0.75;             // of the samples that a stable column is chosen in
  double false_discoveries = 0.1;  // of knockoffs
  TrainOptions train;              // weights, missing values, seed, threads
};

/// What was found, for people and programmes.
struct ColumnChoice {
  std::string by, data,
      formula;       // the formula with the chosen columns, where they are columns of the table; else empty
  AnovaTable table;  // a line for each column, or for each step
  std::vector<std::string> columns, chosen;
  std::vector<std::vector<std::string>> subsets;  // of a search: the columns of each step
  std::size_t choice = 0;                         // the step that was chosen
  std::vector<std::string> notes;                 // of the rows, and what the choice is worth
  bool cancelled = false;

  std::string text() const;
  Value to_value() const;
};

ColumnChoice choose_columns(const ChooseOptions& options, const Formula& formula, const TableStream& data);

}  // namespace lemma
