// app/evaluate.cpp: lemma evaluate MODEL DATA: every measure that suits the task, and whether these rows trained the model.
#include "commands.hpp"
#include "data_options.hpp"
#include "honesty.hpp"

#include <CLI/CLI.hpp>
#include <atomic>
#include <cmath>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/sparse_rows.hpp>
#include <lemma/data/stream/rows.hpp>
#include <lemma/metric/classification.hpp>
#include <lemma/metric/clustering.hpp>
#include <lemma/metric/regression.hpp>
#include <lemma/model/store.hpp>
#include <numeric>

namespace lemma::app {
namespace {

struct Evaluate {
  std::string model, missing, truth;
  DataOptions data;
};

/// What evaluation found: measures, and for classes the table of errors.
struct Findings {
  std::vector<Measure> measures;
  std::optional<Confusion> confusion;
  std::vector<ClassScore> per_class;
};

Vector weights_of(const DesignData& data) {
  return Eigen::Map<const Vector>(data.weight.data(), static_cast<Index>(data.weight.size()));
}

/// Codes of a column given by --truth, for clusters.
Labels labels_of(const Column& column, const std::vector<Index>& kept) {
  if (column.type() != ColumnType::categorical)
    throw Error(
        fmt::format("--truth: column '{}' is not categorical; use --type {}=categorical", column.name, column.name));
  Labels out;
  for (const Index row : kept) out.push_back(column.categories().codes[static_cast<std::size_t>(row)]);
  if (std::find(out.begin(), out.end(), -1) != out.end())
    throw Error(fmt::format("--truth: column '{}' has missing values", column.name));
  return out;
}

/// The rows to judge on, what the model says of them, and the truth.
struct Trial {
  std::shared_ptr<const TableStream> stream;
  std::shared_ptr<const Rows> rows;
  DesignData data;  // of a sparse file without x
  Prediction prediction;
  Table table;  // of a sparse file the names alone
};

/// Response and weights of rows that stay on disk, without x.
DesignData outcome_of(const Rows& rows, const Execution& execution) {
  DesignData out;
  out.has_response = rows.has_response;
  const auto n = static_cast<std::size_t>(rows.count());
  if (rows.has_response) rows.classes.empty() ? out.y.resize(n) : out.label.resize(n);
  if (rows.has_weights) out.weight.resize(n);
  for_each_block(rows, execution, [&](const Block& block) {
    const auto keep = [&](const auto& part, auto& all) {
      if (!all.empty()) std::copy(part.begin(), part.end(), all.begin() + block.first);
    };
    keep(block.y, out.y);
    keep(block.label, out.label);
    keep(block.weight, out.weight);
  });
  return out;
}

Trial try_out(const TrainedModel& trained, const Evaluate& options, const Context& context) {
  Trial out;
  out.stream = options.data.stream(context);
  const SparseData* sparse = out.stream->sparse();
  if (sparse && is_plain(trained.design)) {
    out.rows = std::make_shared<SparseRows>(trained.design, *sparse);
    out.data = sparse_outcome(trained.design, *sparse);
    out.prediction = trained.predict(*out.rows, {}, context.execution());
    out.table = out.stream->schema();
    return out;
  }
  std::optional<Missing> policy;
  if (!options.missing.empty()) policy = parse_missing(options.missing);
  if (!sparse && !out.stream->table()) {
    const auto rows = std::make_shared<StreamRows>(trained.design, *out.stream, StreamRows::Use::prediction, policy,
                                                   context.execution());
    out.data = outcome_of(*rows, context.execution());
    out.data.notes = rows->notes();
    out.prediction = trained.predict(*rows, {}, context.execution());
    out.rows = rows;
    out.table = out.stream->schema();
    return out;
  }
  out.table = sparse ? to_table(*sparse) : *out.stream->table();
  out.data = trained.design.apply(out.table, policy);
  out.rows = std::make_shared<DesignRows>(trained.design, out.data);
  out.prediction = trained.predict(*out.rows, {}, context.execution());  // in the blocks in which a file is read
  return out;
}

Findings judge(const TrainedModel& trained, const Trial& trial, const Evaluate& options, const Context& context) {
  const auto& about = trained.model->method().about();
  const auto& [stream, rows, data, p, table] = trial;
  Findings out;
  if (about.uses_response && !data.has_response)
    throw Error(fmt::format("the response '{}' is not in {}; to judge a model its true values are needed",
                            trained.design.target(), table.source()));
  switch (trained.model->task()) {
    case Task::regression:
      if (std::any_of(data.y.begin(), data.y.end(), [](double y) { return std::isnan(y); }))
        throw Error(fmt::format("'{0}' is missing in some rows; leave them out with --where '!is.na({0})'",
                                trained.design.response_columns().front()));
      out.measures = measures(
          score_regression(Eigen::Map<const Vector>(data.y.data(), p.value().size()), p.value(), weights_of(data)));
      break;
    case Task::classification: {
      if (std::find(data.label.begin(), data.label.end(), -1) != data.label.end())
        throw Error(fmt::format(
            "'{}' is missing in some rows, or holds a class the model never saw; leave them out with --where",
            trained.design.target()));
      const ClassPredictions said{p.label(), p.probabilities(), {}};
      auto score =
          score_classification(data.label, said, static_cast<Index>(trained.design.classes().size()), weights_of(data));
      out = {std::move(score.measures), std::move(score.confusion), std::move(score.per_class)};
      break;
    }
    case Task::clustering:
      require(data.x.rows() > 0, "clusters are judged with all rows in memory: give a CSV file, without --memory");
      out.measures = validity_measures(data.x, p.label(), weights_of(data), context.execution());
      if (!options.truth.empty())
        for (auto& measure :
             agreement_measures(labels_of(table.column(options.truth), data.kept), p.label(), weights_of(data)))
          out.measures.push_back(std::move(measure));
      break;
    default:
      throw Error(fmt::format("{} transforms rows and predicts nothing that could be judged; 'lemma verify' checks it",
                              trained.model->method().name()));
  }
  return out;
}

/// In closed form, where each row's residual without it follows from the model and the row alone.
Value leave_one_out(const TrainedModel& trained, const Rows& rows, const Context& context) {
  if (rows.sparse() || !trained.model->method().about().scans) return {};
  std::vector<double> squares(static_cast<std::size_t>(block_count(rows)));
  std::atomic<bool> known = true;
  for_each_block(rows, context.execution(), [&](const Block& block) {
    const auto columns = trained.model->diagnostics(block);
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [](const NamedColumn& column) { return column.name == "loo_residual"; });
    if (found == columns.end()) known = false;
    else squares[static_cast<std::size_t>(block.first / block_rows(rows))] = found->values.squaredNorm();
  });
  if (!known) return {};
  return std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0) / static_cast<double>(rows.count()));
}

