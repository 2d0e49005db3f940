// lemma/geometry/graph/filtered_tree.cpp: a spanning tree from lists of neighbours, put right by all pairs.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <lemma/geometry/graph/edge_order.hpp>
#include <lemma/geometry/graph/mutual_reachability.hpp>
#include <lemma/geometry/graph/union_find.hpp>
#include <lemma/math/simd/rough.hpp>
#include <limits>
#include <numeric>
#include <optional>

namespace lemma {
namespace {

constexpr Index kSamples = 8192;  // of all parts together that are joined through samples
constexpr Index kMostPairs = 50;  // of a row on average that may get through the filter
constexpr Index kFewRows = 2048;  // Prim looks at all pairs as fast
constexpr Index kListed = 8;      // neighbours of a row: of fewer there are too many parts to join
constexpr Index kUnit = simd::RoughPoints::kUnit;
constexpr Index kTogether = 64;  // rows that are compared with a unit at once

std::vector<Edge> edges_of(const NeighborLists& nearest, std::span<const double> core) {
  std::vector<Edge> out;
  for (Index i = 0; i < nearest.count(); ++i)
    for (std::size_t k = 0; k < nearest.rows_of(i).size(); ++k)
      if (const Index j = nearest.rows_of(i)[k]; j != i)
        out.push_back(edge(i, j, std::max({nearest.distances_of(i)[k], core[at(i)], core[at(j)]})));
  return out;
}

/// A few members of each part of a forest, evenly spread, and the tree of all these.
std::vector<Edge> between_parts(const std::vector<Edge>& forest, const Matrix& rows, const BoundMetric& metric,
                                std::span<const double> core, const Execution& execution) {
  const Index n = rows.rows();
  UnionFind sets(n);
  for (const Edge& each : forest) sets.join(each.from, each.to);
  std::vector<std::vector<Index>> parts;
  std::vector<Index> number(at(n), -1);
  for (Index i = 0; i < n; ++i) {
    Index& own = number[at(sets.find(i))];
    if (own < 0) own = std::ssize(parts), parts.emplace_back();
    parts[at(own)].push_back(i);
  }
  if (parts.size() == 1) return {};
  const Index most = std::max<Index>(1, kSamples / std::ssize(parts));
  std::vector<Index> sample;
  for (const auto& part : parts) {
    const Index size = std::ssize(part), taken = std::min(size, most);
    for (Index k = 0; k < taken; ++k) sample.push_back(part[at(k * size / taken)]);
  }
  std::vector<double> reach;
  for (const Index i : sample) reach.push_back(core[at(i)]);
  const auto all = Dissimilarities::on_demand(rows(sample, Eigen::all), metric);
  std::vector<Edge> out = mutual_reachability_tree(all, reach, execution);
  for (Edge& each : out) each = edge(sample[at(each.from)], sample[at(each.to)], each.weight);
  return out;
}

/// The vertices in an order in which what any of the tree's heights joins stands together; gap[p] is the height that joins places
/// p and p + 1, so that the longest edge on the way between two places is the greatest gap between them.
struct Places {
  std::vector<Index> order;
  std::vector<double> gap;
};

Places places_of(Index n, const std::vector<Edge>& tree) {
  UnionFind sets(n);
  std::vector<Index> head(at(n)), tail(at(n)), next(at(n), -1);
  std::iota(head.begin(), head.end(), Index{0});
  tail = head;
  std::vector<double> gap_after(at(n), HUGE_VAL);
  for (const Edge& each : tree) {
    const Index a = sets.find(each.from), b = sets.find(each.to), first = head[at(a)], last = tail[at(b)];
    gap_after[at(tail[at(a)])] = each.weight;
    next[at(tail[at(a)])] = head[at(b)];
    sets.join(a, b);
    head[at(sets.find(a))] = first;
    tail[at(sets.find(a))] = last;
  }
  Places out;
  for (Index i = head[at(sets.find(0))]; i >= 0; i = next[at(i)]) {
    out.order.push_back(i);
    out.gap.push_back(gap_after[at(i)]);
  }
  return out;
}

/// The pairs that are no longer than their way through the tree.
class Filter {
 public:
  Filter(const Matrix& rows, const BoundMetric& metric, std::span<const double> core, Places places)
      : metric_(metric),
        places_(std::move(places)),
        rows_(metric.mapped(rows)(places_.order, Eigen::all)),
        rough_(rows_),
        core_(at(rows.rows())) {
    for (std::size_t p = 0; p < core_.size(); ++p) core_[p] = core[at(places_.order[p])];
    for (Index u = 0; u < rough_.units(); ++u)
      widest_.push_back(widest(std::max<Index>(1, u * kUnit), std::min(rows.rows(), (u + 1) * kUnit)));
  }

