// app/predict.cpp: lemma predict MODEL DATA [-o OUT.csv]
#include "commands.hpp"
#include "data_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>
#include <lemma/core/params.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/sparse_rows.hpp>
#include <lemma/model/store.hpp>
#include <limits>

namespace lemma::app {
namespace {

struct Predict {
  std::string model, output, what = "default", interval = "none", missing;
  DataOptions data;
  double level = 0.95;
  bool append = false, diagnostics = false, inverse = false, sd = false, prior = false;
  int samples = 0;
};

/// Values for the rows the design kept, spread over all rows of the table; the others stay missing.
class Spread {
 public:
  Spread(Index rows, const std::vector<Index>& kept) : rows_(rows), kept_(kept) {}
  Column numbers(std::string name, const Eigen::Ref<const Vector, 0, Eigen::InnerStride<>>& values) const {
    std::vector<double> all(static_cast<std::size_t>(rows_), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < kept_.size(); ++i)
      all[static_cast<std::size_t>(kept_[i])] = values(static_cast<Index>(i));
    return numeric(std::move(name), std::move(all));
  }
  Column labels(std::string name, const Labels& codes, const std::vector<std::string>& levels) const {
    Categories all{std::vector<std::int32_t>(static_cast<std::size_t>(rows_), -1), levels};
    for (std::size_t i = 0; i < kept_.size(); ++i) all.codes[static_cast<std::size_t>(kept_[i])] = codes[i];
    return {std::move(name), std::move(all)};
  }

