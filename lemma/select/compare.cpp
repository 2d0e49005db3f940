// lemma/select/compare.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/metric/clustering.hpp>
#include <lemma/select/compare.hpp>
#include <numeric>

namespace lemma {
namespace {

/// The rows of the table that every method can use.
std::vector<Index> common_rows(const std::vector<AnySpec>& specs, const Formula& formula, const TableStream& data,
                               const ExperimentOptions& options) {
  std::vector<int> times(static_cast<std::size_t>(data.rows()));
  for (const auto& spec : specs) {
    const Experiment experiment(spec, formula, data, options);
    for (const Index row : experiment.kept().rows(0, experiment.kept().count())) ++times[static_cast<std::size_t>(row)];
  }
  std::vector<Index> out;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i] == static_cast<int>(specs.size())) out.push_back(static_cast<Index>(i));
  return out;
}

std::vector<double> values_of(const CrossResult& result, const std::string& metric) {
  std::vector<double> out;
  for (const auto& fold : result.folds) {
    const Measure* found = find_measure(fold.measures, metric);
    out.push_back(found ? found->value : std::nan(""));
  }
  return out;
}

/// Holm: the smallest p times the number of pairs, the next times one less, never falling.
void adjust(std::vector<PairedDifference>& pairs) {
  std::vector<std::size_t> order(pairs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return pairs[a].p < pairs[b].p; });
  double least = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    least = std::min(1.0, std::max(least, pairs[order[i]].p * static_cast<double>(order.size() - i)));
    pairs[order[i]].adjusted = least;
  }
}

PairedDifference difference_of(const std::vector<double>& a, const std::vector<double>& b, double ratio,
                               std::size_t pairs) {
  PairedDifference out;
  std::vector<double> d;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!std::isnan(a[i]) && !std::isnan(b[i])) d.push_back(a[i] - b[i]);
  const auto count = static_cast<double>(d.size());
  for (const double each : d) out.mean += each / count;
  if (d.size() < 2) return out;
  double squares = 0;
  for (const double each : d) squares += (each - out.mean) * (each - out.mean);
  const double error = std::sqrt((1 / count + ratio) * squares / (count - 1));
  out.p = error > 0 ? t_two_sided(out.mean / error, count - 1) : (out.mean == 0 ? 1 : 0);
  out.bounds = corrected_bounds(d, ratio, 1 - 0.05 / static_cast<double>(pairs));
  return out;
}

/// The clusters of all rows; −1 is none.
Labels clusters_of(const Experiment& experiment, const CrossOptions& options, const Execution& execution) {
  std::vector<Index> all(at(experiment.rows()));
  std::iota(all.begin(), all.end(), Index{0});
  FitOptions how;
  how.seed = options.seed;
  how.threads = execution.threads;
  return experiment.ask(experiment.fit(all, how), all, execution).answers.predicted;
}

ClusterAgreement agreement_of(const Labels& one, const Labels& other, const Vector& weights) {
  const Matrix table = contingency_of_clusters(one, other, weights);
  return {adjusted_rand_index(table), matched_share(table), fowlkes_mallows(table), variation_of_information(table)};
}

}  // namespace

const PairedDifference& MethodComparison::between(std::size_t a, std::size_t b) const {
  for (const auto& pair : pairs)
    if ((pair.first == a && pair.second == b) || (pair.first == b && pair.second == a)) return pair;
  throw Error("there is no such pair");
}

