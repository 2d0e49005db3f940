// app/cross.cpp: lemma cross METHOD DATA FORMULA: how well a method does on rows that it has not learned from.
#include "commands.hpp"
#include "flags.hpp"
#include "model_report.hpp"
#include "output.hpp"
#include "study.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/select/score_curve.hpp>

namespace lemma::app {
namespace {

struct Cross {
  std::string method, predictions, metric;
  int permutations = 0;
  Study study;
};

void cross(const Cross& options, Context& context) {
  const AnySpec spec = parse_method(options.method, catalog());
  const Plan plan = options.study.plan();
  const Formula formula = options.study.parsed();
  std::optional<Output> output;
  if (!options.predictions.empty()) {
    check_outputs({options.predictions}, {options.study.data.data});
    output.emplace(options.predictions, Output::Content::text, context);
  }
  const auto data = options.study.read(context);
  const CrossResult found = lemma::cross(spec, formula, *data, plan, options.study.cross(context));
  tell(found.leaks, found.notes, context);
  if (output) {
    output->write(format_csv(out_of_fold(found)));
    output->done();
  }
  options.study.record(RowsUsed::crossed, *data, found.method, context);
  std::optional<PermutationTest> test;
  if (options.permutations > 0 && !found.cancelled)
    test = permutation_test(spec, formula, *data, plan, options.permutations, options.metric,
                            options.study.cross(context));
  if (context.json) {
    Value document = to_value(found);
    if (test) document.set("permutation_test", to_value(*test));
    context.print_json(document);
  } else {
    context.print(text(found));
    if (test) context.print("\n" + text(*test));
  }
  if (output) context.note(fmt::format("out-of-fold predictions written to {}", output->name()));
  if (found.cancelled || (test && test->cancelled)) tell_if_cancelled("", context);
}

}  // namespace

void add_cross(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Cross>();
  auto* command = add_command(tool, "cross", "how well a method does on rows that it has not learned from");
  add_option(*command, "METHOD", options->method, "a method, or a pipeline such as 'scale | pca(components=5) | lda'")
      ->required();
  options->study.add(*command);
  options->study.add_plan(*command);
  add_option(*command, "--predictions", options->predictions,
             "where to write what was said of each row when it was not learned from (CSV; - is standard output)")
      ->each(check_named);
  add_option(*command, "--permutations", options->permutations,
             "is the score more than chance? so many times with the response shuffled");
  add_option(*command, "--metric", options->metric, "of the permutations (default: accuracy, or rmse)");
  command->footer(
      "Everything that looks at rows, fill-ins and levels too, learns from the training rows of each fold alone.\n"
      "Example: lemma cross lda iris 'species ~ .' --folds 10 --repeats 5");
  command->callback([options, &context] { cross(*options, context); });
}

}  // namespace lemma::app
