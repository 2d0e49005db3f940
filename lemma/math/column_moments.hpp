// lemma/math/column_moments.hpp: count, mean, variance and range of each column in one pass, without the p² of a scatter.
#pragma once
#include <lemma/core/rows.hpp>

namespace lemma {

/// Per column: Σw, mean, Σ w (x − mean)², least and greatest value. NaN is missing and takes no part. Blocks are centred
/// before they are squared; two states merge by the pairwise update M₂ = M₂ + M₂' + (n n' / (n + n')) (m − m')².
/// A column of numbers beyond 1e±120 is squared in a unit of its own, a power of two, so that its spread is neither
/// infinite nor 0.
///
/// Cost  O(n p) time, O(p) memory.
class ColumnMoments {
 public:
  explicit ColumnMoments(Index columns);
  void accumulate(const Block& block);
  void merge(const ColumnMoments& other);

  const Vector& weight() const { return weight_; }  // Σ w of the values that are there
  const Vector& mean() const { return mean_; }      // 0 for a column without values
  Vector squares() const;                           // Σ w (x − mean)²: infinite or 0 beyond the range of numbers
  const Vector& least() const { return least_; }
  const Vector& greatest() const { return greatest_; }
  /// √(Σ w (x − mean)² / (Σw − 1)); 0 for a column with one value or equal values.
  Vector deviation() const;

 private:
  int exponent(Index column) const;  // the unit of squares_ is 2^(2 exponent): 0 but for huge or tiny numbers
  Vector weight_, mean_, squares_, least_, greatest_;
};

}  // namespace lemma
