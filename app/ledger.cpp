// app/ledger.cpp: lemma ledger [DATA|MODEL]: what rows have been used for, and by which models.
#include "commands.hpp"
#include "flags.hpp"
#include "ledger_flags.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>
#include <lemma/core/params.hpp>
#include <lemma/core/text.hpp>

namespace lemma::app {
namespace {

namespace fs = std::filesystem;

struct Show {
  LedgerFlags ledger;
  DataOptions data;
};

std::string place_of(const Show& options) {
  if (!options.ledger.path.empty()) return options.ledger.path;
  return (fs::path(options.data.data).parent_path() / ".lemma" / "ledger.db").string();
}

Value document(const std::vector<LedgerEntry>& entries, const std::string& place) {
  Value::List list;
  for (const auto& each : entries) {
    Value one = Value::object();
    one.set("use", name_of(each.use));
    one.set("data", each.data);
    one.set("rows", each.rows);
    one.set("data_id", each.data_id);
    one.set("method", each.method);
    one.set("model", each.model);
    one.set("model_id", each.model_id);
    one.set("first", each.first);
    one.set("last", each.last);
    one.set("times", each.times);
    list.push_back(std::move(one));
  }
  Value out = Value::object();
  out.set("ledger", place);
  out.set("entries", std::move(list));
  return out;
}

std::string table_of(const std::vector<LedgerEntry>& entries) {
  std::vector<std::string> first, use, data, rows, method, model, times;
  for (const auto& each : entries) {
    first.push_back(each.first);
    use.emplace_back(name_of(each.use));
    data.push_back(each.data);
    rows.push_back(format_count(each.rows));
    method.push_back(each.method);
    model.push_back(each.model.empty() ? each.model_id : each.model);
    times.push_back(format_count(each.times));
  }
  return TextTable()
      .words("first", first)
      .words("use", use)
      .words("data", data)
      .right("rows", rows)
      .words("method", method)
      .words("model", model)
      .right("times", times)
      .str();
}

void show(const Show& options, Context& context) {
  const std::string place = place_of(options), &what = options.data.data;
  if (!fs::exists(place))
    throw Error(fmt::format("there is no ledger at {}; fit, tune and evaluate make one beside their data", place));
  const Ledger ledger(place);
  std::vector<LedgerEntry> entries;
  if (what.empty()) entries = ledger.entries();
  else if (is_model_file(what)) entries = ledger.entries({}, model_id(read_file(what)));
  else {
    const auto stream = options.data.stream(context);
    const bool selected = !options.data.where.empty() || !options.data.rows.empty();
    entries = ledger.entries(print_of(what, *stream, selected).id());
  }
  if (context.json) return context.print_json(document(entries, place));
  if (entries.empty())
    return context.print(fmt::format("Nothing is known of {} in {}.\n", what.empty() ? "any rows" : what, place));
  context.print(table_of(entries));
}

}  // namespace

void add_ledger(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Show>();
  auto* command = add_command(tool, "ledger", "what rows have been used for, and by which models");
  options->data.add(*command, "a data set or a model file whose history is wanted (default: all of .lemma/ledger.db)");
  command->get_option("DATA")->required(false);
  add_option(*command, "--ledger", options->ledger.path, "the ledger (default: .lemma/ledger.db beside DATA, or here)")
      ->group("Ledger");
  command->footer(
      "Rows are known by their content, in any order; none is stored.\n"
      "Example: lemma fit lda iris 'species ~ .' -o iris.lemma --ledger uses.db && lemma ledger --ledger uses.db");
  command->callback([options, &context] { show(*options, context); });
}

}  // namespace lemma::app
