// app/split.cpp: lemma split DATA -o TRAIN [VALIDATION] TEST
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
#include <lemma/validate/plan.hpp>
#include <lemma/validate/strata.hpp>

namespace lemma::app {
namespace {

struct SplitOptions {
  DataOptions data;
  std::vector<std::string> output;
  std::string by;
  double test = 0.2;
  std::optional<double> validation;
};

TestSize test_size(double test) {
  if (test > 0 && test < 1) return {test, {}};
  if (test >= 1 && test == std::floor(test)) return {{}, static_cast<Index>(test)};
  throw Error(fmt::format("--test is {}, must be a share between 0 and 1, or a number of rows", test));
}

/// The rows of each part, in the order of the files: training, validation where there is one, and test.
std::vector<std::vector<Index>> parts_of(const SplitOptions& options, const Table& table, std::uint64_t seed) {
  if (options.output.size() == 2) {
    if (options.validation) throw Error("--validation needs a third file: -o TRAIN VALIDATION TEST");
    const Split found = lemma::split(table.rows(), test_size(options.test), strata_by(table, options.by), seed);
    return {found.train, found.test};
  }
  const double validation = options.validation.value_or(options.test);
  if (!(options.test > 0 && validation > 0 && options.test + validation < 1))
    throw Error(
        fmt::format("--validation is {} and --test {}: of three parts they must be shares above 0 that leave rows to "
                    "learn from",
                    validation, options.test));
  PlanRows rows;
  rows.count = table.rows();
  rows.strata = strata_by(table, options.by);
  const ThreeParts found = three_parts(rows, validation, options.test, seed);
  return {found.train, found.validation, found.test};
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
  std::vector<std::unique_ptr<Output>> files;
  for (const auto& path : options.output)
    files.push_back(std::make_unique<Output>(path, Output::Content::text, context));
  PassedOn passed;
  const Table table = options.data.table(context, &passed);
  const auto parts = parts_of(options, table, context.seed);
  for (std::size_t i = 0; i < parts.size(); ++i) write_part(table, passed, parts[i], options.output[i], *files[i]);
  for (auto& file : files) file->done();
  Value out = Value::object();
  out.set("data", table.source());
  out.set("seed", static_cast<std::int64_t>(context.seed));
  if (!options.by.empty()) out.set("by", options.by);
  std::string where;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const char* part = i == 0 ? "train" : i + 1 == parts.size() ? "test" : "validation";
    out.set(part, Value(Value::Object{{"path", options.output[i]}, {"rows", parts[i].size()}}));
    where += fmt::format("{}{} to {}", i > 0 ? ", " : "", format_count(static_cast<Index>(parts[i].size())),
                         options.output[i]);
  }
  if (context.json) return context.print_json(out);
  context.print(fmt::format("{} of {}{}: {} (seed {})\n", count_of(table.rows(), "row"), table.source(),
                            options.by.empty() ? "" : ", in each class of " + options.by + " alike", where,
                            context.seed));
}

}  // namespace

void add_split(CLI::App& tool, Context& context) {
  auto options = std::make_shared<SplitOptions>();
  auto* command = add_command(tool, "split", "divide a table into training, validation and test rows");
  options->data.add(*command);
  add_option(*command, "-o,--output", options->output,
             "TRAIN TEST, or TRAIN VALIDATION TEST: the files to write, in the dialect of DATA; - is standard output")
      ->expected(2, 3)
      ->required()
      ->each(check_named);
  add_option(*command, "--test", options->test, "share of the rows that goes to TEST (below 1), or how many rows")
      ->capture_default_str();
  add_option(*command, "--validation", options->validation,
             "of three files: share of the rows that goes to VALIDATION (default: as much as to TEST)");
  add_option(*command, "--by", options->by, "stratify: each class of this column (or u:v) is divided alike");
  command->footer("Example: lemma split crabs --by sp:sex -o train.csv test.csv");
  command->callback([options, &context] { split(*options, context); });
}

}  // namespace lemma::app
