// lemma/select/wrapper.hpp: subsets of the columns judged by any method and any score.
#pragma once
#include <functional>
#include <lemma/model/any_spec.hpp>
#include <lemma/select/subsets.hpp>
#include <lemma/validate/plan.hpp>

namespace lemma {

/// Rows with some of their columns, in the order given. Looks at the rows, which must outlive it.
class SomeColumns final : public Rows {
 public:
  SomeColumns(const Rows& rows, std::vector<Index> columns);  // Error when there is no such column
  Index count() const override { return rows_.count(); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override;
  Block outcome(Index first, Index size, BlockBuffer& buffer) const override {
    return rows_.outcome(first, size, buffer);
  }

 private:
  const Rows& rows_;
  std::vector<Index> columns_;
};

/// What a subset of the columns is worth: less is better. Called from several threads at once.
using SubsetScore = std::function<double(const std::vector<Index>& columns)>;

/// The mean loss (share of wrong classes, or squared error) of the rows of each fold under a model of the other folds. Classes are
/// dealt evenly. The rows must outlive it.
SubsetScore fold_score(const AnySpec& method, const Rows& rows, int folds, const FitOptions& options);
/// The same over the rows that any plan sets apart: left out one by one, never drawn into a bootstrap sample, later in time.
SubsetScore plan_score(const AnySpec& method, const Rows& rows, const Plan& plan, const FitOptions& options);
/// The loss on a share of the rows under a model of the others.
SubsetScore holdout_score(const AnySpec& method, const Rows& rows, double share, const FitOptions& options);

struct WrapperStep {
  std::vector<Index> columns;
  double score = 0;
  std::string move;  // "+ x": what led to it; empty for the first
};
struct WrapperPath {
  std::vector<WrapperStep> steps;
  std::size_t choice = 0;  // of least score; of equals the one with fewer columns
  long long fits = 0;      // subsets that were judged
  bool cancelled = false;
  const WrapperStep& chosen() const { return steps[choice]; }
};

inline constexpr Index kMostExhausted = 12;

/// Forward from the best single column, backward from all, both from the best single column; until no move lowers the score, or
/// there are `most` columns (forward, both) or as few (backward). Best: every subset, of up to kMostExhausted columns.
/// The score of the choice has been used to choose: it is too good an estimate of the error.
WrapperPath search_subsets(const std::vector<std::string>& names, SubsetSearch search, const SubsetScore& score,
                           std::optional<Index> most = {}, const Execution& execution = {});

}  // namespace lemma