 private:
  Index rows_;
  const std::vector<Index>& kept_;
};

std::vector<std::string> cluster_names(Index count) {
  std::vector<std::string> names;
  for (Index k = 1; k <= count; ++k) names.push_back(std::to_string(k));
  return names;
}

bool wants(const Predict& options, std::string_view what, bool by_default) {
  return options.what == what || options.what == "all" || (options.what == "default" && by_default);
}

/// Everything the model says of the rows, as named columns.
std::vector<Column> predicted_columns(const TrainedModel& trained, const Prediction& p, const DesignData& data,
                                      const Predict& options, Index table_rows) {
  const Spread spread(table_rows, data.kept);
  const Task task = trained.model->task();
  const auto& classes = trained.design.classes();
  std::vector<Column> out;
  if (p.value.size() > 0 && wants(options, "value", true)) out.push_back(spread.numbers("prediction", p.value));
  if (p.lower.size() > 0) {
    out.push_back(spread.numbers("lower", p.lower));
    out.push_back(spread.numbers("upper", p.upper));
  }
  const auto drawn = [&](const Matrix& m, Index j, std::string name) {
    out.push_back(spread.numbers(std::move(name), m.col(j)));
  };
  if (p.deviations.size() > 0) {
    drawn(p.deviations, 0, "sd");
    drawn(p.deviations, 1, "sd_observation");
  }
  for (Index j = 0; j < p.samples.cols(); ++j) drawn(p.samples, j, "sample_" + std::to_string(j + 1));
  if (p.value.size() > 0 && data.has_response && !data.y.empty() && wants(options, "residual", true))
    out.push_back(spread.numbers("residual", Eigen::Map<const Vector>(data.y.data(), p.value.size()) - p.value));
  if (!p.label.empty() && wants(options, "class", true)) {
    const bool clusters = task == Task::clustering;
    const int most = *std::max_element(p.label.begin(), p.label.end()) + 1;
    out.push_back(spread.labels(clusters ? "cluster" : "class", p.label, clusters ? cluster_names(most) : classes));
  }
  const auto matrix = [&](const Matrix& m, const std::string& prefix, const std::vector<std::string>& names) {
    for (Index j = 0; j < m.cols(); ++j)
      out.push_back(spread.numbers(
          prefix +
              (static_cast<std::size_t>(j) < names.size() ? names[static_cast<std::size_t>(j)] : std::to_string(j + 1)),
          m.col(j)));
  };
  if (wants(options, "probabilities", true)) matrix(p.probabilities, "p_", classes);
  if (wants(options, "decision", false))
    matrix(p.decision, "decision_", p.decision.cols() == 1 ? std::vector<std::string>{""} : classes);
  if (wants(options, "coordinates", task == Task::transformation))
    matrix(p.coordinates, "",
           p.coordinate_names.empty() ? trained.model->output_names(trained.design.features()) : p.coordinate_names);
  if (p.log_density.size() > 0) out.push_back(spread.numbers("log_density", p.log_density));
  if (out.empty())
    throw Error(fmt::format("{} gives no {}; leave --what out to see what it gives", trained.model->method().name(),
                            options.what));
  return out;
}

Table numeric_table(const Matrix& x, const std::vector<std::string>& names) {
  std::vector<Column> columns;
  for (Index j = 0; j < x.cols(); ++j)
    columns.push_back(
        numeric(names[static_cast<std::size_t>(j)], std::vector<double>(x.col(j).begin(), x.col(j).end())));
  return Table(std::move(columns));
}

/// Back from transformed coordinates to the user's columns.
Table invert(const TrainedModel& trained, const Table& table) {
  const auto names = trained.model->output_names(trained.design.features());
  Matrix z(table.rows(), static_cast<Index>(names.size()));
  for (std::size_t j = 0; j < names.size(); ++j) {
    const Column& column = table.column(names[j]);
    if (column.type() != ColumnType::numeric) throw Error(fmt::format("column '{}' is not numeric", names[j]));
    z.col(static_cast<Index>(j)) = Eigen::Map<const Vector>(column.numbers().values.data(), table.rows());
  }
  return numeric_table(trained.model->inverse(z), trained.design.features());
}

PredictOptions prediction_options(const Predict& options, const Context& context) {
  PredictOptions how;
  how.interval =
      static_cast<IntervalKind>(choose("--interval", options.interval, {"none", "confidence", "prediction"}));
  how.level = options.level;
  how.deviations = options.sd;
  if (options.samples > 0) how.samples = SampleOptions{options.samples, options.prior, context.seed};
  if (options.prior && options.samples == 0) throw Error("--prior says where --samples come from: how many?");
  return how;
}

Table predict_table(const TrainedModel& trained, const Table& table, const Predict& options, const Context& context) {
  if (options.inverse) return invert(trained, table);
  std::optional<Missing> policy;
  if (!options.missing.empty()) policy = parse_missing(options.missing);
  const DesignData data = trained.design.apply(table, policy);
  for (const auto& note : data.notes) context.note("note: " + note);
  const Prediction p = trained.predict(data, prediction_options(options, context));
  auto columns = predicted_columns(trained, p, data, options, table.rows());
  if (options.diagnostics) {
    if (!data.has_response) throw Error("--diagnostics need the response: give the rows the model was fitted on");
    Block block(data.x, 0);
    block.y = data.y;
    block.label = data.label;
    block.weight = data.weight;
    block.precision = data.precision;
    block.offset = data.offset;
    const auto diagnostics = trained.model->diagnostics(block);
    if (diagnostics.empty()) throw Error(fmt::format("{} has no diagnostics", trained.model->method().name()));
    const Spread spread(table.rows(), data.kept);
    for (const auto& column : diagnostics) columns.push_back(spread.numbers(column.name, column.values));
  }
  Table out = options.append ? table : Table();
  for (auto& column : columns) {
    while (out.find(column.name)) column.name += "_";
    out.add(std::move(column));
  }
  return out;
}

/// Of a sparse file: never dense as a whole. A column that the file does not mention is 0.
Table predict_sparse(const TrainedModel& trained, const SparseData& data, const Predict& options,
                     const Context& context) {
  const SparseRows rows(trained.design, data);
  const Prediction p = trained.predict(rows, prediction_options(options, context), context.execution());
  return Table(predicted_columns(trained, p, sparse_outcome(trained.design, data), options, rows.count()));
}

bool stays_sparse(const TrainedModel& trained, const TableStream& data, const Predict& options) {
  return data.sparse() && is_plain(trained.design) && !options.append && !options.diagnostics && !options.inverse;
}

Table predict_stream(const TrainedModel& trained, const TableStream& data, const Predict& options,
                     const Context& context) {
  if (stays_sparse(trained, data, options)) return predict_sparse(trained, *data.sparse(), options, context);
  if (data.sparse()) return predict_table(trained, to_table(*data.sparse()), options, context);
  return predict_table(trained, *data.table(), options, context);
}

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

void predict(const Predict& options, Context& context) {
  const TrainedModel trained = load(options.model, catalog());
  const Table out = predict_stream(trained, *options.data.stream(context, {}), options, context);
  if (context.json) {
    const Value doc = document(options, trained, out);
    if (options.output.empty()) context.print_json(doc);
    else write_file(options.output, to_json(doc) + "\n");
  } else if (options.output.empty()) {
    context.print(format_csv(out));
  } else {
    write_csv(out, options.output);
  }
  if (!options.output.empty()) context.note(fmt::format("{} predictions written to {}", out.rows(), options.output));
}

}  // namespace

void add_predict(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Predict>();
  auto* command = tool.add_subcommand("predict", "what a model says of new rows");
  command->add_option("MODEL", options->model, "a model file written by fit -o")->required();
  options->data.add(*command);
  command->add_option("-o,--output", options->output, "where to write the predictions (default: standard output)");
  command
      ->add_option("--what", options->what,
                   "value, class, probabilities, decision (linear predictor), coordinates, residual, or all")
      ->check(
          CLI::IsMember({"default", "value", "class", "probabilities", "decision", "coordinates", "residual", "all"}));
  command->add_option("--interval", options->interval, "none, confidence or prediction")->capture_default_str();
  command->add_option("--level", options->level, "of the interval")
      ->check(CLI::Range(1e-9, 1 - 1e-9))
      ->capture_default_str();
  command->add_flag("--sd", options->sd, "standard deviations of the predicted value and of an observation (gp)");
  command->add_option("--samples", options->samples, "functions drawn at random, at these rows (gp); see --seed")
      ->check(CLI::Range(1, 1'000'000));
  command->add_flag("--prior", options->prior, "the samples come from the prior, not from the posterior");
  command->add_flag("--diagnostics", options->diagnostics,
                    "of the training rows: leverage, Cook's distance, leave-one-out residuals; multipliers, slacks and "
                    "sides of the margin");
  command->add_flag("--append", options->append, "the table's own columns first");
  command->add_flag("--inverse", options->inverse, "from transformed coordinates back to the columns (pca, scale)");
  command->add_option("--missing", options->missing, "as for fit; keep leaves rows with missing values empty")
      ->group("Data");
  command->footer(
      "Example: lemma fit ols boston 'medv ~ .' -o boston.lemma && lemma predict boston.lemma boston --interval "
      "prediction");
  command->callback([options, &context] { predict(*options, context); });
}

}  // namespace lemma::app
