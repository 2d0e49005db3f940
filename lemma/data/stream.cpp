// lemma/data/stream.cpp
#include <algorithm>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/csv/bytes.hpp>
#include <lemma/data/csv/reader.hpp>
#include <lemma/data/image/beside.hpp>
#include <lemma/data/stream.hpp>
#include <string_view>
#include <unordered_set>

namespace lemma {
namespace {

constexpr std::size_t kBytesOfText = sizeof(std::string) + 16;  // a guess: most texts are short

void check_range(Index first, Index count, Index rows) {
  if (first < 0 || count < 0 || first > rows - count)
    throw Error(fmt::format("there are no rows {} to {}: the table has {} rows", first + 1, first + count, rows));
}

std::size_t bytes_a_row(const Column& column) {
  switch (column.type()) {
    case ColumnType::numeric: return sizeof(double);
    case ColumnType::categorical: return sizeof(std::int32_t);
    case ColumnType::text: break;
  }
  return kBytesOfText;
}

std::string name_of_file(const std::string& path) { return path.substr(path.rfind('/') + 1); }

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// The levels grow by those that are new.
void append(Categories& to, const Categories& from) {
  if (to.levels == from.levels) return append(to.codes, from.codes);
  std::vector<std::int32_t> code;
  for (const auto& level : from.levels) {
    const auto known = std::find(to.levels.begin(), to.levels.end(), level);
    code.push_back(static_cast<std::int32_t>(known - to.levels.begin()));
    if (known == to.levels.end()) to.levels.push_back(level);
  }
  for (const std::int32_t each : from.codes) to.codes.push_back(each < 0 ? each : code[static_cast<std::size_t>(each)]);
}

void append(Column& to, const Column& from) {
  switch (to.type()) {
    case ColumnType::numeric: append(std::get<Numbers>(to.data).values, from.numbers().values); return;
    case ColumnType::categorical: append(std::get<Categories>(to.data), from.categories()); return;
    case ColumnType::text:
      append(std::get<Texts>(to.data).values, from.texts().values);
      append(std::get<Texts>(to.data).missing, from.texts().missing);
  }
}

}  // namespace

std::size_t memory_needed(const TableStream& stream) {
  std::size_t bytes = 0;
  for (const auto& column : stream.schema().all()) {
    bytes += static_cast<std::size_t>(stream.rows()) * bytes_a_row(column);
    if (column.type() != ColumnType::categorical) continue;
    for (const auto& level : column.categories().levels) bytes += sizeof(std::string) + level.size();
  }
  return bytes;
}

Table stack(const std::vector<Table>& tables) {
  if (tables.empty()) return {};
  std::vector<Column> columns = tables.front().all();
  for (std::size_t t = 1; t < tables.size(); ++t)
    for (std::size_t j = 0; j < columns.size(); ++j) append(columns[j], tables[t].column(static_cast<Index>(j)));
  return Table(std::move(columns), tables.front().source());
}

Table read_all(const TableStream& stream, const Execution& execution) {
  if (const Table* table = stream.table()) return *table;
  constexpr Index kRows = 1 << 16;
  const Index blocks = (stream.rows() + kRows - 1) / kRows;
  std::vector<Table> parts(static_cast<std::size_t>(blocks));
  parallel_for(blocks, execution, [&](Index b) {
    parts[static_cast<std::size_t>(b)] = stream.read(b * kRows, std::min(kRows, stream.rows() - b * kRows));
  });
  Table whole = blocks == 0 ? stream.schema() : stack(parts);
  if (blocks > 0)
    for (const auto& note : stream.schema().notes()) whole.note(note);
  return whole;
}

MemoryTableStream::MemoryTableStream(const Table& table) : table_(&table), schema_(table.slice(0, 0)) {}
MemoryTableStream::MemoryTableStream(std::shared_ptr<const Table> table)
    : owned_(std::move(table)), table_(owned_.get()), schema_(table_->slice(0, 0)) {}

struct CsvStream::Parts {
  Parts(const std::string& its_path, std::unique_ptr<Bytes> bytes, const CsvOptions& options)
      : path(its_path), reader(std::move(bytes), options, name_of_file(path)) {}
  std::string path;
  csv::Reader reader;
  Table learned;  // the schema, names of images as they are written
};

CsvStream::CsvStream(const std::string& path, const CsvOptions& options) {
  if (path == "-") throw Error("standard input can't be read in pieces; save it to a file first");
  auto bytes = file_bytes(path);
  if (!is_seekable_text(path))
    throw Error(fmt::format("'{}' is packed or not a regular file and can't be read in pieces; unpack it first", path));
  parts_ = std::make_unique<Parts>(path, std::move(bytes), options);
  parts_->learned = parts_->reader.learn(false);
  schema_ = with_images_beside(parts_->learned, path);
}

CsvStream::~CsvStream() = default;
Index CsvStream::rows() const { return parts_->reader.rows(); }

Table CsvStream::read(Index first, Index count) const {
  check_range(first, count, rows());
  return with_images_beside(parts_->reader.read(parts_->learned, first, count), parts_->path);
}

Table CsvStream::read_columns(Index first, Index count, const std::vector<std::string>& names) const {
  const std::unordered_set<std::string_view> asked(names.begin(), names.end());
  std::vector<Column> wanted;
  for (const Column& column : parts_->learned.all())
    if (asked.contains(column.name)) wanted.push_back(column);
  if (wanted.empty()) return read(first, count);  // a table without columns has no rows
  check_range(first, count, rows());
  return with_images_beside(parts_->reader.read(Table(std::move(wanted), schema_.source()), first, count),
                            parts_->path);
}

SelectedStream::SelectedStream(std::unique_ptr<TableStream> whole, std::vector<Range> ranges)
    : whole_(std::move(whole)), ranges_(std::move(ranges)) {
  for (const auto& [first, end] : ranges_) {
    check_range(first, end - first, whole_->rows());
    before_.push_back(rows_);
    rows_ += end - first;
  }
}

Table SelectedStream::read(Index first, Index count) const {
  return gather(first, count, [&](Index from, Index size) { return whole_->read(from, size); });
}

Table SelectedStream::read_columns(Index first, Index count, const std::vector<std::string>& names) const {
  return gather(first, count, [&](Index from, Index size) { return whole_->read_columns(from, size, names); });
}

/// Rows of the selection, by read(first, count) of the rows of the whole.
Table SelectedStream::gather(Index first, Index count,
                             const std::function<Table(Index first, Index count)>& read) const {
  check_range(first, count, rows_);
  std::vector<Table> parts;
  auto range = static_cast<std::size_t>(std::upper_bound(before_.begin(), before_.end(), first) - before_.begin());
  range -= range > 0 ? 1 : 0;
  for (Index row = first; row < first + count; ++range) {
    const auto [from, end] = ranges_[range];
    const Index start = from + row - before_[range], taken = std::min(end - start, first + count - row);
    if (taken > 0) parts.push_back(read(start, taken));
    row += std::max<Index>(taken, 0);
  }
  return parts.empty() ? schema() : stack(parts);
}

}  // namespace lemma