MethodComparison compare_methods(const std::vector<AnySpec>& specs, const Formula& formula, const TableStream& data,
                                 const Plan& plan, const std::string& metric, const CrossOptions& options) {
  require(specs.size() >= 2, "to compare there must be two methods or more: 'lda,logistic'");
  if (plan.kind != PlanKind::folds && plan.kind != PlanKind::holdout && plan.kind != PlanKind::given)
    throw Error(
        fmt::format("methods are compared over folds or repeated holdouts, not by --plan {}", name_of(plan.kind)));
  const auto rows = common_rows(specs, formula, data, options.experiment);
  MethodComparison out;
  std::shared_ptr<const Table> table;
  const TableStream* used = &data;
  std::optional<MemoryTableStream> some;
  if (static_cast<Index>(rows.size()) < data.rows()) {
    table = std::make_shared<const Table>((data.table() ? *data.table() : read_all(data)).select(rows));
    used = &some.emplace(table);
    out.notes.push_back(fmt::format("{} of {} rows take part: all that every method can use",
                                    format_count(table->rows()), format_count(data.rows())));
  }
  std::optional<Plan> settled;
  std::optional<PlanRows> plan_rows;
  std::vector<Labels> clusters;
  Vector weights;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const Experiment experiment(specs[i], formula, *used, options.experiment);
    if (!settled) {
      settled = plan;
      plan_rows = experiment.rows_of(*settled);
    }
    CrossOptions how = options;
    how.look_for_leaks = options.look_for_leaks && i == 0;
    const auto step = 1.0 / static_cast<double>(specs.size());
    how.execution =
        options.execution.part(static_cast<double>(i) * step, static_cast<double>(i + 1) * step, "comparing");
    CrossResult found = cross(experiment, Resampling(*settled, *plan_rows, options.seed), how);
    if (found.cancelled) throw Cancelled();
    if (!out.methods.empty() && found.task != out.methods[0].task)
      throw Error(fmt::format("{} and {} are for different tasks", out.methods[0].method, found.method));
    if (found.task == Task::clustering) {
      clusters.push_back(clusters_of(experiment, options, how.execution.part(1, 1)));
      weights = experiment.weights();
    }
    out.methods.push_back(std::move(found));
  }
  MethodComparison found = comparison_of(std::move(out.methods), metric);
  found.notes = std::move(out.notes);
  for (auto& pair : found.pairs)
    if (!clusters.empty()) pair.agreement = agreement_of(clusters[pair.first], clusters[pair.second], weights);
  return found;
}

MethodComparison comparison_of(std::vector<CrossResult> methods, const std::string& metric) {
  require(!methods.empty(), "there is nothing to compare");
  MethodComparison out;
  out.methods = std::move(methods);
  out.metric = !metric.empty()                               ? metric
               : out.methods[0].task == Task::classification ? "accuracy"
               : out.methods[0].task == Task::regression     ? "rmse"
                                                             : "silhouette";
  for (const auto& each : out.methods)
    if (!each.find(out.metric)) {
      std::vector<std::string> names;
      for (const auto& score : each.scores) names.push_back(score.name);
      throw Error(fmt::format("{} has no measure '{}'{}; it has {}", each.method, out.metric,
                              did_you_mean(out.metric, names), join_words(names, 30)));
    }
  out.higher_is_better = out.methods[0].find(out.metric)->higher_is_better;
  const auto merit = [&](std::size_t i) {
    return (out.higher_is_better ? 1 : -1) * out.methods[i].find(out.metric)->mean;
  };
  for (std::size_t i = 1; i < out.methods.size(); ++i)
    if (merit(i) > merit(out.best)) out.best = i;
  const std::size_t count = out.methods.size() * (out.methods.size() - 1) / 2;
  const double ratio = test_over_train(out.methods[0]);
  for (std::size_t a = 0; a < out.methods.size(); ++a)
    for (std::size_t b = a + 1; b < out.methods.size(); ++b) {
      auto pair =
          difference_of(values_of(out.methods[a], out.metric), values_of(out.methods[b], out.metric), ratio, count);
      pair.first = a;
      pair.second = b;
      out.pairs.push_back(pair);
    }
  adjust(out.pairs);
  return out;
}

Value to_value(const MethodComparison& comparison) {
  Value out = Value::object();
  out.set("metric", comparison.metric);
  out.set("higher_is_better", comparison.higher_is_better);
  out.set("best", comparison.methods[comparison.best].method);
  out.set("plan", to_value(comparison.methods[0].plan));
  out.set("rows", comparison.methods[0].rows);
  Value::List methods;
  for (const auto& each : comparison.methods) {
    Value one = Value::object();
    one.set("method", each.method);
    one.set("scores", to_value(each).at("scores"));
    methods.push_back(std::move(one));
  }
  out.set("methods", std::move(methods));
  Value::List pairs;
  for (const auto& pair : comparison.pairs) {
    Value one = Value::object();
    one.set("first", comparison.methods[pair.first].method);
    one.set("second", comparison.methods[pair.second].method);
    one.set("difference", pair.mean);
    one.set("bounds", pair.bounds ? Value(std::vector<double>{pair.bounds->lower, pair.bounds->upper}) : Value());
    one.set("p", pair.p);
    one.set("p_holm", pair.adjusted);
    if (pair.agreement) {
      one.set("adjusted_rand", pair.agreement->adjusted_rand);
      one.set("matched", pair.agreement->matched);
      one.set("fowlkes_mallows", pair.agreement->fowlkes_mallows);
      one.set("variation_of_information", pair.agreement->variation_of_information);
    }
    pairs.push_back(std::move(one));
  }
  out.set("pairs", std::move(pairs));
  out.set("notes", comparison.notes);
  return out;
}

