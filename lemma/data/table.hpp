// lemma/data/table.hpp: named, typed columns, with missing values in any of them.
#pragma once
#include <cstdint>
#include <lemma/core/matrix.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace lemma {

enum class ColumnType { numeric, categorical, text };
std::string_view name_of(ColumnType type);

/// What numbers stand for, and so how they are written. A date is a number of days since 1970-01-01, a time (of a date) one
/// with its fraction; `utc` is a time that was written with its zone.
enum class Quantity { number, date, time, utc };

/// Numbers; NaN is missing (and equal to itself here).
struct Numbers {
  std::vector<double> values;
  Quantity quantity = Quantity::number;
  bool operator==(const Numbers& other) const;
};

/// Codes into `levels`; −1 is missing. Levels are ordered by their bytes unless the user orders them.
struct Categories {
  std::vector<std::int32_t> codes;
  std::vector<std::string> levels;
  bool operator==(const Categories&) const = default;
};

/// Free text, one string a row; `missing[i]` tells an empty text from none.
struct Texts {
  std::vector<std::string> values;
  std::vector<bool> missing;
  bool operator==(const Texts&) const = default;
};

struct Column {
  std::string name;
  std::variant<Numbers, Categories, Texts> data;

  ColumnType type() const { return static_cast<ColumnType>(data.index()); }
  Index rows() const;
  bool is_missing(Index row) const;
  Index missing() const;              // how many
  std::string text(Index row) const;  // as it would stand in a CSV file; empty when missing
  const Numbers& numbers() const { return std::get<Numbers>(data); }
  const Categories& categories() const { return std::get<Categories>(data); }
  const Texts& texts() const { return std::get<Texts>(data); }
  bool operator==(const Column&) const = default;
};

/// A column of strings as categories, levels ordered by their bytes; `missing[i]` (may be empty) marks missing rows.
Column categorical(std::string name, const std::vector<std::string>& values, const std::vector<bool>& missing = {});
Column numeric(std::string name, std::vector<double> values);
Column text(std::string name, std::vector<std::string> values, std::vector<bool> missing = {});
/// The number as it is written to files: the shortest text that reads back to the same double; empty for NaN.
std::string to_text(double value);
/// The same of what the number stands for: 2024-02-29, 2024-02-29T12:30:00.
std::string to_text(double value, Quantity quantity);

class Table {
 public:
  Table() = default;
  explicit Table(std::vector<Column> columns, std::string source = "");  // Error on unequal lengths or a name twice

  Index rows() const { return rows_; }
  Index columns() const { return static_cast<Index>(columns_.size()); }
  const std::vector<Column>& all() const { return columns_; }
  const Column& column(Index i) const { return columns_.at(static_cast<std::size_t>(i)); }
  const Column& column(std::string_view name) const;  // Error with "did you mean" when there is none
  const Column* find(std::string_view name) const;    // nullptr when there is none
  std::vector<std::string> names() const;
  const std::string& source() const { return source_; }             // where it came from, for messages: "crabs.csv"
  const std::vector<std::string>& notes() const { return notes_; }  // what its reader wants the user to know
  void note(std::string sentence) { notes_.push_back(std::move(sentence)); }

  void add(Column column);                          // replaces nothing: Error when the name exists
  Table select(std::span<const Index> rows) const;  // these rows, in this order (levels are kept)
  Table slice(Index first, Index count) const;

  /// The same columns in the same order; where they came from does not matter.
  bool operator==(const Table& other) const { return rows_ == other.rows_ && columns_ == other.columns_; }

 private:
  void learn_places();
  std::vector<Column> columns_;
  std::string source_;
  std::vector<std::string> notes_;
  std::unordered_map<std::string, std::size_t> place_;  // of each column by its name, where there are many
  Index rows_ = 0;
};

}  // namespace lemma
