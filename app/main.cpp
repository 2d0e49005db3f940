// app/main.cpp: the `lemma` command: global options, the subcommands, exit codes.
#include "commands.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <lemma/core/error.hpp>
#include <new>

namespace {

using namespace lemma;
using namespace lemma::app;

/// Names of the options a subcommand takes, for "did you mean".
std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// CLI11's words for a wrong call, with the nearest flag or subcommand.
std::string explain(const CLI::App& tool, const CLI::ParseError& error) {
  const CLI::App* command = &tool;
  for (const CLI::App* chosen : tool.get_subcommands()) command = chosen;
  // What is missing may only be misspelt: an unknown flag is named first.
  auto extras = command->remaining(true);
  if (dynamic_cast<const CLI::RequiredError*>(&error) && !command->get_allow_extras())
    std::erase_if(extras, [](const std::string& word) { return !word.starts_with('-'); });
  else if (!dynamic_cast<const CLI::ExtrasError*>(&error)) extras.clear();
  if (!extras.empty()) {
    const std::string typed = extras.front().substr(0, extras.front().find('='));
    if (command == &tool && !typed.starts_with('-')) {
      std::vector<std::string> names;
      for (const CLI::App* each : tool.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(each->get_name());
      return "there is no command '" + typed + "'" + did_you_mean(typed, names) + "; 'lemma --help' lists them";
    }
    if (typed.starts_with('-'))
      return "'" + command->get_name() + "' takes no " + typed + did_you_mean(typed, option_names(*command)) +
             "; see 'lemma " + command->get_name() + " --help'";
    return "'" + typed + "' is one argument too many; see 'lemma " + command->get_name() + " --help'";
  }
  return std::string(error.what()) +
         (command == &tool ? "; see 'lemma --help'" : "; see 'lemma " + command->get_name() + " --help'");
}

/// The options of every command: they may stand before it or after it.
void add_globals(CLI::App& app, Context& context) {
  app.add_flag("--json", context.json, "one JSON document on standard output")->group("Everywhere");
  app.add_flag("--quiet,-q", context.quiet, "no notes and no progress")->group("Everywhere");
  app.add_option("--seed", context.seed, "seed of everything random")->capture_default_str()->group("Everywhere");
  app.add_option("--threads", context.threads, "threads to use (default: LEMMA_NUM_THREADS, or all CPUs)")
      ->check(CLI::Range(1, 4096))
      ->group("Everywhere");
  app.add_flag("--no-color", context.no_color, "no colours, even on a terminal")->group("Everywhere");
}

int run(int argc, char** argv, Context& context) {
  CLI::App tool("Statistical learning whose answers carry their proof.", "lemma");
  tool.require_subcommand(0, 1);
  tool.set_help_flag("--help,-h", "this text");
  bool version = false, verbose = false;
  tool.add_flag("--version", version, "print the version");
  tool.add_flag("--verbose", verbose, "with --version: the libraries and CPU kernels in use");
  add_globals(tool, context);
  for (const auto add : {add_describe, add_split, add_fit, add_predict, add_evaluate, add_verify, add_update, add_anova,
                         add_methods, add_datasets, add_completion, add_man})
    add(tool, context);
  for (CLI::App* command : tool.get_subcommands([](CLI::App*) { return true; })) add_globals(*command, context);
  tool.footer(
      "DATA is a CSV, .npy or LIBSVM file, '-' for standard input, or a built-in set such as iris.\n"
      "Exit code: 0 done, 1 the answer is no, 2 the call or the data is wrong, 3 the machine failed, 130 cancelled.\n"
      "'lemma COMMAND --help' tells more; 'lemma fit METHOD --help' tells all about a method.");
  try {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    take_method_params(tool, arguments, context);
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    tool.parse(std::move(arguments));
  } catch (const CLI::Success& help) { return tool.exit(help); } catch (const CLI::ParseError& error) {
    throw Error(explain(tool, error));
  }
  if (version) context.print(version_text(verbose));
  else if (tool.get_subcommands().empty()) context.print(tool.help());
  return context.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  Context context;
  catch_interrupt();
  try {
    return run(argc, argv, context);
  } catch (const Error& error) {
    context.error(error.what());
    return kWrongCall;
  } catch (const Cancelled&) {
    context.error("cancelled; nothing was written");
    return kCancelled;
  } catch (const std::bad_alloc&) {
    context.error("out of memory; with --memory a file is read in blocks");
    return kMachineFailed;
  } catch (const std::exception& error) {
    context.error(error.what());
    return kMachineFailed;
  }
}
