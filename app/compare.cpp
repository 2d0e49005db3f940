// app/compare.cpp: lemma compare METHODS DATA FORMULA: several methods on the same folds.
#include "commands.hpp"
#include "flags.hpp"
#include "study.hpp"

#include <CLI/CLI.hpp>
#include <lemma/catalog.hpp>
#include <lemma/select/compare.hpp>
#include <lemma/select/search_space.hpp>

namespace lemma::app {
namespace {

struct Compare {
  std::string methods, metric;
  Study study;
};

void compare(const Compare& options, Context& context) {
  std::vector<AnySpec> specs;
  for (const auto& text : split_outside_brackets(options.methods)) specs.push_back(parse_method(text, catalog()));
  const Plan plan = options.study.plan();
  const Formula formula = options.study.parsed();
  const auto data = options.study.read(context);
  const MethodComparison found =
      compare_methods(specs, formula, *data, plan, options.metric, options.study.cross(context));
  auto notes = found.notes;
  notes.insert(notes.end(), found.methods[0].notes.begin(), found.methods[0].notes.end());
  tell(found.methods[0].leaks, notes, context);
  options.study.record(RowsUsed::compared, *data, options.methods, context);
  if (context.json) context.print_json(to_value(found));
  else context.print(text(found));
}

}  // namespace

void add_compare(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Compare>();
  auto* command =
      add_command(tool, "compare", "several methods on the same folds, and whether their differences are chance");
  add_option(*command, "METHODS", options->methods,
             "methods or pipelines separated by commas: lda,logistic,'svm(C=10)'")
      ->required();
  options->study.add(*command);
  options->study.add_plan(*command);
  add_option(*command, "--metric", options->metric, "what they are compared by (default: accuracy, or rmse)");
  command->footer("Example: lemma compare lda,logistic,'svm(C=10)' pima_train 'type ~ .' --folds 10 --repeats 3");
  command->callback([options, &context] { compare(*options, context); });
}

}  // namespace lemma::app
