// lemma/geometry/graph/spanning_tree.cpp: Prim on all pairs, Kruskal on the edges of a graph.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/geometry/graph.hpp>
#include <lemma/geometry/graph/edge_order.hpp>
#include <lemma/geometry/graph/mutual_reachability.hpp>
#include <lemma/geometry/graph/union_find.hpp>
#include <lemma/math/simd/panels.hpp>
#include <numeric>
#include <optional>

namespace lemma {
namespace {

using simd::kPanel;

/// The vertices outside the tree, each with its best edge into it. The tree grows by the best of all.
class Prim {
 public:
  /// `floor`: of each vertex, or none; a pair is at least as far apart as the floors of both.
  Prim(const Dissimilarities& all, std::span<const double> floor, const Execution& execution)
      : all_(all),
        loops_{.threads = execution.threads},
        outside_(at(all.count())),
        weight_(at(all.count()), HUGE_VAL),
        floor_(floor.begin(), floor.end()),
        joint_(at(all.count()), -1) {
    std::iota(outside_.begin(), outside_.end(), Index{0});
    if (all.points()) points_ = *all.points();
  }

  std::vector<Edge> run(const Execution& execution) {
    std::vector<Edge> tree;
    const Index n = all_.count();
    Index place = 0;
    for (Index step = 0; step + 1 < n; ++step) {
      if (step % 64 == 0) {
        if (execution.cancelled()) throw Cancelled();
        // after a share s of the steps 1 − (1 − s)² of the pairs have been looked at
        const double left = 1 - static_cast<double>(step) / static_cast<double>(n);
        execution.report(1 - left * left, "spanning tree");
      }
      const Index joined = outside_[at(place)];
      remove(place);
      place = look_from(joined);
      tree.push_back(best_edge(place));
    }
    std::sort(tree.begin(), tree.end(), before);
    return tree;
  }

 private:
  static constexpr Index kChunk = 256 * kPanel;  // places that one thread takes

  void remove(Index place) {
    if (points_) {
      from_.resize(at(points_->metric().width()));
      points_->unpack(place, from_.data());
      points_->drop(place);
    }
    const auto drop = [&](auto& list) {
      list[at(place)] = list.back();
      list.pop_back();
    };
    drop(outside_);
    drop(weight_);
    drop(joint_);
    if (floor_.empty()) return;
    least_ = floor_[at(place)];
    drop(floor_);
  }

  /// New best edges by way of the vertex that just joined; the place of the best of all.
  Index look_from(Index joined) {
    const Index places = static_cast<Index>(outside_.size()), chunks = (places + kChunk - 1) / kChunk;
    std::vector<Index> best(at(chunks));
    const auto look = [&](Index chunk) {
      const Index from = chunk * kChunk, to = std::min(places, from + kChunk);
      improve(joined, from, to);
      best[at(chunk)] = best_of(from, to);
    };
    if (chunks == 1) look(0);
    else parallel_for(chunks, loops_, look);
    Index out = best[0];
    for (const Index place : best)
      if (before(best_edge(place), best_edge(out))) out = place;
    return out;
  }

  void improve(Index joined, Index from, Index to) {
    const Index panels = (to - from + kPanel - 1) / kPanel;
    std::vector<double> tile(at(panels * kPanel));
    if (points_) points_->distances(from_.data(), 1, from / kPanel, panels, tile.data());
    else gather(joined, from, to, tile.data());
    if (!floor_.empty())
      for (Index place = from; place < to; ++place)
        if (double& weight = tile[at(place - from)]; !std::isnan(weight))
          weight = std::max(weight, std::max(least_, floor_[at(place)]));
    for (Index place = from; place < to; ++place)
      if (const double weight = tile[at(place - from)]; !(weight > weight_[at(place)])) improve(joined, place, weight);
  }

  void improve(Index joined, Index place, double weight) {
    if (!(weight < HUGE_VAL))
      throw Error(fmt::format("the dissimilarity of {} and {} is not a number", all_.name(joined),
                              all_.name(outside_[at(place)])));
    if (weight == weight_[at(place)] && !before(edge(joined, outside_[at(place)], weight), best_edge(place))) return;
    weight_[at(place)] = weight;
    joint_[at(place)] = joined;
  }

  /// Those of one vertex lie all over the triangle: they are called for a little before they are needed.
  void gather(Index joined, Index from, Index to, double* out) const {
    constexpr Index kAhead = 24;
    const double* kept = all_.kept().data();
    const auto address = [&](Index place) {
      const Index vertex = outside_[at(place)];
      return kept + (vertex < joined ? all_.pair(vertex, joined) : all_.pair(joined, vertex));
    };
    for (Index place = from; place < to; ++place) {
      if (place + kAhead < to) __builtin_prefetch(address(place + kAhead));
      out[place - from] = *address(place);
    }
  }

  Index best_of(Index from, Index to) const {
    const double least = simd::least({weight_.data() + from, at(to - from)});
    Index best = -1;
    for (Index place = from; place < to; ++place)
      if (weight_[at(place)] == least && (best < 0 || before(best_edge(place), best_edge(best)))) best = place;
    return best;
  }

  Edge best_edge(Index place) const { return edge(joint_[at(place)], outside_[at(place)], weight_[at(place)]); }

  const Dissimilarities& all_;
  Execution loops_;
  std::optional<PackedPoints> points_;  // those outside, in the order of outside_; nothing when all_ is kept
  std::vector<double> from_;            // the mapped row that just joined
  std::vector<Index> outside_;
  std::vector<double> weight_;  // of the best edge into the tree
  std::vector<double> floor_;   // of those outside, in their order; none: there are no floors
  double least_ = 0;            // the floor of the vertex that just joined
  std::vector<Index> joint_;    // where it ends
};

}  // namespace

std::vector<Edge> spanning_tree(const Dissimilarities& dissimilarities, const Execution& execution) {
  if (dissimilarities.count() < 2) return {};
  return Prim(dissimilarities, {}, execution).run(execution);
}

std::vector<Edge> mutual_reachability_tree(const Dissimilarities& dissimilarities, std::span<const double> core,
                                           const Execution& execution) {
  require(static_cast<Index>(core.size()) == dissimilarities.count(), "there is not one core distance for each vertex");
  if (dissimilarities.count() < 2) return {};
  return Prim(dissimilarities, core, execution).run(execution);
}

std::vector<Edge> kruskal(Index vertices, std::vector<Edge> edges) {
  std::vector<Edge> tree;
  std::sort(edges.begin(), edges.end(), before);
  UnionFind sets(vertices);
  for (const Edge& each : edges)
    if (sets.join(each.from, each.to)) tree.push_back(each);
  return tree;
}

std::vector<Edge> spanning_tree(const Graph& graph) {
  std::vector<Edge> edges;
  for (Index i = 0; i < graph.count(); ++i)
    for (std::size_t k = 0; k < graph.neighbors_of(i).size(); ++k)
      if (const Index j = graph.neighbors_of(i)[k]; graph.is_directed() || i < j)
        edges.push_back(edge(i, j, graph.weights_of(i)[k]));
  return kruskal(graph.count(), std::move(edges));
}

}  // namespace lemma
