// lemma/data/csv.cpp
#include <lemma/core/error.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/csv/bytes.hpp>
#include <lemma/data/csv/encoding.hpp>
#include <lemma/data/csv/reader.hpp>
#include <lemma/data/csv/syntax.hpp>
#include <lemma/data/image/beside.hpp>

namespace lemma {
namespace {

std::string shown(const std::string& path) {
  if (path == "-") return "standard input";
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace

std::string_view name_of(ReadAs type) { return type == ReadAs::date ? "date" : name_of(static_cast<ColumnType>(type)); }

ReadAs read_as(const Column& column) {
  const bool dates = column.type() == ColumnType::numeric && column.numbers().quantity != Quantity::number;
  return dates ? ReadAs::date : static_cast<ReadAs>(column.type());
}

Table read_csv(const std::string& path, const CsvOptions& options) {
  return with_images_beside(csv::Reader(open_bytes(path), options, shown(path)).learn(true), path);
}

Table parse_csv(std::string_view text, const CsvOptions& options, std::string source) {
  return csv::Reader(view_bytes(text), options, std::move(source)).learn(true);
}

CsvDialect detect_csv(const std::string& path, const CsvOptions& options) {
  const auto bytes = as_utf8(open_bytes(path), options.encoding, shown(path), options.execution);
  try {
    const auto layout = csv::find_layout(*bytes, options, csv::MissingWords(options.missing), shown(path));
    return {layout.syntax.delimiter, layout.header, layout.syntax.decimal};
  } catch (const csv::Mistake& mistake) { throw csv::error_at(*bytes, shown(path), '\n', {}, mistake); }
}

}  // namespace lemma
