// lemma/validate/plan.hpp: which rows train and which judge: resampling plans as values.
#pragma once
#include <cstdint>
#include <lemma/core/params.hpp>
#include <lemma/data/table.hpp>

namespace lemma {

/// folds      k parts; each judges once what is learned from the others
/// holdout    a share of the rows, drawn at random, judges what is learned from the rest
/// loo        each row, or each group, judges what is learned from all others
/// time       k + 1 blocks in the order of time; each but the first judges what is learned from all before it
/// bootstrap  n rows drawn with replacement train, those never drawn judge
/// balanced   the same, each row drawn equally often in all samples together (Davison, Hinkley and Schechtman 1986)
/// given      a column says to which fold a row belongs; what it splits apart, or turns round, is told as a leak
/// 632, 632+  the bootstrap with the apparent error mixed in (Efron 1983, Efron and Tibshirani 1997)
enum class PlanKind { folds, holdout, loo, time, given, bootstrap, balanced, e632, e632_plus };
constexpr auto names_of(PlanKind) {
  return std::array<std::string_view, 9>{"folds",     "holdout",  "loo", "time", "given",
                                         "bootstrap", "balanced", "632", "632+"};
}

struct Plan {
  static constexpr std::string_view name = "plan";
  PlanKind kind = PlanKind::folds;
  int folds = 10;
  int repeats = 1;
  double test = 0.2;
  int samples = 200;
  std::optional<bool> stratify;
  std::string group, time, fold;

  static constexpr auto params() {
    return Listing{
        param("kind", &Plan::kind, "how rows are set apart"),
        param("folds", &Plan::folds, "parts of the rows, or blocks of time", at_least(2)),
        param("repeats", &Plan::repeats, "times that folds or a holdout are drawn anew", at_least(1)),
        param("test", &Plan::test, "share of the rows that a holdout judges by", within(0, 1)),
        param("samples", &Plan::samples, "bootstrap samples", at_least(1)),
        param("stratify", &Plan::stratify, "each part has its share of every class, or of every tenth of a number"),
        param("group", &Plan::group, "column whose equal entries stay together"),
        param("time", &Plan::time, "column by which rows are in order"),
        param("fold", &Plan::fold, "column that says to which fold a row belongs")};
  }
  void check() const;  // rules between them

  bool draws_with_replacement() const { return kind >= PlanKind::bootstrap; }
  /// "10-fold cross-validation, 5 times, classes in proportion"
  std::string text() const;
};

/// What a plan looks at.
struct PlanRows {
  Index count = 0;
  std::vector<int> strata = {}, groups = {}, folds = {};  // a number from 0 on for each row; empty: none
  std::vector<double> time = {};
};

/// Equal entries of a column get equal numbers from 0 on, in the order in which they come. Error where one is missing.
std::vector<int> groups_of(const Column& column);
/// Numbers, or dates. Error where one is missing, or the column holds something else.
std::vector<double> times_of(const Column& column);

/// One training set and the rows that judge it. Ascending; with replacement a row may train several times.
struct Resample {
  std::vector<Index> train, test;
  int repeat = 0, fold = 0;  // of the plan, from 0 on
};

/// All that a plan makes of rows: the same for the same seed, on any machine. Training sets are made when they are asked for.
class Resampling {
 public:
  /// Error where the rows are too few, or the plan needs what they do not have.
  Resampling(const Plan& plan, PlanRows rows, std::uint64_t seed);
  const Plan& plan() const { return plan_; }
  const PlanRows& rows() const { return rows_; }
  Index size() const { return size_; }
  Resample at(Index i) const;

 private:
  void assign_folds();
  void assign_holdouts();
  void cut_time();
  void draw_balanced();
  Resample by_part(const std::vector<int>& part, int tested) const;
  Resample drawn(const std::vector<Index>& units) const;

  Plan plan_;
  PlanRows rows_;
  std::uint64_t seed_;
  Index size_ = 0;
  std::vector<std::vector<int>> parts_;  // folds, holdouts, groups, blocks: the part of each row, for each repeat
  std::vector<std::vector<Index>> group_rows_;  // with replacement: the rows of each group
  std::vector<Index> balanced_;                 // the units of all samples, one after the other
};

/// Training, validation and test rows: three parts without a row in common, strata or groups respected.
struct ThreeParts {
  std::vector<Index> train, validation, test;
};
ThreeParts three_parts(const PlanRows& rows, double validation, double test, std::uint64_t seed);

/// What makes an estimate too good, found in the rows of a resampling.
struct Leak {
  enum class Kind { row_in_both, equal_rows, group_apart, time_reversed };
  Kind kind;
  std::string sentence;
};
std::string_view name_of(Leak::Kind kind);
/// Of rows set apart by a plan, or by hand: a row that trains and judges, rows that are equal to each other by their hashes
/// (empty: not asked), a group on both sides, training rows later than those that judge. Where these are the first of more, `all` of
/// them, the sentences say so.
std::vector<Leak> leaks(std::span<const Resample> resamples, const PlanRows& rows,
                        std::span<const std::uint64_t> hashes = {}, Index all = 0);

}  // namespace lemma
