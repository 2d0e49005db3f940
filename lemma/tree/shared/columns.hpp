// lemma/tree/shared/columns.hpp: rows as trees learn from them: column by column, each sorted once.
#pragma once
#include <cstdint>
#include <lemma/core/rows.hpp>
#include <string_view>
#include <vector>

namespace lemma {

/// A row and the rank of its value in a column: equal values have equal ranks. Of categories the rank is the code.
struct RankedRow {
  static constexpr std::uint32_t kMissing = 0xffffffffU;
  std::uint32_t row, rank;

  bool is_missing() const { return rank == kMissing; }
};

/// The rows of a weight above 0, numbered 0, 1, … as they come. A split of ranks is a split of values: what lies between ranks r
/// and s has its threshold midway between values[r] and values[s].
struct RankedColumns {
  Labels levels;  // of each column how many categories it has; 0: numbers
  std::vector<std::vector<double>>
      values;  // of a column of numbers: its different values, the smallest first; none: see x
  std::vector<std::vector<RankedRow>>
      order;                         // of each column: all rows by rank (then by row), those without a value last
  std::vector<std::uint16_t> label;  // of each row: its class
  std::vector<double> y;             // or its number
  std::vector<double> weight;        // empty: all 1
  std::vector<Index> source;         // its place among all rows
  Index classes = 0;                 // 0: numbers
  const double* x = nullptr;         // where no values are kept: the rows, as they lie
  Index stride = 0;
  Matrix space;  // or where they were gathered

  Index rows() const { return static_cast<Index>(source.size()); }
  Index width() const { return static_cast<Index>(levels.size()); }
  double weight_of(std::uint32_t row) const { return weight.empty() ? 1.0 : weight[row]; }
  /// Between the values of two ranks: x < threshold holds of the lower alone.
  double threshold(Index column, std::uint32_t low, std::uint32_t high) const;
  /// The same by a row of either.
  double threshold_of_rows(Index column, std::uint32_t low, std::uint32_t high) const;
  double value(Index column, std::uint32_t row) const { return x[source[row] * stride + column]; }
};
enum class KeepValues { yes, no };

/// Sorts each column, O(n) each by radix. Error for what `check_rows` refuses.
/// Without values, 8 bytes for each cell; they look at the rows, which must stay where they are.
RankedColumns ranked_columns(std::string_view method, const Rows& rows, const Execution& execution,
                             KeepValues keep = KeepValues::yes);

/// What is refused before anything is sorted: an infinite value, a code that there is not, a weight or response that cannot be used.
void check_rows(std::string_view method, const Rows& rows, const Block& outcome, const MatrixView& x);

/// All rows of x: where they lie, or in `space`.
MatrixView matrix_of(const Rows& rows, Matrix& space, const Execution& execution);

}  // namespace lemma
