// lemma/data/csv/text.cpp
#include <algorithm>
#include <fmt/format.h>
#include <lemma/data/csv/reader.hpp>
#include <lemma/data/csv/text.hpp>
#include <lemma/data/image/beside.hpp>
#include <span>
#include <unordered_set>
#include <utility>

namespace lemma {
namespace {

std::string source_of(const std::string& path) {
  return path == "-" ? "standard input" : path.substr(path.rfind('/') + 1);
}

std::string_view without_end(std::string_view record, char newline) {
  if (record.ends_with(newline)) record.remove_suffix(1);
  if (newline == '\n' && record.ends_with('\r')) record.remove_suffix(1);
  return record;
}

/// What is put behind a record follows its last field, not the delimiter that every line ends with.
std::string_view without_trailing(std::string_view record, const csv::Layout& layout) {
  if (!layout.trailing) return record;
  std::string_view left = record;
  while (!left.empty() && layout.syntax.is_blank(left.back())) left.remove_suffix(1);
  return left.ends_with(layout.syntax.delimiter) ? left.substr(0, left.size() - 1) : record;
}

}  // namespace

struct CsvText::Parts {
  Parts(const std::string& its_path, const CsvOptions& options)
      : path(its_path), reader(open_bytes(path), options, source_of(path)) {}
  std::string path;
  csv::Reader reader;
  Table learned;  // the schema, names of images as they are written
  Table whole;
  std::string empty_record;  // what stands for it where it would be lost
  std::string_view line_end = "\n";
};

CsvText::CsvText(const std::string& path, const CsvOptions& options, bool keep)
    : parts_(std::make_unique<Parts>(path, options)) {
  csv::Reader& reader = parts_->reader;
  Table found = reader.learn(keep);
  parts_->learned = keep ? found.slice(0, 0) : std::move(found);
  schema_ = with_images_beside(parts_->learned, path);
  if (keep) parts_->whole = with_images_beside(std::move(found), path);
  if (reader.layout().columns() == 1) {
    const auto& words = options.missing;
    const auto word = std::find_if(words.begin(), words.end(), [](const std::string& each) { return !each.empty(); });
    parts_->empty_record = word == words.end() ? "NA" : *word;
  }
  std::string first = reader.header_text();
  if (first.empty() && rows() > 0) {
    csv::Reader::Records records;
    reader.read_records(0, records);
    first = records.at(0);
  }
  const char newline = reader.layout().syntax.newline;
  parts_->line_end = newline == '\r' ? "\r" : first.ends_with("\r\n") ? "\r\n" : "\n";
}

CsvText::~CsvText() = default;
Index CsvText::rows() const { return parts_->reader.rows(); }
Table CsvText::take() { return std::exchange(parts_->whole, Table()); }
std::string_view CsvText::line_end() const { return parts_->line_end; }

Table CsvText::read(Index first, Index count) const {
  return with_images_beside(parts_->reader.read(parts_->learned, first, count), parts_->path);
}

Table CsvText::read_columns(Index first, Index count, const std::vector<std::string>& names) const {
  const std::unordered_set<std::string_view> asked(names.begin(), names.end());
  std::vector<Column> wanted;
  for (const Column& column : parts_->learned.all())
    if (asked.contains(column.name)) wanted.push_back(column);
  if (wanted.empty()) return read(first, count);  // a table without columns has no rows
  return with_images_beside(parts_->reader.read(Table(std::move(wanted), schema_.source()), first, count),
                            parts_->path);
}

CsvDialect CsvText::dialect() const {
  const auto& layout = parts_->reader.layout();
  return {layout.syntax.delimiter, layout.header, layout.syntax.decimal};
}

std::string CsvText::header() const {
  const auto& layout = parts_->reader.layout();
  if (layout.header) {
    const std::string text = parts_->reader.header_text();
    return std::string(without_trailing(without_end(text, layout.syntax.newline), layout));
  }
  const std::span names(layout.names.data(), layout.columns());
  return fmt::format("{}", fmt::join(names, std::string_view(&layout.syntax.delimiter, 1)));
}

struct CsvText::Cursor::Parts {
  const CsvText::Parts& text;
  csv::Reader::Records records;
};

CsvText::Cursor::Cursor(const CsvText& text) : parts_(new Parts{*text.parts_, {}}) {}
CsvText::Cursor::~Cursor() = default;

std::string_view CsvText::Cursor::record(Index row) {
  auto& records = parts_->records;
  if (row < records.first || row >= records.first + records.count()) parts_->text.reader.read_records(row, records);
  const csv::Layout& layout = parts_->text.reader.layout();
  const auto found = without_trailing(without_end(records.at(row), layout.syntax.newline), layout);
  const bool lost = !parts_->text.empty_record.empty() && found.find_first_not_of(" \t") == std::string_view::npos;
  return lost ? std::string_view(parts_->text.empty_record) : found;
}

}  // namespace lemma
