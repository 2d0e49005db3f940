// app/man.cpp: lemma man: the manual page, made from the commands' own descriptions.
#include "commands.hpp"
#include "flags.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/version.hpp>

namespace lemma::app {
namespace {

/// Text as roff takes it: a backslash is \e, a minus \-, and a line must not begin with a full stop or quote.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += std::string("\\&") + c;
    else out += c;
  }
  return out;
}

std::string option_entry(const CLI::Option& option) {
  std::string names;
  for (const auto& name : option.get_snames()) names += (names.empty() ? "" : ", ") + ("\\fB\\-" + roff(name) + "\\fR");
  for (const auto& name : option.get_lnames())
    names += (names.empty() ? "" : ", ") + ("\\fB\\-\\-" + roff(name) + "\\fR");
  if (names.empty()) names = "\\fI" + roff(option.get_name(true)) + "\\fR";
  else if (option.get_items_expected_max() > 0) names += " \\fIVALUE\\fR";
  const std::string initial = option.get_default_str().empty() ? "" : " (default " + option.get_default_str() + ")";
  return fmt::format(".TP\n{}\n{}\n", names, roff(option.get_description() + initial));
}

std::string options_of(const CLI::App& app) {
  std::string out;
  for (const CLI::Option* option : app.get_options())
    if (!app.get_parent() || option->get_group() != "Everywhere") out += option_entry(*option);
  return out;
}

std::string page(const CLI::App& tool) {
  std::string out = fmt::format(
      ".TH LEMMA 1 \"\" \"lemma {}\" \"User Commands\"\n.SH NAME\nlemma \\- statistical learning whose answers carry "
      "their proof\n",
      kVersion);
  out += ".SH SYNOPSIS\n.B lemma\n\\fICOMMAND\\fR [\\fIOPTION\\fR ...]\n.SH DESCRIPTION\n";
  out += roff(
      "DATA is a CSV, .npy or LIBSVM file, a folder of texts or images, '-' for standard input, or the name of a "
      "built-in data "
      "set. FORMULA follows "
      "R: "
      "'y ~ .', 'y ~ a + log(b) + poly(c, 2) + d:e - 1', '~ a + b' without a response, 'u:v ~ .' for a joint class.\n");
  out += ".SH GLOBAL OPTIONS\n" + options_of(tool) + ".SH COMMANDS\n";
  for (const CLI::App* command : tool.get_subcommands([](const CLI::App*) { return true; }))
    out += fmt::format(".SS lemma {}\n{}\n{}.PP\n{}\n", command->get_name(), roff(command->get_description()),
                       options_of(*command), roff(command->get_footer()));
  out += ".SH METHODS\n";
  for (const Method* method : catalog()) {
    out += fmt::format(".SS {}\n{}\n.PP\n{}\n", method->name(), roff(method->about().summary),
                       roff(method->about().objective));
    for (const auto& info : method->params())
      out += fmt::format(".TP\n\\fB\\-\\-{}\\fR\n{}\n", roff(info.name),
                         roff(info.meaning + " (" + info.allowed + "; default " + info.initial_text() + ")"));
    out += fmt::format(".PP\nExample: {}\n", roff(method->about().example));
  }
  out +=
      ".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\ndone, but the answer is no: a certificate does not hold, verify "
      "disagrees, --strict found something\n"
      ".TP\n2\nthe call, the formula or the data is wrong\n.TP\n3\nthe disk, memory or another part of the machine "
      "failed, or something could not be written\n.TP\n130, 143, 129\ncancelled by Ctrl\\-C, SIGTERM or SIGHUP: what "
      "there "
      "is is kept, and said; a second signal ends at once\n";
  out += ".SH FILES\n";
  out += roff(
      "A file given with -o appears whole or not at all. A file that is there is replaced and keeps its mode; a "
      "symbolic "
      "link is followed; a device, a FIFO or /dev/fd/N is written to; - is standard output. A file that is also read "
      "is "
      "refused.\n");
  out +=
      ".SH ENVIRONMENT\n.TP\nLEMMA_NUM_THREADS\nthreads to use when \\-\\-threads is not given\n.TP\nNO_COLOR\nno "
      "colours\n.TP\nOPENBLAS_CORETYPE\nkernels of the BLAS; chosen for this CPU when not set\n";
  return out;
}

}  // namespace

void add_man(CLI::App& tool, Context& context) {
  auto* command = add_command(tool, "man", "print the manual page (roff)");
  command->footer("Example: lemma man | man -l -");
  command->callback([&tool, &context] { context.print(page(tool)); });
}

}  // namespace lemma::app
