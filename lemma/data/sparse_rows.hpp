// lemma/data/sparse_rows.hpp: a sparse file as a table, and its rows for a method that takes them without their zeros.
#pragma once
#include <lemma/core/rows.hpp>
#include <lemma/data/design.hpp>
#include <lemma/data/stream.hpp>
#include <lemma/data/svmlight.hpp>
#include <memory>

namespace lemma {

/// Columns y, x1 … xd of which only the rows asked for are made dense.
class SparseStream final : public TableStream {
 public:
  explicit SparseStream(std::shared_ptr<const SparseData> data);
  Index rows() const override { return data_->x.rows(); }
  const Table& schema() const override { return schema_; }
  Table read(Index first, Index count) const override;
  const SparseData* sparse() const override { return data_.get(); }

 private:
  std::shared_ptr<const SparseData> data_;
  Table schema_;
};

/// The design of a formula that takes columns as they stand ('y ~ .', 'y ~ x3 + x7'), without a dense table. Nothing
/// when the formula changes columns or the options weigh rows: then the table has to be made.
std::optional<Design> plain_design(const Formula& formula, const SparseData& data, const DesignOptions& options);
/// Whether a design's features are columns x… as they stand, and its response is y.
bool is_plain(const Design& design);

/// The response of such a design, without x: y or class codes (−1 for a class it has not seen), all rows kept.
DesignData sparse_outcome(const Design& design, const SparseData& data);

/// The rows of such a design. Looks at the data, which must outlive it, unless the design takes only some columns.
class SparseRows final : public Rows {
 public:
  SparseRows(const Design& design, const SparseData& data);
  SparseRows(const SparseRows&) = delete;  // it may look at its own columns
  SparseRows& operator=(const SparseRows&) = delete;
  Index count() const override { return x_->rows(); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override;
  Block outcome(Index first, Index size, BlockBuffer& buffer) const override;
  const Csr* sparse() const override { return x_; }

 private:
  Block beside(const MatrixView& x, Index first) const;
  Csr chosen_;
  const Csr* x_;
  DesignData outcome_;
};

}  // namespace lemma
