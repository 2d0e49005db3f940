// app/generate.cpp: lemma generate NAME -n 1000: rows whose truth is known.
#include "commands.hpp"
#include "flags.hpp"
#include "output.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/validate/truth.hpp>

namespace lemma::app {
namespace {

struct Generate {
  std::string name, output;
  Index count = 100;
};

void list(Context& context) {
  std::vector<std::string> names, params, meanings;
  Value::List all;
  for (const auto& each : truths()) {
    names.push_back(each.name);
    params.push_back(each.params);
    meanings.push_back(each.meaning);
    Value one = Value::object();
    one.set("name", each.name).set("params", each.params).set("meaning", each.meaning);
    all.push_back(std::move(one));
  }
  if (context.json) {
    Value out = Value::object();
    out.set("truths", std::move(all));
    return context.print_json(out);
  }
  context.print(TextTable().words("name", names).words("parameters", params).words("what it is", meanings).str());
  context.print("\nA .json file holds mixtures of Gaussians for each class; see lemma/validate/truth.md.\n");
}

void generate(const Generate& options, Context& context) {
  if (options.name.empty()) return list(context);
  check_outputs({options.output.empty() ? "-" : options.output}, {options.name});
  const auto truth = truth_named(options.name);
  const Table drawn = draw_table(*truth, options.count, context.seed);
  if (context.json) {
    Value out = Value::object();
    out.set("truth", truth->name);
    out.set("seed", static_cast<std::int64_t>(context.seed));
    out.set("rows", drawn.rows());
    out.set("response", truth->response);
    out.set("columns", to_value(drawn));
    return context.print_json(out);
  }
  write_rows(drawn, options.output, context);
}

}  // namespace

void add_generate(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Generate>();
  auto* command = add_command(tool, "generate", "rows whose truth is known: benchmarks, mixtures, linear models");
  add_option(*command, "NAME", options->name,
             "a truth such as moons or 'friedman1(noise=0.5)', or a .json file with mixtures; without it: all of them");
  add_option(*command, "-n,--count", options->count, "how many rows")
      ->check(CLI::Range(Index{1}, Index{100'000'000}))
      ->capture_default_str();
  add_option(*command, "-o,--output", options->output, "where to write them (default: standard output)")
      ->each(check_named);
  command->footer(
      "The same --seed gives the same rows; the first ones do not depend on -n.\n"
      "Example: lemma generate 'moons(noise=0.3)' -n 200 --seed 7 -o moons.csv");
  command->callback([options, &context] { generate(*options, context); });
}

}  // namespace lemma::app
