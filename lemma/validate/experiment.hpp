// lemma/validate/experiment.hpp: a method, a formula and a table made ready to be learned from again and again, on some of the rows.
#pragma once
#include <lemma/data/row_selection.hpp>
#include <lemma/metric/measure.hpp>
#include <lemma/model/any_spec.hpp>
#include <lemma/model/train.hpp>
#include <lemma/validate/answers.hpp>
#include <lemma/validate/plan.hpp>

namespace lemma {

struct ExperimentOptions {
  DesignOptions design;           // missing values, coding, weights, as for fit
  bool leave_out_unseen = false;  // rows with a level that no training row has are not judged; else they are an Error
  Execution execution;
};

/// Everything that is learned by looking at rows is learned from the training rows alone, each time: levels, fill-ins, constants
/// of scale() and poly(), the steps of a pipeline. Where the formula learns nothing that the rows at hand could change, the
/// numbers of the whole table are used as they are: the same bits.
class Experiment {
 public:
  /// Rows that the policy for missing values drops take no part.
  Experiment(const AnySpec& spec, const Formula& formula, const TableStream& data, const ExperimentOptions& options);

  const AnySpec& spec() const { return spec_; }
  const Design& design() const { return design_; }  // of all rows: it names the classes
  const std::string& data() const { return source_; }
  const std::vector<std::string>& notes() const { return notes_; }
  Task task() const { return task_; }
  Index rows() const { return rows_->count(); }
  const Rows& all() const { return *rows_; }
  const RowSelection& kept() const { return kept_; }  // which rows of the table take part
  const Vector& y() const { return y_; }
  const Labels& labels() const { return labels_; }
  const Vector& weights() const { return weights_; }  // empty: none

  /// Strata by the response, groups and times, as the plan asks. What the plan leaves open is settled in it: classes are
  /// stratified, unless groups or time decide.
  PlanRows rows_of(Plan& plan) const;
  /// Of each row with its response: what equal rows are known by.
  std::vector<std::uint64_t> hashes() const;

  /// Whether nothing but the method itself learns from the rows: neither the formula nor a fill-in, nor a step before it.
  bool learns_by_method_alone() const;

  struct Learned {
    AnyModel model;
    std::optional<Design> design;  // its own, where the training rows make another one than all rows do
  };
  Learned fit(const std::vector<Index>& train, const FitOptions& options) const;
  /// The same of rows drawn with replacement. A method to which weight k is k copies sees each row once: 63 % of them.
  Learned fit_drawn(const std::vector<Index>& train, const FitOptions& options) const;

  struct Asked {
    std::vector<Index> rows;  // that were judged
    Answers answers;          // classes by the numbers they have among all rows
  };
  Asked ask(const Learned& learned, const std::vector<Index>& test, const Execution& execution = {}) const;
  /// Measures of a model on rows, where there is no truth to hold its answers against: clusters.
  std::vector<Measure> measure_without_truth(const Learned& learned, const std::vector<Index>& test,
                                             const Execution& execution = {}) const;
  std::vector<Measure> measure(const Answers& answers) const;
  /// The response of some of the rows.
  Answers truth_of(const std::vector<Index>& rows) const;
  /// These rows, as they lie in memory.
  std::unique_ptr<Rows> some(const std::vector<Index>& rows) const;

 private:
  AnyModel learn(const Design& design, const Rows& rows, const FitOptions& options) const;
  bool design_is_shared(const std::vector<Index>& train) const;
  AnySpec spec_;
  Formula formula_;
  ExperimentOptions options_;
  DesignOptions how_;
  std::string source_;
  std::shared_ptr<const Table> table_;  // the rows that take part; none where they are sparse
  Design design_;
  Value saved_;         // of the design
  bool plain_ = false;  // the formula takes columns as they stand: of rows only the classes could be learned
  std::unique_ptr<Rows> rows_;
  RowSelection kept_;
  std::vector<std::string> notes_;
  Task task_ = Task::regression;
  Vector y_, weights_;
  Labels labels_;
};

}  // namespace lemma
