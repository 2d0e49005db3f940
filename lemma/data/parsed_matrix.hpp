// lemma/data/parsed_matrix.hpp: a CSV file whose numbers are parsed straight into the matrix that a method reads.
#pragma once
#include <functional>
#include <lemma/data/read.hpp>
#include <lemma/data/stream.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lemma {

/// Columns that are wanted as they stand: features side by side, and others beside them, such as a response.
struct WantedColumns {
  std::vector<std::string> features, others;
};

/// Features as one matrix, and other columns each by itself, without a missing value; all of a file that is kept in memory.
class ParsedMatrix final : public TableStream {
 public:
  /// The schema has the features first, without rows.
  ParsedMatrix(Matrix x, Table schema, Table others);
  Index rows() const override { return x_.rows(); }
  const Table& schema() const override { return schema_; }
  Table read(Index first, Index count) const override;
  Table read_columns(Index first, Index count, const std::vector<std::string>& names) const override;
  const MatrixView* matrix() const override { return &view_; }
  const Column* column(std::string_view name) const override { return others_.find(name); }
  bool complete() const override { return true; }

  ParsedMatrix(const ParsedMatrix&) = delete;  // the view looks at its own numbers
  ParsedMatrix& operator=(const ParsedMatrix&) = delete;

 private:
  Matrix x_;
  MatrixView view_;
  Table schema_;
  Table others_;
};

/// A CSV file in memory, of which the columns that `wanted` chooses among its names are needed: a ParsedMatrix where it
/// chooses some, the features turn out to be numbers, and no value is missing; else the table of read_csv, from the same
/// text (standard input is read once). Nothing where `data` is no CSV file.
using ChooseColumns = std::function<std::optional<WantedColumns>(const std::vector<std::string>& names)>;
std::unique_ptr<TableStream> open_parsed(const std::string& data, const ReadOptions& options,
                                         const ChooseColumns& wanted);

}  // namespace lemma
