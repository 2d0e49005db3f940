// lemma/data/column_rows.hpp: columns in memory shown as rows, a block at a time, without a matrix of all of them.
#pragma once
#include <lemma/core/rows.hpp>
#include <vector>

namespace lemma {

/// Looks at columns of equal length, which must outlive it. Of `chosen` rows only these, in this order.
class ColumnRows final : public Rows {
 public:
  ColumnRows(std::vector<const double*> columns, Index rows);
  ColumnRows(std::vector<const double*> columns, std::vector<Index> chosen);
  Index count() const override { return rows_; }
  Block read(Index first, Index size, BlockBuffer& buffer) const override;

 private:
  std::vector<const double*> columns_;
  std::vector<Index> chosen_;
  Index rows_;
  bool all_;
};

}  // namespace lemma
