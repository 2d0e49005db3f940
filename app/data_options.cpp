// app/data_options.cpp
#include "data_options.hpp"
#include "flags.hpp"

#include "nothing_to_keep.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <lemma/core/error.hpp>
#include <lemma/core/params.hpp>
#include <lemma/data/where.hpp>
#include <map>

namespace lemma::app {
namespace {

/// "col=what" as its two halves.
std::pair<std::string, std::string> assignment(const std::string& flag, const std::string& text) {
  const auto at = text.rfind('=');
  if (at == std::string::npos || at == 0) throw Error(fmt::format("{} is '{}', must be column=value", flag, text));
  return {text.substr(0, at), text.substr(at + 1)};
}

ReadAs type_named(const std::string& flag, const std::string& name) {
  return static_cast<ReadAs>(choose(flag, name, {"numeric", "categorical", "text", "date"}));
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t from = 0; from <= text.size();) {
    const auto to = std::min(text.find(',', from), text.size());
    out.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return out;
}

char delimiter_named(const std::string& name) {
  if (name == "tab" || name == "\\t") return '\t';
  if (name == "blank" || name == "space") return ' ';
  if (name.size() != 1) throw Error(fmt::format("--delimiter is '{}', must be one character, tab or blank", name));
  return name[0];
}

Encoding encoding_named(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  static const std::map<std::string, std::string> others = {
      {"utf8", "utf-8"},   {"latin1", "latin-1"},   {"iso-8859-1", "latin-1"}, {"cp1252", "windows-1252"},
      {"utf16", "utf-16"}, {"utf16le", "utf-16le"}, {"utf16be", "utf-16be"}};
  const auto other = others.find(name);
  return static_cast<Encoding>(choose("--encoding", other == others.end() ? name : other->second,
                                      {"utf-8", "latin-1", "windows-1252", "utf-16", "utf-16le", "utf-16be"}));
}

void tell_notes(const Table& table, const Context& context) {
  for (const auto& note : table.notes()) context.note(fmt::format("note: {}", note));
}

/// "500M", "2G", "1.5GB" or a number of bytes.
std::size_t parse_size(const std::string& text) {
  std::size_t used = 0;
  double number = 0;
  try {
    number = std::stod(text, &used);
  } catch (const std::exception&) { used = 0; }
  std::string unit = text.substr(used);
  if (!unit.empty() && (unit.back() == 'B' || unit.back() == 'b')) unit.pop_back();
  const std::string units = "KMGT";
  double factor = 1;
  if (unit.size() == 1 && units.find(unit[0]) != std::string::npos)
    factor = std::pow(1024.0, static_cast<double>(units.find(unit[0]) + 1));
  else if (!unit.empty()) used = 0;
  if (used == 0 || !(number > 0)) throw Error(fmt::format("--memory is '{}', must be a size such as 500M or 2G", text));
  return static_cast<std::size_t>(number * factor);
}

}  // namespace

void DataOptions::add(CLI::App& command, const std::string& meaning) {
  add_option(command, "DATA", data, meaning)->required();
  add_option(command, "--where", where, "only rows for which this holds: 'age > 30 & sex == \"M\"'")->group("Data");
  add_option(command, "--rows", rows, "only these rows, counted from 1: 1:100 or 3,5,9")->group("Data");
  add_option(command, "--type", types, "a column's type: COL=numeric|categorical|text|date (repeatable)")
      ->group("Data")
      ->allow_extra_args(false);
  add_option(command, "--levels", levels, "the order of a column's levels, the first is the reference: COL=a,b,c")
      ->group("Data")
      ->allow_extra_args(false);
  add_option(command, "--na", na,
             "more spellings of a missing value, separated by commas (besides empty, NA, N/A, NaN, null, ?)")
      ->delimiter(',')
      ->group("Data")
      ->allow_extra_args(false);
  add_option(command, "--na-only", na_only, "the only spellings of a missing value, separated by commas")
      ->delimiter(',')
      ->group("Data")
      ->allow_extra_args(false);
  add_option(command, "--delimiter", delimiter, "what separates fields (default: found out)")->group("Data");
  add_option(command, "--decimal", decimal, "decimal point: . or , (default: found out)")->group("Data");
  add_option(command, "--header", header, "true or false: does the first line hold names? (default: found out)")
      ->group("Data");
  add_option(command, "--encoding", encoding,
             "utf-8 (default), latin-1, windows-1252, utf-16, utf-16le or utf-16be; UTF-16 is known by its mark")
      ->group("Data");
  add_option(command, "--skip", skip, "so many lines at the start of the file are no part of the table")->group("Data");
  add_option(command, "--comment", comment, "lines that begin with this character are passed over: '#'")->group("Data");
  add_option(command, "--ragged", ragged, "lines with too few or too many fields: error (default) or skip")
      ->group("Data");
}

void DataOptions::add_memory(CLI::App& command) {
  add_option(command, "--memory", memory,
             "how much memory the table may take (500M, 2G); a larger file is read in blocks")
      ->group("Data");
}

std::optional<std::size_t> DataOptions::limit() const {
  if (memory.empty()) return {};
  return parse_size(memory);
}

ReadOptions DataOptions::read_options(const Context& context) const {
  ReadOptions out;
  auto& csv = out.csv;
  if (!delimiter.empty()) csv.delimiter = delimiter_named(delimiter);
  if (!decimal.empty()) {
    if (decimal != "." && decimal != ",") throw Error(fmt::format("--decimal is '{}', must be . or ,", decimal));
    csv.decimal = decimal[0];
  }
  if (!header.empty()) csv.header = choose("--header", header, {"false", "true"}) == 1;
  for (const auto& each : types) {
    const auto [column, name] = assignment("--type", each);
    csv.types[column] = type_named("--type", name);
  }
  for (const auto& each : levels) {
    const auto [column, names] = assignment("--levels", each);
    csv.levels[column] = split_at_commas(names);
    csv.types.emplace(column, ReadAs::categorical);
  }
  if (!na_only.empty()) csv.missing = na_only;
  csv.missing.insert(csv.missing.end(), na.begin(), na.end());
  if (!encoding.empty()) csv.encoding = encoding_named(encoding);
  if (skip < 0) throw Error(fmt::format("--skip is {}, must be a number of lines", skip));
  csv.skip = skip;
  if (comment.size() > 1) throw Error(fmt::format("--comment is '{}', must be one character", comment));
  if (!comment.empty()) csv.comment = comment[0];
  if (!ragged.empty()) csv.ragged = static_cast<Ragged>(choose("--ragged", ragged, {"error", "skip"}));
  csv.execution = context.execution();
  out.rows = rows;
  return out;
}

namespace {

/// These rows of a selection that may be all.
void choose_rows(std::vector<Index> chosen, PassedOn& passed) {
  if (passed.selected)
    for (Index& row : chosen) row = passed.row(row);
  passed.rows = std::move(chosen);
  passed.selected = true;
}

/// The table of a file whose text is kept at hand.
Table table_with_text(CsvText& text, const std::string& rows, PassedOn& passed) {
  Table table = text.take();
  if (rows.empty()) return table;
  std::vector<Index> chosen;
  for (const auto& [first, end] : parse_rows(rows, table.rows()))
    for (Index i = first; i < end; ++i) chosen.push_back(i);
  table = table.select(chosen);
  choose_rows(std::move(chosen), passed);
  return table;
}

}  // namespace

Table DataOptions::table(const Context& context, PassedOn* passed) const {
  const ReadOptions options = read_options(context);
  const NothingToKeep reading;
  PassedOn ignored;
  PassedOn& text = passed ? *passed : ignored;
  const std::shared_ptr<CsvText> written = passed ? open_text(data, options, true) : nullptr;
  text.text = written;
  Table table = written ? table_with_text(*written, rows, text) : read_table(data, options);
  tell_notes(table, context);
  if (where.empty()) return table;
  auto chosen = lemma::where(where, table);
  table = table.select(chosen);
  choose_rows(std::move(chosen), text);
  return table;
}

std::shared_ptr<const TableStream> DataOptions::stream(const Context& context, PassedOn* passed) const {
  const auto most = limit();
  const bool whole = where.empty() && rows.empty(), sparse = whole && is_sparse_file(data);
  if (sparse || (whole && most && data != "-")) {
    std::shared_ptr<const CsvText> text = passed ? open_text(data, read_options(context), false) : nullptr;
    std::shared_ptr<const TableStream> stream = text;
    if (!stream) stream = open_table(data, read_options(context));
    if (sparse || memory_needed(*stream) * 2 > *most) {
      tell_notes(stream->schema(), context);
      if (passed) passed->text = text;
      return stream;
    }
  }
  return std::make_shared<MemoryTableStream>(std::make_shared<const Table>(table(context, passed)));
}

std::shared_ptr<const TableStream> DataOptions::where_it_lies(const Context& context,
                                                              const ChooseColumns& wanted) const {
  if (!where.empty() || !rows.empty()) return stream(context);
  if (auto mapped = open_mapped(data, read_options(context))) return mapped;
  if (limit() || !wanted) return stream(context);
  const NothingToKeep reading;
  auto parsed = open_parsed(data, read_options(context), wanted);
  if (!parsed) return stream(context);
  tell_notes(parsed->schema(), context);
  return parsed;
}

bool is_model_file(const std::string& path) {
  constexpr std::string_view kBegins = "LEMMA";
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string begins(kBegins.size(), '\0');
  return file.read(begins.data(), static_cast<std::streamsize>(begins.size())) && begins == kBegins;
}

Missing parse_missing(const std::string& name) {
  return static_cast<Missing>(choose("--missing", name, {"error", "drop", "mean", "median", "mode", "keep", "native"}));
}

}  // namespace lemma::app
