// lemma/data/matrix_stream.hpp: numbers that a method reads where they lie: a .npy file in row order, mapped.
#pragma once
#include <lemma/core/rows.hpp>
#include <lemma/data/design.hpp>
#include <lemma/data/parsed_matrix.hpp>
#include <lemma/data/stream.hpp>
#include <lemma/data/use.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lemma {

/// A .npy file of float64 numbers, row after row: columns x1 … xp, and all of them as one matrix without a copy.
class MappedNpy final : public TableStream {
 public:
  /// Nothing when the file holds other numbers, or has its columns together: then it has to be read.
  static std::unique_ptr<MappedNpy> open(const std::string& path);
  ~MappedNpy() override;
  Index rows() const override { return x_->rows(); }
  const Table& schema() const override { return schema_; }
  Table read(Index first, Index count) const override;
  const MatrixView* matrix() const override { return &*x_; }

 private:
  MappedNpy() = default;
  void* mapping_ = nullptr;
  std::size_t size_ = 0;
  std::optional<MatrixView> x_;
  Table schema_;
};

/// The columns that a formula or a design takes as they stand; nothing where it does more with them.
std::optional<WantedColumns> columns_as_they_are(const Formula& formula, const std::vector<std::string>& names);
std::optional<WantedColumns> columns_as_they_are(const Design& design);

/// The design of a formula that takes columns as they stand ('y ~ .', 'x3 ~ x1 + x2', '~ .') and at most makes a number of
/// them for the response ('log(y) ~ .'), learned from a few rows.
/// Nothing when the formula changes columns, the options weigh rows, or a number is missing: then the table has to be made.
/// Error where a number is infinite.
std::optional<Design> design_of_columns(const Formula& formula, const TableStream& data, const DesignOptions& options);
/// Whether the features of a design are columns of the table as they stand, and its response is one too, or none.
bool takes_columns_as_they_are(const Design& design);

/// Such a design, and no number of its columns is missing. Error where one is infinite.
bool numbers_are_all_there(const Design& design, const TableStream& data, const Execution& execution);

/// The rows of such a design, of numbers that are all there. Looks at the data, which must outlive it: x is a view where the
/// features stand side by side, and a copy where another column stands between them.
class MatrixRows final : public Rows {
 public:
  MatrixRows(const Design& design, const TableStream& data, Use use = Use::training);
  MatrixRows(const MatrixRows&) = delete;  // it may look at its own copy
  MatrixRows& operator=(const MatrixRows&) = delete;
  Index count() const override { return x_->rows(); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override;
  const MatrixView* matrix() const override { return &*x_; }

 private:
  void take_response(const Design& design, const TableStream& data, Use use);
  std::optional<MatrixView> x_;
  Matrix copy_;
  std::span<const double> y_;           // of the data, or of `numbers_`
  std::optional<MatrixView> y_column_;  // or a column of the matrix, read with its rows
  std::vector<double> numbers_;
  std::vector<int> label_;
};

}  // namespace lemma
