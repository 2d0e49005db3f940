// app/curve.cpp: lemma curve roc|pr|lift|calibration MODEL... DATA: what probabilities are worth at every threshold.
#include "commands.hpp"
#include "data_options.hpp"
#include "flags.hpp"
#include "ledger_flags.hpp"
#include "output.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/model/store.hpp>
#include <lemma/validate/curve.hpp>
#include <lemma/validate/ledger.hpp>

namespace lemma::app {
namespace {

struct Curve {
  std::string kind, missing, weights, positive, by = "width", output;
  std::vector<std::string> words;  // the models, and DATA last
  int bins = 10;
  DataOptions data;
  LedgerFlags ledger;
};

struct Loaded {
  std::string path, id;
  TrainedModel trained;
};

Loaded loaded(const std::string& path) {
  const auto file = read_file(path);
  return {path, model_id(file), decode(file, catalog(), path)};
}

CurveOptions curve_options(const Curve& options, CurveKind kind, const Context& context) {
  CurveOptions out;
  out.positive = options.positive;
  out.bins = options.bins;
  out.by = static_cast<Bins>(choose("--by", options.by, choices_of<Bins>()));
  if (kind != CurveKind::calibration && (options.bins != 10 || options.by != "width"))
    throw Error(fmt::format("--bins and --by are of calibration curves; {} has none", name_of(kind)));
  if (options.bins < 1) throw Error(fmt::format("--bins is {}, must be at least 1", options.bins));
  if (!options.missing.empty()) out.judge.missing = parse_missing(options.missing);
  out.judge.weights = options.weights;
  out.judge.seed = context.seed;
  out.judge.memory = options.data.limit();
  out.judge.execution = context.execution();
  return out;
}

void draw(Curve options, Context& context) {
  const auto kind = static_cast<CurveKind>(choose("curve", options.kind, choices_of<CurveKind>()));
  if (options.words.size() < 2)
    throw Error("a curve needs a model and data: 'lemma curve roc MODEL... DATA'; see 'lemma curve --help'");
  options.data.data = options.words.back();
  options.words.pop_back();
  const CurveOptions how = curve_options(options, kind, context);
  std::optional<Output> output;
  if (!options.output.empty()) {
    auto inputs = options.words;
    inputs.push_back(options.data.data);
    check_outputs({options.output}, inputs);
    output.emplace(options.output, Output::Content::text, context);
  }
  std::vector<Loaded> models;
  for (const auto& path : options.words) models.push_back(loaded(path));
  std::vector<NamedModel> named;
  for (const auto& each : models) named.push_back({each.path, &each.trained});
  const auto data = options.data.stream(context);
  const CurveResult found = curve(kind, named, *data, how);
  for (const auto& each : found.curves)
    for (const auto& note : each.notes)
      context.note("note: " + (models.size() > 1 ? each.model + ": " : std::string()) + note);
  for (const auto& note : found.notes) context.note("note: " + note);
  with_ledger(options.ledger, options.data, *data, context, [&](Ledger& ledger, const RowsPrint& rows) {
    for (const auto& each : models)
      ledger.add(RowsUsed::evaluated, rows, options.data.data, each.id, each.path, each.trained.model->method().name());
  });
  if (output) {
    output->write(format_csv(table_of(found)));
    output->done();
  }
  if (context.json) context.print_json(to_value(found));
  else context.print(text(found));
  if (output) context.note(fmt::format("the points are in {}", output->name()));
}

}  // namespace

void add_curve(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Curve>();
  auto* command = add_command(tool, "curve", "ROC, precision-recall, lift and calibration curves of classifiers");
  add_option(*command, "KIND", options->kind,
             "roc, pr, lift or calibration (of a method: learning or validation, see learning_curve)")
      ->required();
  add_option(*command, "MODELS", options->words,
             "model files written by fit -o, and last the DATA: a file, or a built-in set such as pima_test")
      ->required();
  options->data.add(*command);
  command->remove_option(command->get_option("DATA"));
  add_option(*command, "--positive", options->positive,
             "the class that the curve is about, held against all others (default: the second of two)");
  add_option(*command, "--bins", options->bins, "of calibration: how many groups of probabilities")
      ->capture_default_str();
  add_option(*command, "--by", options->by, "of calibration: groups of equal width, or of equal count of rows")
      ->capture_default_str();
  add_option(*command, "-o,--output", options->output, "where to write the points (CSV; - is standard output)")
      ->each(check_named);
  add_option(*command, "--weights", options->weights,
             "column of frequencies (default: that of the fit, where DATA has it): weight k is k copies of the row")
      ->group("Data");
  add_option(*command, "--missing", options->missing, "as for evaluate")->group("Data");
  options->data.add_memory(*command);
  options->ledger.add(*command);
  command->footer(
      "Of several models on the same rows the areas under their ROC curves are compared in pairs (DeLong's test).\n"
      "Example: lemma fit lda pima_train 'type ~ .' -o lda.lemma && lemma curve roc lda.lemma pima_test -o roc.csv");
  command->callback([options, &context] { draw(*options, context); });
}

}  // namespace lemma::app
