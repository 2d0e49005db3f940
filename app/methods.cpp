// app/methods.cpp: lemma methods [METHOD]
#include "commands.hpp"
#include "flags.hpp"
#include "method_help.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/text.hpp>
#include <lemma/plot/model.hpp>

namespace lemma::app {
namespace {

Value describe_method(const Method& method) {
  const auto& about = method.about();
  Value params = Value::object();
  for (const auto& info : method.params()) {
    Value one = Value::object();
    one.set("default", info.initial);
    one.set("allowed", info.allowed);
    one.set("meaning", info.meaning);
    params.set(info.name, one);
  }
  Value out = Value::object();
  out.set("method", method.name());
  out.set("family", about.family);
  out.set("task", name_of(about.task));
  out.set("summary", about.summary);
  out.set("objective", about.objective);
  out.set("example", about.example);
  out.set("scans", about.scans);
  out.set("sparse", about.takes_sparse);
  out.set("keeps_rows", about.keeps_rows);
  out.set("updates", name_of(method.updates()));
  out.set("params", params);
  std::vector<std::string> pictures;
  for (const plot::ModelPicture& each : plot::pictures_of(method)) pictures.emplace_back(each.name);
  out.set("pictures", pictures);
  return out;
}

void list(Context& context) {
  if (context.json) {
    Value::List all;
    for (const Method* method : catalog()) all.push_back(describe_method(*method));
    return context.print_json(Value(all));
  }
  std::vector<std::string> names, tasks, summaries, families;
  for (const Method* method : catalog()) {
    names.push_back(method->name());
    families.emplace_back(method->about().family);
    tasks.emplace_back(name_of(method->about().task));
    summaries.emplace_back(method->about().summary);
  }
  context.print(TextTable()
                    .words("method", names)
                    .words("task", tasks)
                    .words("family", families)
                    .words("what it does", summaries)
                    .str());
  std::vector<std::string> updated;
  for (const Method* method : catalog())
    if (method->updates() != UpdateKind::none) updated.push_back(method->name());
  context.print("\nNew rows alone update models of " + join_words(updated, updated.size()) + " ('lemma update').\n");
  context.print("'lemma methods NAME' tells all about one; methods compose: 'scale | pca(components=2) | lda'.\n");
}

}  // namespace

void add_methods(CLI::App& tool, Context& context) {
  auto name = std::make_shared<std::string>();
  auto* command = add_command(tool, "methods", "list the methods, or tell all about one");
  add_option(*command, "METHOD", *name, "a method's name");
  auto markdown = std::make_shared<bool>(false);
  add_flag(*command, "--markdown", *markdown, "only the parameter table, as it stands on the method's page");
  command->callback([name, markdown, &context] {
    if (name->empty()) return list(context);
    const Method& method = find_method(*name, catalog());
    if (context.json) return context.print_json(describe_method(method));
    context.print(*markdown ? params_markdown(method) : method_help(method));
  });
}

}  // namespace lemma::app
