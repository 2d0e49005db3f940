// app/main.cpp: the `lemma` command: global options, the subcommands, exit codes.
#include "actions.hpp"
#include "commands.hpp"
#include "elsewhere.hpp"
#include "flags.hpp"
#include "neighbors.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <lemma/catalog.hpp>
#include <lemma/core/cpu.hpp>
#include <lemma/core/error.hpp>
#include <new>
#include <sstream>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

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
  const std::string see =
      command == &tool ? "; see 'lemma --help'" : "; see 'lemma " + command->get_name() + " --help'";
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
      return "there is no command '" + typed + "'" + command_here(typed, names) + "; 'lemma --help' lists them";
    }
    if (typed.starts_with('-'))
      return "'" + command->get_name() + "' takes no " + typed + flag_here(typed, option_names(*command)) + see;
    return "'" + typed + "' is one argument too many" + see;
  }
  const std::string said = error.what(),
                    missing = ": 1 required TEXT missing";  // CLI11's words for a flag without its value
  if (const auto end = said.find(missing); end != std::string::npos)
    for (const CLI::Option* option : command->get_options())
      if (const std::string name = said.substr(0, end); option->check_name(name))
        return name + " needs a value: " + option->get_description() + see;
  return said + see;
}

/// The options of every command: they may stand before it or after it.
void add_globals(CLI::App& app, Context& context) {
  add_flag(app, "--json", context.json, "one JSON document on standard output")->group("Everywhere");
  add_flag(app, "--quiet,-q", context.quiet, "no notes and no progress")->group("Everywhere");
  add_flag(app, "--progress", context.show_progress, "progress as lines of text, where there is no terminal for a bar")
      ->group("Everywhere");
  add_option(app, "--seed", context.seed, "seed of everything random")
      ->check([](const std::string& text) {
        std::uint64_t seed = 0;
        const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), seed);
        return status == std::errc() && stop == text.data() + text.size()
                   ? std::string()
                   : "must be a whole number of at least 0, and it is '" + text + "'";
      })
      ->capture_default_str()
      ->group("Everywhere");
  add_option(app, "--threads", context.threads, "threads to use (default: LEMMA_NUM_THREADS, or all CPUs)")
      ->check(CLI::Range(1, 4096))
      ->group("Everywhere");
  add_option(app, "--simd", context.simd,
             "the widest vector units to use: baseline, avx2 or avx512 (default: LEMMA_SIMD, or all the CPU has)")
      ->type_name("LEVEL")
      ->group("Everywhere");
  add_flag(app, "--portable", context.portable,
           "the same bits on every CPU with AVX2 (default: LEMMA_PORTABLE; slower where there is AVX-512)")
      ->group("Everywhere");
  add_flag(app, "--no-color", context.no_color, "no colours, even on a terminal")->group("Everywhere");
}

/// The vector units are chosen before any work. A flag outweighs both variables of the environment.
void choose_simd(const Context& context) {
  SimdChoice choice;
  if (context.simd.empty() && !context.portable) choice = simd_choice_of_environment();
  if (!context.simd.empty()) choice.level = simd_level_named(context.simd, "--simd");
  choice.portable = choice.portable || context.portable;
  set_simd(choice);
}

