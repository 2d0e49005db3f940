// lemma/validate/stability.cpp
#include <algorithm>
#include <atomic>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/quietly.hpp>
#include <lemma/core/text.hpp>
#include <lemma/metric/clustering.hpp>
#include <lemma/validate/cross.hpp>
#include <lemma/validate/stability.hpp>
#include <numeric>

namespace lemma {
namespace {

constexpr double kRecovered = 0.75, kDissolved = 0.5;  // Hennig's

Index clusters_in(const Labels& labels) {
  return labels.empty() ? 0 : std::max(0, *std::max_element(labels.begin(), labels.end()) + 1);
}

/// What one sample says.
struct Seen {
  Vector jaccard;
  double adjusted_rand, count;
};

Labels some_of(const Labels& all, const std::vector<Index>& which) {
  Labels out;
  for (const Index i : which) out.push_back(all[at(i)]);
  return out;
}

std::vector<Index> each_once(std::vector<Index> drawn) {
  std::sort(drawn.begin(), drawn.end());
  drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  return drawn;
}

}  // namespace

Vector matched_jaccard(const Labels& one, const Labels& other, Index count, const VectorView& weights) {
  const Index others = std::max<Index>(1, clusters_in(other));
  Matrix both = Matrix::Zero(count, others);
  Vector first = Vector::Zero(count), second = Vector::Zero(others);
  for (std::size_t i = 0; i < one.size(); ++i) {
    const double w = weights.size() > 0 ? weights(static_cast<Index>(i)) : 1;
    if (one[i] >= 0) first(one[i]) += w;
    if (other[i] >= 0) second(other[i]) += w;
    if (one[i] >= 0 && other[i] >= 0) both(one[i], other[i]) += w;
  }
  Matrix index = Matrix::Zero(count, others);
  for (Index a = 0; a < count; ++a)
    for (Index b = 0; b < others; ++b)
      if (both(a, b) > 0) index(a, b) = both(a, b) / (first(a) + second(b) - both(a, b));
  const Matching pairs = best_matching(index);
  Vector out = Vector::Zero(count);
  for (Index b = 0; b < others; ++b)
    if (const Index a = pairs.row_of[at(b)]; a >= 0) out(a) = index(a, b);
  for (Index a = 0; a < count; ++a)
    if (first(a) == 0) out(a) = std::nan("");
  return out;
}

ClusterStability stability(const AnySpec& spec, const Formula& formula, const TableStream& data,
                           const StabilityOptions& options) {
  require(options.samples >= 10, "a bootstrap needs at least 10 samples");
  const Experiment experiment(spec, formula, data, options.experiment);
  if (experiment.task() != Task::clustering)
    throw Error(fmt::format("{} makes no clusters; ask for one of its results (--of)", experiment.spec().text()));
  Plan plan{.kind = PlanKind::bootstrap, .samples = options.samples};
  plan.group = options.group;
  const PlanRows rows = experiment.rows_of(plan);
  const Resampling draws(plan, rows, options.seed);
  Quietly quiet(options.execution.progress);
  FitOptions how;
  how.threads = options.execution.threads;
  how.seed = options.seed;
  how.progress = &quiet;
  std::vector<Index> all(at(experiment.rows()));
  std::iota(all.begin(), all.end(), Index{0});
  const Experiment::Learned whole = experiment.fit(all, how);
  if (quiet.cancelled()) throw Cancelled();  // it may have ended early
  const Labels clusters = experiment.ask(whole, all, how.execution()).answers.predicted;
  const Index count = clusters_in(clusters);
  if (count == 0) throw Error(fmt::format("{} finds no cluster in these rows", experiment.spec().text()));

  ClusterStability out;
  out.method = experiment.spec().text();
  out.formula = experiment.design().formula_text();
  out.data = experiment.data();
  out.rows = experiment.rows();
  out.notes = experiment.notes();
  out.sizes = Vector::Zero(count);
  const Vector weights = experiment.weights().size() > 0 ? experiment.weights() : Vector::Ones(out.rows).eval();
  for (Index i = 0; i < out.rows; ++i)
    if (clusters[at(i)] >= 0) out.sizes(clusters[at(i)]) += weights(i);

  std::vector<std::optional<Seen>> seen(at(options.samples));
  std::atomic<Index> done = 0;
  Execution silent;
  silent.threads = options.execution.threads;
  parallel_for(options.samples, silent, [&](Index i) {
    if (options.execution.cancelled()) return;
    FitOptions each = how;
    each.seed = fit_seed(options.seed, i);
    const std::vector<Index> drawn = draws.at(i).train, once = each_once(drawn);
    try {
      const auto learned = experiment.fit_drawn(drawn, each);
      if (quiet.cancelled()) return;
      const auto asked = experiment.ask(learned, once, each.execution());
      const Labels before = some_of(clusters, asked.rows);
      const Vector weight = weights(asked.rows);
      seen[at(i)] = Seen{matched_jaccard(before, asked.answers.predicted, count, weight),
                         adjusted_rand_index(contingency_of_clusters(before, asked.answers.predicted, weight)),
                         static_cast<double>(clusters_in(asked.answers.predicted))};
    } catch (const Cancelled&) { return; } catch (const Error&) {
    }  // fewer different rows than clusters
    options.execution.report(static_cast<double>(++done) / options.samples, "bootstrap");
  });
  out.cancelled = options.execution.cancelled();
  for (const auto& each : seen) (each ? out.samples : out.failed) += 1;
  if (out.samples < 2) {
    if (out.cancelled) throw Cancelled();
    throw Error("hardly any sample could be fitted: too few rows, or fewer different ones than clusters");
  }
  out.jaccard = out.recovered = out.dissolved = Vector::Zero(count);
  out.counts.resize(out.samples);
  Vector there = Vector::Zero(count);
  Index next = 0;
  for (const auto& each : seen) {
    if (!each) continue;
    out.counts(next++) = each->count;
    out.adjusted_rand += each->adjusted_rand / static_cast<double>(out.samples);
    for (Index c = 0; c < count; ++c) {
      const double j = each->jaccard(c);
      if (std::isnan(j)) continue;  // none of its rows was drawn
      there(c) += 1, out.jaccard(c) += j;
      out.recovered(c) += j >= kRecovered, out.dissolved(c) += j <= kDissolved;
    }
  }
  out.jaccard.array() /= there.array();
  out.recovered.array() /= there.array();
  out.dissolved.array() /= there.array();
  if (out.failed > 0 && !out.cancelled)
    out.notes.push_back(fmt::format("{} of {} samples had no fit and do not count", out.failed, options.samples));
  return out;
}

Value to_value(const ClusterStability& result) {
  Value out = Value::object();
  out.set("method", result.method);
  out.set("formula", result.formula);
  out.set("data", result.data);
  out.set("rows", result.rows);
  out.set("samples", result.samples);
  out.set("failed", result.failed);
  out.set("sizes", result.sizes);
  out.set("jaccard", result.jaccard);
  out.set("recovered", result.recovered);
  out.set("dissolved", result.dissolved);
  out.set("adjusted_rand", result.adjusted_rand);
  out.set("clusters", result.counts);
  out.set("cancelled", result.cancelled);
  out.set("notes", result.notes);
  return out;
}

std::string text(const ClusterStability& result) {
  const auto list = [](const Vector& v) { return std::vector<double>(v.begin(), v.end()); };
  std::vector<std::string> cluster, size, recovered, dissolved;
  const auto share = [](double part) { return std::isnan(part) ? "NA" : format_fixed(100 * part, 0) + " %"; };
  for (Index c = 0; c < result.sizes.size(); ++c) {
    cluster.push_back(fmt::format("{}", c + 1));
    size.push_back(format_significant(result.sizes(c), 7));
    recovered.push_back(share(result.recovered(c)));
    dissolved.push_back(share(result.dissolved(c)));
  }
  const double least = result.counts.minCoeff(), most = result.counts.maxCoeff();
  return fmt::format(
             "clusters of {} on {}: {}\n{} of {}\n\n{}\nadjusted Rand index with the clusters of all rows {} on "
             "average; ",
             result.method, result.data, result.formula, count_of(result.samples, "sample"),
             count_of(result.rows, "row"),
             TextTable()
                 .right("cluster", cluster)
                 .right("size", size)
                 .numbers("Jaccard", list(result.jaccard), 3)
                 .right("recovered", recovered)
                 .right("dissolved", dissolved)
                 .str(),
             format_significant(result.adjusted_rand, 3)) +
         (least == most ? fmt::format("{} in each sample\n", count_of(static_cast<Index>(most), "cluster"))
                        : fmt::format("{} to {} clusters in a sample\n", least, most));
}

}  // namespace lemma
