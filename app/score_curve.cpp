// app/score_curve.cpp: lemma learning_curve and validation_curve METHOD DATA FORMULA (also: curve learning, curve validation): scores
// along the rows learned from, or along a parameter.
#include "commands.hpp"
#include "flags.hpp"
#include "model_report.hpp"
#include "output.hpp"
#include "study.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/error.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/plot/score_curve.hpp>
#include <lemma/select/score_curve.hpp>

namespace lemma::app {
namespace {

struct Curve {
  std::string method, grid, metric, output;
  std::vector<std::string> shares;
  bool learning = true;
  Study study;
};

std::vector<double> shares_of(const std::vector<std::string>& typed) {
  if (typed.empty()) return {0.1, 0.2, 0.4, 0.6, 0.8, 1};
  std::vector<double> out;
  for (const auto& each : typed) {
    std::size_t used = 0;
    double share = 0;
    try {
      share = std::stod(each, &used);
    } catch (const std::exception&) { used = 0; }
    if (used != each.size() || each.empty())
      throw Error(fmt::format("--shares has '{}', must be numbers such as 0.1,0.5,1", each));
    out.push_back(share);
  }
  return out;
}

/// A picture where the file's name says so.
bool is_picture(const std::string& path) {
  return path.ends_with(".svg") || path.ends_with(".png") || path.ends_with(".pdf");
}

void draw(const Curve& options, Context& context) {
  const AnySpec spec = parse_method(options.method, catalog());
  const Plan plan = options.study.plan();
  const Formula formula = options.study.parsed();
  std::optional<Output> output;
  if (!options.output.empty()) {
    check_outputs({options.output}, {options.study.data.data});
    const bool binary = options.output.ends_with(".png") || options.output.ends_with(".pdf");
    output.emplace(options.output, binary ? Output::Content::binary : Output::Content::text, context);
  }
  const auto data = options.study.read(context);
  const CrossOptions how = options.study.cross(context);
  const ScoreCurve found =
      options.learning ? learning_curve(spec, formula, *data, plan, shares_of(options.shares), options.metric, how)
                       : validation_curve(spec, options.grid, formula, *data, plan, options.metric, how);
  options.study.record(RowsUsed::crossed, *data, found.method, context);
  if (output) {
    output->write(is_picture(options.output) ? plot::render(plot::drawn(found), plot::format_of(options.output))
                                             : format_csv(table_of(found)));
    output->done();
  }
  if (context.json) context.print_json(to_value(found));
  else context.print(text(found));
  if (output) context.note(fmt::format("the curve is in {}", output->name()));
  if (found.cancelled) tell_if_cancelled("", context);
}

void add_curve(CLI::App& tool, Context& context, bool learning) {
  auto options = std::make_shared<Curve>();
  options->learning = learning;
  auto* command =
      add_command(tool, learning ? "learning_curve" : "validation_curve",
                  learning ? "scores along the number of rows learned from" : "scores along the values of a parameter");
  add_option(*command, "METHOD", options->method, "a method, or a pipeline")->required();
  options->study.add(*command);
  if (learning)
    add_option(*command, "--shares", options->shares, "of the training rows (default: 0.1,0.2,0.4,0.6,0.8,1)")
        ->delimiter(',')
        ->allow_extra_args(false);
  else
    add_option(*command, "--grid", options->grid, "the parameter and its values: 'lambda=0.1,1,10' or 'C=0.01:100:9'")
        ->required();
  add_option(*command, "--metric", options->metric, "the measure (default: accuracy, or rmse)");
  add_option(*command, "-o,--output", options->output,
             "where to write the curve: CSV (- is standard output), or a picture (.svg, .png, .pdf)")
      ->each(check_named);
  options->study.add_plan(*command);
  command->footer(learning ? "Example: lemma learning_curve lda pima_train 'type ~ .'"
                           : "Example: lemma validation_curve ridge boston 'medv ~ .' --grid 'lambda=0.1,10,1000'");
  command->callback([options, &context] { draw(*options, context); });
}

}  // namespace

void add_score_curves(CLI::App& tool, Context& context) {
  add_curve(tool, context, true);
  add_curve(tool, context, false);
}

void join_curve_words(std::vector<std::string>& arguments) {
  const auto first = std::find(arguments.begin(), arguments.end(), "curve");
  if (first == arguments.end() || first + 1 == arguments.end()) return;
  const std::string& kind = *(first + 1);
  const bool only_flags = std::all_of(arguments.begin(), first, [](const auto& word) { return word.starts_with('-'); });
  if (!only_flags || (kind != "learning" && kind != "validation")) return;
  *first = kind + "_curve";
  arguments.erase(first + 1);
}

}  // namespace lemma::app
