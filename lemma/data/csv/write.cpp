// lemma/data/csv/write.cpp: tables, and rows of them, as CSV.
#include <algorithm>
#include <fmt/format.h>
#include <lemma/core/file.hpp>
#include <lemma/data/csv/packed.hpp>
#include <lemma/data/csv/syntax.hpp>
#include <lemma/data/csv/text.hpp>

namespace lemma {
namespace {

bool needs_quotes(const std::string& text, char delimiter) {
  static const csv::MissingWords missing(CsvOptions{}.missing);
  if (text.empty() || missing.which(text) >= 0) return true;
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  if (is_blank(text.front()) || is_blank(text.back())) return true;
  // It would be taken for a byte order mark, or for a packed file.
  for (const std::string_view mark : {"\xEF\xBB\xBF", "\xFF\xFE", "\xFE\xFF", "BZh"})
    if (text.starts_with(mark)) return true;
  const auto is_odd = [&](char c) {
    return c == '"' || c == delimiter || (static_cast<unsigned char>(c) < ' ' && c != '\t');
  };
  return std::any_of(text.begin(), text.end(), is_odd);
}

void append_text(std::string& out, const std::string& text, char delimiter = ',') {
  if (!needs_quotes(text, delimiter)) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_number(std::string& out, double value, char decimal) {
  const std::size_t begin = out.size();
  fmt::format_to(std::back_inserter(out), "{}", value);
  if (decimal != '.') std::replace(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), '.', decimal);
}

/// In a table of one column an empty line would be lost at the end: the first spelling that is no level of it.
std::string missing_in(const Table& table) {
  if (table.columns() != 1) return {};
  const Column& column = table.column(0);
  for (const auto& word : CsvOptions{}.missing) {
    if (word.empty()) continue;
    if (column.type() != ColumnType::categorical) return word;
    const auto& levels = column.categories().levels;
    if (std::find(levels.begin(), levels.end(), word) == levels.end()) return word;
  }
  return "NA";
}

void append_field(std::string& out, const Column& column, Index row, const std::string& missing,
                  const CsvDialect& dialect = {}) {
  if (column.is_missing(row)) {
    out += missing;
    return;
  }
  const auto i = static_cast<std::size_t>(row);
  switch (column.type()) {
    case ColumnType::numeric:
      if (column.numbers().quantity != Quantity::number) out += column.text(row);
      else append_number(out, column.numbers().values[i], dialect.decimal);
      return;
    case ColumnType::categorical: {
      const auto& categories = column.categories();
      append_text(out, categories.levels[static_cast<std::size_t>(categories.codes[i])], dialect.delimiter);
      return;
    }
    case ColumnType::text: append_text(out, column.texts().values[i], dialect.delimiter);
  }
}

}  // namespace

void append_fields(std::string& out, const Table& table, Index row, const CsvDialect& dialect) {
  const std::string missing = dialect.delimiter == ' ' ? "NA" : "";  // between blanks nothing can stand
  for (const Column& column : table.all()) {
    out += dialect.delimiter;
    append_field(out, column, row, missing, dialect);
  }
}

void append_names(std::string& out, const Table& table, const CsvDialect& dialect) {
  for (const Column& column : table.all()) {
    out += dialect.delimiter;
    append_text(out, column.name, dialect.delimiter);
  }
}

std::string format_csv(const Table& table, bool header) {
  std::string out;
  const std::string missing = missing_in(table);
  if (header) {
    for (Index j = 0; j < table.columns(); ++j) {
      if (j > 0) out += ',';
      append_text(out, table.column(j).name);
    }
    if (table.columns() > 0) out += '\n';
  }
  for (Index i = 0; i < table.rows(); ++i) {
    for (Index j = 0; j < table.columns(); ++j) {
      if (j > 0) out += ',';
      append_field(out, table.column(j), i, missing);
    }
    out += '\n';
  }
  return out;
}

void write_csv(const Table& table, const std::string& path) {
  const std::string text = format_csv(table);
  write_file(path, pack(packing_named(path), text));
}

}  // namespace lemma
