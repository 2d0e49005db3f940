// app/anova.cpp: lemma anova MODEL MODEL… and lemma anova MODEL --data DATA: what the terms of a linear model are worth.
#include "commands.hpp"
#include "data_options.hpp"
#include "flags.hpp"
#include "model_report.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/params.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/store.hpp>
#include <lemma/select/inflation.hpp>

namespace lemma::app {
namespace {

struct Anova {
  std::vector<std::string> models;
  DataOptions data;
  std::string test;
  bool drop = false, vif = false;
};

AnovaTable table_of(const Anova& options, const std::vector<TrainedModel>& models, const Context& context) {
  std::optional<TermTest> test;
  if (!options.test.empty()) test = static_cast<TermTest>(choose("--test", options.test, choices_of<TermTest>()));
  if (options.vif) {
    if (models.size() > 1 || options.drop || test) throw Error("--vif is of one model, and of no test");
    return inflation_of(models.front());
  }
  if (models.size() > 1) {
    if (options.drop) throw Error("--drop looks at the terms of one model, and there are several");
    return compare_models(models, test);
  }
  const TrainedModel& model = models.front();
  if (test == TermTest::wald) return wald_tests(model);
  fitness_of(model);  // is it a model with terms to test?
  if (options.data.data.empty())
    throw Error(
        "one model is taken apart by fitting it again without some terms: add --data with the rows it was fitted "
        "on, use --test wald, or give a second model");
  TrainOptions how;
  how.memory = options.data.limit();
  how.fit.threads = context.execution().threads;
  how.fit.progress = context.progress();
  const auto data = options.data.stream(context);
  const Verification same = model.verify(*data, how.memory, context.execution());
  if (!same.same_rows)
    throw Error(fmt::format("{} does not hold the {} rows the model was fitted on", options.data.data,
                            model.origin.rows.rows()));
  const Refit refit(model, *data, how);
  return options.drop ? drop_terms(model, refit, test) : sequential_anova(model, refit, test);
}

/// Data instead of a second model: a slip that deserves more than "no such file".
void require_no_data(const std::string& path) {
  if (!std::filesystem::exists(path) && find_dataset(path))
    throw Error(fmt::format("'{}' is a data set and not a model; data are given as --data {}", path, path));
}

void anova(const Anova& options, Context& context) {
  std::vector<TrainedModel> models;
  for (const auto& path : options.models) {
    require_no_data(path);
    models.push_back(load(path, catalog()));
    print_notes(models.back(), path, context);
  }
  const AnovaTable table = table_of(options, models, context);
  if (!context.json) return context.print(table.str());
  Value out = Value::object();
  out.set("models", options.models);
  std::vector<std::string> formulas;
  formulas.reserve(models.size());
  for (const auto& model : models) formulas.push_back(model.design.formula_text());
  out.set("formulas", formulas);
  out.set("table", table.to_value());
  context.print_json(out);
}

}  // namespace

void add_anova(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Anova>();
  auto* command = add_command(tool, "anova", "compare nested models, or test each term of one");
  add_option(*command, "MODEL", options->models, "ols or glm models written by fit -o, nested; or one of them")
      ->required();
  options->data.add(*command);
  command->remove_option(command->get_option("DATA"));
  add_option(*command, "--data", options->data.data, "of one model: the rows it was fitted on, to fit it again");
  add_option(*command, "--test", options->test,
             "lrt (drop in deviance, chi-squared), f, or wald (one model, needs no data)");
  add_flag(*command, "--drop", options->drop, "of one model: each term dropped in turn, instead of added in order");
  add_flag(*command, "--vif", options->vif, "of one model: variance inflation of each term, which needs no data");
  options->data.add_memory(*command);
  command->footer(
      "Examples: lemma anova small.lemma large.lemma\n"
      "          lemma fit glm pima_train 'type ~ .' -o m.lemma && lemma anova m.lemma --data pima_train --drop");
  command->callback([options, &context] { anova(*options, context); });
}

}  // namespace lemma::app
