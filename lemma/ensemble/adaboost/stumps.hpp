// lemma/ensemble/adaboost/stumps.hpp: the best stump for given weights, with the columns sorted once for all rounds.
#pragma once
#include <cmath>
#include <cstdint>
#include <lemma/ensemble/shared/inside.hpp>
#include <vector>

namespace lemma::ensemble {

/// x < threshold says one class, all else the other.
struct Stump {
  Index column = 0;
  double threshold = 0;
  int below = 0, above = 0;   // both the same: a constant
  bool missing_below = true;  // where a row without a value goes: to the side of greater weight
  bool splits = false;

  int of(double value) const {
    return std::isnan(value) ? (missing_below ? below : above) : value < threshold ? below : above;
  }
};

/// tree(depth=1, criterion=misclassification, …): the stump of least weighted error of all columns and thresholds.
AnySpec stump();
/// Whether a method is that stump, but for what takes part with missing values alone.
bool is_stump(const AnySpec& base);

/// Columns of numbers without missing values, sorted once.
class SortedColumns {
 public:
  SortedColumns(const TrainingRows& rows, const Execution& execution);

  /// What the tree finds: of equals (to 1e-9 of the gain) the first column and the lowest threshold; no side lighter than a row. The
  /// weights are of every row and add up to the number of them that count.
  /// O(n) for each column.
  Stump best(const Vector& weight, const Execution& execution) const;

  /// The least weight of wrong rows that any stump or constant leaves, counted by classes on either side from the greatest value down:
  /// another route than `best`.
  double least_wrong(const Vector& weight, const Execution& execution) const;

  /// Where a stump stands: midway between which values, and the weight below.
  struct Place {
    double middle = 0, weight_below = 0;
  };
  Place place_of(const Stump& stump, const Vector& weight) const;

 private:
  struct Found {
    double gain = 0;
    std::size_t place = 0;  // the last entry below
  };
  Found search_two(Index column, const Vector& signed_weight, double floor, double mass) const;
  Found search_more(Index column, const Vector& weight, const Vector& totals, double floor) const;
  double most_right(Index column, const Vector& weight, const Vector& totals) const;
  double most_right_of_two(Index column, const Vector& signed_weight, const Vector& totals) const;
  Stump made(Index column, const Found& found, const Vector& weight, const Vector& totals) const;

  static constexpr std::uint32_t kLast = 0x80000000U;  // the last row of its value
  const TrainingRows& rows_;
  std::vector<std::vector<std::uint32_t>> order_;  // of each column
};

}  // namespace lemma::ensemble
