// app/method_help.cpp
#include "method_help.hpp"

#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/plot/model.hpp>

namespace lemma::app {
namespace {

std::string takes(const MethodAbout& about) {
  std::string out;
  const auto say = [&](bool yes, const char* what) {
    if (yes) out += (out.empty() ? "" : ", ") + std::string(what);
  };
  say(about.takes_weights, "--weights");
  say(about.takes_precision, "--precision");
  say(about.takes_clusters, "--cluster");
  say(about.takes_offset, "offset()");
  say(about.takes_missing, "missing values");
  say(about.takes_counts, "cbind(successes, failures)");
  say(about.takes_sparse, "sparse files (LIBSVM)");
  say(about.random, "--seed");
  say(about.scans, "files larger than memory (--memory)");
  return out.empty() ? "nothing more" : out;
}

std::string parts_text(const Method& method) {
  std::vector<std::string> names, meanings;
  for (const PartInfo& part : method.parts()) {
    const bool asked = part.given != Given::by_default;
    names.push_back(asked ? fmt::format("[{}]", part.name) : std::string(part.name));
    meanings.emplace_back(part.meaning);
    if (const auto way = method.way_to(part.name); !way.empty()) meanings.back() += fmt::format(" (with {})", way);
  }
  TextTable::Layout plain;
  plain.indent = 2;
  plain.header = false;
  return names.empty() ? "  none: its results are about the training rows\n"
                       : TextTable().words("", names).words("", meanings).str(plain);
}

/// "residuals*, effects*, coefficients"
std::string pictures_text(const Method& method) {
  std::string out;
  for (const plot::ModelPicture& each : plot::pictures_of(method))
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", each.name, each.of_rows ? "*" : "");
  return out;
}

}  // namespace

std::string method_help(const Method& method) {
  const auto& about = method.about();
  std::string out = fmt::format(
      "{}: {}\n\n  {}\n\nUsage: lemma fit {} DATA {} [--param value …] [-o MODEL]\n", method.name(), about.summary,
      about.objective, method.name().find('|') == std::string::npos ? method.name() : "'" + method.name() + "'",
      about.uses_response ? "FORMULA" : "[FORMULA]");
  const auto params = method.params();
  if (!params.empty()) out += "\nParameters\n";
  for (const auto& info : params) {
    out += fmt::format("  --{} ({}; default {})\n", info.name, info.allowed, info.initial_text());
    out += "      " +
           wrap(info.meaning + (info.only_when.empty() ? "" : " (only when " + info.only_when + ")"), 100, 6) + "\n";
  }
  out += "\nResults\n";
  std::vector<std::string> names, meanings;
  for (const auto& field : method.results()) {
    if (field.shown != Shown::result) continue;
    names.push_back(field.name);
    meanings.push_back(field.meaning);
  }
  TextTable::Layout plain;
  plain.indent = 2;
  plain.header = false;
  out += TextTable().words("", names).words("", meanings).str(plain);
  out += "\nPredictions ('lemma predict --what NAME'; those in brackets have to be asked for)\n" + parts_text(method);
  out +=
      "\nPictures ('lemma plot MODEL KIND'; those with * need DATA; some only of few columns, or of two classes)\n  " +
      wrap(pictures_text(method), 98, 2) + "\n";
  if (method.updates() != UpdateKind::none)
    out += fmt::format(
        "\n'lemma update' takes new rows in without the old ones: the result is {}.\n",
        method.updates() == UpdateKind::exact ? "the fit to all rows" : "near the fit to all rows, as its page says");
  out += fmt::format("\nAlso takes: {}\n'lemma fit --help' lists the options for the data.\n", takes(about));
  out += fmt::format("\nExample\n  {}\n", about.example);
  return out;
}

std::string params_markdown(const Method& method) {
  std::string out = "| parameter | values | default | meaning |\n|---|---|---|---|\n";
  for (const auto& info : method.params())
    out += fmt::format("| `--{}` | {} | {} | {}{} |\n", info.name, info.allowed, info.initial_text(), info.meaning,
                       info.only_when.empty() ? "" : " (only when " + info.only_when + ")");
  return out;
}

}  // namespace lemma::app
