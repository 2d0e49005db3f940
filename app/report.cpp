// app/report.cpp: lemma report DATA FORMULA and lemma report MODEL DATA: one page about data and methods, or about a model.
#include "commands.hpp"
#include "data_options.hpp"
#include "flags.hpp"
#include "output.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/store.hpp>
#include <lemma/report/report.hpp>
#include <lemma/select/search_space.hpp>

namespace lemma::app {
namespace {

namespace fs = std::filesystem;

struct ReportCall {
  std::string second, output, format, methods, metric, missing, model;
  DataOptions data;
};

enum class PageFormat { html, markdown };

PageFormat format_of(const ReportCall& call) {
  const auto ends = [&](const char* end) { return call.output.ends_with(end); };
  if (call.format == "html") return PageFormat::html;
  if (call.format == "markdown" || call.format == "md") return PageFormat::markdown;
  if (!call.format.empty()) throw Error(fmt::format("--format is '{}', must be html or markdown", call.format));
  if (ends(".html") || ends(".htm")) return PageFormat::html;
  if (ends(".md") || call.output.empty() || is_stdout(call.output)) return PageFormat::markdown;
  throw Error(fmt::format("'{}' ends neither in .html nor in .md: --format says what to write", call.output));
}

/// MODEL DATA, or DATA FORMULA.
void sort_words(ReportCall& call) {
  const std::string typed = call.data.data;
  if (typed.ends_with(".lemma")) {
    if (call.second.empty())
      throw Error(fmt::format("which rows? 'lemma report {} DATA' looks at the model on DATA", typed));
    call.model = typed, call.data.data = call.second, call.second.clear();
    return;
  }
  if (call.second.empty())
    throw Error(
        fmt::format("a report on {} needs a FORMULA: 'y ~ .' compares methods that predict y, '~ .' looks for "
                    "clusters",
                    typed));
  if (call.second.find('~') == std::string::npos)
    throw Error(
        fmt::format("'{}' is no formula: '{} ~ .' predicts that column from the others", call.second, call.second));
}

/// How files are read: what other commands on the same data, or on parts of it, need too.
std::vector<std::string> reading_flags(const DataOptions& data) {
  std::vector<std::string> out;
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) out.insert(out.end(), {flag, value});
  };
  add("--delimiter", data.delimiter), add("--decimal", data.decimal), add("--header", data.header);
  add("--comment", data.comment), add("--ragged", data.ragged), add("--encoding", data.encoding);
  for (const auto& each : data.types) add("--type", each);
  for (const auto& each : data.levels) add("--levels", each);
  for (const auto& each : data.na) add("--na", each);
  for (const auto& each : data.na_only) add("--na-only", each);
  if (data.skip > 0) add("--skip", std::to_string(data.skip));
  // a built-in set knows which of its numbers are codes of classes; a file made of it does not
  const DatasetInfo* known = fs::exists(data.data) ? nullptr : find_dataset(data.data);
  if (known && !known->categorical.empty()) {
    const Table table = dataset(known->name);
    for (const Column& column : table.all()) {
      const bool codes =
          (" " + std::string(known->categorical) + " ").find(" " + column.name + " ") != std::string::npos;
      if (codes || known->categorical == "*") add("--type", column.name + "=categorical");
    }
  }
  return out;
}

std::vector<std::string> choosing_flags(const DataOptions& data) {
  std::vector<std::string> out;
  if (!data.where.empty()) out.insert(out.end(), {"--where", data.where});
  if (!data.rows.empty()) out.insert(out.end(), {"--rows", data.rows});
  return out;
}

std::string typed_again(const ReportCall& call, const reporting::ReportOptions& options, const Context& context) {
  std::vector<std::string> words{"lemma", "report"};
  if (!call.model.empty()) words.push_back(call.model);
  words.push_back(call.data.data);
  if (call.model.empty()) words.push_back(call.second);
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  add("--methods", call.methods), add("--metric", call.metric), add("--missing", call.missing);
  if (context.seed != 1) add("--seed", std::to_string(context.seed));
  const bool built_in = !fs::exists(call.data.data) && find_dataset(call.data.data);
  if (!built_in) words.insert(words.end(), options.reading.begin(), options.reading.end());
  words.insert(words.end(), options.choosing.begin(), options.choosing.end());
  if (!call.output.empty()) add("-o", fs::path(call.output).filename().string());
  return reporting::command_line(words);
}

/// report.md has its pictures in report_pictures/.
std::string folder_of(const ReportCall& call) {
  if (call.output.empty() || is_stdout(call.output)) return "";
  return fs::path(call.output).stem().string() + "_pictures";
}

void write_pictures(const ReportCall& call, const reporting::MarkdownPage& page, const std::string& folder,
                    Context& context) {
  if (folder.empty() || page.pictures.empty()) return;
  const fs::path place = fs::path(call.output).parent_path() / folder;
  std::error_code failed;
  fs::create_directories(place, failed);
  if (failed) throw MachineError(fmt::format("{} cannot be made: {}", place.string(), failed.message()));
  for (const auto& [name, svg] : page.pictures) {
    Output file((place / name).string(), Output::Content::text, context);
    file.write(svg);
    file.done();
  }
}

