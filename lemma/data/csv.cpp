// lemma/data/csv.cpp
#include <algorithm>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/csv_bytes.hpp>
#include <lemma/data/csv_reader.hpp>
#include <lemma/data/csv_syntax.hpp>

namespace lemma {
namespace {

std::string shown(const std::string& path) {
  if (path == "-") return "standard input";
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

// ---- writing ----

bool needs_quotes(const std::string& text) {
  static const csv::MissingWords missing(CsvOptions{}.missing);
  if (text.empty() || missing.which(text) >= 0) return true;
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  if (is_blank(text.front()) || is_blank(text.back())) return true;
  for (const std::string_view mark :
       {"\xEF\xBB\xBF", "\xFF\xFE", "\xFE\xFF"})  // it would be taken for a byte order mark
    if (text.starts_with(mark)) return true;
  return text.find_first_of(",\"\n\r") != std::string::npos;
}

void append_text(std::string& out, const std::string& text) {
  if (!needs_quotes(text)) {
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

void append_field(std::string& out, const Column& column, Index row, const std::string& missing) {
  if (column.is_missing(row)) {
    out += missing;
    return;
  }
  const auto i = static_cast<std::size_t>(row);
  switch (column.type()) {
    case ColumnType::numeric: fmt::format_to(std::back_inserter(out), "{}", column.numbers().values[i]); return;
    case ColumnType::categorical: {
      const auto& categories = column.categories();
      append_text(out, categories.levels[static_cast<std::size_t>(categories.codes[i])]);
      return;
    }
    case ColumnType::text: append_text(out, column.texts().values[i]);
  }
}

}  // namespace

Table read_csv(const std::string& path, const CsvOptions& options) {
  return csv::Reader(open_bytes(path), options, shown(path)).learn(true);
}

Table parse_csv(std::string_view text, const CsvOptions& options, std::string source) {
  return csv::Reader(view_bytes(text), options, std::move(source)).learn(true);
}

CsvDialect detect_csv(const std::string& path, const CsvOptions& options) {
  const auto bytes = open_bytes(path);
  try {
    const auto layout = csv::find_layout(*bytes, options, csv::MissingWords(options.missing), shown(path));
    return {layout.syntax.delimiter, layout.header, layout.syntax.decimal};
  } catch (const csv::Mistake& mistake) { throw csv::error_at(*bytes, shown(path), '\n', {}, mistake); }
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
  write_file(path, ends_with_gz(path) ? gzip(text) : text);
}

}  // namespace lemma
