// lemma/report/comparison_section.cpp: the methods on the same folds.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/report/sections.hpp>

namespace lemma::reporting {
namespace {

/// Measures beside the one that chooses.
std::vector<std::string> others_of(const MethodComparison& comparison) {
  std::vector<std::string> out;
  for (const auto* name : {"accuracy", "balanced_accuracy", "auc", "log_loss", "rmse", "mae", "r2", "silhouette",
                           "davies_bouldin", "calinski_harabasz"}) {
    const bool any = std::any_of(comparison.methods.begin(), comparison.methods.end(),
                                 [&](const CrossResult& each) { return each.find(name) != nullptr; });
    if (name != comparison.metric && any) out.emplace_back(name);
  }
  if (out.size() > 3) out.resize(3);
  return out;
}

std::string mean_text(const CrossResult& result, const std::string& metric) {
  const Score* found = result.find(metric);
  return found && !std::isnan(found->mean) ? format_significant(found->mean, 4) : "";
}

/// How much worse than the best one: 0 of itself.
std::string behind(const MethodComparison& comparison, std::size_t i) {
  if (i == comparison.best) return "";
  const PairedDifference& pair = comparison.between(comparison.best, i);
  const double sign = (pair.first == comparison.best ? 1 : -1) * (comparison.higher_is_better ? 1 : -1);
  std::optional<Bounds> bounds;
  if (pair.bounds) bounds = sign > 0 ? *pair.bounds : Bounds{-pair.bounds->upper, -pair.bounds->lower};
  return score_text(sign * pair.mean, bounds);
}

plot::Figure dots(const MethodComparison& comparison) {
  plot::Figure out;
  out.title = fmt::format("{} of each method", comparison.metric);
  const auto count = comparison.methods.size();
  plot::Panel panel{"", {comparison.metric}, {"", plot::ScaleKind::factor, {}}, {}};
  plot::Points points;
  plot::Segments intervals{{}, {}, {}, {}, plot::series(0), 2};
  for (std::size_t k = 0; k < count; ++k) {  // the first on top
    const CrossResult& each = comparison.methods[count - 1 - k];
    const Score& score = *each.find(comparison.metric);
    panel.y.levels.push_back(each.method);
    points.x.push_back(score.mean), points.y.push_back(static_cast<double>(k));
    points.tooltips.push_back(each.method + ": " + score_text(score.mean, score.bounds));
    if (!score.bounds) continue;
    intervals.x0.push_back(score.bounds->lower), intervals.x1.push_back(score.bounds->upper);
    intervals.y0.push_back(static_cast<double>(k)), intervals.y1.push_back(static_cast<double>(k));
  }
  points.radius = 4;
  panel.marks = {intervals, points};
  out.panels.push_back(std::move(panel));
  out.width = 600, out.height = std::max(200.0, 26.0 * static_cast<double>(count) + 110);
  out.description =
      fmt::format("{} of {} over the same folds, with 95 % intervals; {} is better.", comparison.metric,
                  count_of(static_cast<Index>(count), "method"), comparison.higher_is_better ? "more" : "less");
  return out;
}

}  // namespace

std::string score_text(double value, const std::optional<Bounds>& bounds) {
  if (std::isnan(value)) return "";
  std::string out = format_significant(value, 4);
  if (bounds)
    out += fmt::format(" [{}, {}]", format_significant(bounds->lower, 4), format_significant(bounds->upper, 4));
  return out;
}

Section comparison_section(const MethodComparison& comparison, const Candidates& candidates) {
  Section out{"methods", "Methods compared"};
  const CrossResult& first = comparison.methods[0];
  const bool supervised = first.task == Task::classification || first.task == Task::regression;
  out.blocks.emplace_back(Paragraph{fmt::format(
      "{} judged by {} of {}: the same rows train and judge all of them, and nothing is learned from rows that judge. "
      "{}",
      count_of(static_cast<Index>(comparison.methods.size()), "method"), first.plan.text(), count_of(first.rows, "row"),
      supervised
          ? "Intervals allow for the overlap of the training sets."
          : "Silhouettes say how much nearer rows are to their own cluster than to the next: 1 at best, 0 on the "
            "border. Without a response nobody can say which clustering is right.")});
  SheetColumn names{"method", {}}, chosen{comparison.metric, {}, true}, lag{"behind the best by", {}, true},
      why{"what it is", {}};
  const auto others = others_of(comparison);
  std::vector<SheetColumn> more;
  for (const auto& other : others) more.push_back({other, {}, true});
  for (std::size_t i = 0; i < comparison.methods.size(); ++i) {
    const CrossResult& each = comparison.methods[i];
    const Score& score = *each.find(comparison.metric);
    names.cells.push_back("`" + each.method + "`" + (i == comparison.best ? " (best)" : ""));
    chosen.cells.push_back(score_text(score.mean, score.bounds));
    lag.cells.push_back(behind(comparison, i));
    for (std::size_t k = 0; k < others.size(); ++k) more[k].cells.push_back(mean_text(each, others[k]));
    why.cells.push_back(candidates.methods.at(i).why);
  }
  Sheet sheet{fmt::format("By {} ({} is better)", comparison.metric, comparison.higher_is_better ? "more" : "less"),
              {names, chosen, lag}};
  sheet.columns.insert(sheet.columns.end(), more.begin(), more.end());
  if (std::any_of(why.cells.begin(), why.cells.end(), [](const auto& cell) { return !cell.empty(); }))
    sheet.columns.push_back(why);
  out.blocks.emplace_back(std::move(sheet));
  out.blocks.emplace_back(Picture{"methods", dots(comparison)});
  std::vector<std::string> alike;
  for (std::size_t i = 0; i < comparison.methods.size(); ++i)
    if (i != comparison.best && !comparison.between(comparison.best, i).differ())
      alike.push_back("`" + comparison.methods[i].method + "`");
  if (comparison.methods.size() > 1)
    out.blocks.emplace_back(Paragraph{
        alike.empty()
            ? "Every other method is behind by more than chance, all pairs considered together."
            : fmt::format("These folds cannot tell the best from {}: the interval of the difference, for all pairs at "
                          "once, holds zero. Where a simpler method is among them it is a good choice too.",
                          join_words(alike, 10))});
  for (const LeftOut& each : candidates.left_out)
    out.blocks.emplace_back(Paragraph{fmt::format("`{}` was left out: {}.", each.method, each.reason)});
  for (const auto& note : comparison.notes) out.blocks.emplace_back(Paragraph{note});
  return out;
}

}  // namespace lemma::reporting
