// lemma/data/stream.hpp: tables that are read piece by piece, from memory or from files larger than it.
#pragma once
#include <functional>
#include <lemma/data/csv.hpp>
#include <lemma/data/table.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lemma {

struct SparseData;

/// A table of which any rows can be asked for, from several threads at once. The same rows always give the same values.
class TableStream {
 public:
  virtual ~TableStream() = default;
  virtual Index rows() const = 0;
  virtual const Table& schema() const = 0;                 // no rows: names, types, levels, notes
  virtual Table read(Index first, Index count) const = 0;  // rows [first, first + count), with the levels of the schema
  /// The same when only these columns are looked at (names that the schema does not have are passed over). More may be
  /// there: a stream leaves out what it would otherwise have to parse.
  virtual Table read_columns(Index first, Index count, const std::vector<std::string>& /*names*/) const {
    return read(first, count);
  }
  /// Does reading mean parsing text, so that who reads often should keep what was read?
  virtual bool parses() const { return false; }
  /// The same rows as one table, where they lie in memory; otherwise nothing.
  virtual const Table* table() const { return nullptr; }
  /// The same rows without their zeros, where that is how they lie in memory; otherwise nothing.
  virtual const SparseData* sparse() const { return nullptr; }
  /// The first columns of the schema, or all, as one matrix of numbers (NaN is missing), where that is how they lie in memory;
  /// otherwise nothing.
  virtual const MatrixView* matrix() const { return nullptr; }
  /// A column that lies in memory by itself; otherwise nothing.
  virtual const Column* column(std::string_view /*name*/) const { return nullptr; }
  /// Is it known that no value is missing?
  virtual bool complete() const { return false; }
};

/// What the whole table would take in memory: 8 bytes a number, 4 a code; a text is estimated.
std::size_t memory_needed(const TableStream& stream);

/// Every row in one table.
Table read_all(const TableStream& stream, const Execution& execution = {});

/// A table in memory: looked at, or shared.
class MemoryTableStream final : public TableStream {
 public:
  explicit MemoryTableStream(const Table& table);  // must outlive the stream
  explicit MemoryTableStream(std::shared_ptr<const Table> table);
  Index rows() const override { return table_->rows(); }
  const Table& schema() const override { return schema_; }
  Table read(Index first, Index count) const override { return table_->slice(first, count); }
  const Table* table() const override { return table_; }
  const Column* column(std::string_view name) const override { return table_->find(name); }

 private:
  std::shared_ptr<const Table> owned_;
  const Table* table_;
  Table schema_;
};

/// A CSV file that stays on disk. Opening it passes over the file as read_csv does, but keeps only the types, the levels
/// and where each block of rows starts; read() gives the values of read_csv, bit for bit. Packed files and standard
/// input can't be read twice: Error.
class CsvStream final : public TableStream {
 public:
  explicit CsvStream(const std::string& path, const CsvOptions& options = {});
  ~CsvStream() override;
  Index rows() const override;
  bool parses() const override { return true; }
  const Table& schema() const override { return schema_; }
  Table read(Index first, Index count) const override;
  Table read_columns(Index first, Index count, const std::vector<std::string>& names) const override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  Table schema_;
};

/// A .npy file that stays on disk: columns x1 … xp.
class NpyStream final : public TableStream {
 public:
  explicit NpyStream(const std::string& path);
  ~NpyStream() override;
  Index rows() const override;
  const Table& schema() const override { return schema_; }
  Table read(Index first, Index count) const override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  Table schema_;
};

/// Some rows of another stream: ranges [first, end) one after the other.
class SelectedStream final : public TableStream {
 public:
  using Range = std::pair<Index, Index>;
  SelectedStream(std::unique_ptr<TableStream> whole, std::vector<Range> ranges);
  Index rows() const override { return rows_; }
  bool parses() const override { return whole_->parses(); }
  const Table& schema() const override { return whole_->schema(); }
  Table read(Index first, Index count) const override;
  Table read_columns(Index first, Index count, const std::vector<std::string>& names) const override;

 private:
  Table gather(Index first, Index count, const std::function<Table(Index first, Index count)>& read) const;

  std::unique_ptr<TableStream> whole_;
  std::vector<Range> ranges_;
  std::vector<Index> before_;  // rows in the ranges before each
  Index rows_ = 0;
};

/// Tables with the same columns, one below the other.
Table stack(const std::vector<Table>& tables);

}  // namespace lemma