Index pictures_in(const reporting::Document& document) {
  Index out = 0;
  for (const auto& section : document.sections)
    for (const auto& block : section.blocks) out += std::holds_alternative<reporting::Picture>(block);
  return out;
}

Value document_of(const ReportCall& call, const reporting::Report& report, std::size_t bytes) {
  Value out = Value::object();
  out.set("data", call.data.data);
  if (call.model.empty()) out.set("formula", call.second);
  else out.set("model", call.model);
  out.set("best", report.best);
  std::vector<std::string> titles;
  for (const auto& section : report.document.sections) titles.push_back(section.title);
  out.set("sections", titles);
  out.set("pictures", pictures_in(report.document));
  out.set("bytes", static_cast<std::int64_t>(bytes));
  if (!call.output.empty()) out.set("file", call.output);
  out.set("cancelled", report.cancelled);
  return out;
}

void tell(const ReportCall& call, const reporting::Report& report, std::size_t bytes, Context& context) {
  if (context.json) context.print_json(document_of(call, report, bytes));
  const int signal = interrupted();
  if (report.cancelled && signal != 0) {
    context.warn(call.output.empty() ? "cancelled: what is shown is as far as it came"
                                     : fmt::format("cancelled: the report as far as it came is in {}", call.output));
    context.exit_code = kSignal + signal;
  } else if (!call.output.empty() && !context.json) {
    context.note(fmt::format("report written to {}: {}, {}{}", call.output,
                             count_of(pictures_in(report.document), "picture"),
                             format_bytes(static_cast<double>(bytes)),
                             report.best.empty() || !call.model.empty() ? "" : "; the best method is " + report.best));
  }
}

void run(ReportCall call, Context& context) {
  sort_words(call);
  const PageFormat format = format_of(call);
  if (context.json && (call.output.empty() || is_stdout(call.output)))
    throw Error("--json tells of a report that is written: -o says where");
  std::optional<Output> file;
  if (!call.output.empty()) {
    check_outputs({call.output}, {call.data.data, call.model});
    file.emplace(call.output, Output::Content::text, context);
  }
  reporting::ReportOptions options;
  options.seed = context.seed;
  options.metric = call.metric;
  if (!call.methods.empty()) options.methods = split_outside_brackets(call.methods);
  if (!call.missing.empty()) options.missing = parse_missing(call.missing);
  options.data = call.data.data;
  options.reading = reading_flags(call.data), options.choosing = choosing_flags(call.data);
  options.command = typed_again(call, options, context);
  options.execution = context.execution();
  reporting::Report found;
  if (call.model.empty()) {
    found = reporting::report_on(call.data.table(context), call.second, options);
  } else {
    const TrainedModel trained = load(call.model, catalog());
    found = reporting::report_on(trained, call.model, call.data.table(context), options);
  }
  std::string page;
  if (format == PageFormat::html) {
    page = reporting::to_html(found.document);
  } else {
    const std::string folder = folder_of(call);
    const reporting::MarkdownPage written = reporting::to_markdown(found.document, folder);
    write_pictures(call, written, folder, context);
    page = written.text;
  }
  if (file) {
    file->write(page);
    file->done();
  } else {
    context.print(page);
  }
  tell(call, found, page.size(), context);
}

}  // namespace

void add_report(CLI::App& tool, Context& context) {
  auto call = std::make_shared<ReportCall>();
  auto* command = add_command(tool, "report", "one page about data and the methods that suit them, or about a model");
  call->data.add(*command,
                 "CSV, .npy or LIBSVM file, '-' for standard input, or a built-in data set; or a model file "
                 "(.lemma), with DATA behind it");
  add_option(*command, "FORMULA", call->second, "'y ~ .', 'u:v ~ .', '~ .' without a response; of a model: DATA");
  add_option(*command, "-o,--output", call->output,
             "where to write it: .html (one file, nothing else is needed) or .md (pictures in a folder beside it); "
             "without it as Markdown, pictures in words, on standard output")
      ->each(check_named);
  add_option(*command, "--format", call->format, "html or markdown (default: by the file's name)");
  add_option(*command, "--methods", call->methods,
             "methods to compare, separated by commas (default: those that suit the data and their size)");
  add_option(*command, "--metric", call->metric, "what they are compared by (default: accuracy, rmse or silhouette)");
  add_option(*command, "--missing", call->missing, "as for fit (default: median, where values are missing)")
      ->group("Data");
  command->footer(
      "Example: lemma report iris 'species ~ .' -o iris.html\n"
      "         lemma fit lda iris 'species ~ .' -o iris.lemma && lemma report iris.lemma iris -o lda.html");
  command->callback([call, &context] { run(*call, context); });
}

}  // namespace lemma::app
