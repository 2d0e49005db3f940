// lemma/data/csv/text.hpp: a CSV file whose rows are passed on as they are written.
#pragma once
#include <lemma/data/csv.hpp>
#include <lemma/data/stream.hpp>
#include <memory>
#include <string>
#include <string_view>

namespace lemma {

/// A CSV file as a table, and the text of each of its records: a column that is only passed on stays byte for byte what it
/// was (01234, 1.50, 9007199254740993, "quoted", NA), and so do delimiter and line ends. Texts are not kept in memory:
/// they are read again where they lie. A packed file and standard input lie in memory, unpacked.
class CsvText final : public TableStream {
 public:
  /// With `keep`, take() gives the table of read_csv; else it is a stream as CsvStream is. `path` as in read_csv.
  CsvText(const std::string& path, const CsvOptions& options, bool keep);
  ~CsvText() override;
  Index rows() const override;
  const Table& schema() const override { return schema_; }
  Table read(Index first, Index count) const override;
  Table read_columns(Index first, Index count, const std::vector<std::string>& names) const override;
  /// The values of all rows, once.
  Table take();

  CsvDialect dialect() const;
  std::string_view line_end() const;
  /// The line of names without its end; V1, V2, … where the file has none.
  std::string header() const;

  /// Reads records in any order; neighbours come quickly. One for each thread.
  class Cursor {
   public:
    explicit Cursor(const CsvText& text);
    ~Cursor();
    /// The record of a row without its line end. In a table of one column an empty line is written NA: it would be lost at
    /// the end of a file.
    std::string_view record(Index row);

   private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
  };

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  Table schema_;
};

/// Fields of a row as they stand in a file of this dialect, each behind a delimiter: to be put at the end of a record.
void append_fields(std::string& out, const Table& table, Index row, const CsvDialect& dialect);
void append_names(std::string& out, const Table& table, const CsvDialect& dialect);

}  // namespace lemma
