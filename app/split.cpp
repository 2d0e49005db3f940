// app/split.cpp: lemma split DATA -o TRAIN TEST
#include "commands.hpp"
#include "data_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/split.hpp>

namespace lemma::app {
namespace {

struct SplitOptions {
  DataOptions data;
  std::vector<std::string> output;
  std::string by;
  double test = 0.25;
};

/// One stratum for each combination of the columns in "u:v".
std::vector<int> strata(const Table& table, const std::string& by) {
  std::vector<int> out;
  for (std::size_t from = 0; from <= by.size() && !by.empty();) {
    const auto to = std::min(by.find(':', from), by.size());
    const auto next = strata_of(table.column(by.substr(from, to - from)));
    const int count = next.empty() ? 0 : *std::max_element(next.begin(), next.end()) + 1;
    if (out.empty()) out.assign(next.size(), 0);
    for (std::size_t i = 0; i < next.size(); ++i) out[i] = out[i] * count + next[i];
    from = to + 1;
  }
  return out;
}

TestSize test_size(double test) {
  if (test > 0 && test < 1) return {test, {}};
  if (test >= 1 && test == std::floor(test)) return {{}, static_cast<Index>(test)};
  throw Error(fmt::format("--test is {}, must be a share between 0 and 1, or a number of rows", test));
}

void split(const SplitOptions& options, Context& context) {
  const Table table = options.data.table(context);
  if (options.output[0] == options.output[1]) throw Error("the training and the test rows need two different files");
  const Split parts = lemma::split(table.rows(), test_size(options.test), strata(table, options.by), context.seed);
  write_csv(table.select(parts.train), options.output[0]);
  write_csv(table.select(parts.test), options.output[1]);
  Value out = Value::object();
  out.set("data", table.source());
  out.set("seed", static_cast<std::int64_t>(context.seed));
  if (!options.by.empty()) out.set("by", options.by);
  out.set("train", Value(Value::Object{{"path", options.output[0]}, {"rows", parts.train.size()}}));
  out.set("test", Value(Value::Object{{"path", options.output[1]}, {"rows", parts.test.size()}}));
  if (context.json) return context.print_json(out);
  context.print(fmt::format("{} rows of {}{}: {} to {}, {} to {} (seed {})\n", table.rows(), table.source(),
                            options.by.empty() ? "" : ", in each class of " + options.by + " alike", parts.train.size(),
                            options.output[0], parts.test.size(), options.output[1], context.seed));
}

}  // namespace

void add_split(CLI::App& tool, Context& context) {
  auto options = std::make_shared<SplitOptions>();
  auto* command = tool.add_subcommand("split", "divide a table into training and test rows");
  options->data.add(*command);
  command->add_option("-o,--output", options->output, "TRAIN TEST: the two files to write")->expected(2)->required();
  command->add_option("--test", options->test, "share of the rows that goes to TEST (below 1), or how many rows")
      ->capture_default_str();
  command->add_option("--by", options->by, "stratify: each class of this column (or u:v) is divided alike");
  command->footer("Example: lemma split crabs --by sp:sex -o train.csv test.csv");
  command->callback([options, &context] { split(*options, context); });
}

}  // namespace lemma::app
