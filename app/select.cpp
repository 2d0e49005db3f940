// app/select.cpp: lemma select DATA FORMULA: which columns tell something of the response, by filter, search, lasso or knockoffs.
#include "commands.hpp"
#include "data_options.hpp"
#include "flags.hpp"
#include "ledger_flags.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/hash.hpp>
#include <lemma/core/params.hpp>
#include <lemma/core/text.hpp>
#include <lemma/select/choose.hpp>
#include <lemma/validate/ledger.hpp>

namespace lemma::app {
namespace {

struct SelectFlags {
  std::string formula, by, filter = "auto", method, score, missing, weights, task, sample = "half", over;
  std::optional<double> beta, false_discoveries, bins, neighbors, ignore, k, size;
  int folds = 10, samples = 100;
  double holdout = 0.2, share = 0.75;
  DataOptions data;
  LedgerFlags ledger;
};

/// The filter with what was said of it; a number that it does not take is refused by its name.
Select filter_of(const SelectFlags& flags) {
  Value filter = Value::object(), params = Value::object();
  filter.set("kind", flags.filter);
  for (const auto& [name, value] : {std::pair{"bins", &flags.bins},
                                    {"neighbors", &flags.neighbors},
                                    {"ignore", &flags.ignore},
                                    {"beta", &flags.beta}})
    if (*value) filter.set(name, **value);
  if (!flags.over.empty()) filter.set("over", flags.over);
  params.set("filter", filter);
  if (flags.k) params.set("k", *flags.k);
  if (flags.false_discoveries && flags.by != "knockoffs") params.set("false_discoveries", *flags.false_discoveries);
  return *Valid<Select>(from_value<Select>(params));
}

ChooseOptions options_of(const SelectFlags& flags, const Context& context) {
  ChooseOptions out;
  if (!flags.by.empty()) out.by = static_cast<ChooseBy>(choose("--by", flags.by, choices_of<ChooseBy>()));
  out.filter = filter_of(flags);
  if (!flags.method.empty()) out.method = parse_method(flags.method);
  if (!flags.score.empty())
    out.score = static_cast<ChooseScore>(choose("--score", flags.score, choices_of<ChooseScore>()));
  if (flags.size) out.size = static_cast<Index>(*flags.size);
  out.folds = flags.folds;
  out.samples = flags.samples;
  out.holdout = flags.holdout;
  out.share = flags.share;
  out.sample = static_cast<StabilitySample>(choose("--sample", flags.sample, choices_of<StabilitySample>()));
  if (flags.false_discoveries) out.false_discoveries = *flags.false_discoveries;
  if (!flags.missing.empty()) out.train.design.missing = parse_missing(flags.missing);
  if (!flags.task.empty())
    out.train.design.response =
        choose("--task", flags.task, {"classification", "regression"}) == 0 ? ResponseAs::classes : ResponseAs::numbers;
  out.train.design.weights = flags.weights;
  out.train.memory = flags.data.limit();
  out.train.fit.seed = context.seed;
  out.train.fit.threads = context.execution().threads;
  out.train.fit.progress = context.progress();
  return out;
}

void select(const SelectFlags& flags, Context& context) {
  const ChooseOptions options = options_of(flags, context);
  const auto data = flags.data.stream(context);
  const ColumnChoice found = choose_columns(options, formula(flags.formula), *data);
  with_ledger(flags.ledger, flags.data, *data, context, [&](Ledger& ledger, const RowsPrint& rows) {
    const std::string by = flags.by.empty() ? "filter" : flags.by;
    ledger.add(RowsUsed::selected, rows, flags.data.data, fmt::format("{:016x}", hash_text(by + " | " + flags.formula)),
               "", by);
  });
  if (context.json) return context.print_json(found.to_value());
  context.print(found.text());
  for (const auto& note : found.notes) context.note(wrap("note: " + note, 98, 2));
}

}  // namespace

void add_select(CLI::App& tool, Context& context) {
  auto flags = std::make_shared<SelectFlags>();
  auto* command = add_command(tool, "select", "which columns tell something of the response");
  flags->data.add(*command);
  add_option(*command, "FORMULA", flags->formula, "y ~ . or the columns to choose from")->required();
  add_option(*command, "--by", flags->by,
             "filter (each column alone), forward, backward, both, best (subsets), lasso, importance, stability or "
             "knockoffs (default: filter)");
  add_option(*command, "--filter", flags->filter,
             "t, welch, fisher, threshold, margin, auc, correlation, anova, chi_squared, information, "
             "neighbor_information, incremental (default: anova for classes, correlation for numbers)");
  add_option(*command, "--k", flags->k, "filter: how many columns to keep (default: half of them)");
  add_option(*command, "--false-discoveries", flags->false_discoveries,
             "filter, knockoffs: the share of false columns allowed among those kept, on average");
  add_option(*command, "--bins", flags->bins, "of chi_squared, information, incremental");
  add_option(*command, "--over", flags->over, "of information: both (symmetric uncertainty) or column (gain ratio)");
  add_option(*command, "--beta", flags->beta, "of incremental: the price of what chosen columns tell");
  add_option(*command, "--neighbors", flags->neighbors, "of neighbor_information");
  add_option(*command, "--ignore", flags->ignore, "of margin: outliers of each class that do not count");
  add_option(*command, "--method", flags->method,
             "whose errors judge a subset (default: ols for numbers, lda for classes)");
  add_option(
      *command, "--score", flags->score,
      "of subsets: aic, bic, adjusted_r_squared or cp of least squares, or errors on rows set apart: holdout, cross, "
      "loo or bootstrap (default: bic of ols, else cross)");
  add_option(*command, "--size", flags->size, "of subsets: how many columns");
  add_option(*command, "--folds", flags->folds, "of --score cross")->capture_default_str();
  add_option(*command, "--holdout", flags->holdout, "share of rows held out (holdout, importance)")
      ->capture_default_str();
  add_option(*command, "--samples", flags->samples, "of stability, and of --score bootstrap")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  add_option(*command, "--sample", flags->sample, "of stability: half of the rows, or bootstrap")
      ->capture_default_str();
  add_option(*command, "--share", flags->share, "of the samples that a stable column is chosen in")
      ->capture_default_str();
  add_option(*command, "--weights", flags->weights, "column of frequencies: weight k is k copies of the row")
      ->group("Data");
  add_option(*command, "--missing", flags->missing, "as for fit")->group("Data");
  add_option(*command, "--task", flags->task, "classification or regression (default: by the type of the response)")
      ->group("Data");
  flags->data.add_memory(*command);
  flags->ledger.add(*command);
  command->footer(
      "Examples: lemma select pima_train 'type ~ .' --filter t --k 3\n"
      "          lemma select boston 'medv ~ .' --by best --score bic\n"
      "          lemma select pima_train 'type ~ .' --by forward --method logistic\n"
      "Columns chosen with all rows make any later estimate on these rows too good: 'select | lda' as METHOD of fit\n"
      "chooses anew wherever it is fitted.");
  command->callback([flags, &context] { select(*flags, context); });
}

}  // namespace lemma::app
