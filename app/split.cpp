// app/split.cpp: lemma split DATA -o TRAIN TEST
#include "commands.hpp"
#include "data_options.hpp"
#include "flags.hpp"
#include "output.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/csv/packed.hpp>
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

/// Rows as they stand in the file that they come from.
void write_records(const PassedOn& passed, const std::vector<Index>& rows, Packing packing, Output& output) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  CsvText::Cursor cursor(*passed.text);
  std::string piece = passed.text->header();
  const auto write = [&] {
    output.write(pack(packing, std::move(piece)));  // packed texts may follow each other
    piece = {};
  };
  piece += passed.text->line_end();
  for (const Index i : rows) {
    piece += cursor.record(passed.row(i));
    piece += passed.text->line_end();
    if (piece.size() > kPiece) write();
  }
  write();
}

void write_part(const Table& table, const PassedOn& passed, const std::vector<Index>& rows, const std::string& path,
                Output& output) {
  const Packing packing = packing_named(path);
  if (passed.text) return write_records(passed, rows, packing, output);
  output.write(pack(packing, format_csv(table.select(rows))));
}

void split(const SplitOptions& options, Context& context) {
  check_outputs(options.output, {options.data.data});
  Output train(options.output[0], Output::Content::text, context);
  Output test(options.output[1], Output::Content::text, context);
  PassedOn passed;
  const Table table = options.data.table(context, &passed);
  const Split parts = lemma::split(table.rows(), test_size(options.test), strata(table, options.by), context.seed);
  write_part(table, passed, parts.train, options.output[0], train);
  write_part(table, passed, parts.test, options.output[1], test);
  train.done();
  test.done();
  Value out = Value::object();
  out.set("data", table.source());
  out.set("seed", static_cast<std::int64_t>(context.seed));
  if (!options.by.empty()) out.set("by", options.by);
  out.set("train", Value(Value::Object{{"path", options.output[0]}, {"rows", parts.train.size()}}));
  out.set("test", Value(Value::Object{{"path", options.output[1]}, {"rows", parts.test.size()}}));
  if (context.json) return context.print_json(out);
  context.print(fmt::format("{} of {}{}: {} to {}, {} to {} (seed {})\n", count_of(table.rows(), "row"), table.source(),
                            options.by.empty() ? "" : ", in each class of " + options.by + " alike",
                            format_count(static_cast<Index>(parts.train.size())), options.output[0],
                            format_count(static_cast<Index>(parts.test.size())), options.output[1], context.seed));
}

}  // namespace

void add_split(CLI::App& tool, Context& context) {
  auto options = std::make_shared<SplitOptions>();
  auto* command = add_command(tool, "split", "divide a table into training and test rows");
  options->data.add(*command);
  add_option(*command, "-o,--output", options->output,
             "TRAIN TEST: the two files to write, in the dialect of DATA; - is standard output")
      ->expected(2)
      ->required()
      ->each(check_named);
  add_option(*command, "--test", options->test, "share of the rows that goes to TEST (below 1), or how many rows")
      ->capture_default_str();
  add_option(*command, "--by", options->by, "stratify: each class of this column (or u:v) is divided alike");
  command->footer("Example: lemma split crabs --by sp:sex -o train.csv test.csv");
  command->callback([options, &context] { split(*options, context); });
}

}  // namespace lemma::app
