// app/ledger_flags.hpp: where the ledger of DATA lies, and how commands write in it without ever being stopped by it.
#pragma once
#include "context.hpp"
#include "data_options.hpp"

#include <functional>
#include <lemma/validate/ledger.hpp>

namespace lemma::app {

struct LedgerFlags {
  std::string path;
  bool off = false;

  void add(CLI::App& command);
  /// .lemma/ledger.db beside DATA, or what --ledger says; nothing when it is turned off (--no-ledger, LEMMA_NO_LEDGER), and for
  /// standard input and built-in sets, which lie nowhere.
  std::optional<std::string> place(const std::string& data) const;
};

/// visit(ledger, rows) with the ledger of these data. What goes wrong is a warning: the work that was done stays done.
void with_ledger(const LedgerFlags& flags, const DataOptions& data, const TableStream& stream, const Context& context,
                 const std::function<void(Ledger& ledger, const RowsPrint& rows)>& visit);

/// What the ledger knows these rows by, where there is one; then the data themselves can go before it is written.
std::optional<RowsPrint> rows_for_ledger(const LedgerFlags& flags, const DataOptions& data, const TableStream& stream,
                                         const Context& context);
/// visit(ledger) of data that have been known so.
void with_ledger(const LedgerFlags& flags, const DataOptions& data, const Context& context,
                 const std::function<void(Ledger& ledger)>& visit);

/// Whether all columns of DATA are needed to know its rows again: they are not lines of a text.
bool needs_whole_table(const LedgerFlags& flags, const DataOptions& data);

}  // namespace lemma::app
