// app/effect.cpp: lemma effect MODEL DATA COLUMN: how what a model says changes with one column.
#include "commands.hpp"
#include "data_options.hpp"
#include "flags.hpp"
#include "output.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/model/store.hpp>
#include <lemma/validate/effect.hpp>

namespace lemma::app {
namespace {

struct EffectCall {
  std::string model, column, output;
  DataOptions data;
  Index points = 20;
};

void run(const EffectCall& options, Context& context) {
  check_outputs({options.output.empty() ? "-" : options.output}, {options.model, options.data.data});
  const TrainedModel trained = load(options.model, catalog());
  const Table table = options.data.table(context);
  const Effect found =
      effect(trained, table, options.column, {.points = options.points, .execution = context.execution()});
  const Table shown = to_table(found);
  if (context.json) {
    Value out = Value::object();
    out.set("model", options.model);
    out.set("method", trained.model->method().name());
    out.set("column", found.column);
    out.set("rows", table.rows());
    out.set("columns", to_value(shown));
    return context.print_json(out);
  }
  write_rows(shown, options.output, context);
}

}  // namespace

void add_effect(CLI::App& tool, Context& context) {
  auto options = std::make_shared<EffectCall>();
  auto* command = add_command(tool, "effect", "partial dependence and accumulated local effects of a column");
  add_option(*command, "MODEL", options->model, "a model file written by fit -o")->required();
  options->data.add(*command, "rows to average over");
  add_option(*command, "COLUMN", options->column, "a column that the model uses")->required();
  add_option(*command, "--points", options->points, "values of a column of numbers: quantiles of the rows")
      ->check(CLI::Range(Index{2}, Index{100'000}))
      ->capture_default_str();
  add_option(*command, "-o,--output", options->output, "where to write the table (default: standard output)");
  command->footer(
      "partial: the mean of what is said when the column has this value in every row. accumulated: steps of rows to "
      "the ends of "
      "their own intervals, added up and centred; it does not look at rows that correlated columns rule out.\n"
      "Example: lemma fit forest boston 'medv ~ .' -o boston.lemma && lemma effect boston.lemma boston lstat");
  command->callback([options, &context] { run(*options, context); });
}

}  // namespace lemma::app
