// lemma/cluster/hdbscan/certify.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/cluster/hdbscan/condense.hpp>
#include <lemma/cluster/hdbscan/things.hpp>
#include <lemma/cluster/shared/row_prints.hpp>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/simd/rough.hpp>
#include <lemma/model/comparison.hpp>
#include <limits>
#include <mutex>

namespace lemma {
namespace {

constexpr double kTolerance =
    1e-12;  // of the greatest height: distances are the same to the last bit wherever they are found
constexpr Index kFewRows = 1024;  // up to so many all pairs are compared exactly
constexpr Index kTogether = 64,
                kPanels = 16;  // places of a band, and panels of points that it is compared with at once

Certificate certificate(const HdbscanModel& model) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "the least reach between the two sides of each merge";
  out.tolerance = kTolerance;
  out.iterations = model.heights.size();
  out.stopped = "one cluster is left";
  return out;
}

/// What all distances say of a hierarchy.
struct Looked {
  Vector least;     // of each merge: the least mutual reachability between its two sides
  Index cores = 0;  // rows whose core distance is another one

  Index worst = 0;  // merge,
  double off = 0;   // and how far its height is from the least reach, in units of the greatest height
  bool holds() const { return off <= kTolerance && cores == 0; }
  void compare(const Vector& heights) {
    const double greatest = heights.maxCoeff(), unit = greatest > 0 ? greatest : 1;
    for (Index t = 0; t < heights.size(); ++t)
      if (const double each = std::abs(least(t) - heights(t)) / unit; !(each <= off)) off = each, worst = t;
  }
};

/// A band of places against all places after them: what each pair says of the merge that joins them and of the two core distances.
struct Band {
  Band(const MergeTree& of, const Vector& cores, Index begin, Index count)
      : tree(of),
        core(cores),
        first(begin),
        step(at(count), -1),
        entry(at(count), 0),
        nearer(at(core.size()), 0),
        within(nearer) {}

  /// d[q − from] for q in [from, to): distances of place p to places after it.
  void look(Index p, const double* d, Index from, Index to) {
    const double own = core(p);
    for (Index q = std::max(from, p + 1); q < to; ++q) {
      const double given = d[q - from], far = given == given ? given : HUGE_VAL, other = core(q);
      nearer[at(p)] += far < own, within[at(p)] += far <= own;
      nearer[at(q)] += far < other, within[at(q)] += far <= other;
      const double reach = std::max(far, std::max(own, other));
      if (const Index joins = tree.joins()[at(q)]; joins > step[at(p - first)]) {
        step[at(p - first)] = joins;
        entry[at(p - first)] = least.size();
        least.emplace_back(joins, reach);
      } else {
        double& so_far = least[entry[at(p - first)]].second;
        so_far = std::min(so_far, reach);
      }
    }
  }

