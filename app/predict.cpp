// app/predict.cpp: lemma predict MODEL DATA [-o OUT.csv]
#include "commands.hpp"
#include "data_options.hpp"
#include "predicted.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/file.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/csv_bytes.hpp>
#include <lemma/model/store.hpp>

namespace lemma::app {
namespace {

struct Predict {
  std::string model, output;
  DataOptions data;
  Asked asked;
};

Value document(const Predict& options, const TrainedModel& trained, const Table& out) {
  Value columns = Value::object();
  for (const auto& column : out.all()) {
    if (column.type() == ColumnType::numeric) {
      columns.set(column.name, Value(Value::Array{{column.rows()}, column.numbers().values}));
      continue;
    }
    Value::List texts;
    for (Index i = 0; i < column.rows(); ++i) texts.push_back(column.is_missing(i) ? Value() : Value(column.text(i)));
    columns.set(column.name, std::move(texts));
  }
  Value doc = Value::object();
  doc.set("model", options.model);
  doc.set("method", trained.model->method().name());
  doc.set("rows", out.rows());
  doc.set("columns", columns);
  return doc;
}

/// Where the predictions go: one JSON document, standard output, or a file that takes its name when all are written.
class Output {
 public:
  Output(const Predict& options, const TrainedModel& trained, const Context& context)
      : options_(options), trained_(trained), context_(context) {
    if (!context.json && !options.output.empty()) file_.emplace(options.output);
  }

  void take(const Table& part) {
    rows_ += part.rows();
    if (context_.json) {
      parts_.push_back(part);
      return;
    }
    const std::string text = format_csv(part, first_);
    first_ = false;
    if (!file_) context_.print(text);
    else
      file_->write(ends_with_gz(options_.output) ? gzip(text) : text);  // gzip files may follow one another in a file
  }

  void done() {
    if (context_.json) {
      const Value doc = document(options_, trained_, stack(parts_));
      if (options_.output.empty()) context_.print_json(doc);
      else write_file(options_.output, to_json(doc) + "\n");
    }
    if (file_) file_->done();
    if (!options_.output.empty()) context_.note(fmt::format("{} predictions written to {}", rows_, options_.output));
  }

 private:
  const Predict& options_;
  const TrainedModel& trained_;
  const Context& context_;
  std::optional<FileWriter> file_;
  std::vector<Table> parts_;  // of a JSON document
  bool first_ = true;
  Index rows_ = 0;
};

void predict(const Predict& options, Context& context) {
  const TrainedModel trained = load(options.model, catalog());
  const auto data = options.data.stream(context);
  Output output(options, trained, context);
  predict_all(trained, *data, options.asked, options.data.limit(), context,
              [&](const Table& part) { output.take(part); });
  output.done();
}

}  // namespace

void add_predict(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Predict>();
  auto* command = tool.add_subcommand("predict", "what a model says of new rows");
  command->add_option("MODEL", options->model, "a model file written by fit -o")->required();
  options->data.add(*command);
  command->add_option("-o,--output", options->output, "where to write the predictions (default: standard output)");
  command
      ->add_option("--what", options->asked.what,
                   "value, class, probabilities, decision (linear predictor), coordinates, residual, or all")
      ->check(
          CLI::IsMember({"default", "value", "class", "probabilities", "decision", "coordinates", "residual", "all"}));
  command->add_option("--interval", options->asked.interval, "none, confidence or prediction")->capture_default_str();
  command->add_option("--level", options->asked.level, "of the interval")
      ->check(CLI::Range(1e-9, 1 - 1e-9))
      ->capture_default_str();
  command->add_flag("--sd", options->asked.sd, "standard deviations of the predicted value and of an observation (gp)");
  command->add_option("--samples", options->asked.samples, "functions drawn at random, at these rows (gp); see --seed")
      ->check(CLI::Range(1, 1'000'000));
  command->add_flag("--prior", options->asked.prior, "the samples come from the prior, not from the posterior");
  command->add_flag("--diagnostics", options->asked.diagnostics,
                    "of the training rows: leverage, Cook's distance, leave-one-out residuals; multipliers, slacks and "
                    "sides of the margin");
  command->add_flag("--append", options->asked.append, "the table's own columns first");
  command->add_flag("--inverse", options->asked.inverse,
                    "from transformed coordinates back to the columns (pca, scale)");
  command->add_option("--missing", options->asked.missing, "as for fit; keep leaves rows with missing values empty")
      ->group("Data");
  options->data.add_memory(*command);
  command->footer(
      "Example: lemma fit ols boston 'medv ~ .' -o boston.lemma && lemma predict boston.lemma boston --interval "
      "prediction");
  command->callback([options, &context] { predict(*options, context); });
}

}  // namespace lemma::app
