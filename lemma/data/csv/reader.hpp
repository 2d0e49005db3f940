// lemma/data/csv/reader.hpp: the passes over a CSV file that find out the types of its columns, and fill them.
#pragma once
#include <atomic>
#include <lemma/data/csv/gaps.hpp>
#include <lemma/data/csv/parse.hpp>
#include <lemma/data/csv/state.hpp>
#include <memory>
#include <optional>

namespace lemma::csv {

/// A file whose layout is known and which is cut into pieces.
class Reader {
 public:
  /// Looks at the first records and cuts the file. Throws Error.
  Reader(std::unique_ptr<Bytes> bytes, CsvOptions options, std::string source);
  ~Reader();

  /// Finds out the type and the levels of every column from all of its fields. With `keep`, the values are kept too, and
  /// the table has all rows; else it has none. Two passes as a rule: one that believes the first rows about which columns
  /// are numbers, and one over the columns in which they were wrong. One more finds the place of a mistake.
  Table learn(bool keep);

  /// The same with the values of some columns only, by their places in the layout: those of `features` are numbers, and stand
  /// side by side in one matrix, into which they are parsed; those of `others` are kept each by itself.
  struct Parsed {
    Table schema;  // of all columns, without rows
    Matrix x;      // of the features
    Table others;
  };
  /// Nothing when a feature holds other things than numbers, or a value of these columns is missing; the reader may then
  /// learn in another way.
  std::optional<Parsed> learn_matrix(const std::vector<std::size_t>& features, const std::vector<std::size_t>& others);

  /// Rows [first, first + count) with the types and levels of `schema`, which learn() gave; it may have fewer columns,
  /// in the same order, and the others are not parsed.
  Table read(const Table& schema, Index first, Index count) const;

  /// Records as they are written, one after the other: those of rows first, first + 1, …
  struct Records {
    Buffer buffer;
    Index first = 0;
    std::vector<std::size_t> starts;  // of each in the buffer, and where the last ends
    Index count() const { return starts.empty() ? 0 : static_cast<Index>(starts.size()) - 1; }
    std::string_view at(Index row) const {
      const auto k = static_cast<std::size_t>(row - first);
      return {buffer.begin() + starts[k], starts[k + 1] - starts[k]};
    }
  };
  /// Those around a row that are read together.
  void read_records(Index row, Records& records) const;
  /// The line of names as it is written; empty where there is none.
  std::string header_text() const;

  const Layout& layout() const { return layout_; }
  const CsvOptions& options() const { return options_; }
  Index rows() const { return pieces_.rows(); }
  std::uint64_t bytes() const { return bytes_->size(); }

 private:
  void lay_out();
  void check_overrides() const;
  void widen_guess();
  void cut_into_pieces();
  bool count_rows();
  Text load(Index piece, Buffer& buffer) const;
  void prepare(ColumnState& state, std::size_t column) const;
  using States = std::vector<ColumnState>;
  bool look_at_all(States& states);
  bool pass(States& states, double from, double to);
  void parse_piece(States& states, Index piece, bool& stray_quote) const;
  std::vector<Column> finish(States& states);
  bool may_be_numbers(std::size_t column) const;
  std::optional<Mistake> other_bytes(const Text& text) const;
  Mistake first_of(const Mistake& mistake) const;
  void refuse_other_bytes(const std::vector<Dictionary>& labels, const Text& text) const;
  void refuse_infinity(const States& states) const;
  const std::vector<std::string>* given_levels(std::size_t column) const;
  void remember_levels(const std::vector<Column>& columns);
  bool has_levels(std::size_t column) const { return levels_[column] && levels_[column]->size() > 0; }
  void add_notes(const States& states, Table& table) const;
  Error error(const Mistake& mistake) const;

  std::unique_ptr<Bytes> bytes_;
  CsvOptions options_;
  std::string source_;
  MissingWords missing_;
  Layout layout_;
  Pieces pieces_;
  LeftOut left_out_;
  bool exact_ = false;  // quotes stand inside unquoted fields: the file is cut byte after byte
  bool believe_trailing_ = true;
  mutable std::atomic<bool> given_up_ = false;       // nobody wants what is parsed
  std::vector<std::unique_ptr<Dictionary>> levels_;  // by column: those the user gave, then those learned
  std::vector<Form> forms_;                          // by column: how its numbers are written, once it is learned
  struct Doors;                                      // of the columns' states, for the pieces that finish
  std::unique_ptr<Doors> doors_;
};

}  // namespace lemma::csv