  const MergeTree& tree;
  const Vector& core;
  Index first;
  std::vector<Index> step;                      // of each place the latest merge on the way so far,
  std::vector<std::size_t> entry;               // and where it stands in
  std::vector<std::pair<Index, double>> least;  // merges, and the least reach of some of their pairs
  std::vector<std::int32_t> nearer, within;     // of each place: rows nearer than its core distance, and within it
};

/// Places in the order of the tree, so that each merge joins neighbouring ones: what joins places p < q is the latest of the
/// merges between them. Each pair is looked at once.
Looked look(const HdbscanModel& model, const MergeTree& tree, const ReachedThings& things, const Execution& execution) {
  const Index n = tree.rows();
  const auto& order = tree.order();
  std::optional<PackedPoints> placed;
  if (things.metric) placed.emplace(*things.metric, rows_at(things.points, order));
  const Vector core = model.core(order);
  Looked out{Vector::Constant(n - 1, std::numeric_limits<double>::infinity())};
  std::vector<std::int64_t> nearer(at(n), 0), within(at(n), 1);  // each row is within its own core distance
  for (Index p = 0; p < n; ++p) nearer[at(p)] = core(p) > 0;
  std::mutex mutex;
  parallel_for((n + kTogether - 1) / kTogether, execution, [&](Index part) {
    const Index first = part * kTogether, count = std::min(kTogether, n - first);
    Band band(tree, core, first, count);
    if (placed) {
      const Index width = placed->metric().width();
      std::vector<double> x(at(count * width)), tile(at(count * kPanels * simd::kPanel));
      for (Index r = 0; r < count; ++r) placed->unpack(first + r, x.data() + r * width);
      for (Index k = first / simd::kPanel; k < placed->panels(); k += kPanels) {
        const Index panels = std::min(kPanels, placed->panels() - k), size = panels * simd::kPanel,
                    from = k * simd::kPanel;
        placed->distances(x.data(), count, k, panels, tile.data());
        for (Index r = 0; r < count; ++r) band.look(first + r, tile.data() + r * size, from, std::min(n, from + size));
      }
    } else {
      std::vector<double> row(at(n)), ordered(at(n));
      for (Index r = 0; r < count; ++r) {
        things.all.row(order[at(first + r)], row);
        for (Index q = 0; q < n; ++q) ordered[at(q)] = row[at(order[at(q)])];
        band.look(first + r, ordered.data(), 0, n);
      }
    }
    const std::lock_guard lock(mutex);
    for (const auto& [step, reach] : band.least) out.least(step) = std::min(out.least(step), reach);
    for (Index q = first; q < n; ++q) nearer[at(q)] += band.nearer[at(q)], within[at(q)] += band.within[at(q)];
  });
  for (Index p = 0; p < n; ++p)
    out.cores += !(nearer[at(p)] < *model.spec.min_points && *model.spec.min_points <= within[at(p)]);
  return out;
}

/// Places in the order of the tree, rows of a metric whose sums are squares: a float32 filter lets through all pairs no farther
/// apart than the height that joins them, or than the core distance of the first. Where the hierarchy is right no other pair
/// matters.
class NearPairs {
 public:
  NearPairs(const HdbscanModel& model, const MergeTree& tree, const ReachedThings& things)
      : metric_(*things.metric),
        rows_(metric_.mapped(rows_at(things.points, tree.order()))),
        rough_(rows_),
        core_(model.core(tree.order())),
        joins_(tree.joins()),
        heights_(model.heights),
        min_points_(*model.spec.min_points) {
    for (Index u = 0; u < rough_.units(); ++u)
      latest_.push_back(latest(std::max<Index>(1, u * kUnit), std::min(rows_.rows(), (u + 1) * kUnit)));
  }

  Looked look(const Execution& execution) const {
    const Index n = rows_.rows();
    Looked out{Vector::Constant(n - 1, std::numeric_limits<double>::infinity())};
    std::mutex mutex;
    parallel_for((n + kTogether - 1) / kTogether, execution, [&](Index part) {
      std::vector<std::pair<Index, double>> least;
      const Index first = part * kTogether, count = std::min(kTogether, n - first);
      const Index cores = look(first, count, least);
      const std::lock_guard lock(mutex);
      out.cores += cores;
      for (const auto& [step, reach] : least) out.least(step) = std::min(out.least(step), reach);
    });
    return out;
  }

 private:
  static constexpr Index kUnit = simd::RoughPoints::kUnit;
  static constexpr double kSlack = 1 + 1e-9;  // more than a height may be off

  /// How many of `count` places have another core distance; and what their pairs with places after them say.
  Index look(Index first, Index count, std::vector<std::pair<Index, double>>& least) const {
    const Index n = rows_.rows();
    const auto queries = rough_.queries(rows_.row(first).data(), count);
    std::vector<Index> nearer(at(count), 0), within(at(count), 0);
    std::vector<Index> step(at(count), -1);  // the merge that joins the place with those looked at so far
    std::vector<double> allowed(at(count), -1);
    std::vector<float> thresholds(at(count));
    std::vector<std::uint32_t> bits(at(count));
    for (Index u = 0; u < rough_.units(); ++u) {
      const Index from = u * kUnit, to = std::min(n, from + kUnit);
      std::vector<Index> last = step;
      for (Index r = 0; r < count; ++r) {
        const Index p = first + r;
        if (to > p + 1) last[at(r)] = std::max(last[at(r)], from > p ? latest_[at(u)] : latest(p + 1, to));
        const double far = kSlack * std::max(core_(p), last[at(r)] < 0 ? 0 : heights_(last[at(r)]));
        if (far == allowed[at(r)]) continue;
        allowed[at(r)] = far;
        thresholds[at(r)] = rough_.threshold(queries, r, metric_.reach(far));
      }
      rough_.within(queries, thresholds, u, 1, bits.data());
      for (Index r = 0; r < count; ++r) {
        const Index p = first + r;
        Index joins = step[at(r)];
        for (Index q = from; bits[at(r)] != 0 && q < to; ++q) {
          if (q > p) joins = std::max(joins, joins_[at(q)]);
          if ((bits[at(r)] >> (q - from) & 1) == 0) continue;
          const double d = metric_.between(rows_.row(p).data(), rows_.row(q).data());
          nearer[at(r)] += p == q ? core_(p) > 0 : d < core_(p);
          within[at(r)] += p == q || d <= core_(p);
          if (q > p) meet(joins, std::max({d, core_(p), core_(q)}), least);
        }
        step[at(r)] = last[at(r)];
      }
    }
    Index out = 0;
    for (std::size_t r = 0; r < nearer.size(); ++r) out += !(nearer[r] < min_points_ && min_points_ <= within[r]);
    return out;
  }

