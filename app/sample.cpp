// app/sample.cpp: lemma sample MODEL -n 100: rows drawn from what a model has learned.
#include "commands.hpp"
#include "flags.hpp"
#include "output.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/model/store.hpp>

namespace lemma::app {
namespace {

struct Sample {
  std::string model, output;
  Index count = 1;
};

/// The methods whose models draw rows, for help.
std::string drawing_methods() {
  std::string out;
  for (const Method* method : catalog())
    if (method->draws_rows()) out += (out.empty() ? "" : ", ") + method->name();
  return out;
}

void sample(const Sample& options, Context& context) {
  check_outputs({options.output.empty() ? "-" : options.output}, {options.model});
  const TrainedModel trained = load(options.model, catalog());
  const Table drawn = trained.draw(options.count, context.seed);
  if (context.json) {
    Value out = Value::object();
    out.set("model", options.model);
    out.set("method", trained.model->method().name());
    out.set("rows", drawn.rows());
    out.set("columns", to_value(drawn));
    return context.print_json(out);
  }
  write_rows(drawn, options.output, context);
}

}  // namespace

void add_sample(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Sample>();
  auto* command = add_command(tool, "sample", "rows drawn from a density or a generative model");
  add_option(*command, "MODEL", options->model, "a model file written by fit -o")->required();
  add_option(*command, "-n,--count", options->count, "how many rows")
      ->check(CLI::Range(Index{1}, Index{100'000'000}))
      ->capture_default_str();
  add_option(*command, "-o,--output", options->output, "where to write them (default: standard output)");
  command->footer("Models that draw rows: " + drawing_methods() +
                  ". The same --seed draws the same rows; the first ones do not depend on -n.\n"
                  "Example: lemma fit lda iris 'species ~ .' -o iris.lemma && lemma sample iris.lemma -n 100 --seed 7");
  command->callback([options, &context] { sample(*options, context); });
}

}  // namespace lemma::app
