// app/update.cpp: lemma update MODEL DATA -o MODEL: a model after new rows too, without the old ones.
#include "commands.hpp"
#include "data_options.hpp"
#include "flags.hpp"
#include "model_report.hpp"
#include "output.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/model/store.hpp>

namespace lemma::app {
namespace {

struct Update {
  std::string model, output;
  DataOptions data;
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
  const auto data = options.data.where_it_lies(context);
  const TrainedModel after = before.update(*data, how, options.data.limit());
  if (output) {
    output->write(encode(after));
    output->done();
  }
  for (const auto& warning : after.model->warnings()) context.warn(warning);
  if (after.model->certificate().fails()) context.exit_code = kAnswerIsNo;
  tell_if_cancelled(output ? output->name() : "", context);
  if (context.json) return context.print_json(fit_document(after));
  context.print(
      context.bold(fmt::format("{} of {}, updated with {}: {}", after.model->method().name(), before.origin.name,
                               after.origin.parts.back().name, after.design.formula_text())) +
      fmt::format("\n{} new rows, {} in all\n\n", after.origin.parts.back().rows, after.origin.rows.rows()));
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
             "where to write the updated model (.lemma); - is standard output");
  options->data.add_memory(*command);
  command->footer(
      "Example: lemma fit logistic pima_train 'type ~ .' -o pima.lemma && lemma update pima.lemma pima_test -o "
      "both.lemma");
  command->callback([options, &context] { update(*options, context); });
}

}  // namespace lemma::app
