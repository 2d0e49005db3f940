// app/bound.cpp: lemma bound MODEL DATA --delta 0.05: what can be promised of the error of a classifier.
#include "commands.hpp"
#include "data_options.hpp"
#include "flags.hpp"
#include "ledger_flags.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <lemma/catalog.hpp>
#include <lemma/core/file.hpp>
#include <lemma/model/store.hpp>
#include <lemma/validate/bound.hpp>
#include <lemma/validate/ledger.hpp>

namespace lemma::app {
namespace {

struct BoundCall {
  std::string model, missing;
  double delta = 0.05;
  int draws = 20, looks = 0;
  DataOptions data;
  LedgerFlags ledger;
};

void bound(const BoundCall& options, Context& context) {
  const auto file = read_file(options.model);
  const TrainedModel trained = decode(file, catalog(), options.model);
  BoundOptions how;
  how.delta = options.delta;
  how.draws = options.draws;
  how.seed = context.seed;
  if (!options.missing.empty()) how.judge.missing = parse_missing(options.missing);
  how.judge.memory = options.data.limit();
  how.judge.execution = context.execution();
  const auto data = options.data.stream(context);
  how.looks = options.looks > 0 ? options.looks : 1;
  with_ledger(options.ledger, options.data, *data, context, [&](Ledger& ledger, const RowsPrint& rows) {
    ledger.add(RowsUsed::evaluated, rows, options.data.data, model_id(file), options.model,
               trained.model->method().name());
    if (options.looks == 0) how.looks = static_cast<int>(std::max<Index>(1, ledger.looks(rows, model_id(file))));
  });
  RiskBounds found = bound_risk(trained, *data, how);
  found.model = options.model;
  for (const auto& note : found.notes) context.note("note: " + note);
  if (context.json) context.print_json(to_value(found));
  else context.print(text(found));
}

}  // namespace

void add_bound(CLI::App& tool, Context& context) {
  auto options = std::make_shared<BoundCall>();
  auto* command = add_command(tool, "bound", "what can be promised of a classifier's error, and by which argument");
  add_option(*command, "MODEL", options->model, "a classifier, written by fit -o")->required();
  options->data.add(*command);
  add_option(*command, "--delta", options->delta, "the bounds hold with probability 1 - delta")->capture_default_str();
  add_option(*command, "--looks", options->looks,
             "models that were judged on these rows, this one too (default: what the ledger knows, or 1)");
  add_option(*command, "--draws", options->draws, "of random signs, for Rademacher's complexity")
      ->capture_default_str();
  add_option(*command, "--missing", options->missing, "as for evaluate")->group("Data");
  options->data.add_memory(*command);
  options->ledger.add(*command);
  command->footer(
      "Of new rows: Hoeffding and the exact binomial; of the training rows: VC and Rademacher. What does not apply is "
      "told.\n"
      "Example: lemma fit lda pima_train 'type ~ .' -o lda.lemma && lemma bound lda.lemma pima_test --delta 0.05");
  command->callback([options, &context] { bound(*options, context); });
}

}  // namespace lemma::app
