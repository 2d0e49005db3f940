// app/fit.cpp: lemma fit METHOD DATA FORMULA [--param value …] [-o MODEL]
#include "commands.hpp"
#include "data_options.hpp"
#include "flags.hpp"
#include "ledger_flags.hpp"
#include "method_help.hpp"
#include "model_report.hpp"
#include "output.hpp"
#include "words.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/params.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/matrix_stream.hpp>
#include <lemma/model/store.hpp>
#include <lemma/select/inflation.hpp>
#include <lemma/select/stepwise.hpp>

namespace lemma::app {
namespace {

struct Fit {
  std::string method, formula, output, coding = "treatment", missing, weights, precision, cluster, id, from, task;
  std::string stepwise, stepwise_k, scope, scope_lower;
  DataOptions data;
  LedgerFlags ledger;
  bool help = false, strict = false, vif = false;
};

/// The methods that flags choose inside a method (--base tree): only they know which parameters there are (--base.depth).
Value with_methods_inside(const Method& method, const std::vector<std::string>& words, Value params) {
  for (bool found = true; found;) {
    found = false;
    for (const auto& info : params_of(method, params)) {
      if (info.kind != ParamInfo::Kind::method) continue;
      const std::string flag = "--" + info.name;
      for (std::size_t i = 0; i < words.size(); ++i) {
        const bool joined = words[i].starts_with(flag + "=");
        if (!joined && (words[i] != flag || i + 1 >= words.size())) continue;
        Value before = params;
        set_path(params, info.name, Value(joined ? words[i].substr(flag.size() + 1) : words[i + 1]));
        found = found || !(before == params);
      }
    }
  }
  return params;
}

/// The method's own parameters: --name value, --name=value, or --flag for true. What nobody knows is among them too.
/// `files` are those they were read from.
Value method_params(const Method& method, const std::vector<std::string>& words, Value params,
                    const std::vector<std::string>& own_flags, std::vector<std::string>& files) {
  for (const auto& word : words)
    for (const char* flag : {"--formula", "--data", "--method"})
      if (word.substr(0, word.find('=')) == flag)
        throw Error(fmt::format("there is no {}: write lemma fit {} DATA 'y ~ .', in this order", flag, method.name()));
  params = with_methods_inside(method, words, std::move(params));
  const auto infos = params_of(method, params);
  return parse_words({method.name(), fmt::format("lemma fit {} --help", method.name()), infos, own_flags}, words,
                     std::move(params), files);
}

/// The formula as typed, and before any data is read; nothing where a method without a response may choose its columns.
std::optional<Formula> formula_typed(const Fit& options, const Method& method) {
  if (!options.formula.empty()) return formula(options.formula);
  if (!method.about().uses_response) return {};
  throw Error(fmt::format("{} needs a formula: what is predicted ~ from what, such as 'y ~ .' for all other columns",
                          method.name()));
}

/// All columns, but for classes where the method works with numbers: a class is seldom meant to be a distance. What fills in
/// missing values does so in all.
Formula formula_of_all(const Method& method, const Value& params, const Table& schema, const Context& context) {
  const Needs needs = method.needs(params);
  const bool one_step = method.name().find('|') == std::string::npos;
  const bool fills = needs.missing && one_step && method.about().task == Task::transformation;
  std::string text = "~ .";
  std::vector<std::string> classes;
  for (const auto& column : schema.all()) {
    if (column.type() != ColumnType::categorical || needs.codes || fills) continue;
    text += " - " + to_text(Expression{Expression::Kind::name, column.name});
    classes.push_back(column.name);
  }
  if (!classes.empty())
    context.note(fmt::format("note: left out, being {}: {}; a formula such as '~ .' takes {} too",
                             classes.size() == 1 ? "classes" : "columns of classes", join_words(classes),
                             classes.size() == 1 ? "it" : "them"));
  return formula(text);
}

/// The coefficients of an existing model, or the weights of a network, as the place to start from; their columns.
std::vector<std::string> start_from(const std::string& path, const Method& method, FitOptions& options) {
  if (path.empty()) return {};
  if (!method.about().takes_start)
    throw Error(fmt::format("{} cannot start from a model; leave out --from", method.name()));
  const TrainedModel model = load(path, catalog());
  if (const auto map = model.model->affine()) {
    options.start.resize(map->a.rows(), map->a.cols() + 1);
    options.start << map->b, map->a;
    return model.names().features;
  }
  const Value state = model.model->save();
  const Value* weights = model.model->method().name() == method.name() ? state.find("weights") : nullptr;
  if (!weights)
    throw Error(
        fmt::format("{}: {} has nothing that {} could start from", path, model.model->method().name(), method.name()));
  options.start = weights->as_vector("weights").transpose();
  return model.names().features;
}

/// How to search for terms; nothing when the formula is to be taken as it stands.
std::optional<StepwiseOptions> search_of(const Fit& options) {
  if (options.stepwise.empty()) {
    for (const auto& [flag, value] : {std::pair{"--stepwise-k", &options.stepwise_k},
                                      {"--scope", &options.scope},
                                      {"--scope-lower", &options.scope_lower}})
      if (!value->empty())
        throw Error(fmt::format("{} is for a search: add --stepwise backward, forward or both", flag));
    return {};
  }
  StepwiseOptions out;
  out.direction =
      static_cast<StepwiseDirection>(choose("--stepwise", options.stepwise, choices_of<StepwiseDirection>()));
  out.upper = options.scope;
  out.lower = options.scope_lower;
  if (options.stepwise_k.empty() || options.stepwise_k == "aic") return out;
  if (options.stepwise_k == "bic") {
    out.k.reset();
    return out;
  }
  ParamInfo number;
  number.name = "stepwise-k";
  number.range = above(0);
  number.allowed = "aic, bic, or a number above 0";
  out.k = parse_param(number, options.stepwise_k, "fit").as_double();
  if (!number.range.contains(*out.k))
    throw Error(fmt::format("--stepwise-k is {}, must be {}", options.stepwise_k, number.allowed));
  return out;
}

void report(const TrainedModel& trained, const Stepwise* chosen, bool vif, const std::string& written,
            Context& context) {
  for (const auto& warning : trained.model->warnings()) context.warn(warning);
  for (const auto& note : trained.notes) context.note("note: " + note);
  if (context.json) {
    Value document = fit_document(trained);
    if (chosen) document.set("stepwise", chosen->to_value());
    if (vif) document.set("inflation", inflation_of(trained).to_value());
    return context.print_json(document);
  }
  if (chosen) context.print(chosen->trace() + "\n");
  context.print(fit_text(trained, context));
  if (vif) context.print("\n" + inflation_of(trained).str());
  if (!written.empty()) context.note("model written to " + written);
}

void fit(const Fit& options, const std::vector<std::string>& words, const std::vector<std::string>& flags,
         Context& context) {
  Value params;
  const auto method = method_from(options.method, catalog(), params);
  if (options.help) return context.print(method_help(*method));
  if (options.data.data.empty())
    throw Error(fmt::format("fit {} needs DATA: a file, '-' or a built-in set; see 'lemma fit {} --help'",
                            options.method, options.method));
  std::vector<std::string> inputs{options.data.data};
  params = method_params(*method, words, std::move(params), flags, inputs);
  method->check(params);  // before any data is read

  const auto search = search_of(options);
  if (options.vif && method->name() != "ols" && method->name() != "glm")
    throw Error(fmt::format("--vif is for ols and glm, and this is {}", method->name()));
  const std::optional<Formula> typed = formula_typed(options, *method);
  TrainOptions how;
  how.design.coding = static_cast<Coding>(choose("--coding", options.coding, {"treatment", "sum", "one-hot"}));
  if (!options.missing.empty()) how.design.missing = parse_missing(options.missing);
  if (!options.task.empty())
    how.design.response = choose("--task", options.task, {"classification", "regression"}) == 0 ? ResponseAs::classes
                                                                                                : ResponseAs::numbers;
  how.design.weights = options.weights;
  how.design.precision = options.precision;
  how.id = options.id;
  how.design.cluster = options.cluster;
  how.memory = options.data.limit();
  how.fit.seed = context.seed;
  how.fit.threads = context.execution().threads;
  how.fit.progress = context.progress();

  std::optional<Output> output;
  if (!options.from.empty()) inputs.push_back(options.from);
  if (!options.output.empty()) {
    check_outputs({options.output}, inputs);
    output.emplace(options.output, Output::Content::binary, context);
  }
  const std::vector<std::string> columns = start_from(options.from, *method, how.fit);
  // Of rows that weigh, or have names, more is needed than the columns of the formula; of steps, columns in any order.
  const bool as_they_stand = typed && !needs_whole_table(options.ledger, options.data) && options.weights.empty() &&
                             options.precision.empty() && options.cluster.empty() && options.id.empty() &&
                             options.stepwise.empty();
  auto data = options.data.where_it_lies(context, [&](const std::vector<std::string>& names) {
    return as_they_stand ? columns_as_they_are(*typed, names) : std::nullopt;
  });
  const Formula f = typed ? *typed : formula_of_all(*method, params, data->schema(), context);
  std::optional<Stepwise> chosen;
  if (search) chosen = stepwise(method, params, f, *data, how, *search);
  const TrainedModel trained = chosen ? chosen->model : train(method, params, f, *data, how);
  if (!columns.empty() && columns != trained.names().features)
    context.note(fmt::format(
        "note: the columns of {} are not those of this fit; it started from their numbers all the same", options.from));
  const std::string written = output ? output->name() : "";
  if (output) {
    const auto rows = rows_for_ledger(options.ledger, options.data, *data, context);
    data.reset();  // a model that keeps its rows is written from a copy of its own
    const auto bytes = encode(trained);
    output->write(bytes);
    output->done();
    if (rows)
      with_ledger(options.ledger, options.data, context, [&](Ledger& ledger) {
        ledger.add(RowsUsed::fitted, *rows, options.data.data, model_id(bytes), options.output, method->name());
      });
  }
  report(trained, chosen ? &*chosen : nullptr, options.vif, written, context);
  if (trained.model->certificate().fails() || (options.strict && !trained.model->warnings().empty()))
    context.exit_code = kAnswerIsNo;
  tell_if_cancelled(written, context);
}

/// How many of the words that follow this one belong to it, for the options the tool knows; nothing for others.
std::optional<int> values_of(const CLI::App& command, const std::string& word) {
  if (!word.starts_with('-')) return {};
  const std::string name = word.substr(0, word.find('='));
  for (const CLI::Option* option : command.get_options())
    if (option->check_name(name)) return word.size() == name.size() ? option->get_items_expected_max() : 0;
  return {};
}

/// The first word from `at` on that is neither an option nor the value of one.
std::size_t first_word(const CLI::App& command, const std::vector<std::string>& arguments, std::size_t at) {
  for (; at < arguments.size(); ++at) {
    const auto values = values_of(command, arguments[at]);
    if (values) at += *values > 0 ? 1 : 0;
    else if (!is_flag(arguments[at])) break;
  }
  return at;
}

}  // namespace

void take_method_params(const CLI::App& tool, std::vector<std::string>& arguments, Context& context) {
  const CLI::App& command = *tool.get_subcommand("fit");
  const std::size_t chosen = first_word(tool, arguments, 0);
  if (chosen >= arguments.size() || arguments[chosen] != "fit") return;
  const std::size_t place = first_word(command, arguments, chosen + 1);
  if (place >= arguments.size()) return;
  Value params;
  const auto method = method_from(arguments[place], catalog(), params);
  const auto infos = params_of(*method, with_methods_inside(*method, arguments, params));
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string flag = arguments[i].substr(0, arguments[i].find('='));
    const auto info =
        std::find_if(infos.begin(), infos.end(), [&](const ParamInfo& each) { return "--" + each.name == flag; });
    const bool of_method = flag == "--precision" && !method->about().takes_precision;  // of networks: 4 bytes or 8
    if (i < place || info == infos.end() || (values_of(command, arguments[i]) && !of_method)) {
      rest.push_back(arguments[i]);
      continue;
    }
    context.method_words.push_back(arguments[i]);
    if (flag.size() == arguments[i].size() && is_value(*info, arguments, i + 1))
      context.method_words.push_back(arguments[++i]);
  }
  arguments = std::move(rest);
}

