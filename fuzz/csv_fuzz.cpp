// fuzz/csv_fuzz.cpp: any bytes are a table or an Error, the same for every way of cutting the file and from a stream, and
// what is written is read back.
#include <cstdint>
#include <cstdlib>
#include <lemma/core/error.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/csv/bytes.hpp>
#include <lemma/data/csv/reader.hpp>
#include <lemma/data/stream.hpp>
#include <optional>
#include <string>

namespace {

struct Outcome {
  std::optional<lemma::Table> table;
  std::string error;
};

Outcome parse(std::string_view text, const lemma::CsvOptions& options) {
  try {
    return {lemma::parse_csv(text, options), {}};
  } catch (const lemma::Error& error) { return {std::nullopt, error.what()}; }
}

/// As a stream reads it: the columns are learned first, then the rows are read, in two parts.
Outcome stream(std::string_view text, const lemma::CsvOptions& options) {
  try {
    lemma::csv::Reader reader(lemma::view_bytes(text), options, "text");
    const lemma::Table schema = reader.learn(false);
    const lemma::Index half = reader.rows() / 2;
    lemma::Table all = lemma::stack({reader.read(schema, 0, half), reader.read(schema, half, reader.rows() - half)});
    for (const auto& note : schema.notes()) all.note(note);
    return {std::move(all), {}};
  } catch (const lemma::Error& error) { return {std::nullopt, error.what()}; }
}

void require_same(const Outcome& a, const Outcome& b) {
  if (a.table.has_value() != b.table.has_value() || a.error != b.error) std::abort();
  if (a.table && (!(*a.table == *b.table) || a.table->notes() != b.table->notes())) std::abort();
}

void require_round_trip(const lemma::Table& table) {
  lemma::CsvOptions options;
  options.delimiter = ',';
  options.decimal = '.';
  options.header = true;
  options.encoding = lemma::Encoding::utf8;
  options.execution.threads = 1;
  for (const auto& column : table.all()) {
    options.types[column.name] = lemma::read_as(column);
    if (column.type() == lemma::ColumnType::categorical && !column.categories().levels.empty())
      options.levels[column.name] = column.categories().levels;
  }
  if (!(lemma::parse_csv(lemma::format_csv(table), options) == table)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 3, size - 3);
  lemma::CsvOptions options;
  options.execution.threads = 1;
  constexpr char kDelimiters[] = {',', ';', '\t', '|', ' '};
  if (data[0] % 8 < 5) options.delimiter = kDelimiters[data[0] % 8];
  if ((data[0] & 0x10) != 0) options.header = (data[0] & 0x20) != 0;
  if ((data[0] & 0x40) != 0) options.decimal = options.delimiter == ',' ? '.' : ',';
  if ((data[2] & 0x07) < 6) options.encoding = static_cast<lemma::Encoding>(data[2] & 0x07);
  if ((data[2] & 0x08) != 0) options.comment = '#';
  if ((data[2] & 0x10) != 0) options.ragged = lemma::Ragged::skip;
  if ((data[2] & 0x20) != 0) options.skip = 1;
  if ((data[2] & 0x40) != 0) options.missing.push_back("-9");
  const Outcome whole = parse(text, options);
  options.block_bytes = 1 + data[1];
  require_same(whole, parse(text, options));
  require_same(whole, stream(text, options));
  if (whole.table) require_round_trip(*whole.table);
  return 0;
}
