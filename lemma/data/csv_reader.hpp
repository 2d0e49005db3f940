// lemma/data/csv_reader.hpp: the passes over a CSV file that find out the types of its columns, and fill them.
#pragma once
#include <lemma/data/csv_cut.hpp>
#include <lemma/data/csv_parse.hpp>
#include <lemma/data/csv_state.hpp>
#include <memory>

namespace lemma::csv {

/// A file whose layout is known and which is cut into pieces.
class Reader {
 public:
  /// Looks at the first records and cuts the file. Throws Error.
  Reader(std::unique_ptr<Bytes> bytes, CsvOptions options, std::string source);
  ~Reader();

  /// Finds out the type and the levels of every column from all of its fields. With `keep`, the values are kept too, and
  /// the table has all rows; else it has none. Two passes at most: one that believes the first rows about which columns
  /// are numbers, and one over the columns in which they were wrong.
  Table learn(bool keep);

  /// Rows [first, first + count) with the types and levels of `schema`, which learn() gave; it may have fewer columns,
  /// in the same order, and the others are not parsed.
  Table read(const Table& schema, Index first, Index count) const;

  Index rows() const { return pieces_.rows(); }
  std::uint64_t bytes() const { return bytes_->size(); }

 private:
  void check_overrides() const;
  void widen_guess();
  void cut_into_pieces();
  void prepare(ColumnState& state, std::size_t column, bool keep) const;
  bool pass(std::vector<ColumnState>& states, bool keep, double from, double to);
  void parse_piece(std::vector<ColumnState>& states, Index piece, bool keep, bool& stray_quote) const;
  void refuse_infinity(const std::vector<ColumnState>& states) const;
  const std::vector<std::string>* given_levels(std::size_t column) const;
  void remember_levels(const Table& table);
  Error error(const Mistake& mistake) const;

  std::unique_ptr<Bytes> bytes_;
  CsvOptions options_;
  std::string source_;
  MissingWords missing_;
  Layout layout_;
  Pieces pieces_;
  bool exact_ = false;              // quotes stand inside unquoted fields: the file is cut byte after byte
  std::vector<Dictionary> levels_;  // by column: those the user gave, then those learned
};

}  // namespace lemma::csv