void add_fit(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Fit>();
  auto* command = add_command(tool, "fit", "fit a method to a table by a formula");
  command->set_help_flag();
  command->allow_extras();
  add_option(*command, "METHOD", options->method, "a method, or a pipeline such as 'scale | pca(components=5) | lda'");
  options->data.add(*command);
  command->get_option("DATA")->required(false);
  add_option(*command, "FORMULA", options->formula,
             "'y ~ .', 'y ~ a + log(b)', '~ a + b' (unsupervised), 'u:v ~ .' (joint class)");
  add_option(*command, "-o,--output", options->output, "where to write the model (.lemma); - is standard output")
      ->each(check_named);
  add_option(*command, "--weights", options->weights, "column of frequencies: weight k is k copies of the row")
      ->group("Data");
  add_option(*command, "--precision", options->precision,
             "column of inverse variances (R's lm weights); of networks: single or double")
      ->group("Data");
  add_option(*command, "--cluster", options->cluster,
             "ols, glm: column whose equal values are one cluster, for standard errors by clusters")
      ->group("Data");
  add_option(*command, "--missing", options->missing,
             "missing values: error, drop, mean, median, mode (default: error, or native where the method takes them)")
      ->group("Data");
  add_option(*command, "--coding", options->coding, "of categories: treatment, sum, one-hot")
      ->capture_default_str()
      ->group("Data");
  add_option(*command, "--id", options->id,
             "column that names the rows: left out of '.', kept where results speak of single rows")
      ->group("Data");
  options->data.add_memory(*command);
  options->ledger.add(*command);
  add_option(*command, "--task", options->task,
             "classification or regression, for methods that do both; by default the type of the response decides")
      ->group("Data");
  add_option(*command, "--stepwise", options->stepwise, "ols, glm: choose the terms: backward, forward or both");
  add_option(*command, "--stepwise-k", options->stepwise_k,
             "what a coefficient costs in the search: aic (2, the default), bic (log n), or a number");
  add_option(*command, "--scope", options->scope,
             "terms that may join in the search besides those of the formula: '~ . + a:b'");
  add_option(*command, "--scope-lower", options->scope_lower, "terms that may not leave in the search: '~ a'");
  add_flag(*command, "--vif", options->vif, "ols, glm: variance inflation of each term too");
  add_option(*command, "--from", options->from,
             "a model whose coefficients, or weights, the work starts from (.lemma)");
  add_flag(*command, "--strict", options->strict, "exit with 1 when there are warnings");
  add_flag(*command, "-h,--help", options->help, "this text; after a METHOD all about it");
  command->footer("Examples: lemma fit lda iris 'species ~ .' -o iris.lemma\n          lemma fit ols --help");
  command->callback([options, command, &context] {
    if (options->method.empty()) {
      if (!options->help) throw Error("fit needs a METHOD; 'lemma methods' lists them");
      return context.print(command->help());
    }
    std::vector<std::string> flags;
    for (const CLI::Option* option : command->get_options())
      for (const auto& name : option->get_lnames()) flags.push_back("--" + name);
    auto words = context.method_words;
    for (const auto& unknown : command->remaining()) words.push_back(unknown);
    fit(*options, words, flags, context);
  });
}

}  // namespace lemma::app
