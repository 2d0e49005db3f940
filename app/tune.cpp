// app/tune.cpp: lemma tune METHOD DATA FORMULA --grid 'lambda=0.1,1,10': parameters chosen on rows that were not learned from.
#include "commands.hpp"
#include "flags.hpp"
#include "model_report.hpp"
#include "output.hpp"
#include "study.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/error.hpp>
#include <lemma/model/store.hpp>
#include <lemma/select/tune.hpp>

namespace lemma::app {
namespace {

struct Tune {
  std::string method, search, output;
  std::vector<std::string> grid, metrics;
  int tries = 20;
  std::optional<double> nested, hold_out;
  bool one_se = false;
  Study study;
};

TuneOptions tune_options(const Tune& options, const Context& context) {
  TuneOptions out;
  if (!options.search.empty())
    out.search = static_cast<Search>(choose("--search", options.search, choices_of<Search>()));
  out.tries = options.tries;
  out.metrics = options.metrics;
  out.one_se = options.one_se;
  out.cross = options.study.cross(context);
  if (options.nested && options.hold_out) throw Error("--nested and --hold-out both judge the choice: choose one");
  if (options.nested) out.outer = Plan{.folds = static_cast<int>(*options.nested)};
  if (options.hold_out) out.outer = Plan{.kind = PlanKind::holdout, .test = *options.hold_out};
  if (out.outer) {
    out.outer->group = options.study.group;
    out.outer = *Valid<Plan>(*out.outer);
  }
  return out;
}

TrainedModel refit(const Tune& options, const TuneResult& found, const Formula& formula, const TableStream& data,
                   const Context& context) {
  TrainOptions how;
  how.design = options.study.experiment(context).design;
  how.fit.seed = context.seed;
  how.fit.threads = context.execution().threads;
  TrainedModel out = train(found.chosen.shared(), found.chosen.params(), formula, data, how);
  out.choice = to_value(found);
  return out;
}

void tune(const Tune& options, Context& context) {
  const AnySpec spec = parse_method(options.method, catalog());
  const Plan plan = options.study.plan();
  const TuneOptions how = tune_options(options, context);
  const Formula formula = options.study.parsed();
  std::optional<Output> output;
  if (!options.output.empty()) {
    check_outputs({options.output}, {options.study.data.data});
    output.emplace(options.output, Output::Content::binary, context);
  }
  const auto data = options.study.read(context);
  const TuneResult found = lemma::tune(spec, options.grid, formula, *data, plan, how);
  tell(found.leaks, found.notes, context);
  const TrainedModel model = refit(options, found, formula, *data, context);
  const auto bytes = encode(model);
  if (output) {
    output->write(bytes);
    output->done();
  }
  options.study.record(RowsUsed::tuned, *data, found.method, context, model_id(bytes), options.output);
  for (const auto& warning : model.model->warnings()) context.warn(warning);
  if (context.json) {
    context.print_json(fit_document(model));
  } else {
    context.print(text_of_choice(model.choice));
    if (output)
      context.note(fmt::format("{}, fitted to all {} rows, is in {}", found.method, found.rows, output->name()));
  }
  if (model.model->certificate().fails()) context.exit_code = kAnswerIsNo;
  if (found.cancelled) tell_if_cancelled(output ? output->name() : "", context);
}

}  // namespace

void add_tune(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Tune>();
  auto* command = add_command(tool, "tune", "choose parameters by how well they do on rows not learned from");
  add_option(*command, "METHOD", options->method, "a method, or a pipeline such as 'scale | pca | lda'")->required();
  options->study.add(*command);
  add_option(
      *command, "--grid", options->grid,
      "a parameter and its values: 'lambda=0.1,1,10', a range 'C=0.01:100' (with points: 'C=0.01:100:9'), or a name "
      "alone for the range of its description; 'svm.C' in a pipeline (repeatable)")
      ->required()
      ->allow_extra_args(false);
  add_option(*command, "--search", options->search, "grid (default), random, halving or gp (a Gaussian process)");
  add_option(*command, "--tries", options->tries, "of random, halving and gp")->capture_default_str();
  add_option(*command, "--metric", options->metrics,
             "measures, separated by commas: the first one chooses (default: accuracy, or rmse)")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_flag(*command, "--one-se", options->one_se,
           "take the first value in the order of the grid that is within one standard error of the best");
  add_option(*command, "--nested", options->nested, "an honest score: the whole search anew in each of so many folds");
  add_option(*command, "--hold-out", options->hold_out,
             "an honest score: the whole search without this share of the rows, which then judge it once");
  add_option(*command, "-o,--output", options->output,
             "where to write the model of all rows with what was chosen (.lemma)")
      ->each(check_named);
  options->study.add_plan(*command);
  command->footer(
      "Example: lemma tune ridge boston 'medv ~ .' --grid 'lambda=0.1,1,10,100' --nested 5 -o boston.lemma");
  command->callback([options, &context] { tune(*options, context); });
}

}  // namespace lemma::app
