// lemma/validate/cross.hpp: how well a method does on rows that it has not learned from.
//
// For each resample j of a plan the method, with all that it learns from rows, is fitted to the training rows and judged on the
// others. Of J scores m₁ … m_J with variance s², each from n₁ training and n₂ test rows, the mean has the interval
//
//     m̄ ± t_{J−1} √((1/J + n₂/n₁) s²)        Nadeau and Bengio (2003)
//
// because training sets overlap: s²/J alone is much too small. Leaving out one row at a time, and a single holdout, have the
// interval of the rows judged; blocks of time and the bootstrap have the spread alone.
//
// Of the bootstrap, with êrr the apparent error, Err₁ the mean over rows of their error when they were not drawn, and γ the error
// if response and columns were independent:
//
//     .632    0.368 êrr + 0.632 Err₁
//     .632+   (1 − w) êrr + w Err₁′,  w = 0.632 / (1 − 0.368 R),  R = (Err₁′ − êrr) / (γ − êrr),  Err₁′ = min(Err₁, γ)
//
// Cost  one fit for each resample; the same bits on any number of threads.
#pragma once
#include <lemma/metric/measure.hpp>
#include <lemma/validate/experiment.hpp>

namespace lemma {

/// A measure over the resamples. What is not defined in some of them (AUC of one class) is averaged over the others.
struct Score {
  std::string name, meaning;
  bool higher_is_better = true;
  double mean = 0, sd = 0;       // sd over resamples; NaN of one
  std::optional<Bounds> bounds;  // 95 %, where the plan has one
  Index resamples = 0;           // in which it is defined
};

struct FoldScore {
  Index number = 0;  // of the resample
  int repeat = 0, fold = 0;
  Index train = 0;          // rows
  std::vector<Index> rows;  // that were judged, by their numbers among those that take part
  Answers answers;
  std::vector<Measure> measures;
  std::vector<Measure> apparent = {};  // on the rows it was learned from, where that was asked
};

/// One error by each way of the bootstrap.
struct BootstrapError {
  std::string name;
  double apparent = 0, out_of_bag = 0, no_information = 0, e632 = 0, e632_plus = 0;
};

struct CrossResult {
  std::string method, formula, data;
  Plan plan;
  std::uint64_t seed = 1;
  Task task = Task::regression;
  Index rows = 0;
  std::vector<std::string> classes;
  RowSelection kept;             // which rows of the table take part
  Index planned = 0;             // resamples
  std::vector<FoldScore> folds;  // done: all of them unless it was cancelled
  std::vector<Score> scores;
  std::vector<Score> apparent = {};    // on the training rows, where that was asked
  std::vector<BootstrapError> errors;  // of .632 and .632+
  bool cancelled = false, closed_form = false;
  std::vector<Leak> leaks;
  std::vector<std::string> notes;

  const Score* find(std::string_view measure) const;
};

struct CrossOptions {
  ExperimentOptions experiment;
  std::uint64_t seed = 1;
  bool closed_form = true;  // of leave-one-out, where the method has it
  bool look_for_leaks = true;
  bool judge_training = false;  // each model on the rows it was learned from too
  double train_share =
      1;  // learn from so much of each training set, drawn at random; smaller shares lie in larger ones
  std::vector<Matrix>* starts =
      nullptr;  // of each resample: coefficients to begin with (FitOptions::start; empty: none),
                // and afterwards those that were found, where the method begins with such
  Execution execution;
};

/// Error where a resample cannot be learned from or judged, with its number. Cancelled: the resamples that are done are given
/// back; Cancelled is thrown when there are none.
CrossResult cross(const AnySpec& spec, const Formula& formula, const TableStream& data, const Plan& plan,
                  const CrossOptions& options = {});
CrossResult cross(const Experiment& experiment, const Resampling& resampling, const CrossOptions& options = {});

/// The scores over the resamples that are done.
void summarise(const Experiment& experiment, CrossResult& result);

/// The seed of everything random in the fit to resample i: the same for every method.
std::uint64_t fit_seed(std::uint64_t seed, Index resample);

/// m̄ ± t √((1/J + ratio) s²): the interval of a mean of scores from training sets that overlap. Nothing for fewer than two.
std::optional<Bounds> corrected_bounds(const std::vector<double>& scores, double test_over_train, double level = 0.95);
/// n₂/n₁ of the resamples done.
double test_over_train(const CrossResult& result);

/// What was said of each row when it had not been learned from: row, repeat, fold, truth, prediction.
Table out_of_fold(const CrossResult& result);

Value to_value(const CrossResult& result);
std::string text(const CrossResult& result);

}  // namespace lemma
