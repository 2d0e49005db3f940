// app/plot.cpp: lemma plot [KIND] DATA [FORMULA] and lemma plot MODEL [KIND] [DATA]: pictures, into a file or the terminal.
#include "commands.hpp"
#include "data_options.hpp"
#include "flags.hpp"
#include "output.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/store.hpp>
#include <lemma/plot/data.hpp>
#include <lemma/plot/model.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

namespace lemma::app {
namespace {

struct Plot {
  std::string first, third, output, format, theme;
  DataOptions data;
  plot::PlotOptions options;
  std::string kind, formula, model;
  std::vector<std::string> with;  // other models
};

bool is_kind(std::string_view word) {
  return std::ranges::any_of(plot::data_kinds(), [&](const plot::PictureKind& kind) { return kind.name == word; });
}
bool is_model_kind(std::string_view word) {
  return std::ranges::any_of(plot::model_kinds(), [&](const plot::ModelPicture& kind) { return kind.name == word; });
}

/// No data, and nearly the name of a picture.
bool is_mistyped_kind(const std::string& word) {
  std::vector<std::string> kinds;
  for (const auto& kind : plot::model_kinds()) kinds.emplace_back(kind.name);
  return !word.empty() && word != "-" && !find_dataset(word) && !std::filesystem::exists(word) &&
         word.find('.') == std::string::npos && !did_you_mean(word, kinds).empty();
}

/// MODEL [KIND] [DATA]. A word that is no kind is the data.
void sort_model_words(Plot& plot) {
  plot.model = plot.first;
  const bool kind_first = is_model_kind(plot.data.data) || !plot.third.empty() || is_mistyped_kind(plot.data.data);
  if (kind_first) plot.kind = plot.data.data, plot.data.data = plot.third;
}

/// Up to three words are KIND, DATA and FORMULA, in this order; KIND and FORMULA may be left out.
void sort_words(Plot& plot) {
  if (plot.first.ends_with(".lemma")) return sort_model_words(plot);
  if (is_kind(plot.first)) {
    plot.kind = plot.first, plot.formula = plot.third;
    if (plot.data.data.empty())
      throw Error(fmt::format("plot {} needs DATA: a file, '-' or a built-in set", plot.kind));
    return;
  }
  const bool formula_second = plot.data.data.find('~') != std::string::npos;
  std::vector<std::string> kinds;
  for (const auto& kind : plot::data_kinds()) kinds.emplace_back(kind.name);
  if (plot.third.empty() && !plot.data.data.empty() && !formula_second && did_you_mean(plot.first, kinds).empty())
    throw Error(fmt::format("'{}' is no formula: '~ {}' draws this column", plot.data.data, plot.data.data));
  if (!plot.third.empty() || (!plot.data.data.empty() && !formula_second)) {  // the first word was meant to be a kind
    plot::draw(plot.first, Table(), "", {});
    throw Error("a formula has a '~'");
  }
  plot.formula = plot.data.data, plot.data.data = plot.first;
}

plot::Theme theme_of(const std::string& name) {
  if (name.empty() || name == "auto") return plot::Theme::automatic;
  if (name == "light") return plot::Theme::light;
  if (name == "dark") return plot::Theme::dark;
  throw Error(fmt::format("--theme is '{}', must be one of auto, light, dark", name));
}

plot::Format format_for(const Plot& plot) {
  if (plot.format.empty())
    return plot.output.empty() || is_stdout(plot.output) ? plot::Format::term : plot::format_of(plot.output);
  const std::vector<std::string> names{"svg", "png", "pdf", "term"};
  const auto found = std::find(names.begin(), names.end(), plot.format);
  if (found == names.end())
    throw Error(fmt::format("--format is '{}', must be one of {}", plot.format, join_words(names)));
  return static_cast<plot::Format>(found - names.begin());
}

std::string in_terminal(const plot::Figure& figure, const Context& context, bool to_file) {
  plot::Terminal terminal;
  winsize size{};
  if (!to_file && ::isatty(STDOUT_FILENO) && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    terminal.columns = std::clamp<int>(size.ws_col, 40, 200), terminal.rows = std::clamp<int>(size.ws_row - 1, 12, 60);
  terminal.colours = !to_file && !context.bold("x").starts_with('x');
  return plot::to_term(figure, terminal);
}

Value document_of(const plot::Figure& figure, const Plot& plot) {
  Value out = Value::object();
  out.set("kind", plot.kind);
  if (!plot.model.empty()) out.set("model", plot.model);
  if (!plot.data.data.empty()) out.set("data", plot.data.data);
  out.set("title", figure.title);
  out.set("description", figure.description);
  out.set("panels", static_cast<Index>(figure.panels.size()));
  out.set("marks", figure.marks());
  out.set("width", figure.width);
  out.set("height", figure.height);
  if (!plot.output.empty()) out.set("file", plot.output);
  return out;
}

/// The most telling picture of the model: of the rows, where there are some.
std::string_view telling_kind(const TrainedModel& trained, bool rows) {
  const auto all = plot::pictures_of(trained);
  const auto found = std::ranges::find_if(all, [&](const plot::ModelPicture& each) { return each.of_rows == rows; });
  if (found != all.end()) return found->name;
  if (all.empty()) throw Error(fmt::format("there is no picture of this {}", trained.model->method().name()));
  if (rows) return all.front().name;
  std::vector<std::string> names;
  for (const auto& each : all) names.emplace_back(each.name);
  throw Error(fmt::format("the pictures of this {} show what it says of rows: give DATA too ({})",
                          trained.model->method().name(), join_words(names, 20)));
}

plot::Figure picture(Plot& plot, const Context& context) {
  if (plot.model.empty()) {
    if (!plot.with.empty()) throw Error("--with takes models beside a MODEL: lemma plot MODEL roc DATA --with OTHER");
    const Table table = plot.data.table(context);
    if (plot.kind.empty()) plot.kind = plot::kind_for(table, plot.formula);
    return plot::draw(plot.kind, table, plot.formula, plot.options);
  }
  const TrainedModel trained = load(plot.model, catalog());
  std::optional<Table> table;
  if (!plot.data.data.empty()) table = plot.data.table(context);
  if (plot.kind.empty()) plot.kind = telling_kind(trained, table.has_value());
  const Table* rows = table ? &*table : nullptr;
  const plot::Figure one = plot::draw(plot.kind, trained, rows, plot.options);
  if (plot.with.empty()) return one;
  std::vector<plot::NamedFigure> all{{plot.model, one}};
  for (const auto& other : plot.with)
    all.push_back({other, plot::draw(plot.kind, load(other, catalog()), rows, plot.options)});
  plot::Figure out = plot::overlaid(plot.kind, all);
  if (plot.options.title.empty()) out.title = plot.data.data;
  return plot::dressed(std::move(out), plot.options);
}

void run(Plot plot, Context& context) {
  sort_words(plot);
  if (!plot.output.empty()) check_outputs({plot.output}, {plot.data.data, plot.model});
  const plot::Format format = format_for(plot);
  plot.options.theme = theme_of(plot.theme);
  if (context.json && plot.output.empty()) throw Error("--json tells of a picture that is written: -o says where");
  const plot::Figure figure = picture(plot, context);
  if (plot.output.empty() || is_stdout(plot.output)) {
    const bool text = format == plot::Format::term || format == plot::Format::svg;
    if (!text && ::isatty(STDOUT_FILENO))
      throw Error("PNG and PDF are no text for a terminal: -o FILE says where to write them");
    if (format == plot::Format::term) return context.print(in_terminal(figure, context, false));
    context.write_stdout(plot::render(figure, format));
    return context.flush_stdout();
  }
  const std::string bytes =
      format == plot::Format::term ? in_terminal(figure, context, true) : plot::render(figure, format);
  Output file(
      plot.output,
      format == plot::Format::png || format == plot::Format::pdf ? Output::Content::binary : Output::Content::text,
      context);
  file.write(bytes);
  file.done();
  if (context.json) return context.print_json(document_of(figure, plot));
  context.note(fmt::format("{} written to {}: {}", plot.kind, file.name(), figure.description));
}

std::string kinds_text() {
  std::string out = "KIND of DATA:\n";
  for (const auto& [name, meaning] : plot::data_kinds()) out += fmt::format("  {:<12} {}\n", name, meaning);
  out += "\nKIND of a MODEL (lemma plot MODEL [KIND] [DATA]), * those that need DATA:\n";
  for (const auto& [name, meaning, of_rows] : plot::model_kinds())
    out += fmt::format("  {:<16} {} {}\n", name, of_rows ? '*' : ' ', meaning);
  return out +
         "\nWithout KIND the one that tells most is drawn, without -o in the terminal.\n"
         "Example: lemma plot pairs iris 'species ~ .' -o iris.svg\n"
         "         lemma fit lda iris 'species ~ .' -o iris.lemma && lemma plot iris.lemma scores iris -o scores.svg";
}

}  // namespace

void add_plot(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Plot>();
  auto* command = add_command(tool, "plot", "draw data or a model, as SVG, PNG, PDF or in the terminal");
  add_option(*command, "KIND", options->first, "what to draw, see below; may be left out; or a model file (.lemma)")
      ->required();
  options->data.add(*command);
  command->get_option("DATA")->required(false);
  add_option(*command, "FORMULA", options->third,
             "the columns: 'y ~ x', '~ a + b', 'class ~ a + b' (coloured by class)");
  add_option(*command, "-o,--output", options->output, "where to write the picture: .svg, .png, .pdf or .txt");
  add_option(*command, "--format", options->format,
             "svg, png, pdf or term (default: by the file's name; the terminal without -o)");
  add_option(*command, "--title", options->options.title, "over the picture");
  add_option(*command, "--xlab", options->options.x_label, "below the x axis");
  add_option(*command, "--ylab", options->options.y_label, "beside the y axis");
  add_option(*command, "--log", options->options.log, "logarithmic axes: x, y or xy");
  add_option(*command, "--color", options->options.colour, "a column whose values colour the marks");
  add_option(*command, "--facet", options->options.facet, "a column: a panel for each of its values");
  add_option(*command, "--with", options->with, "roc, precision_recall, lift: other models, whose curves are drawn too")
      ->allow_extra_args(false);
  add_option(*command, "--alpha", options->options.alpha,
             "biplot: 1 keeps the distances of rows, 0 the correlations of columns")
      ->capture_default_str();
  add_option(*command, "--width", options->options.width, "in pixels");
  add_option(*command, "--height", options->options.height, "in pixels");
  add_option(*command, "--theme", options->theme, "auto (as the viewer's, default), light or dark");
  command->footer(kinds_text());
  command->callback([options, &context] { run(*options, context); });
}

}  // namespace lemma::app
