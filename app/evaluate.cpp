// app/evaluate.cpp: lemma evaluate MODEL DATA: every measure that suits the task, and whether these rows trained the model.
#include "commands.hpp"
#include "data_options.hpp"
#include "flags.hpp"
#include "ledger_flags.hpp"

#include <CLI/CLI.hpp>
#include <lemma/catalog.hpp>
#include <lemma/core/file.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/matrix_stream.hpp>
#include <lemma/model/store.hpp>
#include <lemma/validate/judge.hpp>
#include <lemma/validate/ledger/standing.hpp>

namespace lemma::app {
namespace {

struct Evaluate {
  std::string model, missing, weights, truth, interval;
  int bootstrap = -1;  // as many as there is time for
  std::vector<std::string> also;
  std::optional<double> threshold;
  DataOptions data;
  LedgerFlags ledger;
  bool strict = false;
};

/// What the ledger knows of these rows, this look included.
std::optional<Standing> look_up(const Evaluate& options, std::span<const std::uint8_t> file, const TableStream& data,
                                const Judgement& found, const Context& context) {
  std::optional<Standing> out;
  with_ledger(options.ledger, options.data, data, context, [&](Ledger& ledger, const RowsPrint& rows) {
    const std::string id = model_id(file);
    ledger.add(RowsUsed::evaluated, rows, options.data.data, id, options.model, found.method);
    out = standing(ledger, rows, id, found);
  });
  return out;
}

void evaluate(const Evaluate& options, Context& context) {
  const auto file = read_file(options.model);
  const TrainedModel trained = decode(file, catalog(), options.model);
  JudgeOptions how;
  if (!options.missing.empty()) how.missing = parse_missing(options.missing);
  how.weights = options.weights;
  how.truth = options.truth;
  how.threshold = options.threshold;
  for (const auto& each : options.also) how.also.push_back(asked_measure(each));
  if (!options.interval.empty())
    how.rates = static_cast<RateInterval>(choose("--interval", options.interval, choices_of<RateInterval>()));
  if (options.bootstrap >= 0) how.bootstrap = options.bootstrap;
  how.seed = context.seed;
  how.memory = options.data.limit();
  how.execution = context.execution();
  const bool as_they_stand = options.weights.empty() && options.truth.empty() &&
                             !needs_whole_table(options.ledger, options.data);  // else more columns are needed
  const auto wanted = [&](const auto&) { return as_they_stand ? columns_as_they_are(trained.design) : std::nullopt; };
  const auto data = options.data.where_it_lies(context, wanted);
  Judgement found = judge(trained, *data, how);
  found.model = options.model;
  for (const auto& note : found.notes) context.note("note: " + note);
  const auto known = look_up(options, file, *data, found, context);
  const bool seen = found.honesty->kind == Honesty::Kind::training || found.honesty->kind == Honesty::Kind::mixed;
  if (options.strict && (seen || (known && !known->clean()))) context.exit_code = kAnswerIsNo;
  if (context.json) {
    Value document = to_value(found);
    if (known) document.set("ledger", to_value(*known));
    return context.print_json(document);
  }
  context.print(context.bold(heading(found)) + "\n");
  const std::string sentence = wrap(found.honesty->sentence, 98);
  context.print((found.honesty->kind == Honesty::Kind::test ? context.good(sentence) : context.bad(sentence)) + "\n");
  if (known) {
    const std::string words = wrap(known->sentence, 98);
    context.print((known->clean() ? words : context.bad(words)) + "\n");
  }
  context.print("\n");
  context.print(tables(found));
}

}  // namespace

void add_evaluate(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Evaluate>();
  auto* command = add_command(tool, "evaluate", "judge a model: every measure that suits its task");
  add_option(*command, "MODEL", options->model, "a model file written by fit -o")->required();
  options->data.add(*command);
  add_option(*command, "--truth", options->truth, "for clusters: the column of the true classes (or u:v)");
  add_option(*command, "--threshold", options->threshold,
             "of two classes: predict the second where its probability is at least this (default: the likelier)");
  add_option(*command, "--also", options->also,
             "more measures, separated by commas: pinball=0.9, deviance=poisson, coverage=0.95 (of prediction "
             "intervals), ece, brier_parts")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_option(*command, "--interval", options->interval,
             "of shares: wilson (default), exact (Clopper and Pearson) or hoeffding");
  add_option(
      *command, "--bootstrap", options->bootstrap,
      "samples for the intervals of the other measures (default: 200 to 1,000, none of more than 20,000 rows or, of "
      "K classes, 40,000 / K); 0: none");
  add_option(*command, "--weights", options->weights,
             "column of frequencies (default: that of the fit, where DATA has it): weight k is k copies of the row")
      ->group("Data");
  add_option(*command, "--missing", options->missing,
             "as for fit; drop leaves out rows without a response too, keep also those with levels never seen")
      ->group("Data");
  options->data.add_memory(*command);
  options->ledger.add(*command);
  add_flag(*command, "--strict", options->strict, "exit with 1 when rows have trained the model, or have chosen one");
  command->footer(
      "Example: lemma split iris --by species -o train.csv test.csv && lemma fit lda train.csv 'species ~ .' -o "
      "iris.lemma && lemma evaluate iris.lemma test.csv");
  command->callback([options, &context] { evaluate(*options, context); });
}

}  // namespace lemma::app
