// app/actions.cpp: the commands of families: lemma NAME MODEL [--param value …] [-o OUT], one for each name that methods declare.
#include "actions.hpp"

#include "commands.hpp"
#include "flags.hpp"
#include "model_report.hpp"
#include "output.hpp"
#include "words.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/model/store.hpp>
#include <map>

namespace lemma::app {
namespace {

struct Action {
  std::string name, meaning, model, output;
  std::vector<std::string> methods;  // whose models have it
  std::span<const Method* const> catalog;
  bool help = false;
};

ActionInfo info_of(const Action& action, const Method& method) {
  for (ActionInfo& info : method.actions())
    if (info.name == action.name) return std::move(info);
  throw Error(fmt::format("'{}' is for models of {}, and this is a model of {}", action.name,
                          join_words(action.methods), method.name()));
}

void write_table(const Table& table, const Action& action, Context& context) {
  if (context.json) {
    Value out = Value::object();
    out.set("model", action.model);
    out.set("rows", table.rows());
    out.set("columns", to_value(table));
    return context.print_json(out);
  }
  write_rows(table, action.output, context);
}

void write_model(const TrainedModel& made, const Action& action, Context& context) {
  if (!action.output.empty()) {
    Output file(action.output, Output::Content::binary, context);
    file.write(encode(made));
    file.done();
    context.note("model written to " + file.name());
  }
  for (const auto& warning : made.model->warnings()) context.warn(warning);
  context.json ? context.print_json(fit_document(made)) : context.print(fit_text(made, context));
}

void act(const Action& action, const std::vector<std::string>& words, const std::vector<std::string>& flags,
         Context& context) {
  const TrainedModel trained = load(action.model, action.catalog);
  const ActionInfo info = info_of(action, trained.model->method());
  std::vector<std::string> inputs{action.model};
  const Value params = parse_words({info.name, fmt::format("lemma {} --help", info.name), info.params, flags}, words,
                                   Value::object(), inputs);
  if (!action.output.empty()) check_outputs({action.output}, inputs);
  const auto made = trained.act(info.name, params);
  if (const auto* table = std::get_if<Table>(&made)) write_table(*table, action, context);
  else write_model(std::get<TrainedModel>(made), action, context);
}

std::string help_of(const Action& action) {
  std::string out = fmt::format("lemma {} MODEL [--param value …] [-o OUT]: {}\n", action.name, action.meaning);
  for (const auto& name : action.methods) {
    const auto info = info_of(action, find_method(name, action.catalog));
    out += fmt::format("\nOf {}\n", name);
    for (const auto& param : info.params)
      out += fmt::format("  --{} ({}; default {})\n      {}\n", param.name, param.allowed, param.initial_text(),
                         wrap(param.meaning, 100, 6));
  }
  return out;
}

}  // namespace

void add_actions(CLI::App& tool, std::span<const Method* const> catalog, Context& context) {
  std::map<std::string, std::shared_ptr<Action>> actions;
  for (const Method* method : catalog)
    for (const ActionInfo& info : method->actions()) {
      auto& action = actions[info.name];
      if (!action) action = std::make_shared<Action>();
      action->name = info.name;
      action->meaning = info.meaning;
      action->catalog = catalog;
      action->methods.push_back(method->name());
    }
  for (const auto& [name, action] : actions) {
    auto* command = add_command(tool, name, action->meaning + " (" + join_words(action->methods) + ")");
    command->set_help_flag();
    command->allow_extras();
    add_option(*command, "MODEL", action->model, "a model file written by fit -o");
    add_option(*command, "-o,--output", action->output, "where to write the result");
    add_flag(*command, "-h,--help", action->help, "this text");
    command->callback([action, command, &context] {
      if (action->help) return context.print(help_of(*action));
      if (action->model.empty()) throw Error(fmt::format("{} needs a MODEL: a file written by fit -o", action->name));
      std::vector<std::string> flags;
      for (const CLI::Option* option : command->get_options())
        for (const auto& each : option->get_lnames()) flags.push_back("--" + each);
      act(*action, command->remaining(), flags, context);
    });
  }
}

}  // namespace lemma::app
