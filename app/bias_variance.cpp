// app/bias_variance.cpp: lemma bias_variance METHOD: why a method errs.
#include "commands.hpp"
#include "flags.hpp"
#include "study.hpp"

#include <CLI/CLI.hpp>
#include <lemma/catalog.hpp>
#include <lemma/core/error.hpp>
#include <lemma/validate/bias_variance.hpp>

namespace lemma::app {
namespace {

struct BiasVarianceCall {
  std::string method, truth;
  int samples = 100;
  Index rows = 100, points = 1000;
  Study study;
};

BiasVariance measured(const BiasVarianceCall& options, Context& context) {
  const AnySpec spec = parse_method(options.method, catalog()).completed();
  BiasVarianceOptions how;
  how.samples = options.samples;
  how.rows = options.rows;
  how.points = options.points;
  how.seed = context.seed;
  how.execution = context.execution();
  const Study& study = options.study;
  if (!options.truth.empty()) {  // the one argument that may follow METHOD is a formula
    if (!study.formula.empty())
      throw Error("--truth takes the place of DATA: 'lemma bias_variance METHOD --truth friedman1 [FORMULA]'");
    return bias_variance(spec, *truth_named(options.truth), study.data.data, how);
  }
  if (study.data.data.empty() || study.formula.empty())
    throw Error("rows are needed: DATA and FORMULA, or a --truth that they are drawn from");
  how.experiment = study.experiment(context);
  const Formula formula = study.parsed();
  const auto data = study.read(context);
  BiasVariance out = bias_variance(spec, formula, *data, how);
  study.record(RowsUsed::crossed, *data, out.method, context);
  return out;
}

}  // namespace

void add_bias_variance(CLI::App& tool, Context& context) {
  auto options = std::make_shared<BiasVarianceCall>();
  auto* command = add_command(tool, "bias_variance", "why a method errs: bias, variance and noise over many samples");
  add_option(*command, "METHOD", options->method, "a method, or a pipeline")->required();
  options->study.add(*command);
  command->get_option("DATA")->required(false);
  command->get_option("FORMULA")->required(false);
  add_option(*command, "--truth", options->truth,
             "draw the samples from a known truth, such as friedman1 or mixture.json, and not from DATA");
  add_option(*command, "--samples", options->samples, "how many: of a truth, or bootstrap samples of DATA")
      ->capture_default_str();
  add_option(*command, "-n,--count", options->rows, "of a truth: rows of each sample")->capture_default_str();
  add_option(*command, "--points", options->points, "of a truth: new rows at which it is measured")
      ->capture_default_str();
  command->footer(
      "Of DATA each row is judged by the samples in which it was not drawn; bias and noise are one number then.\n"
      "Examples: lemma bias_variance 'kernel_ridge(lambda=0.1)' --truth sine -n 30\n"
      "          lemma bias_variance tree boston 'medv ~ .' --samples 50");
  command->callback([options, &context] {
    const BiasVariance found = measured(*options, context);
    if (context.json) context.print_json(to_value(found));
    else context.print(text(found));
  });
}

}  // namespace lemma::app
