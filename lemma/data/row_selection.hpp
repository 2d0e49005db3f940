// lemma/data/row_selection.hpp: which rows of a table became rows of a design.
#pragma once
#include <cstdint>
#include <lemma/core/matrix.hpp>
#include <vector>

namespace lemma {

/// All rows of a table, or those that were complete: one bit a row in the pieces of the table that lost some. Kept rows are
/// numbered from 0 in the order of the table.
class RowSelection {
 public:
  static constexpr Index kPiece = 4096;  // rows of the table that are counted together
  using Piece = std::vector<std::uint64_t>;

  RowSelection() = default;
  explicit RowSelection(Index table_rows) : table_rows_(table_rows), count_(table_rows) {}  // all
  RowSelection(Index table_rows, const std::vector<Index>& kept);                           // these, ascending
  RowSelection(Index table_rows, std::vector<Piece> pieces);                                // each made by piece()
  /// `count` rows of the table from `first` on, of which these are kept. Empty when all are.
  static Piece piece(Index first, Index count, const std::vector<Index>& kept);

  Index table_rows() const { return table_rows_; }
  Index count() const { return count_; }
  bool all() const { return count_ == table_rows_; }
  /// Kept rows before this row of the table; of the row after the last: all of them.
  Index before(Index table_row) const;
  /// The row of the table that a kept row is.
  Index row(Index kept) const;
  /// The rows of the table that kept rows [first, first + size) are.
  std::vector<Index> rows(Index first, Index size) const;

 private:
  Index table_rows_ = 0, count_ = 0;
  std::vector<Piece> pieces_;  // none when all rows are kept
  std::vector<Index> before_;  // kept rows before each piece, and all of them
};

}  // namespace lemma
