// lemma/validate/judge/bootstrap.cpp: intervals of measures that have no formula for theirs, by drawing the rows again.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/parallel.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/metric/clustering.hpp>
#include <lemma/validate/bootstrap.hpp>
#include <lemma/validate/judge/parts.hpp>

namespace lemma::judging {
namespace {

constexpr double kMostNumbers = 40'000;  // beyond, nobody who has not asked for it should wait
constexpr double kNumbersOfAll = 4e6;    // in all samples together

/// How many samples; 0: none. Each row has a number for each class, which are put in order.
Index samples_for(double n, std::size_t classes, const JudgeOptions& options) {
  if (options.bootstrap) {
    if (*options.bootstrap != 0 && *options.bootstrap < 10)
      throw Error(
          fmt::format("a bootstrap of {} samples tells nothing; at least 10, or 0 for none", *options.bootstrap));
    return *options.bootstrap;
  }
  const double numbers = n * static_cast<double>(std::max<std::size_t>(classes, 2));
  return numbers > kMostNumbers ? 0 : static_cast<Index>(std::clamp(kNumbersOfAll / numbers, 200.0, 1000.0));
}

/// How often each row is in a sample of n copies, drawn with replacement; weight k is k copies.
Vector times_drawn(const Vector& weight, Index rows, RandomStream& stream) {
  Vector out = Vector::Zero(rows);
  if (weight.size() == 0) {
    for (Index i = 0; i < rows; ++i) out(stream.below(rows)) += 1;
    return out;
  }
  std::vector<double> up_to;
  double sum = 0;
  for (const double w : weight) up_to.push_back(sum += w);
  for (Index i = 0; i < static_cast<Index>(std::llround(sum)); ++i) {
    const auto found = std::upper_bound(up_to.begin(), up_to.end() - 1, stream.uniform() * sum);
    out(found - up_to.begin()) += 1;
  }
  return out;
}

/// F1 of each class, as measures beside the others while rows are drawn.
void append_f1(std::vector<Measure>& measures, const std::vector<ClassScore>& classes) {
  for (std::size_t k = 0; k < classes.size(); ++k)
    measures.push_back({fmt::format("f1 of class {}", k), classes[k].f1, "", true, {}});
}

/// Every measure that rows and answers alone give; the weights are how often each row was drawn.
std::vector<Measure> measures_of(const Answers& answers, const JudgeOptions& options, const Judgement& whole) {
  if (whole.task == Task::clustering)
    return agreement_measures(answers.truth->labels, answers.predicted, answers.weight);
  Judgement out;
  out.task = whole.task;
  out.method = whole.method;
  measure_answers(whole.classes, answers, out);
  for (const AskedMeasure& asked : options.also)
    if (asked.kind == AskedMeasure::Kind::ece || asked.kind == AskedMeasure::Kind::brier_parts)
      add_calibration(asked, answers, out);
  append_f1(out.measures, out.per_class);
  return out.measures;
}

/// The largest of n errors grows with n, and no sample of the rows has a larger one.
bool has_interval(const Measure& measure) { return measure.name != "max_error"; }

}  // namespace

Index draw_bounds(std::vector<Measure>& measures, Index rows, const Vector& weight, std::size_t classes,
                  const JudgeOptions& options, const Execution& execution,
                  const std::function<std::vector<Measure>(const Vector& times)>& again) {
  std::vector<Measure*> open;
  for (Measure& each : measures)
    if (!each.bounds && std::isfinite(each.value) && has_interval(each)) open.push_back(&each);
  const double n = weight.size() > 0 ? weight.sum() : static_cast<double>(rows);
  const Index samples = samples_for(n, classes, options);
  if (open.empty() || n < 2 || samples == 0) return 0;
  std::vector<std::vector<double>> found(open.size(),
                                         std::vector<double>(static_cast<std::size_t>(samples), std::nan("")));
  parallel_for(samples, execution, [&](Index b) {
    RandomStream stream = RandomStream(options.seed, 0xb007).split(static_cast<std::uint64_t>(b));
    const auto drawn = again(times_drawn(weight, rows, stream));
    for (std::size_t i = 0; i < open.size(); ++i)
      if (const Measure* each = find_measure(drawn, open[i]->name)) found[i][static_cast<std::size_t>(b)] = each->value;
  });
  for (std::size_t i = 0; i < open.size(); ++i) {
    std::erase_if(found[i], [](double each) { return !std::isfinite(each); });  // a sample without a class
    if (found[i].size() < 10) continue;
    const IntervalOf interval = interval_of_samples(ResultInterval::percentile, open[i]->value, found[i], {}, 0.95);
    open[i]->bounds = Bounds{interval.lower, interval.upper};
  }
  return samples;
}

/// No interval of the rows covers the largest error there can be. What n errors do tell: were more than a share q of all errors
/// larger, the rows would have shown one but for a chance of (1 − q)ⁿ (Wilks 1941). Errors of rows that trained the model tell
/// nothing of new ones.
void tell_of_largest(std::vector<Measure>& measures, double n) {
  for (Measure& each : measures)
    if (each.name == "max_error")
      each.meaning += fmt::format("; at most {} % of new rows have a larger one (95 % sure)",
                                  format_significant(100 * -std::expm1(std::log(0.05) / n), 2));
}

void add_bootstrap_bounds(const Answers& answers, const JudgeOptions& options, const Execution& execution,
                          Judgement& out) {
  const bool judged = out.task == Task::regression || out.task == Task::classification;
  if (!judged && !answers.truth) return;
  if (!out.honesty || out.honesty->kind == Honesty::Kind::test)
    tell_of_largest(out.measures, answers.weight.size() > 0 ? answers.weight.sum() : static_cast<double>(out.rows));
  const std::size_t count = out.measures.size();
  append_f1(out.measures, out.per_class);
  out.bootstrap = draw_bounds(out.measures, out.rows, answers.weight, out.classes.size(), options, execution,
                              [&](const Vector& times) {
                                Answers drawn = answers;
                                drawn.weight = times;
                                return measures_of(drawn, options, out);
                              });
  for (std::size_t k = 0; k < out.per_class.size(); ++k) out.per_class[k].f1_bounds = out.measures[count + k].bounds;
  out.measures.resize(count);
}

}  // namespace lemma::judging