  /// The latest merge before places from … to − 1.
  Index latest(Index from, Index to) const { return *std::max_element(joins_.begin() + from, joins_.begin() + to); }

  /// One number for each run of pairs that one merge joins.
  static void meet(Index joins, double reach, std::vector<std::pair<Index, double>>& least) {
    if (!least.empty() && least.back().first == joins) least.back().second = std::min(least.back().second, reach);
    else least.emplace_back(joins, reach);
  }

  const BoundMetric& metric_;
  Matrix rows_;  // mapped, in their places
  simd::RoughPoints rough_;
  Vector core_;
  const std::vector<Index>& joins_;
  const Vector& heights_;
  Index min_points_;
  std::vector<Index> latest_;  // of each unit the latest merge before one of its places
};

/// Pairs that are near decide where all is right; else all of them, so that what is said of the fault is true.
Looked looked_at(const HdbscanModel& model, const MergeTree& tree, const ReachedThings& things,
                 const Execution& execution) {
  if (things.metric && things.metric->sum() == BoundMetric::Sum::squares && tree.rows() > kFewRows) {
    Looked near = NearPairs(model, tree, things).look(execution);
    near.compare(model.heights);
    if (near.holds()) return near;
  }
  Looked all = look(model, tree, things, execution.part(1, 1));
  all.compare(model.heights);
  return all;
}

/// The height at which each row first stands among so many: the lowest merge above it that has them.
Vector first_among(const MergeTree& tree, const Vector& heights, Index least_size) {
  Vector out(tree.rows());
  for (Index i = 0; i < tree.rows(); ++i) {
    Index node = ~i;
    while (tree.size(node) < least_size) node = tree.end(node);
    out(i) = heights(node);
  }
  return out;
}

/// Of a cluster that is born at `birth` and parts at `split`: Σ (λ of what comes first on the way down − λ of its birth).
double stability(const MergeTree& tree, const CondensedCluster& of, const Vector& among, const Lambda& lambda) {
  double sum = 0;
  for (Index place = tree.first(of.node); place < tree.first(of.node) + of.size; ++place)
    sum += lambda(std::max(among(tree.order()[at(place)]), of.split)) - lambda(of.birth);
  return sum;
}

/// The greatest sum of stabilities of clusters within this one of which none holds another.
double greatest_sum(const std::vector<CondensedCluster>& all, const std::vector<double>& stabilities, Index cluster) {
  double below = 0;
  for (const Index child : all[at(cluster)].children) below += greatest_sum(all, stabilities, child);
  return cluster == 0 ? below : std::max(below, stabilities[at(cluster)]);
}

/// Labels, tree and measures against those that follow from merges and heights.
void compare_clusters(const HdbscanModel& model, const MergeTree& tree, Comparison& same) {
  const Condensed condensed = condense(tree, model.heights, model.spec.min_cluster_size);
  HdbscanModel expected;
  expected.spec = model.spec;
  expected.heights = model.heights;
  describe(expected, condensed, tree);
  const Lambda lambda(model.heights);
  const Vector among = first_among(tree, model.heights, model.spec.min_cluster_size);
  std::vector<double> anew;
  for (const CondensedCluster& each : condensed.clusters) anew.push_back(stability(tree, each, among, lambda));
  same.number("tree", static_cast<double>(model.tree.rows()), static_cast<double>(expected.tree.rows()), 1);
  same.number("sizes", static_cast<double>(model.k()), static_cast<double>(expected.k()), 1);
  if (same.finding()) return;
  double taken = 0;
  for (Index c = 0; c < model.tree.rows(); ++c) {
    same.entry("tree", 6 * c + 4, model.tree(c, 4), anew[at(c)], std::max(1e-6 * anew[0], anew[at(c)]));
    for (Index j = 0; j < 6; ++j)
      same.entry("tree", 6 * c + j, model.tree(c, j), expected.tree(c, j),
                 std::max(1e-300, std::abs(expected.tree(c, j))));
    if (model.tree(c, 5) > 0) taken += anew[at(c)];
  }
  if (model.spec.selection == ClusterSelection::eom) {
    const double greatest = greatest_sum(condensed.clusters, anew, 0);
    same.number("stabilities", taken, greatest, greatest);
  }
  for (Index c = 0; c < model.k(); ++c) {
    same.entry("sizes", c, model.sizes(c), expected.sizes(c), 1);
    same.entry("stabilities", c, model.stabilities(c), expected.stabilities(c), expected.stabilities(c));
  }
  same.number("noise", static_cast<double>(model.noise), static_cast<double>(expected.noise), 1);
  for (Index i = 0; i < model.rows(); ++i) {
    same.entry("labels", i, model.labels(i), expected.labels(i), 1);
    same.entry("strengths", i, model.strengths(i), expected.strengths(i), 1);
    same.entry("outliers", i, model.outliers(i), expected.outliers(i), 1);
    same.entry("strengths", i, among(i), condensed.leaves(i), model.heights(model.heights.size() - 1));
  }
}

}  // namespace

