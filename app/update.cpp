// app/update.cpp: lemma update MODEL DATA -o MODEL: a model after new rows too, without the old ones.
#include "commands.hpp"
#include "data_options.hpp"
#include "flags.hpp"
#include "ledger_flags.hpp"
#include "model_report.hpp"
#include "output.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/matrix_stream.hpp>
#include <lemma/model/store.hpp>

namespace lemma::app {
namespace {

struct Update {
  std::string model, output;
  DataOptions data;
  LedgerFlags ledger;
};

void update(const Update& options, Context& context) {
  std::optional<Output> output;
  if (!options.output.empty()) {
    check_outputs({options.output}, {options.model, options.data.data});
    output.emplace(options.output, Output::Content::binary, context);
  }
  const TrainedModel before = load(options.model, catalog());
  FitOptions how;
  how.seed = context.seed;
  how.threads = context.execution().threads;
  how.progress = context.progress();
  const bool whole = needs_whole_table(options.ledger, options.data);
  const auto wanted = [&](const auto&) { return whole ? std::nullopt : columns_as_they_are(before.design); };
  const auto data = options.data.where_it_lies(context, wanted);
  const TrainedModel after = before.update(*data, how, options.data.limit());
  if (output) {
    const auto bytes = encode(after);
    output->write(bytes);
    output->done();
    with_ledger(options.ledger, options.data, *data, context, [&](Ledger& ledger, const RowsPrint& rows) {
      ledger.add(RowsUsed::fitted, rows, options.data.data, model_id(bytes), options.output,
                 after.model->method().name());
    });
  }
  for (const auto& warning : after.model->warnings()) context.warn(warning);
  if (after.model->certificate().fails()) context.exit_code = kAnswerIsNo;
  tell_if_cancelled(output ? output->name() : "", context);
  if (context.json) return context.print_json(fit_document(after));
  context.print(
      context.bold(fmt::format("{} of {}, updated with {}: {}", after.model->method().name(), before.origin.name,
                               after.origin.parts.back().name, after.design.formula_text())) +
      fmt::format("\n{}, {} in all\n\n", count_of(after.origin.parts.back().rows, "new row"),
                  format_count(after.origin.rows.rows())));
  context.print(after.model->summary(after.names()) + "\n" + certificate_text(after.model->certificate(), context));
  if (output) context.note("model written to " + output->name());
}

}  // namespace

void add_update(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Update>();
  auto* command = add_command(tool, "update", "update a model with new rows alone");
  add_option(*command, "MODEL", options->model, "a model file written by fit -o")->required();
  options->data.add(*command, "the new rows");
  add_option(*command, "-o,--output", options->output,
             "where to write the updated model (.lemma); - is standard output")
      ->each(check_named);
  options->data.add_memory(*command);
  options->ledger.add(*command);
  command->footer(
      "Example: lemma fit logistic pima_train 'type ~ .' -o pima.lemma && lemma update pima.lemma pima_test -o "
      "both.lemma");
  command->callback([options, &context] { update(*options, context); });
}

}  // namespace lemma::app