namespace {

/// How alike the clusters of all rows are; nothing where there are none.
std::string text_of_agreements(const MethodComparison& comparison) {
  std::vector<std::string> first, second;
  std::vector<double> rand, matched, mallows, variation;
  for (const auto& pair : comparison.pairs) {
    if (!pair.agreement) return "";
    first.push_back(comparison.methods[pair.first].method);
    second.push_back(comparison.methods[pair.second].method);
    rand.push_back(pair.agreement->adjusted_rand);
    matched.push_back(pair.agreement->matched);
    mallows.push_back(pair.agreement->fowlkes_mallows);
    variation.push_back(pair.agreement->variation_of_information);
  }
  return "\nClusters of all rows, two methods at a time:\n" + TextTable()
                                                                  .words("one", first)
                                                                  .words("other", second)
                                                                  .numbers("adjusted Rand", rand, 4)
                                                                  .numbers("matched", matched, 4)
                                                                  .numbers("Fowlkes-Mallows", mallows, 4)
                                                                  .numbers("variation", variation, 4)
                                                                  .str();
}

}  // namespace

std::string text(const MethodComparison& comparison) {
  const auto& best = comparison.methods[comparison.best];
  std::vector<std::string> names, means, sds, differences, bounds, p;
  std::vector<std::size_t> order(comparison.methods.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    const double x = comparison.methods[a].find(comparison.metric)->mean,
                 y = comparison.methods[b].find(comparison.metric)->mean;
    return comparison.higher_is_better ? x > y : x < y;
  });
  std::vector<std::string> alike;
  for (const auto i : order) {
    const Score& score = *comparison.methods[i].find(comparison.metric);
    names.push_back(comparison.methods[i].method);
    means.push_back(format_significant(score.mean, 4));
    sds.push_back(format_significant(score.sd, 2));
    if (i == comparison.best) {
      differences.emplace_back("");
      bounds.emplace_back("");
      p.emplace_back("");
      continue;
    }
    const auto& pair = comparison.between(i, comparison.best);
    const double sign = pair.first == i ? 1 : -1;
    differences.push_back(format_significant(sign * pair.mean, 3));
    const double low = pair.bounds ? (sign > 0 ? pair.bounds->lower : -pair.bounds->upper) : 0,
                 high = pair.bounds ? (sign > 0 ? pair.bounds->upper : -pair.bounds->lower) : 0;
    bounds.push_back(pair.bounds ? fmt::format("[{}, {}]", format_significant(low, 2), format_significant(high, 2))
                                 : "");
    p.push_back(format_p(pair.adjusted));
    if (!pair.differ()) alike.push_back(comparison.methods[i].method);
  }
  std::string out = fmt::format("{} on {}: {}\n{}, the same for all: {} rows\n\n", comparison.metric, best.data,
                                best.formula, best.plan.text(), format_count(best.rows));
  out += TextTable()
             .words("method", names)
             .right(comparison.metric, means)
             .right("sd", sds)
             .right("difference", differences)
             .words("interval", bounds)
             .right("p", p)
             .str();
  const std::string pairs =
      comparison.pairs.size() == 1 ? "" : fmt::format(" for all {} pairs at once", comparison.pairs.size());
  out +=
      "\n" +
      wrap(fmt::format("Differences are from {}, fold by fold; their 95 % intervals{} are corrected for the rows "
                       "that folds share (Nadeau and Bengio 2003{}).",
                       best.method, pairs, comparison.pairs.size() == 1 ? "" : "; Bonferroni), the p-values too (Holm"),
           98) +
      "\n";
  out += wrap(alike.empty() ? fmt::format("{} is better than every other one here.", best.method)
                            : fmt::format("These rows do not tell {} from {}.", best.method, join_words(alike)),
              98) +
         "\n";
  return out + text_of_agreements(comparison);
}

}  // namespace lemma