std::string confusion_text(const Findings& found, const std::vector<std::string>& classes) {
  if (!found.confusion) return "";
  TextTable table;
  table.words("true \\ predicted", classes);
  for (std::size_t k = 0; k < classes.size(); ++k) {
    std::vector<std::string> cells;
    for (Index i = 0; i < found.confusion->classes(); ++i)
      cells.push_back(format_significant(found.confusion->counts(i, static_cast<Index>(k)), 10));
    table.right(classes[k], cells);
  }
  std::vector<std::string> precision, recall, f1;
  for (const auto& one : found.per_class) {
    precision.push_back(format_fixed(one.precision, 3));
    recall.push_back(format_fixed(one.recall, 3));
    f1.push_back(format_fixed(one.f1, 3));
  }
  return "\n" + table.right("precision", precision).right("recall", recall).right("F1", f1).str();
}

std::string measures_text(const std::vector<Measure>& measures) {
  std::vector<std::string> names, values, bounds, meanings;
  for (const auto& measure : measures) {
    names.push_back(measure.name);
    values.push_back(format_significant(measure.value, 4));
    bounds.push_back(measure.bounds ? fmt::format("[{}, {}]", format_significant(measure.bounds->lower, 3),
                                                  format_significant(measure.bounds->upper, 3))
                                    : "");
    meanings.push_back(measure.meaning);
  }
  return TextTable()
      .words("measure", names)
      .right("value", values)
      .words("95 % interval", bounds)
      .words("what it is", meanings)
      .str();
}

void evaluate(const Evaluate& options, Context& context) {
  const TrainedModel trained = load(options.model, catalog());
  const Trial trial = try_out(trained, options, context);
  const auto& [stream, every_row, data, prediction, table] = trial;
  const Rows& rows = *every_row;
  for (const auto& note : data.notes) context.note("note: " + note);
  const Findings found = judge(trained, trial, options, context);
  const Honesty origin = honesty(trained, rows, context.execution());
  const bool training = origin.same_rows || (origin.all_equal && !trained.origin.rows.weighted_hash());
  const Value loo = training && data.has_response ? leave_one_out(trained, rows, context) : Value();
  const auto& classes = trained.design.classes();
  if (context.json) {
    Value out = Value::object();
    out.set("model", options.model);
    out.set("method", trained.model->method().name());
    out.set("task", name_of(trained.model->task()));
    out.set("data", table.source());
    out.set("rows", rows.count());
    out.set("equal_to_training_rows", origin.document);
    out.set("measures", to_value(found.measures));
    if (found.confusion) {
      out.set("classes", classes);
      out.set("confusion", found.confusion->counts);
    }
    if (!loo.is_null()) out.set("leave_one_out_rmse", loo);
    return context.print_json(out);
  }
  context.print(
      context.bold(fmt::format("{} judged on {}: {}", options.model, table.source(), count_of(rows.count(), "row"))) +
      "\n");
  const std::string sentence = wrap(origin.sentence, 98);
  context.print((origin.fresh ? context.good(sentence) : context.bad(sentence)) + "\n\n");
  context.print(measures_text(found.measures) + confusion_text(found, classes));
  if (!loo.is_null())
    context.print(fmt::format("\nLeave-one-out RMSE (closed form, an honest estimate from these rows): {}\n",
                              format_significant(loo.as_double(), 4)));
}

}  // namespace

void add_evaluate(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Evaluate>();
  auto* command = tool.add_subcommand("evaluate", "judge a model: every measure that suits its task");
  command->add_option("MODEL", options->model, "a model file written by fit -o")->required();
  options->data.add(*command);
  command->add_option("--truth", options->truth, "for clusters: the column of the true classes");
  command->add_option("--missing", options->missing, "as for fit")->group("Data");
  options->data.add_memory(*command);
  command->footer(
      "Example: lemma split iris --by species -o train.csv test.csv && lemma fit lda train.csv 'species ~ .' -o "
      "iris.lemma && lemma evaluate iris.lemma test.csv");
  command->callback([options, &context] { evaluate(*options, context); });
}

}  // namespace lemma::app
