// lemma/ensemble/adaboost/rounds.hpp: the course of AdaBoost: weights, errors and votes of the rounds, whoever the learners are.
#pragma once
#include <functional>
#include <lemma/ensemble/adaboost.hpp>
#include <lemma/ensemble/adaboost/stumps.hpp>
#include <optional>
#include <vector>

namespace lemma::ensemble {

/// Errors from here on are those of chance: 1 − 1/K, but for rounding.
double chance_of(Index classes);
/// The vote of a learner with this error, for rows of this weight together.
double beta_of(double error, Index classes, double mass);

/// As a row of AdaBoostModel::stumps tells it.
Stump stump_at(const Matrix& stumps, Index t);

/// Some learner of a round: a stump, or a model.
struct Learner {
  Stump stump;
  std::optional<AnyModel> model;
};

/// Fits the learners, whichever way suits base and rows.
class Teacher {
 public:
  Teacher(const AdaBoost& chosen, std::uint64_t seed, const TrainingRows& rows, const Execution& execution);

  bool teaches_stumps() const { return columns_.has_value(); }
  const SortedColumns& columns() const { return *columns_; }
  /// The learner of round t for these weights.
  Learner fit(Index t, const Vector& weight, const Execution& execution) const;
  /// visit(rows) with the rows as the method inside is given them in round t.
  void with_rows(Index t, const Vector& weight, const std::function<void(const Rows&)>& visit) const;

 private:
  const AdaBoost& spec_;
  std::uint64_t seed_;
  const TrainingRows& rows_;
  std::optional<SortedColumns> columns_;
  std::vector<Index> order_;  // where rows are drawn
};

/// What a learner says of all rows.
Labels says(const Learner& learner, const MatrixView& x, const Execution& execution);

/// The rounds played again from learners and rows. `look`: learners are looked at again too, else what their fits said of them
/// is taken.
Certificate certify_rounds(const AdaBoostModel& model, const Rows& rows, bool look, const Execution& execution);

/// Weights, votes and what they come to, round after round.
class Course {
 public:
  explicit Course(const TrainingRows& rows);
  const Vector& weight() const { return weight_; }  // of this round; their sum is that of the rows
  double error(const Labels& said) const;           // by these weights
  /// After a learner has joined.
  void take(const Labels& said, double error, double beta);
  double training_error() const;
  double risk() const { return risk_; }

 private:
  const TrainingRows& rows_;
  Vector weight_;
  Matrix votes_;
  double risk_ = 1;
};

}  // namespace lemma::ensemble