int run(int argc, char** argv, Context& context) {
  CLI::App tool("Statistical learning whose answers carry their proof.", "lemma");
  tool.require_subcommand(0, 1);
  tool.set_help_flag("--help,-h", "this text");
  bool version = false, verbose = false;
  add_flag(tool, "--version", version, "print the version");
  add_flag(tool, "--verbose", verbose, "with --version: the libraries and CPU kernels in use");
  add_globals(tool, context);
  for (const auto add :
       {add_describe,     add_split,     add_fit,      add_predict,    add_evaluate, add_cross,  add_tune,
        add_compare,      add_curve,     add_decide,   add_generate,   add_risk,     add_bound,  add_bias_variance,
        add_score_curves, add_bootstrap, add_ledger,   add_verify,     add_show,     add_sample, add_neighbors,
        add_images,       add_vq,        add_effect,   add_update,     add_anova,    add_select, add_plot,
        add_report,       add_methods,   add_datasets, add_completion, add_man})
    add(tool, context);
  add_actions(tool, catalog(), context);
  for (CLI::App* command : tool.get_subcommands([](CLI::App*) { return true; })) add_globals(*command, context);
  tool.parse_complete_callback([&] { choose_simd(context); });
  tool.footer(
      "DATA is a CSV, .npy or LIBSVM file, a folder of texts or images, '-' for standard input, or a built-in set such "
      "as iris.\n"
      "Exit code: 0 done, 1 the answer is no, 2 the call or the data is wrong, 3 the machine failed,\n"
      "130, 143, 129 cancelled by Ctrl-C, SIGTERM, SIGHUP (what there is is kept, and said).\n"
      "'lemma COMMAND --help' tells more; 'lemma fit METHOD --help' tells all about a method.");
  try {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    join_curve_words(arguments);
    take_method_params(tool, arguments, context);
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    tool.parse(std::move(arguments));
  } catch (const CLI::Success& help) {
    std::ostringstream text;
    tool.exit(help, text, text);
    context.print(text.str());
    return kDone;
  } catch (const CLI::ParseError& error) { throw Error(explain(tool, error)); }
  if (version) context.print(version_text(verbose));
  else if (tool.get_subcommands().empty()) context.print(tool.help());
  return context.exit_code;
}

/// What helps with a large table, and with nothing else that is large: all pairs of rows, say.
constexpr const char* kBlocks =
    "; where the table is what is large, --memory 500M reads it in blocks, for methods that work by passes over the "
    "rows";

int guarded(int argc, char** argv, Context& context) {
  try {
    return run(argc, argv, context);
  } catch (const Error& error) {
    context.error(error.what());
    return kWrongCall;
  } catch (const Cancelled&) {
    context.error("cancelled; " + (context.written.empty() ? "nothing was written" : context.written));
    return kSignal + interrupted();
  } catch (const std::bad_alloc&) {
    context.error(std::string("out of memory") + kBlocks);
  } catch (const std::system_error& error) {
    context.error(std::string("the system has not enough left: ") + error.what());
  } catch (const std::exception& error) { context.error(error.what()); }
  return kMachineFailed;
}

/// Without memory there is no way back through the callers: Eigen frees a matrix before it asks for a larger one, and
/// frees it again when that fails. So the process ends where it is, from whatever thread, with what was needed. Files that
/// are being written have no name yet.
[[noreturn]] void out_of_memory(std::size_t wanted) {
  constexpr std::size_t kMegabyte = std::size_t{1} << 20;
  std::array<char, 100> needed{"more is needed than there is"}, limit{};
  rlimit allowed{};
  if (wanted > 0)
    std::snprintf(needed.data(), needed.size(), "%zu MB more are needed", (wanted + kMegabyte - 1) / kMegabyte);
  if (::getrlimit(RLIMIT_AS, &allowed) == 0 && allowed.rlim_cur != RLIM_INFINITY)
    std::snprintf(limit.data(), limit.size(), " (ulimit -v allows %zu MB in all)",
                  static_cast<std::size_t>(allowed.rlim_cur / kMegabyte));
  std::array<char, 500> text{};
  const int length = std::snprintf(text.data(), text.size(), "%slemma: error: out of memory: %s%s%s\n",
                                   ::isatty(STDERR_FILENO) ? "\r\x1b[K" : "", needed.data(), limit.data(), kBlocks);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), static_cast<std::size_t>(length));
  ::_exit(kMachineFailed);
}

}  // namespace

// The linker brings every malloc of the tool and of Lemma here (--wrap), which Eigen's matrices come from.
extern "C" {
void* __real_malloc(std::size_t bytes);
void* __wrap_malloc(std::size_t bytes) {
  void* const memory = __real_malloc(bytes);
  if (!memory && bytes > 0) out_of_memory(bytes);
  return memory;
}
}

int main(int argc, char** argv) {
  hold_standard_descriptors();
  std::set_new_handler([] { out_of_memory(0); });
  catch_signals();
  Context context;
  return context.finish(guarded(argc, argv, context));
}
