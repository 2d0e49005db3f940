// app/evaluate.cpp: lemma evaluate MODEL DATA: every measure that suits the task, and whether these rows trained the model.
#include "commands.hpp"
#include "data_options.hpp"
#include "flags.hpp"

#include <CLI/CLI.hpp>
#include <lemma/catalog.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/store.hpp>
#include <lemma/validate/judge.hpp>

namespace lemma::app {
namespace {

struct Evaluate {
  std::string model, missing, weights, truth;
  DataOptions data;
};

void evaluate(const Evaluate& options, Context& context) {
  const TrainedModel trained = load(options.model, catalog());
  JudgeOptions how;
  if (!options.missing.empty()) how.missing = parse_missing(options.missing);
  how.weights = options.weights;
  how.truth = options.truth;
  how.memory = options.data.limit();
  how.execution = context.execution();
  const auto data = options.data.where_it_lies(context);
  Judgement found = judge(trained, *data, how);
  found.model = options.model;
  for (const auto& note : found.notes) context.note("note: " + note);
  if (context.json) return context.print_json(to_value(found));
  context.print(context.bold(heading(found)) + "\n");
  const std::string sentence = wrap(found.honesty->sentence, 98);
  context.print((found.honesty->kind == Honesty::Kind::test ? context.good(sentence) : context.bad(sentence)) + "\n\n");
  context.print(tables(found));
}

}  // namespace

void add_evaluate(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Evaluate>();
  auto* command = add_command(tool, "evaluate", "judge a model: every measure that suits its task");
  add_option(*command, "MODEL", options->model, "a model file written by fit -o")->required();
  options->data.add(*command);
  add_option(*command, "--truth", options->truth, "for clusters: the column of the true classes (or u:v)");
  add_option(*command, "--weights", options->weights,
             "column of frequencies (default: that of the fit, where DATA has it): weight k is k copies of the row")
      ->group("Data");
  add_option(*command, "--missing", options->missing,
             "as for fit; drop leaves out rows without a response too, keep also those with levels never seen")
      ->group("Data");
  options->data.add_memory(*command);
  command->footer(
      "Example: lemma split iris --by species -o train.csv test.csv && lemma fit lda train.csv 'species ~ .' -o "
      "iris.lemma && lemma evaluate iris.lemma test.csv");
  command->callback([options, &context] { evaluate(*options, context); });
}

}  // namespace lemma::app
