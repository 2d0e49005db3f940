// app/show.cpp: lemma show MODEL [FIELD] [-o x.csv]: a stored model as fit printed it, or one of its results as a table.
#include "commands.hpp"
#include "flags.hpp"
#include "model_report.hpp"
#include "output.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/model/store.hpp>
#include <lemma/select/tune.hpp>

namespace lemma::app {
namespace {

struct Show {
  std::string model, field, output;
};

void show_model(const TrainedModel& trained, const Show& options, Context& context) {
  if (!options.output.empty())
    throw Error("-o is for one result: lemma show MODEL FIELD -o FILE.csv; '>' keeps what is shown of all");
  for (const auto& warning : trained.model->warnings()) context.warn(warning);
  print_notes(trained, options.model, context);
  if (context.json) return context.print_json(fit_document(trained));
  context.print(fit_text(trained, context));
  if (!trained.choice.is_null()) context.print("\n" + text_of_choice(trained.choice));
}

void show_result(const TrainedModel& trained, const Show& options, Context& context) {
  const Table table = trained.result_table(options.field);
  if (context.json) {
    Value out = Value::object();
    out.set(options.field, trained.results().at(options.field));
    return context.print_json(out);
  }
  const std::string csv = format_csv(table);
  if (options.output.empty() || is_stdout(options.output)) return context.print(csv);
  check_outputs({options.output}, {options.model});
  Output file(options.output, Output::Content::text, context);
  file.write(csv);
  file.done();
  context.note(fmt::format("{} of {} written to {}", options.field, options.model, file.name()));
}

}  // namespace

void add_show(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Show>();
  auto* command = add_command(tool, "show", "a stored model as fit printed it, or one of its results as a table");
  add_option(*command, "MODEL", options->model, "a model file written by fit -o")->required();
  add_option(*command, "FIELD", options->field, "a result, as 'lemma fit METHOD --help' lists them: CSV, or JSON");
  add_option(*command, "-o,--output", options->output, "where to write the result (default: standard output)");
  command->footer(
      "Example: lemma fit lda iris 'species ~ .' -o iris.lemma && lemma show iris.lemma && lemma show iris.lemma "
      "means");
  command->callback([options, &context] {
    const TrainedModel trained = load(options->model, catalog());
    options->field.empty() ? show_model(trained, *options, context) : show_result(trained, *options, context);
  });
}

}  // namespace lemma::app
