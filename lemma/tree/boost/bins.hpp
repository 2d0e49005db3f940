// lemma/tree/boost/bins.hpp: each column in at most a few hundred steps: the rows as small codes.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <lemma/core/file_backed.hpp>
#include <lemma/core/rows.hpp>
#include <limits>
#include <string>
#include <vector>

namespace lemma::boost {

/// Of numbers the code counts the cuts at or below the value; of categories it is theirs. What is missing has the last code.
struct BinnedColumn {
  std::vector<double> cuts;  // ascending, each midway between two neighbouring values
  int levels = 0;            // categories; 0: numbers
  bool has_missing = false;
  bool has_values = true;
  std::uint32_t first = 0;  // where its bins begin in a histogram
  std::uint32_t room = 0;   // entries of a histogram that it takes

  int values() const {
    return levels > 0 ? levels : static_cast<int>(cuts.size()) + 1;
  }                                         // bins without the missing one
  int missing() const { return values(); }  // the code
  int bins() const { return values() + (has_missing ? 1 : 0); }
  bool is_constant() const { return bins() < 2 || !has_values; }
  int code(double x) const;
};

/// The number of cuts at or below x, without a branch: the cuts are filled up with infinities to a power of two.
struct Search {
  std::vector<double> cuts;
  explicit Search(const std::vector<double>& of)
      : cuts(std::bit_ceil(of.size() + 1), std::numeric_limits<double>::infinity()) {
    std::copy(of.begin(), of.end(), cuts.begin());
  }
  std::uint32_t operator()(double x) const {
    const double* at = cuts.data();
    for (std::size_t step = cuts.size() / 2; step > 0; step /= 2)
      at += step & (0 - static_cast<std::size_t>(at[step - 1] <= x));
    return static_cast<std::uint32_t>(at - cuts.data());
  }
};

/// The rows as codes, twice: those of a row side by side, for histograms; and those of a column, for routing. Columns of up to
/// 256 bins take a byte for each row, the others two.
struct BinnedRows {
  std::vector<BinnedColumn> columns;
  Index count = 0;
  std::uint32_t histogram_size = 0;  // entries for all columns

  // The rows side by side: columns of one byte, then those of two.
  std::vector<Index> narrow, wide;  // which columns
  Index narrow_stride = 0;
  Kept<std::uint8_t> narrow_rows;
  Kept<std::uint16_t> wide_rows;
  Kept<std::uint8_t> narrow_columns;  // of each in turn all rows
  Kept<std::uint16_t> wide_columns;
  std::vector<Index> place;  // of each column: its number among the narrow, or among the wide ones

  /// Entries of a histogram for a column of a byte that has nearly as many bins as there are bytes: those of several such columns
  /// are then found by a shift alone.
  static constexpr std::uint32_t kWholeRoom = 256;

  bool is_wide(Index column) const { return columns[at(column)].bins() > 256; }
  const std::uint8_t* narrow_column(Index column) const {
    return narrow_columns.data() + at(place[at(column)]) * at(count);
  }
  const std::uint16_t* wide_column(Index column) const {
    return wide_columns.data() + at(place[at(column)]) * at(count);
  }
  int code(Index row, Index column) const {
    return is_wide(column) ? wide_column(column)[row] : narrow_column(column)[row];
  }
};

/// What is kept of each row lies in a file where the rows do not lie in memory.
inline Lies place_for(const Rows& rows) { return rows.matrix() || rows.sparse() ? Lies::in_memory : Lies::in_a_file; }

/// The numbers of a row, one after the other.
inline const double* row_of(const MatrixView& x, Index i) { return x.data() + i * x.outerStride(); }

/// A row by what it says, whatever its place and its weight: chance that goes by it is the same in any order of the rows.
std::uint64_t row_key(const double* x, Index width, double response);
/// A number in [0, 1) for a row, a seed and a purpose.
double chance(std::uint64_t row, std::uint64_t seed, std::uint64_t purpose);

struct Binning {
  int most = 255;      // bins of a column of numbers
  bool exact = false;  // a bin for each value, up to 65535
};

/// Passes over the rows: values from which the cuts are made (all of up to 2¹⁶ rows, a share of more), then the codes. Error for
/// infinities, and for categories or exact values beyond 65535.
BinnedRows bin(const Rows& rows, const Binning& binning, const Execution& execution);

}  // namespace lemma::boost
