// fuzz/csv_fuzz.cpp: any bytes are a table or an Error, the same for every way of cutting the file, and what is written is
// read back.
#include <cstdint>
#include <cstdlib>
#include <lemma/core/error.hpp>
#include <lemma/data/csv.hpp>
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

void require_same(const Outcome& a, const Outcome& b) {
  if (a.table.has_value() != b.table.has_value() || a.error != b.error) std::abort();
  if (a.table && (!(*a.table == *b.table) || a.table->notes() != b.table->notes())) std::abort();
}

void require_round_trip(const lemma::Table& table) {
  lemma::CsvOptions options;
  options.delimiter = ',';
  options.decimal = '.';
  options.header = true;
  options.execution.threads = 1;
  for (const auto& column : table.all()) {
    options.types[column.name] = column.type();
    if (column.type() == lemma::ColumnType::categorical && !column.categories().levels.empty())
      options.levels[column.name] = column.categories().levels;
  }
  if (!(lemma::parse_csv(lemma::format_csv(table), options) == table)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  lemma::CsvOptions options;
  options.execution.threads = 1;
  constexpr char kDelimiters[] = {',', ';', '\t', '|', ' '};
  if (data[0] % 8 < 5) options.delimiter = kDelimiters[data[0] % 8];
  if ((data[0] & 0x10) != 0) options.header = (data[0] & 0x20) != 0;
  if ((data[0] & 0x40) != 0) options.decimal = options.delimiter == ',' ? '.' : ',';
  const Outcome whole = parse(text, options);
  options.block_bytes = 1 + data[1];
  require_same(whole, parse(text, options));
  if (whole.table) require_round_trip(*whole.table);
  return 0;
}
