// app/decide.cpp: lemma decide MODEL [DATA] --loss loss.csv --reject 0.1: Bayes' rule after a classifier, kept with the model.
#include "commands.hpp"
#include "data_options.hpp"
#include "flags.hpp"
#include "ledger_flags.hpp"
#include "output.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/core.h>
#include <lemma/bayes/decide.hpp>
#include <lemma/catalog.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/read.hpp>
#include <lemma/metric/decision.hpp>
#include <lemma/model/store.hpp>
#include <lemma/validate/judge.hpp>
#include <lemma/validate/ledger.hpp>

namespace lemma::app {
namespace {

struct DecideCall {
  std::string model, losses, missing, weights, output;
  std::optional<double> reject;
  DataOptions data;
  LedgerFlags ledger;
};

/// A table with a column for each class, by its name, and a row for each: in the order of the classes, or named by a column of texts.
Matrix losses_from(const std::string& path, const std::vector<std::string>& classes) {
  const Table table = read_table(path, {});
  const auto count = static_cast<Index>(classes.size());
  std::vector<std::string> rows = classes;
  for (const Column& column : table.all()) {
    if (std::find(classes.begin(), classes.end(), column.name) != classes.end()) continue;
    if (column.type() == ColumnType::numeric)
      throw Error(fmt::format("{}: column '{}' is no class{}; the classes are {}", path, column.name,
                              did_you_mean(column.name, classes), join_words(classes, 20)));
    rows.clear();
    for (Index i = 0; i < column.rows(); ++i) rows.push_back(column.text(i));
  }
  if (table.rows() != count)
    throw Error(fmt::format("{} has {}; losses of {} classes need a row for each true class, in the order {}", path,
                            count_of(table.rows(), "row"), count, join_words(classes, 20)));
  Matrix out(count, count);
  for (Index k = 0; k < count; ++k) {
    const auto row = std::find(rows.begin(), rows.end(), classes[at(k)]);
    if (row == rows.end()) throw Error(fmt::format("{} has no row for the true class '{}'", path, classes[at(k)]));
    for (Index l = 0; l < count; ++l) {
      const Column* column = table.find(classes[at(l)]);
      if (!column || column->type() != ColumnType::numeric)
        throw Error(fmt::format("{} has no column of numbers for the decision '{}'", path, classes[at(l)]));
      out(k, l) = column->numbers().values[at(row - rows.begin())];
    }
  }
  require_losses(out, count);
  return out;
}

std::string rule_text(const TrainedModel& trained) {
  const auto& rule = *model_cast<DecideModel>(trained.model);
  const auto summary = rule.summary(trained.names());
  return summary.substr(0, summary.size() - rule.base->summary(trained.names()).size());
}

/// What the rule costs on rows whose classes are known, beside the most probable class, which does not look at the losses.
struct OnRows {
  AskedTable asked;
  DecisionScore decided, most_probable;
  std::optional<BestThreshold> threshold;
};
OnRows on_rows(const TrainedModel& trained, const TableStream& data, const JudgeOptions& how) {
  const auto& rule = *model_cast<DecideModel>(trained.model);
  OnRows out;
  out.asked = ask(trained, data, how);
  const Answers& answers = out.asked.answers;
  const Matrix losses = rule.losses();
  const auto decide = [&](const Matrix& by, const std::optional<double>& reject) {
    return bayes_decisions(answers.probabilities, by, reject).chosen;
  };
  out.decided =
      score_decisions(answers.label, decide(losses, rule.spec.reject), losses, rule.spec.reject, answers.weight);
  out.most_probable =
      score_decisions(answers.label, decide(zero_one_losses(losses.rows()), {}), losses, {}, answers.weight);
  if (losses.rows() == 2)
    out.threshold = best_threshold(answers.label, Vector(answers.probabilities.col(1)), losses, 1, answers.weight);
  return out;
}

Value document_of(const OnRows& found) {
  Value out = Value::object();
  out.set("rows", found.asked.kept.count());
  out.set("equal_to_training_rows", to_value(found.asked.honesty));
  out.set("measures", to_value(measures(found.decided)));
  out.set("decisions", found.decided.counts);
  out.set("cost_of_most_probable", found.most_probable.cost);
  if (found.threshold) {
    out.set("best_threshold", found.threshold->threshold);
    out.set("cost_at_best_threshold", found.threshold->cost);
  }
  out.set("notes", found.asked.notes);
  return out;
}

std::string text_of_rows(const OnRows& found, const TrainedModel& trained, const std::string& data) {
  const auto& classes = found.asked.classes;
  std::string out = fmt::format("\nOn {}: {}\n{}\n\n", data, count_of(found.asked.kept.count(), "row"),
                                wrap(found.asked.honesty.sentence, 98));
  std::vector<std::string> names, values, bounds, meanings;
  for (const auto& measure : measures(found.decided)) {
    names.push_back(measure.name);
    values.push_back(format_significant(measure.value, 4));
    bounds.push_back(measure.bounds ? fmt::format("[{}, {}]", format_significant(measure.bounds->lower, 3),
                                                  format_significant(measure.bounds->upper, 3))
                                    : "");
    meanings.push_back(measure.meaning);
  }
  out += TextTable()
             .words("measure", names)
             .right("value", values)
             .words("95 % interval", bounds)
             .words("what it is", meanings)
             .str();
  TextTable table;
  table.words("true \\ decided", classes);
  const bool withheld = model_cast<DecideModel>(trained.model)->spec.reject.has_value();
  for (Index l = 0; l < found.decided.counts.cols() - (withheld ? 0 : 1); ++l) {
    std::vector<std::string> cells;
    for (const double count : found.decided.counts.col(l)) cells.push_back(format_significant(count, 10));
    table.right(l < std::ssize(classes) ? classes[at(l)] : "withheld", cells);
  }
  out += "\n" + table.str();
  out += fmt::format("\nThe most probable class, whatever mistakes cost, would cost {} here.\n",
                     format_significant(found.most_probable.cost, 4));
  if (found.threshold)
    out += wrap(fmt::format(
                    "On these rows the threshold {} on the probability of {} costs least: {}. It was found by looking "
                    "at them, so that new rows cost more.",
                    format_significant(found.threshold->threshold, 4), classes[1],
                    format_significant(found.threshold->cost, 4)),
                98) +
           "\n";
  return out;
}

void decide(const DecideCall& options, Context& context) {
  const bool has_data = !options.data.data.empty();
  if (!has_data && (!options.weights.empty() || !options.missing.empty()))
    throw Error("--weights and --missing are about DATA, and none is given");
  if (!options.output.empty()) {
    std::vector<std::string> inputs{options.model};
    if (has_data) inputs.push_back(options.data.data);
    if (!options.losses.empty()) inputs.push_back(options.losses);
    check_outputs({options.output}, inputs);
  }
  std::optional<Output> output;
  if (!options.output.empty()) output.emplace(options.output, Output::Content::binary, context);
  const auto file = read_file(options.model);
  TrainedModel trained = decode(file, catalog(), options.model);
  if (trained.model->task() != Task::classification)
    throw Error(
        fmt::format("{} is for {}; only classes are decided for", options.model, name_of(trained.model->task())));
  std::optional<Matrix> losses;
  if (!options.losses.empty()) losses = losses_from(options.losses, trained.design.classes());
  trained.model = decided_by(trained.model, losses, options.reject);
  trained.method = parse_method("decide").shared();
  Value document = Value::object();
  document.set("model", options.model);
  document.set("method", model_cast<DecideModel>(trained.model)->base->method().name());
  document.set("classes", trained.design.classes());
  document.set("losses", model_cast<DecideModel>(trained.model)->losses());
  document.set("reject", options.reject ? Value(*options.reject) : Value());
  if (!context.json) context.print(rule_text(trained).substr(0, rule_text(trained).find_last_not_of('\n') + 2));
  if (has_data) {
    JudgeOptions how;
    if (!options.missing.empty()) how.missing = parse_missing(options.missing);
    how.weights = options.weights;
    how.execution = context.execution();
    const auto data = options.data.stream(context);
    const OnRows found = on_rows(trained, *data, how);
    for (const auto& note : found.asked.notes) context.note("note: " + note);
    with_ledger(options.ledger, options.data, *data, context, [&](Ledger& ledger, const RowsPrint& rows) {
      ledger.add(RowsUsed::evaluated, rows, options.data.data, model_id(file), options.model,
                 trained.model->method().name());
    });
    if (context.json) document.set("on_rows", document_of(found));
    else context.print(text_of_rows(found, trained, options.data.data));
  }
  if (output) {
    output->write(encode(trained));
    output->done();
  }
  if (context.json) context.print_json(document);
  if (output) context.note(fmt::format("the model with its rule is in {}", output->name()));
}

}  // namespace

void add_decide(CLI::App& tool, Context& context) {
  auto options = std::make_shared<DecideCall>();
  auto* command =
      add_command(tool, "decide", "Bayes' rule after a classifier: mistakes that cost, rows better withheld");
  add_option(*command, "MODEL", options->model, "a classifier with probabilities, written by fit -o")->required();
  options->data.add(*command);
  command->remove_option(command->get_option("DATA"));
  add_option(*command, "DATA", options->data.data, "rows with their classes, to see what the rule costs (optional)");
  add_option(*command, "--loss", options->losses,
             "CSV file: what it costs to say the class of a column where that of a row is true (default: 1 a mistake)");
  add_option(*command, "--reject", options->reject, "what it costs to say nothing (default: something is always said)");
  add_option(*command, "-o,--output", options->output, "where to write the model with its rule; predict follows it")
      ->each(check_named);
  add_option(*command, "--weights", options->weights, "column of frequencies: weight k is k copies of the row")
      ->group("Data");
  add_option(*command, "--missing", options->missing, "as for evaluate")->group("Data");
  options->ledger.add(*command);
  command->footer(
      "Example: printf 'No,Yes\\n0,1\\n10,0\\n' > loss.csv && lemma fit lda pima_train 'type ~ .' -o lda.lemma && "
      "lemma decide "
      "lda.lemma pima_test --loss loss.csv --reject 0.3 -o careful.lemma");
  command->callback([options, &context] { decide(*options, context); });
}

}  // namespace lemma::app