ReachedThings reached_things(const Hdbscan& spec, const Rows& rows, const Execution& execution) {
  if (spec.input == Input::square) {
    Compared found = compare(Hdbscan::name, spec.input, spec.metric, rows, execution);
    return {std::move(found.dissimilarities), {}, {}};
  }
  auto [points, metric] = measured_points(spec.metric, rows, execution.part(0, 0.5));
  Dissimilarities all = Dissimilarities::on_demand(points, metric, {}, execution.part(0.5, 1));
  return {std::move(all), std::move(points), std::move(metric)};
}

ReachedThings ordered_things(const HdbscanModel& model, const Rows& rows, const Execution& execution) {
  ReachedThings given = reached_things(model.spec, rows, execution);
  if (!given.metric) return given;
  Matrix points = rows_at(given.points, places_by_prints(model.prints, given.points));
  Dissimilarities all = Dissimilarities::on_demand(points, *given.metric);
  return {std::move(all), std::move(points), std::move(given.metric)};
}

Certificate of_other_rows(const HdbscanModel& model, Index count) {
  Certificate out = certificate(model);
  out.value = 1;
  out.message =
      fmt::format("The hierarchy is one of {}, and there are {}.", count_of(model.rows(), "row"), format_count(count));
  return out;
}

Certificate certificate_of(const HdbscanModel& model, const ReachedThings& things, const Execution& execution) {
  const MergeTree tree(model.merges, Hdbscan::name);
  const Looked found = looked_at(model, tree, things, execution.part(0, 0.95, "hierarchy looked at again"));
  const Index worst = found.worst;
  Certificate out = certificate(model);
  out.value = found.off;
  Comparison same;
  if (out.holds() && found.cores == 0) compare_clusters(model, tree, same);
  if (found.cores > 0) {
    out.value = std::max(out.value, static_cast<double>(found.cores));
    out.message = fmt::format("Of {} the core distance is not that within which there are {} rows.",
                              count_of(found.cores, "row"), *model.spec.min_points);
  } else if (!out.holds()) {
    out.message =
        fmt::format("Merge {} has the height {}, but the least mutual reachability between its sides is {}.", worst + 1,
                    format_significant(model.heights(worst), 5), format_significant(found.least(worst), 5));
  } else if (same.finding()) {
    same.report(out);
    out.message = fmt::format("The hierarchy is that of the rows, but {}'{}' does not follow from it.",
                              same.finding()->place, same.finding()->field);
  } else {
    out.message = fmt::format(
        "Each of the {} is as high as the least mutual reachability between its two sides, found anew from all "
        "distances{}.",
        count_of(model.heights.size(), "merge"),
        model.spec.selection == ClusterSelection::eom && model.k() > 0
            ? ", and no other choice of clusters has a greater sum of stabilities"
            : "");
  }
  return out;
}

}  // namespace lemma
