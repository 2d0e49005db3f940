// app/predict.cpp: lemma predict MODEL DATA [-o OUT.csv]
#include "commands.hpp"
#include "data_options.hpp"
#include "flags.hpp"
#include "output.hpp"
#include "predicted.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/csv/packed.hpp>
#include <lemma/model/store.hpp>

namespace lemma::app {
namespace {

struct Predict {
  std::string model, output;
  DataOptions data;
  Asked asked;
  bool explain = false;
};

/// What is predicted, and what each column adds to it.
std::vector<std::string> explained(const TrainedModel& trained) {
  const auto parts = trained.model->parts();
  const auto gives = [&](std::string_view name) {
    return std::ranges::any_of(parts, [&](const PartInfo& part) { return part.name == name; });
  };
  const std::string said(trained.model->task() == Task::classification ? "class" : "value");
  if (gives("contributions")) return {said, "contributions"};
  if (gives("shap")) return {said, "shap", "shap_base"};
  throw Error(fmt::format(
      "--explain: {} does not say what each column adds; naive_bayes, boost, forest and extra_trees do, and "
      "'lemma effect' tells of any model how its predictions change with a column",
      trained.model->method().name()));
}

Value document(const Predict& options, const TrainedModel& trained, const Table& out) {
  Value doc = Value::object();
  doc.set("model", options.model);
  doc.set("method", trained.model->method().name());
  doc.set("rows", out.rows());
  if (options.asked.threshold) doc.set("threshold", *options.asked.threshold);
  doc.set("columns", to_value(out));
  return doc;
}

/// The predictions on their way: one JSON document, or lines of CSV as they come, after the table's own columns where
/// these are passed on.
class Predictions {
 public:
  Predictions(const Predict& options, const TrainedModel& trained, const PassedOn& passed, Context& context)
      : options_(options), trained_(trained), passed_(passed), context_(context) {
    if (passed.text) cursor_.emplace(*passed.text);
    if (!options.output.empty() && !is_stdout(options.output))
      file_.emplace(options.output, Output::Content::text, context);
  }

  void take(const Table& part, const std::vector<Index>& rows) {
    if (context_.json) parts_.push_back(part);
    else write(cursor_ ? beside_records(part, rows) : format_csv(part, !begun_));
    begun_ = true;
    rows_ += part.rows();
    if (!context_.json && !(file_ && file_->appears_whole()))
      context_.written = fmt::format("the first {} were written to {}, the others were not",
                                     count_of(rows_, "prediction"), file_ ? file_->name() : "standard output");
  }

  void done() {
    if (context_.json) write(to_json(document(options_, trained_, stack(parts_))) + "\n");
    if (!file_) return;
    file_->done();
    context_.note(fmt::format("{} written to {}", count_of(rows_, "prediction"), file_->name()));
  }

 private:
  void write(const std::string& text) {
    if (!file_) context_.print(text);
    else file_->write(pack(packing(), text));  // packed texts may follow each other
  }

  Packing packing() const { return context_.json ? Packing::none : packing_named(options_.output); }

  std::string beside_records(const Table& part, const std::vector<Index>& rows) {
    const CsvDialect dialect = passed_.text->dialect();
    std::string out;
    if (!begun_) {
      out = passed_.text->header();
      append_names(out, part, dialect);
      out += passed_.text->line_end();
    }
    for (Index i = 0; i < part.rows(); ++i) {
      out += cursor_->record(passed_.row(rows[static_cast<std::size_t>(i)]));
      append_fields(out, part, i, dialect);
      out += passed_.text->line_end();
    }
    return out;
  }

  const Predict& options_;
  const TrainedModel& trained_;
  const PassedOn& passed_;
  Context& context_;
  std::optional<Output> file_;
  std::optional<CsvText::Cursor> cursor_;
  std::vector<Table> parts_;  // of a JSON document
  Index rows_ = 0;
  bool begun_ = false;  // the names of the columns are written
};

void predict(const Predict& options, Context& context) {
  check_outputs({options.output.empty() ? "-" : options.output}, {options.model, options.data.data});
  const TrainedModel trained = load(options.model, catalog());
  Asked asked = options.asked;
  if (options.explain) asked.what = explained(trained);
  PassedOn passed;
  const bool passes_on = options.asked.append && !options.asked.inverse && !context.json;
  const auto data = passes_on ? options.data.stream(context, &passed) : options.data.where_it_lies(context);
  if (passed.text) {
    asked.append = false;
    asked.beside = passed.text->schema().names();
  }
  Predictions out(options, trained, passed, context);
  predict_all(trained, *data, asked, options.data.limit(), context,
              [&](const Table& part, const std::vector<Index>& rows) { out.take(part, rows); });
  out.done();
  if (asked.threshold)
    context.note(fmt::format("note: {} is predicted where its probability is at least {}",
                             trained.design.classes().back(), format_significant(*asked.threshold, 10)));
}

}  // namespace

void add_predict(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Predict>();
  auto* command = add_command(tool, "predict", "what a model says of new rows");
  add_option(*command, "MODEL", options->model, "a model file written by fit -o")->required();
  options->data.add(*command);
  add_option(*command, "-o,--output", options->output, "where to write the predictions (default: standard output)")
      ->each(check_named);
  add_option(*command, "--what", options->asked.what,
             "parts of the prediction, separated by commas: value, class, probabilities, decision, coordinates, "
             "residual, what else the method gives ('lemma fit METHOD --help'), or all")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_flag(*command, "--explain", options->explain,
           "the prediction and what each column adds to it: to the log odds (naive_bayes), or as SHAP values (trees)")
      ->excludes(command->get_option("--what"));
  add_option(*command, "--interval", options->asked.interval, "none, confidence or prediction")->capture_default_str();
  add_option(*command, "--level", options->asked.level, "of the interval")
      ->check(CLI::Range(1e-9, 1 - 1e-9))
      ->capture_default_str();
  add_option(*command, "--threshold", options->asked.threshold,
             "of two classes: predict the second where its probability is at least this (default: the likelier)");
  add_flag(*command, "--sd", options->asked.sd,
           "standard deviations of the predicted value and of an observation (gp)");
  add_option(*command, "--samples", options->asked.samples, "functions drawn at random, at these rows (gp); see --seed")
      ->check(CLI::Range(1, 1'000'000));
  add_flag(*command, "--prior", options->asked.prior, "the samples come from the prior, not from the posterior");
  add_flag(*command, "--diagnostics", options->asked.diagnostics,
           "of the training rows: leverage, Cook's distance, leave-one-out residuals; multipliers, slacks and "
           "sides of the margin");
  add_option(*command, "--digits", options->asked.digits, "significant digits of the numbers (default: all they have)")
      ->check(CLI::Range(1, 17));
  add_flag(*command, "--append", options->asked.append,
           "the table's own columns first, as they are written in the file");
  add_flag(*command, "--inverse", options->asked.inverse,
           "from transformed coordinates back to the columns (pca, scale)");
  add_option(*command, "--missing", options->asked.missing,
             "as for fit; drop leaves rows out, keep leaves them empty, also those with levels never seen")
      ->group("Data");
  options->data.add_memory(*command);
  command->footer(
      "Example: lemma fit ols boston 'medv ~ .' -o boston.lemma && lemma predict boston.lemma boston --interval "
      "prediction");
  command->callback([options, &context] { predict(*options, context); });
}

}  // namespace lemma::app
