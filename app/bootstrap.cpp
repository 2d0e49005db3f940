// app/bootstrap.cpp: lemma bootstrap METHOD DATA FORMULA --of coefficients: how far a result can be trusted.
#include "commands.hpp"
#include "flags.hpp"
#include "model_report.hpp"
#include "study.hpp"

#include <CLI/CLI.hpp>
#include <lemma/catalog.hpp>
#include <lemma/validate/bootstrap.hpp>
#include <lemma/validate/stability.hpp>

namespace lemma::app {
namespace {

struct Options {
  std::string method, of = "coefficients", interval = "bca", group;
  int samples = 1000;
  double level = 0.95;
  Study study;
};

/// --of clusters: how well each is found again.
void run_stability(const Options& options, Context& context) {
  StabilityOptions how;
  how.experiment = options.study.experiment(context);
  how.samples = options.samples;
  how.group = options.group;
  how.seed = context.seed;
  how.execution = context.execution();
  const AnySpec spec = parse_method(options.method, catalog());
  const Formula formula = options.study.parsed();
  const auto data = options.study.read(context);
  const ClusterStability found = stability(spec, formula, *data, how);
  tell({}, found.notes, context);
  if (context.json) context.print_json(to_value(found));
  else context.print(text(found));
  if (found.cancelled) tell_if_cancelled("", context);
}

void run(const Options& options, Context& context) {
  if (options.of == "clusters") return run_stability(options, context);
  ResultBootstrap how;
  how.experiment = options.study.experiment(context);
  how.result = options.of;
  how.samples = options.samples;
  how.group = options.group;
  how.interval = static_cast<ResultInterval>(choose("--interval", options.interval, choices_of<ResultInterval>()));
  how.level = options.level;
  how.seed = context.seed;
  how.execution = context.execution();
  const AnySpec spec = parse_method(options.method, catalog());
  const Formula formula = options.study.parsed();
  const auto data = options.study.read(context);
  const BootstrapResult found = bootstrap(spec, formula, *data, how);
  tell({}, found.notes, context);
  if (context.json) context.print_json(to_value(found));
  else context.print(text(found));
  if (found.cancelled) tell_if_cancelled("", context);
}

}  // namespace

void add_bootstrap(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Options>();
  auto* command = add_command(tool, "bootstrap", "standard errors and intervals of any result of a fit, by resampling");
  add_option(*command, "METHOD", options->method, "a method, or a pipeline")->required();
  options->study.add(*command);
  add_option(*command, "--of", options->of,
             "a result, as 'lemma fit METHOD --help' lists them; or clusters: how well each is found again")
      ->capture_default_str();
  add_option(*command, "--samples", options->samples, "fits to rows drawn with replacement")->capture_default_str();
  add_option(*command, "--group", options->group, "column whose equal entries are drawn together");
  add_option(*command, "--interval", options->interval, "percentile, basic or bca")->capture_default_str();
  add_option(*command, "--level", options->level, "of the intervals")->capture_default_str();
  command->footer("Example: lemma bootstrap ols boston 'medv ~ lstat + rm' --of coefficients --samples 500");
  command->callback([options, &context] { run(*options, context); });
}

}  // namespace lemma::app
