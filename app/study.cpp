// app/study.cpp
#include "study.hpp"
#include "flags.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/hash.hpp>
#include <lemma/validate/ledger/standing.hpp>

namespace lemma::app {
namespace {

int whole(const char* flag, double value) {
  if (value != std::floor(value) || std::abs(value) > 1e9)
    throw Error(fmt::format("{} is {}, must be a whole number", flag, value));
  return static_cast<int>(value);
}

/// 'y ~ .'
bool takes_all_columns(const std::string& formula) {
  const auto tilde = formula.find('~');
  const auto first = tilde == std::string::npos ? tilde : formula.find_first_not_of(' ', tilde + 1);
  return first != std::string::npos && formula[first] == '.';
}

}  // namespace

void Study::add(CLI::App& command) {
  data.add(command);
  add_option(command, "FORMULA", formula, "'y ~ .', 'y ~ a + log(b)', 'u:v ~ .' (joint class)")->required();
  add_option(command, "--weights", weights, "column of frequencies: weight k is k copies of the row")->group("Data");
  add_option(command, "--missing", missing, "as for fit; what is filled in is learned from the training rows alone")
      ->group("Data");
  add_option(command, "--coding", coding, "of categories: treatment, sum, one-hot")
      ->capture_default_str()
      ->group("Data");
  add_option(command, "--task", task, "classification or regression, for methods that do both")->group("Data");
  add_flag(command, "--leave-out-unseen", leave_out_unseen,
           "rows with a level that no training row has are not judged (default: an error)")
      ->group("Data");
  ledger.add(command);
}

void Study::record(RowsUsed use, const TableStream& stream, const std::string& method, const Context& context,
                   const std::string& model_id, const std::string& model) const {
  with_ledger(ledger, data, stream, context, [&](Ledger& book, const RowsPrint& rows) {
    const std::string id = model_id.empty() ? fmt::format("{:016x}", hash_text(method + " | " + formula)) : model_id;
    book.add(use, rows, data.data, id, model, method);
    if (takes_all_columns(formula)) return;  // whatever was selected before is not what is judged here
    for (const auto& chosen : book.chosen_by(rows))
      if (chosen.entry.use == RowsUsed::selected)
        return context.warn(
            fmt::format("{}: an estimate of columns that were chosen by the same rows is too good; "
                        "'select | {}' as METHOD chooses them anew in every fold",
                        chosen_words(chosen, rows.rows), method));
  });
}

void Study::add_plan(CLI::App& command) {
  add_option(command, "--plan", plan_name,
             "how rows are set apart: folds (default), holdout, loo, time, given, bootstrap, balanced, 632 or 632+")
      ->group("Plan");
  add_option(command, "--folds", folds, "parts of the rows, or blocks of time (default 10)")->group("Plan");
  add_option(command, "--repeats", repeats, "times that folds, or a holdout, are drawn anew (default 1)")
      ->group("Plan");
  add_option(command, "--test", test, "share of the rows that a holdout judges by (default 0.2)")->group("Plan");
  add_option(command, "--samples", samples, "bootstrap samples (default 200)")->group("Plan");
  add_option(command, "--group", group, "column whose equal entries stay together: patients, plots")->group("Plan");
  add_option(command, "--time", time, "column by which rows are in order; what comes later never trains")
      ->group("Plan");
  add_option(command, "--fold", fold, "column that says to which fold a row belongs (folds of your own)")
      ->group("Plan");
  add_flag(command, "--stratify", stratify,
           "each part has its share of every class, or tenth of a number (default: of classes)")
      ->group("Plan");
  add_flag(command, "--no-stratify", no_stratify, "classes are not kept in proportion")->group("Plan");
}

Formula Study::parsed() const { return lemma::formula(formula); }

std::shared_ptr<const TableStream> Study::read(const Context& context) const { return data.stream(context); }

ExperimentOptions Study::experiment(const Context& context) const {
  ExperimentOptions out;
  out.design.coding = static_cast<Coding>(choose("--coding", coding, {"treatment", "sum", "one-hot"}));
  if (!missing.empty()) out.design.missing = parse_missing(missing);
  if (!task.empty())
    out.design.response =
        choose("--task", task, {"classification", "regression"}) == 0 ? ResponseAs::classes : ResponseAs::numbers;
  out.design.weights = weights;
  out.leave_out_unseen = leave_out_unseen;
  out.execution = context.execution();
  return out;
}

Plan Study::plan() const {
  Plan out;
  if (!plan_name.empty()) out.kind = static_cast<PlanKind>(choose("--plan", plan_name, choices_of<PlanKind>()));
  else if (!fold.empty()) out.kind = PlanKind::given;
  else if (!time.empty()) out.kind = PlanKind::time;
  const bool folded = out.kind == PlanKind::folds || out.kind == PlanKind::time,
             repeated = out.kind == PlanKind::folds || out.kind == PlanKind::holdout,
             held = out.kind == PlanKind::holdout, drawn = out.draws_with_replacement();
  const auto refuse = [&](bool given, bool allowed, const char* flag, const char* plans) {
    if (given && !allowed)
      throw Error(fmt::format("--plan {} has no {}: that is of {}", name_of(out.kind), flag, plans));
  };
  refuse(folds.has_value(), folded, "--folds", "folds and time");
  refuse(repeats.has_value(), repeated, "--repeats", "folds and holdout");
  refuse(test.has_value(), held, "--test", "holdout");
  refuse(samples.has_value(), drawn, "--samples", "the bootstrap");
  refuse(stratify, repeated, "--stratify", "folds and holdout");
  if (folds) out.folds = whole("--folds", *folds);
  if (repeats) out.repeats = whole("--repeats", *repeats);
  if (test) out.test = *test;
  if (samples) out.samples = whole("--samples", *samples);
  if (stratify && no_stratify) throw Error("--stratify and --no-stratify: choose one");
  if (stratify) out.stratify = true;
  if (no_stratify) out.stratify = false;
  out.group = group;
  out.time = time;
  out.fold = fold;
  return *Valid<Plan>(out);
}

CrossOptions Study::cross(const Context& context) const {
  CrossOptions out;
  out.experiment = experiment(context);
  out.seed = context.seed;
  out.execution = context.execution();
  return out;
}

void tell(const std::vector<Leak>& leaks, const std::vector<std::string>& notes, const Context& context) {
  for (const auto& leak : leaks)
    if (leak.kind == Leak::Kind::equal_rows) context.note("note: " + leak.sentence);  // real data have equal rows
    else context.warn(leak.sentence);
  for (const auto& note : notes) context.note("note: " + note);
}

}  // namespace lemma::app
