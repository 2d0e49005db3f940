// app/ledger_flags.cpp
#include "ledger_flags.hpp"
#include "flags.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <fmt/core.h>
#include <lemma/core/error.hpp>

namespace lemma::app {
namespace {

bool turned_off() {
  const char* said = std::getenv("LEMMA_NO_LEDGER");
  return said && *said && std::string_view(said) != "0";
}

bool is_file(const std::string& data) {
  std::error_code none;
  return data != "-" && std::filesystem::is_regular_file(data, none);
}

}  // namespace

void LedgerFlags::add(CLI::App& command) {
  add_option(command, "--ledger", path, "where to keep what rows are used for (default: .lemma/ledger.db beside DATA)")
      ->group("Ledger");
  add_flag(command, "--no-ledger", off, "keep nothing of this use (also: LEMMA_NO_LEDGER=1 in the environment)")
      ->group("Ledger");
}

std::optional<std::string> LedgerFlags::place(const std::string& data) const {
  if (off) return {};
  if (!path.empty()) return path;
  if (turned_off() || !is_file(data)) return {};
  return (std::filesystem::path(data).parent_path() / ".lemma" / "ledger.db").string();
}

namespace {

void warn_of(const std::exception& error, const DataOptions& data, const Context& context) {
  context.warn(fmt::format("{}; this use of {} is not in it", error.what(), data.data));
}

}  // namespace

void with_ledger(const LedgerFlags& flags, const DataOptions& data, const TableStream& stream, const Context& context,
                 const std::function<void(Ledger& ledger, const RowsPrint& rows)>& visit) {
  const auto place = flags.place(data.data);
  if (!place) return;
  try {
    Ledger ledger(*place);
    visit(ledger, print_of(data.data, stream, !data.where.empty() || !data.rows.empty()));
  } catch (const std::exception& error) { warn_of(error, data, context); }
}

std::optional<RowsPrint> rows_for_ledger(const LedgerFlags& flags, const DataOptions& data, const TableStream& stream,
                                         const Context& context) {
  if (!flags.place(data.data)) return {};
  try {
    return print_of(data.data, stream, !data.where.empty() || !data.rows.empty());
  } catch (const std::exception& error) { warn_of(error, data, context); }
  return {};
}

void with_ledger(const LedgerFlags& flags, const DataOptions& data, const Context& context,
                 const std::function<void(Ledger& ledger)>& visit) {
  try {
    Ledger ledger(*flags.place(data.data));
    visit(ledger);
  } catch (const std::exception& error) { warn_of(error, data, context); }
}

bool needs_whole_table(const LedgerFlags& flags, const DataOptions& data) {
  const std::string& name = data.data;
  return flags.place(name) && (name == "-" || name.ends_with(".gz") || name.ends_with(".xz") || name.ends_with(".zst"));
}

}  // namespace lemma::app
