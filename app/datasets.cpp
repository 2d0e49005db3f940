// app/datasets.cpp: lemma datasets [NAME]
#include "commands.hpp"
#include "flags.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/datasets.hpp>

namespace lemma::app {
namespace {

Value describe_dataset(const DatasetInfo& info) {
  Value out = Value::object();
  out.set("data", info.name);
  out.set("title", info.title);
  out.set("rows", info.rows);
  out.set("columns", info.columns);
  out.set("response", info.response.empty() ? Value() : Value(info.response));
  out.set("source", info.source);
  return out;
}

void list(Context& context, bool sources) {
  if (context.json) {
    Value::List all;
    for (const auto& info : datasets()) all.push_back(describe_dataset(info));
    return context.print_json(Value(all));
  }
  std::vector<std::string> names, titles, rows, columns, responses, credits;
  for (const auto& info : datasets()) {
    names.emplace_back(info.name);
    titles.emplace_back(info.title);
    rows.push_back(format_count(info.rows));
    columns.push_back(std::to_string(info.columns));
    responses.emplace_back(info.response);
    credits.emplace_back(info.source);
  }
  TextTable table;
  table.words("data", names).right("rows", rows).right("columns", columns).words("response", responses);
  sources ? table.words("source", credits) : table.words("what it is", titles);
  context.print(table.str());
  context.print("\n'lemma datasets NAME' prints one as CSV; 'lemma datasets --sources' says whom they come from.\n");
}

}  // namespace

void add_datasets(CLI::App& tool, Context& context) {
  auto name = std::make_shared<std::string>();
  auto sources = std::make_shared<bool>(false);
  auto* command = add_command(tool, "datasets", "list the built-in data sets, or print one as CSV");
  add_option(*command, "NAME", *name, "a data set's name");
  add_flag(*command, "--sources", *sources, "say where each comes from");
  command->footer("Example: lemma datasets iris > iris.csv");
  command->callback([name, sources, &context] {
    if (name->empty()) return list(context, *sources);
    if (context.json || *sources) {
      dataset_csv(*name);  // an unknown name says what is near it
      return context.print_json(describe_dataset(*find_dataset(*name)));
    }
    context.print(dataset_csv(*name));
  });
}

}  // namespace lemma::app
