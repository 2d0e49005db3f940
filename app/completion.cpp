// app/completion.cpp: lemma completion bash|zsh|fish: completion scripts made from the commands' own descriptions.
#include "commands.hpp"
#include "flags.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/data/datasets.hpp>

namespace lemma::app {
namespace {

struct Flag {
  std::string name, meaning;
  bool takes_value;
};

std::vector<Flag> flags_of(const CLI::App& command) {
  std::vector<Flag> out;
  for (const CLI::Option* option : command.get_options())
    for (const auto& name : option->get_lnames())
      out.push_back({"--" + name, option->get_description(), option->get_items_expected_max() > 0});
  return out;
}

std::vector<const CLI::App*> commands_of(const CLI::App& tool) {
  const auto all = tool.get_subcommands([](const CLI::App*) { return true; });
  return {all.begin(), all.end()};
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string method_names() {
  std::vector<std::string> names;
  for (const Method* method : catalog()) names.push_back(method->name());
  return joined(names);
}

std::string names_of_flags(const std::vector<Flag>& flags) {
  std::vector<std::string> names;
  names.reserve(flags.size());
  for (const auto& flag : flags) names.push_back(flag.name);
  return joined(names);
}

/// 'quoted' for a shell.
std::string quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4) text.replace(at, 1, "'\\''");
  return "'" + text + "'";
}

std::string bash(const CLI::App& tool) {
  std::vector<std::string> names;
  std::string flags, params;
  for (const CLI::App* command : commands_of(tool)) {
    names.push_back(command->get_name());
    flags += fmt::format("    {}) flags={} ;;\n", command->get_name(), quoted(names_of_flags(flags_of(*command))));
  }
  for (const Method* method : catalog()) {
    std::vector<std::string> own;
    for (const auto& info : method->params()) own.push_back("--" + info.name);
    params += fmt::format("    {}) flags=\"$flags \"{} ;;\n", method->name(), quoted(joined(own)));
  }
  return fmt::format(R"(# bash completion for lemma
_lemma() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} flags=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W {} -- "$word"))
    return
  fi
  case $command in
{}  esac
  if [ "$command" = fit ]; then
    case ${{COMP_WORDS[2]}} in
{}    esac
  fi
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
  elif {{ [ "$command" = fit ] || [ "$command" = methods ]; }} && [ "$COMP_CWORD" -eq 2 ]; then
    COMPREPLY=($(compgen -W {} -- "$word"))
  else
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$word") $(compgen -W {} -- "$word"))
  fi
}}
complete -F _lemma lemma
)",
                     quoted(joined(names)), flags, params, quoted(method_names()), quoted(joined(dataset_names())));
}

std::string zsh(const CLI::App& tool) {
  std::string commands, cases;
  const auto escaped = [](std::string text, std::string_view special) {
    for (std::size_t i = 0; i < text.size(); ++i)
      if (special.find(text[i]) != std::string_view::npos) text.insert(i++, "\\");
    return text;
  };
  for (const CLI::App* command : commands_of(tool)) {
    commands += fmt::format("    {}\n", quoted(escaped(command->get_name(), ":") + ":" + command->get_description()));
    cases += fmt::format("    {})\n      _arguments \\\n", command->get_name());
    for (const auto& flag : flags_of(*command))
      cases += fmt::format("        {} \\\n", quoted(flag.name + "[" + escaped(flag.meaning, "[]:") + "]" +
                                                     (flag.takes_value ? ":value:_files" : "")));
    const bool takes_method = command->get_name() == "fit" || command->get_name() == "methods";
    cases +=
        fmt::format("        {} '*:data:{{_alternative \"files:file:_files\" \"sets:data set:({})\"}}'\n      ;;\n",
                    takes_method ? quoted("1:method:(" + method_names() + ")") : "", joined(dataset_names()));
  }
  return fmt::format(R"(#compdef lemma
_lemma() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
_lemma "$@"
)",
                     commands, cases);
}

std::string fish(const CLI::App& tool) {
  std::string out = "# fish completion for lemma\n";
  for (const CLI::App* command : commands_of(tool)) {
    out += fmt::format("complete -c lemma -n __fish_use_subcommand -a {} -d {}\n", command->get_name(),
                       quoted(command->get_description()));
    for (const auto& flag : flags_of(*command))
      out += fmt::format("complete -c lemma -n '__fish_seen_subcommand_from {}' -l {} {}-d {}\n", command->get_name(),
                         flag.name.substr(2), flag.takes_value ? "-r " : "", quoted(flag.meaning));
  }
  out += fmt::format("complete -c lemma -n '__fish_seen_subcommand_from fit methods' -a {} -d method\n",
                     quoted(method_names()));
  for (const Method* method : catalog())
    for (const auto& info : method->params())
      out += fmt::format("complete -c lemma -n '__fish_seen_subcommand_from {}' -l {} -r -d {}\n", method->name(),
                         info.name, quoted(info.meaning));
  out += fmt::format("complete -c lemma -n 'not __fish_use_subcommand' -a {} -d 'data set'\n",
                     quoted(joined(dataset_names())));
  return out;
}

}  // namespace

void add_completion(CLI::App& tool, Context& context) {
  auto shell = std::make_shared<std::string>();
  auto* command = add_command(tool, "completion", "print the completion script of a shell");
  add_option(*command, "SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer("Example: lemma completion bash > ~/.local/share/bash-completion/completions/lemma");
  command->callback([shell, &tool, &context] {
    context.print(*shell == "bash" ? bash(tool) : *shell == "zsh" ? zsh(tool) : fish(tool));
  });
}

}  // namespace lemma::app