  /// Nothing when there are too many.
  std::optional<std::vector<Edge>> run(const Execution& execution) const {
    const Index n = rows_.rows(), bands = (n + kTogether - 1) / kTogether;
    std::vector<std::vector<Edge>> found(at(bands));
    std::atomic<Index> pairs = 0;
    parallel_for(bands, execution, [&](Index band) {
      if (pairs <= kMostPairs * n) pairs += look(band * kTogether, found[at(band)]);
    });
    if (pairs > kMostPairs * n) return {};
    std::vector<Edge> out;
    for (const auto& part : found) out.insert(out.end(), part.begin(), part.end());
    return out;
  }

 private:
  /// The rows from place `first` on, each with all places after it.
  Index look(Index first, std::vector<Edge>& out) const {
    const Index n = rows_.rows(), count = std::min(kTogether, n - first);
    const auto queries = rough_.queries(rows_.row(first).data(), count);
    std::vector<double> way(at(count), -1);  // the greatest gap before the unit at hand,
    std::vector<double> after = way;         // after it,
    std::vector<double> allowed = way;       // and that to which the threshold belongs
    std::vector<float> thresholds(at(count), -std::numeric_limits<float>::infinity());
    std::vector<std::uint32_t> bits(at(count));
    for (Index u = first / kUnit; u < rough_.units() && std::ssize(out) <= kMostPairs * n; ++u) {
      const Index from = u * kUnit, to = std::min(n, from + kUnit);
      for (Index r = 0; r < count; ++r) {
        const Index p = first + r;
        if (to <= p + 1) continue;
        after[at(r)] = std::max(way[at(r)], from > p ? widest_[at(u)] : widest(p + 1, to));
        if (after[at(r)] == allowed[at(r)]) continue;
        allowed[at(r)] = after[at(r)];
        if (allowed[at(r)] >= core_[at(p)])
          thresholds[at(r)] = rough_.threshold(queries, r, metric_.reach(allowed[at(r)]));
      }
      rough_.within(queries, thresholds, u, 1, bits.data());
      for (Index r = 0; r < count; ++r) {
        const Index p = first + r;
        double so_far = way[at(r)];
        for (Index q = std::max(from, p + 1); bits[at(r)] != 0 && q < to; ++q) {
          so_far = std::max(so_far, places_.gap[at(q - 1)]);
          if ((bits[at(r)] >> (q - from) & 1) != 0) offer(p, q, so_far, out);
        }
        way[at(r)] = after[at(r)];
      }
    }
    return std::ssize(out);
  }

  /// The greatest gap before places from … to − 1.
  double widest(Index from, Index to) const {
    return *std::max_element(places_.gap.begin() + from - 1, places_.gap.begin() + to - 1);
  }

  void offer(Index p, Index q, double way, std::vector<Edge>& out) const {
    const double least = std::max(core_[at(p)], core_[at(q)]);
    if (least > way) return;
    const double reach = std::max(least, metric_.between(rows_.row(p).data(), rows_.row(q).data()));
    if (reach <= way) out.push_back(edge(places_.order[at(p)], places_.order[at(q)], reach));
  }

  const BoundMetric& metric_;
  Places places_;
  Matrix rows_;  // mapped, in their places
  simd::RoughPoints rough_;
  std::vector<double> core_;
  std::vector<double> widest_;  // of each unit the greatest gap before one of its places
};

}  // namespace

std::vector<Edge> mutual_reachability_tree(const Matrix& rows, const BoundMetric& metric, const NeighborLists& nearest,
                                           std::span<const double> core, const Execution& execution) {
  const Index n = rows.rows();
  require(metric.sum() == BoundMetric::Sum::squares && nearest.count() == n && std::ssize(core) == n,
          "a filtered spanning tree: the lists do not fit the rows");
  if (n < 2) return {};
  std::vector<Edge> tree = kruskal(n, edges_of(nearest, core));
  if (const auto more = between_parts(tree, rows, metric, core, execution.part(0, 0.2)); !more.empty()) {
    tree.insert(tree.end(), more.begin(), more.end());
    tree = kruskal(n, std::move(tree));
  }
  if (tree.back().weight < HUGE_VAL)
    if (auto pairs = Filter(rows, metric, core, places_of(n, tree)).run(execution.part(0.2, 1, "spanning tree"))) {
      pairs->insert(pairs->end(), tree.begin(), tree.end());
      return kruskal(n, *std::move(pairs));
    }
  return mutual_reachability_tree(Dissimilarities::on_demand(rows, metric), core, execution);
}

std::vector<Edge> spanning_tree(const Matrix& rows, const BoundMetric& metric, const Execution& execution) {
  if (metric.sum() != BoundMetric::Sum::squares || rows.rows() <= kFewRows)
    return spanning_tree(Dissimilarities::on_demand(rows, metric, {}, execution.part(0, 0)), execution);
  const Neighbors search(rows, metric, SearchOptions{}, execution.part(0, 0.1));
  const NeighborLists nearest = search.nearest(rows, kListed, execution.part(0.1, 0.4, "nearest rows"));
  return mutual_reachability_tree(rows, metric, nearest, std::vector<double>(at(rows.rows()), 0.0),
                                  execution.part(0.4, 1));
}

}  // namespace lemma
