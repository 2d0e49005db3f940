// lemma/validate/judge.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/data/rows_for.hpp>
#include <lemma/metric/regression.hpp>
#include <lemma/model/asked_rows.hpp>
#include <lemma/validate/judge.hpp>
#include <lemma/validate/judge/parts.hpp>
#include <mutex>

namespace lemma {

bool judging::gives(const AnyModel& model, const PartInfo& wanted) {
  const auto parts = model->parts();
  return std::any_of(parts.begin(), parts.end(), [&](const PartInfo& part) { return part.name == wanted.name; });
}

namespace {

/// Of two classes without probabilities rows are ordered by the value that decides between them.
PredictOptions what_is_asked(const AnyModel& model, const JudgeOptions& options) {
  PredictOptions out;
  if (model->task() == Task::classification && model->class_count() == 2 && !options.threshold &&
      !judging::gives(model, kProbabilitiesPart) && judging::gives(model, kDecisionPart))
    out.what = {std::string(kClassPart.name), std::string(kDecisionPart.name)};
  return out;
}

}  // namespace

Answers judging::ask_model(const AnyModel& model, const Rows& rows, const JudgeOptions& options,
                           const Execution& execution) {
  const Index n = rows.count();
  Answers out;
  if (rows.has_response) rows.classes.empty() ? out.y.resize(n) : out.label.resize(static_cast<std::size_t>(n));
  if (rows.has_weights) out.weight.resize(n);
  if (tells_of_its_own_rows(model)) {
    out.predicted = own_clusters(model, rows, execution);
    if (rows.has_weights) out.weight = Vector::Ones(n);  // such methods take none
    return out;
  }
  std::mutex door;
  const PredictOptions wanted = what_is_asked(model, options);
  const bool ordered = !wanted.what.empty();
  if (ordered) out.score.resize(n);
  const AskedRows asked(model, rows, wanted, options.threshold);
  const Index together = asked.together();
  BufferPool pool;
  parallel_for((n + together - 1) / together, execution, [&](Index i) {
    BufferPool::Lease buffer(pool);
    const auto [said, block] = asked(i * together, std::min(together, n - i * together), *buffer);
    {
      const std::lock_guard lock(door);  // the first block tells what there is
      if (out.value.size() == 0) out.value.resize(said.value().size() > 0 ? n : 0);
      if (out.predicted.empty()) out.predicted.resize(said.label().empty() ? 0 : static_cast<std::size_t>(n));
      if (out.probabilities.size() == 0 && said.probabilities().size() > 0)
        out.probabilities.resize(n, said.probabilities().cols());
    }
    const Index first = block.first, size = block.rows();
    if (said.value().size() > 0) out.value.segment(first, size) = said.value();
    if (said.probabilities().size() > 0) out.probabilities.middleRows(first, size) = said.probabilities();
    if (ordered) {
      const Matrix& decision = said.decision();
      if (decision.cols() == 2) out.score.segment(first, size) = decision.col(1) - decision.col(0);
      else out.score.segment(first, size) = decision.col(0);
    }
    std::copy(said.label().begin(), said.label().end(), out.predicted.begin() + first);
    std::copy(block.y.begin(), block.y.end(), out.y.data() + first);
    std::copy(block.label.begin(), block.label.end(), out.label.begin() + first);
    std::copy(block.weight.begin(), block.weight.end(), out.weight.data() + first);
  });
  return out;
}

void judging::measure_answers(const std::vector<std::string>& classes, const Answers& answers, Judgement& out) {
  if (out.task == Task::regression) {
    out.measures = measures(score_regression(answers.y, answers.value, answers.weight));
    return;
  }
  out.classes = classes;
  auto score = score_classification(answers.label, {answers.predicted, answers.probabilities, answers.score},
                                    static_cast<Index>(classes.size()), answers.weight, out.rates);
  out.measures = std::move(score.measures);
  out.confusion = std::move(score.confusion);
  out.per_class = std::move(score.per_class);
}

namespace {

/// The measures of the task, and those asked for besides.
void measure(const AnyModel& model, const Rows& rows, const Answers& answers, const JudgeOptions& options,
             const Execution& execution, Judgement& out) {
  if (answers.weight.size() > 0) out.weight = answers.weight.sum();
  if (out.task == Task::regression || out.task == Task::classification)
    judging::measure_answers(rows.classes, answers, out);
  else judging::measure_clusters(model, rows, answers, execution, out);
  judging::add_asked(model, rows, answers, options, out);
}

/// Error unless it predicts numbers, classes or clusters.
void require_predictions(const AnyModel& model) {
  const Task task = model->task();
  const PartInfo& needed = task == Task::regression       ? kValuePart
                           : task == Task::classification ? kClassPart
                                                          : kClusterPart;
  if (!judging::gives(model, needed) && !judging::tells_of_its_own_rows(model))
    throw Error(fmt::format(
        "{} predicts neither numbers nor classes nor clusters that could be judged; 'lemma verify' checks it",
        model->method().name()));
}

Judgement begun(const AnyModel& model, const Rows& rows, const JudgeOptions& options) {
  Judgement out;
  out.model = out.method = model->method().name();
  out.task = model->task();
  out.rows = rows.count();
  out.threshold = options.threshold;
  out.rates = options.rates;
  return out;
}

/// A table with all rows of some of the columns.
Table some_columns(const TableStream& data, const std::vector<std::string>& names) {
  constexpr Index kTogether = Index{1} << 16;
  const auto of = [&](const Table& all) {
    std::vector<Column> columns;
    for (const auto& name : names) columns.push_back(all.column(name));
    return Table(std::move(columns), all.source());
  };
  if (data.table()) return of(*data.table());
  std::vector<Table> parts{of(data.read_columns(0, 0, names))};
  for (Index first = 0; first < data.rows(); first += kTogether)
    parts.push_back(of(data.read_columns(first, std::min(kTogether, data.rows() - first), names)));
  return stack(parts);
}

/// Weights other than those of the training.
Vector weights_from(const TableStream& data, const std::string& name, const RowSelection& kept) {
  const Table table = some_columns(data, {name});
  const Column& column = table.column(name);
  if (column.type() != ColumnType::numeric)
    throw Error(fmt::format("column '{}' cannot weigh the rows: it is {}, not numeric", name, name_of(column.type())));
  Vector out(kept.count());
  for (Index i = 0; i < kept.count(); ++i) {
    const double w = column.numbers().values[static_cast<std::size_t>(kept.row(i))];
    if (!(std::isfinite(w) && w >= 0))
      throw Error(fmt::format("a weight must be a finite number of at least 0, but '{}' is {} in row {}", name,
                              std::isnan(w) ? "missing" : fmt::format("{}", w), kept.row(i) + 1));
    out(i) = w;
  }
  return out;
}

/// The classes of --truth for the rows that were judged. Several columns make joint classes, as in a formula.
GivenClasses truth_from(const TableStream& data, const std::string& truth, const RowSelection& kept) {
  std::vector<std::string> names;
  if (data.schema().find(truth)) names = {truth};
  else
    for (std::size_t from = 0; from <= truth.size();) {
      const auto to = std::min(truth.find(':', from), truth.size());
      names.push_back(truth.substr(from, to - from));
      from = to + 1;
    }
  std::string joined;
  for (const auto& name : names) joined += (joined.empty() ? "factor(`" : ":factor(`") + name + "`)";
  const Table table = some_columns(data, names);
  DesignOptions options;
  options.classify = true;
  options.missing = Missing::drop;
  const Design design(formula(joined + " ~ 1"), table, options);
  const DesignData all = design.apply(table);
  GivenClasses out{truth, design.classes(), {}};
  for (Index i = 0; i < kept.count(); ++i) {
    const Index row = kept.row(i);
    const int label = all.has_response ? all.label[static_cast<std::size_t>(row)] : -1;
    if (label < 0)
      throw Error(
          fmt::format("the true class '{}' is missing in row {}; leave such rows out with --where", truth, row + 1));
    out.labels.push_back(label);
  }
  return out;
}

/// Error when a response is not one that the model could have predicted.
void require_known_classes(const Labels& labels, const TrainedModel& trained, const TableStream& data,
                           const RowSelection& kept) {
  const auto found = std::find(labels.begin(), labels.end(), -1);
  if (found == labels.end()) return;
  const Index row = kept.row(found - labels.begin());
  const auto names = trained.design.response_columns();
  const Table one = data.read_columns(row, 1, names);
  std::string name;
  for (const auto& each : names) name += (name.empty() ? "" : ":") + one.column(each).text(0);
  throw Error(fmt::format(
      "class '{}' of '{}' in row {} was not seen in training, so the model cannot be judged on it; leave such rows out "
      "with --where",
      name, trained.design.target(), row + 1));
}

}  // namespace

Judgement judge(const AnyModel& model, const Rows& rows, const JudgeOptions& options) {
  require_predictions(model);
  const Execution& execution = options.execution;
  Judgement out = begun(model, rows, options);
  const Answers answers = judging::ask_model(model, rows, options, execution.part(0, 0.6, "predicting"));
  measure(model, rows, answers, options, execution.part(0.6, 1, "measuring"), out);
  return out;
}

namespace {

/// The rows of a table that a model is judged on. Error where there is nothing to judge, or nothing to judge by.
RowsOfData rows_to_judge(const TrainedModel& trained, const TableStream& data, const JudgeOptions& options,
                         const Execution& execution) {
  const bool supervised = trained.model->method().about().uses_response;
  require_predictions(trained.model);
  RowsUse use;
  use.use = supervised ? Use::judging : Use::prediction;
  use.missing = options.missing;
  RowsOfData given = rows_for(trained.design, data, use, options.memory, execution);
  const Rows& rows = *given.rows;
  if (supervised && !rows.has_response)
    throw Error(fmt::format("the response '{}' is not in {}; to judge a model its true values are needed",
                            trained.design.target(), data.schema().source()));
  if (!rows.responses.empty())
    throw Error(fmt::format("{} are several responses, and models are judged by one; fit a model to each",
                            trained.design.target()));
  require(rows.count() > 0, data.rows() == 0 ? "there are no rows: there is nothing to judge"
                                             : "no row is complete: there is nothing to judge");
  return given;
}

/// What the model says of them, with the weights asked for, and their classes known.
Answers answers_of(const TrainedModel& trained, const TableStream& data, const RowsOfData& given,
                   const JudgeOptions& options, const Execution& execution) {
  Answers out = judging::ask_model(trained.model, *given.rows, options, execution);
  if (!options.weights.empty()) out.weight = weights_from(data, options.weights, given.kept);
  if (trained.model->method().about().uses_response) require_known_classes(out.label, trained, data, given.kept);
  return out;
}

}  // namespace

AskedTable ask(const TrainedModel& trained, const TableStream& data, const JudgeOptions& options) {
  const Execution& execution = options.execution;
  if (!trained.model->method().about().uses_response)
    throw Error(fmt::format("{} learns from no response, so there is no truth to hold it against",
                            trained.model->method().name()));
  const RowsOfData given = rows_to_judge(trained, data, options, execution.part(0, 0.3, "looking for missing values"));
  AskedTable out;
  out.answers = answers_of(trained, data, given, options, execution.part(0.3, 0.8, "predicting"));
  out.kept = given.kept;
  out.classes = given.rows->classes;
  out.notes = given.notes;
  out.honesty = honesty(trained, *given.rows, execution.part(0.8, 1, "looking for training rows"));
  return out;
}

Judgement judge(const TrainedModel& trained, const TableStream& data, const JudgeOptions& options) {
  const AnyModel& model = trained.model;
  if (!options.truth.empty() && model->task() != Task::clustering)
    throw Error(fmt::format("--truth is for clusters; {} is judged by its response '{}'", model->method().name(),
                            trained.design.target()));
  const Execution& execution = options.execution;
  const RowsOfData given = rows_to_judge(trained, data, options, execution.part(0, 0.2, "looking for missing values"));
  const Rows& rows = *given.rows;
  Judgement out = begun(model, rows, options);
  out.data = data.schema().source();
  out.notes = given.notes;
  Answers answers = answers_of(trained, data, given, options, execution.part(0.2, 0.6, "predicting"));
  if (!options.truth.empty()) answers.truth = truth_from(data, options.truth, given.kept);
  measure(model, rows, answers, options, execution.part(0.6, 0.65, "measuring"), out);
  out.honesty = honesty(trained, rows, execution.part(0.65, 0.85, "looking for training rows"));
  judging::add_bootstrap_bounds(answers, options, execution.part(0.85, 0.88, "drawing rows again"), out);
  judging::add_cluster_bounds(model, rows, answers, options, execution.part(0.88, 0.9, "drawing rows again"), out);
  out.leave_one_out =
      judging::leave_one_out(trained, *out.honesty, rows, answers.weight, execution.part(0.9, 1, "leaving rows out"));
  return out;
}

Judgement judge(const TrainedModel& trained, const Table& table, const JudgeOptions& options) {
  return judge(trained, MemoryTableStream(table), options);
}

}  // namespace lemma
