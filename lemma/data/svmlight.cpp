// lemma/data/svmlight.cpp
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>
#include <lemma/data/csv/bytes.hpp>
#include <lemma/data/csv/number.hpp>
#include <lemma/data/csv/packed.hpp>
#include <lemma/data/svmlight.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr Index kMostColumns = std::numeric_limits<std::int32_t>::max();

/// One line after the other. The text must end in a byte that belongs to no number.
class Parser {
 public:
  Parser(const std::string& text, std::string source) : p_(text.c_str()), end_(p_ + text.size()) {
    data_.source = std::move(source);
    data_.x.start = {0};
  }

  SparseData run() {
    while (p_ < end_) {
      ++line_;
      parse_line();
      while (p_ < end_ && *p_ != '\n') ++p_;  // a comment
      if (p_ < end_) ++p_;
    }
    if (queries_ > 0) data_.notes.push_back(fmt::format("qid is ignored (in {} rows)", queries_));
    return std::move(data_);
  }

 private:
  void parse_line() {
    skip_blanks();
    if (at_end()) return;
    data_.y.push_back(number("a label"));
    std::int32_t last = 0;
    while (skip_blanks(), !at_end()) parse_pair(last);
    data_.x.start.push_back(static_cast<Index>(data_.x.value.size()));
  }

  void parse_pair(std::int32_t& last) {
    if (std::string_view(p_, static_cast<std::size_t>(end_ - p_)).starts_with("qid:")) {
      ++queries_;
      p_ += 4;
      number("a query's number after qid:");
      return;
    }
    std::int32_t index = 0;
    const auto [after, code] = std::from_chars(p_, end_, index);
    if (code == std::errc::result_out_of_range)
      bad(fmt::format("the index '{}' is larger than {}", word(), kMostColumns));
    if (code != std::errc() || after == end_ || *after != ':')
      bad(fmt::format("expected index:value, found '{}'", word()));
    if (index < 1) bad(fmt::format("the index {} is too small: indices start at 1", index));
    if (index == last) bad(fmt::format("the index {} comes twice", index));
    if (index < last) bad(fmt::format("the index {} follows {}: indices ascend", index, last));
    p_ = after + 1;
    const double value = number(fmt::format("a number after {}:", index));
    last = index;
    data_.x.column.push_back(index - 1);
    data_.x.value.push_back(value);
    data_.x.width = std::max<Index>(data_.x.width, index);
  }

  double number(const std::string& what) {
    double value = 0;
    const char* const after = csv::read_number(p_, '.', value);
    if (!after || (after < end_ && !is_space(*after) && *after != '#'))
      bad(fmt::format("expected {}, found '{}'", what, word()));
    if (!std::isfinite(value)) bad(fmt::format("'{}' is too large for a double", word()));
    p_ = after;
    return value;
  }

  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
  void skip_blanks() {
    while (p_ < end_ && *p_ != '\n' && is_space(*p_)) ++p_;
  }
  bool at_end() const { return p_ >= end_ || *p_ == '\n' || *p_ == '#'; }
  std::string word() const {
    const char* q = p_;
    while (q < end_ && !is_space(*q) && q - p_ < 40) ++q;
    return {p_, q};
  }
  [[noreturn]] void bad(const std::string& message) const {
    throw Error(fmt::format("{}, line {}: {}", data_.source, line_, message));
  }

  const char *p_, *end_;
  Index line_ = 0, queries_ = 0;
  SparseData data_;
};

}  // namespace

SparseData parse_svmlight(std::string_view text, std::string source) {
  const std::string ended(text);  // c_str() ends in a zero, which stops every number
  return Parser(ended, std::move(source)).run();
}

SparseData read_svmlight(const std::string& path) {
  const auto bytes = open_bytes(path);
  std::string text(static_cast<std::size_t>(bytes->size()), '\0');
  bytes->read(0, text.size(), text.data());
  return Parser(text, path == "-" ? "standard input" : path.substr(path.rfind('/') + 1)).run();
}

std::string format_svmlight(const SparseData& data) {
  std::string out;
  for (Index i = 0; i < data.x.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    fmt::format_to(std::back_inserter(out), "{}", data.y[row]);
    for (auto k = static_cast<std::size_t>(data.x.start[row]); k < static_cast<std::size_t>(data.x.start[row + 1]); ++k)
      fmt::format_to(std::back_inserter(out), " {}:{}", data.x.column[k] + 1, data.x.value[k]);
    out += '\n';
  }
  return out;
}

void write_svmlight(const SparseData& data, const std::string& path) {
  const std::string text = format_svmlight(data);
  write_file(path, pack(packing_named(path), text));
}

Table to_table(const SparseData& data, std::size_t most_bytes) {
  const Index rows = data.x.rows();
  const double bytes = 8.0 * static_cast<double>(rows) * static_cast<double>(data.x.width + 1) +
                       static_cast<double>(sizeof(Column)) * static_cast<double>(data.x.width);
  if (bytes > static_cast<double>(most_bytes))
    throw Error(fmt::format("{}: {} rows x {} columns would take {:.1f} GB as a table, more than the {:.1f} GB allowed",
                            data.source, rows, data.x.width + 1, bytes / 0x1p30,
                            static_cast<double>(most_bytes) / 0x1p30));
  std::vector<std::vector<double>> values(static_cast<std::size_t>(data.x.width),
                                          std::vector<double>(static_cast<std::size_t>(rows), 0.0));
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i)
    for (auto k = static_cast<std::size_t>(data.x.start[i]); k < static_cast<std::size_t>(data.x.start[i + 1]); ++k)
      values[static_cast<std::size_t>(data.x.column[k])][i] = data.x.value[k];
  std::vector<Column> columns;
  columns.reserve(values.size() + 1);
  columns.push_back(numeric("y", data.y));
  for (std::size_t j = 0; j < values.size(); ++j)
    columns.push_back(numeric(fmt::format("x{}", j + 1), std::move(values[j])));
  Table table(std::move(columns), data.source);
  for (const auto& note : data.notes) table.note(note);
  return table;
}

SparseData to_sparse(const Table& table, std::string_view response) {
  const Column& y = table.column(response);
  for (const auto& column : table.all()) {
    if (column.type() != ColumnType::numeric)
      throw Error(
          fmt::format("column '{}' is {}; an SVMlight file holds numbers only", column.name, name_of(column.type())));
    if (const Index missing = column.missing())
      throw Error(
          fmt::format("column '{}': {} values are missing; an SVMlight file can't hold that", column.name, missing));
  }
  if (table.columns() - 1 > kMostColumns) throw Error("more columns than an SVMlight file can number");
  SparseData data;
  data.source = table.source();
  data.y = y.numbers().values;
  data.x.width = table.columns() - 1;
  data.x.start = {0};
  for (std::size_t i = 0; i < static_cast<std::size_t>(table.rows()); ++i) {
    std::int32_t index = 0;
    for (const auto& column : table.all()) {
      if (&column == &y) continue;
      const double value = column.numbers().values[i];
      if (value != 0) {
        data.x.column.push_back(index);
        data.x.value.push_back(value);
      }
      ++index;
    }
    data.x.start.push_back(static_cast<Index>(data.x.value.size()));
  }
  return data;
}

}  // namespace lemma
