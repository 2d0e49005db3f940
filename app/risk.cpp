// app/risk.cpp: lemma risk MODEL --truth mixture.json: the error of a model where the truth is known.
#include "commands.hpp"
#include "flags.hpp"

#include <CLI/CLI.hpp>
#include <lemma/catalog.hpp>
#include <lemma/model/store.hpp>
#include <lemma/validate/risk.hpp>

namespace lemma::app {
namespace {

struct RiskCall {
  std::string model, truth;
  Index draws = 100000;
  bool simulate = false;
};

void find_risk(const RiskCall& options, Context& context) {
  const TrainedModel trained = load(options.model, catalog());
  const auto truth = truth_named(options.truth);
  RiskOptions how;
  how.draws = options.draws;
  how.simulate = options.simulate;
  how.seed = context.seed;
  how.execution = context.execution();
  Risk found = risk(trained, *truth, how);
  found.model = options.model;
  if (context.json) context.print_json(to_value(found));
  else context.print(text(found));
}

}  // namespace

void add_risk(CLI::App& tool, Context& context) {
  auto options = std::make_shared<RiskCall>();
  auto* command = add_command(tool, "risk", "the error of a model, and of the best rule, where the truth is known");
  add_option(*command, "MODEL", options->model, "a model file written by fit -o")->required();
  add_option(*command, "--truth", options->truth,
             "where rows come from: a .json file with mixtures, or a name such as 'gaussians(distance=2)'")
      ->required();
  add_option(*command, "--draws", options->draws, "of simulation")
      ->check(CLI::Range(Index{2}, Index{1'000'000'000}))
      ->capture_default_str();
  add_flag(*command, "--simulate", options->simulate, "draw rows even where the integral can be had by quadrature");
  command->footer(
      "'lemma generate' lists the truths that have names.\n"
      "Example: lemma generate gaussians -n 100 -o g.csv && lemma fit lda g.csv 'class ~ .' -o g.lemma && lemma risk "
      "g.lemma --truth gaussians");
  command->callback([options, &context] { find_risk(*options, context); });
}

}  // namespace lemma::app
