// lemma/validate/judge/also.cpp: measures that are asked for by name.
#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/metric/curves.hpp>
#include <lemma/metric/losses.hpp>
#include <lemma/model/asked_rows.hpp>
#include <lemma/model/method.hpp>
#include <lemma/validate/judge/parts.hpp>

namespace lemma::judging {
namespace {

std::string shown(double number) { return format_significant(number, 6); }

/// Where the model says that observations lie.
Matrix intervals_of(const AnyModel& model, const Rows& rows, double level, const Execution& execution) {
  PredictOptions asked_for;
  asked_for.interval = IntervalKind::prediction;
  asked_for.level = level;
  const AskedRows asked(model, rows, asked_for);
  const Index n = rows.count(), together = asked.together();
  Matrix out(n, 2);
  BufferPool pool;
  parallel_for((n + together - 1) / together, execution, [&](Index i) {
    BufferPool::Lease buffer(pool);
    const auto [said, block] = asked(i * together, std::min(together, n - i * together), *buffer);
    out.middleRows(block.first, block.rows()) = said.interval();
  });
  return out;
}

void add_coverage(const AnyModel& model, const Rows& rows, const Answers& answers, double level, RateInterval rates,
                  const Execution& execution, Judgement& out) {
  const auto offered = model->parts();
  if (std::none_of(offered.begin(), offered.end(), [](const auto& part) { return part.name == kIntervalPart.name; }))
    throw Error(fmt::format("{} has no intervals whose coverage could be counted", out.method));
  const Matrix interval = intervals_of(model, rows, level, execution);
  const Coverage found = coverage(answers.y, Vector(interval.col(0)), Vector(interval.col(1)), level, answers.weight);
  const double n = answers.weight.size() > 0 ? answers.weight.sum() : static_cast<double>(rows.count());
  out.measures.push_back({"coverage_" + shown(level), found.share,
                          fmt::format("share of the rows inside their {} % prediction interval", shown(100 * level)),
                          true, bounds_of_rate(found.share, n, rates)});
  const Vector width = interval.col(1) - interval.col(0);
  const Vector outside = (interval.col(0) - answers.y).cwiseMax(answers.y - interval.col(1)).cwiseMax(0.0);
  out.measures.push_back({"width_" + shown(level), found.mean_width, "mean width of these intervals", false,
                          bounds_of_mean(width, answers.weight)});
  out.measures.push_back({"interval_score_" + shown(level), found.interval_score,
                          "their width, and 2/(1 - level) times how far a row lies outside", false,
                          bounds_of_mean(width + 2 / (1 - level) * outside, answers.weight)});
}

void add_mean(std::string name, std::string meaning, const Vector& losses, const Answers& answers, Judgement& out) {
  const Vector w = detail::frequencies(losses.size(), answers.weight);
  auto bounds = bounds_of_mean(losses, w);
  if (bounds) bounds->lower = std::max(0.0, bounds->lower);
  out.measures.push_back({std::move(name), detail::mean(losses, w), std::move(meaning), false, bounds});
}

}  // namespace

/// Of two classes the second one's probabilities; of more each class against the rest, and the mean over the classes.
void add_calibration(const AskedMeasure& asked, const Answers& answers, Judgement& out) {
  if (answers.probabilities.size() == 0)
    throw Error(fmt::format("{} gives no probabilities whose calibration could be measured", out.method));
  const auto bins = static_cast<int>(asked.number);
  const Index classes = answers.probabilities.cols(), first = classes == 2 ? 1 : 0;
  std::vector<Measure> mean;
  for (Index k = first; k < classes; ++k) {
    const auto each = measures(calibration(answers.label, Vector(answers.probabilities.col(k)), static_cast<int>(k),
                                           bins, Bins::width, answers.weight));
    if (mean.empty()) mean = each;
    else
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i].value += each[i].value;
  }
  for (auto& one : mean) {
    const bool of_brier = one.name != "ece" && one.name != "largest_calibration_error";
    if (one.name == "brier" || of_brier != (asked.kind == AskedMeasure::Kind::brier_parts)) continue;
    if (!of_brier) one.value /= static_cast<double>(classes - first);
    else one.meaning = "Brier's score, " + one.meaning;
    if (!of_brier && classes > 2) one.meaning += "; mean over the classes, each against the rest";
    out.measures.push_back(one);
  }
}

void add_asked(const AnyModel& model, const Rows& rows, const Answers& answers, const JudgeOptions& options,
               Judgement& out) {
  for (const AskedMeasure& asked : options.also) {
    using Kind = AskedMeasure::Kind;
    const bool of_classes = asked.kind == Kind::ece || asked.kind == Kind::brier_parts;
    if (out.task != (of_classes ? Task::classification : Task::regression))
      throw Error(fmt::format("--also {} is for {}, and {} is for {}",
                              of_classes                     ? "ece and brier_parts"
                              : asked.kind == Kind::coverage ? "coverage"
                              : asked.kind == Kind::pinball  ? "pinball"
                                                             : "deviance",
                              of_classes ? "classification" : "regression", out.method, name_of(out.task)));
    switch (asked.kind) {
      case Kind::pinball:
        add_mean("pinball_" + shown(asked.number),
                 fmt::format("mean loss of a predicted {} quantile", shown(asked.number)),
                 pinball_losses(answers.y, answers.value, asked.number), answers, out);
        break;
      case Kind::deviance:
        add_mean("deviance_" + std::string(name_of(asked.family)), "mean deviance of the family",
                 unit_deviances(answers.y, answers.value, asked.family, asked.number), answers, out);
        break;
      case Kind::coverage:
        add_coverage(model, rows, answers, asked.number, options.rates, options.execution, out);
        break;
      case Kind::ece:
      case Kind::brier_parts: add_calibration(asked, answers, out); break;
    }
  }
}

}  // namespace lemma::judging
