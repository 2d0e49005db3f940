// lemma/geometry/neighbors/projection_trees.cpp
#include <algorithm>
#include <cmath>
#include <lemma/core/hearing.hpp>
#include <lemma/core/random.hpp>
#include <lemma/geometry/neighbors/projection_trees.hpp>
#include <numeric>
#include <queue>
#include <tuple>

namespace lemma::neighbors {
namespace {

constexpr Index kTrees = 8;
constexpr Index kLeaf = 32;            // points of a part that is parted no further
constexpr std::uint64_t kSeed = 4071;  // the same trees for the same points
constexpr Index kChoosers = 64;        // points that choose how many are looked at
constexpr double kStep = 1.4;          // of the ladder

/// A parting of the points order[from, to) at the middle; its left child stands next to it.
struct Node {
  std::int32_t a, b;  // two points
  std::int32_t right = 0;
  double threshold = 0, inverse_length = 0;
};
struct Tree {
  std::vector<Node> nodes;
  SearchStructure::Order order;
};
/// A part that a query has still to look at: what it costs to be there.
struct Open {
  double cost;
  std::int32_t tree, node;
  Index from, to;
  bool operator<(const Open& other) const {  // the least cost first
    return std::tie(other.cost, other.tree, other.from) < std::tie(cost, tree, from);
  }
};

class Forest final : public SearchStructure {
 public:
  Forest(const BoundMetric& metric, const Matrix& mapped, const Execution& execution)
      : SearchStructure(PackedPoints::of_mapped(metric, mapped), in_order(mapped.rows())),
        rows_(mapped),
        trees_(static_cast<std::size_t>(kTrees)) {
    parallel_for(kTrees, execution, [&](Index t) {
      RandomStream random(kSeed, static_cast<std::uint64_t>(t));
      Tree& tree = trees_[static_cast<std::size_t>(t)];
      tree.order = in_order(rows_.rows());
      grow(tree, 0, rows_.rows(), random);
    });
  }

  Index looks = 0;

  void search(const double* rows, Index count, Collector* collectors) const override {
    std::vector<std::int32_t> met;
    for (Index i = 0; i < count; ++i) {
      ask();
      const double* x = rows + i * rows_.cols();
      meet(x, met);
      std::sort(met.begin(), met.end());
      met.erase(std::unique(met.begin(), met.end()), met.end());
      const BoundMetric& metric = points_.metric();
      for (const std::int32_t row : met)
        if (const double sum = metric.sum_of(x, at(row)); sum <= collectors[i].limit())
          collectors[i].offer(row, metric.distance_of(sum, x, at(row)));
    }
  }

 private:
  static Order in_order(Index n) {
    Order out(static_cast<std::size_t>(n));
    std::iota(out.begin(), out.end(), 0);
    return out;
  }
  const double* at(std::int32_t row) const { return &rows_(row, 0); }

  double along(const double* x, std::int32_t a, std::int32_t b) const {
    const double *from = at(b), *to = at(a);
    double sums[4] = {0, 0, 0, 0};
    Index j = 0;
    for (; j + 4 <= rows_.cols(); j += 4)
      for (Index l = 0; l < 4; ++l) sums[l] += x[j + l] * (to[j + l] - from[j + l]);
    for (; j < rows_.cols(); ++j) sums[0] += x[j] * (to[j] - from[j]);
    return sums[0] + sums[1] + (sums[2] + sums[3]);
  }

  void grow(Tree& tree, Index from, Index to, RandomStream& random) {
    if (to - from <= kLeaf) return;
    ask();
    auto* const first = tree.order.data() + from;
    const Index size = to - from, middle = size / 2;
    Node node{first[random.below(size)], first[random.below(size)]};
    for (int tries = 0; tries < 8 && along(at(node.a), node.a, node.b) == along(at(node.b), node.a, node.b); ++tries)
      node.b = first[random.below(size)];
    const double squares = along(at(node.a), node.a, node.b) - along(at(node.b), node.a, node.b);
    if (squares > 0 && std::isfinite(squares)) node.inverse_length = 1 / std::sqrt(squares);
    std::vector<Found> parted(static_cast<std::size_t>(size));
    for (Index i = 0; i < size; ++i) {
      const double key = along(at(first[i]), node.a, node.b);
      parted[static_cast<std::size_t>(i)] = {std::isfinite(key) ? key : 0, first[i]};
    }
    std::nth_element(parted.begin(), parted.begin() + middle, parted.end());
    node.threshold = parted[static_cast<std::size_t>(middle)].distance;
    for (Index i = 0; i < size; ++i) first[i] = parted[static_cast<std::size_t>(i)].row;
    const std::size_t self = tree.nodes.size();
    tree.nodes.push_back(node);
    grow(tree, from, from + middle, random);
    tree.nodes[self].right = static_cast<std::int32_t>(tree.nodes.size());
    grow(tree, from + middle, to, random);
  }

  /// The points that the query x is shown, some of them several times.
  void meet(const double* x, std::vector<std::int32_t>& met) const {
    met.clear();
    std::priority_queue<Open> open;
    for (Index t = 0; t < kTrees; ++t) open.push({0, static_cast<std::int32_t>(t), 0, 0, rows_.rows()});
    while (!open.empty() && static_cast<Index>(met.size()) < looks) {
      Open here = open.top();
      open.pop();
      const Tree& tree = trees_[static_cast<std::size_t>(here.tree)];
      while (here.to - here.from > kLeaf) {
        const Node& node = tree.nodes[static_cast<std::size_t>(here.node)];
        const double key = along(x, node.a, node.b), off = (key - node.threshold) * node.inverse_length;
        const Index middle = here.from + (here.to - here.from) / 2;
        Open left{here.cost, here.tree, here.node + 1, here.from, middle};
        Open right{here.cost, here.tree, node.right, middle, here.to};
        const bool is_left = !(key >= node.threshold);
        (is_left ? right : left).cost += std::isfinite(off) ? off * off : 0;
        open.push(is_left ? right : left);
        here = is_left ? left : right;
      }
      met.insert(met.end(), tree.order.begin() + here.from, tree.order.begin() + here.to);
    }
  }

  Matrix rows_;
  std::vector<Tree> trees_;
};

/// What share of the true neighbours of these points, each left out, is found.
class Trial {
 public:
  Trial(const SearchStructure& exact, const Matrix& mapped, std::vector<std::int32_t> asked, const Execution& execution)
      : mapped_(mapped), asked_(std::move(asked)), farthest_(asked_.size(), -1), wanted_(asked_.size(), 0) {
    parallel_for(static_cast<Index>(asked_.size()), execution, [&](Index i) {
      const auto found = lists(exact, i);
      wanted_[static_cast<std::size_t>(i)] = static_cast<double>(found.size());
      if (!found.empty()) farthest_[static_cast<std::size_t>(i)] = found.back().distance;
    });
  }

  double recall(const SearchStructure& search, const Execution& execution) const {
    std::vector<double> share(asked_.size(), 0);
    parallel_for(static_cast<Index>(asked_.size()), execution, [&](Index i) {
      for (const Found& each : lists(search, i))
        share[static_cast<std::size_t>(i)] += each.distance <= farthest_[static_cast<std::size_t>(i)] ? 1 : 0;
    });
    const double wanted = std::accumulate(wanted_.begin(), wanted_.end(), 0.0);
    return wanted > 0 ? std::accumulate(share.begin(), share.end(), 0.0) / wanted : 1;
  }

 private:
  std::vector<Found> lists(const SearchStructure& search, Index i) const {
    const std::int32_t row = asked_[static_cast<std::size_t>(i)];
    Collector collector(search.points().metric(), kToldNeighbors, HUGE_VAL, 0);
    collector.begin(row);
    search.search(&mapped_(row, 0), 1, &collector);
    return collector.finish();
  }

  const Matrix& mapped_;
  std::vector<std::int32_t> asked_;
  std::vector<double> farthest_, wanted_;
};

}  // namespace

ProjectionTrees projection_trees(const BoundMetric& metric, const Matrix& mapped, double recall,
                                 const Execution& execution) {
  const Index n = mapped.rows();
  auto forest = std::make_unique<Forest>(metric, mapped, execution.part(0, 0.5));
  RandomStream random(kSeed, static_cast<std::uint64_t>(kTrees));
  const auto drawn = sample_without_replacement(random, n, std::min(n, kChoosers + kTellers));
  const auto half = static_cast<std::ptrdiff_t>(drawn.size() / 2);
  const auto exact = brute_force(metric, mapped);
  const Execution trying = execution.part(0.5, 1);
  const Trial choosers(*exact, mapped, {drawn.begin(), drawn.begin() + half}, trying);
  const Trial tellers(*exact, mapped, {drawn.begin() + half, drawn.end()}, trying);
  double looks = static_cast<double>(kTrees * kLeaf);
  do {
    forest->looks = static_cast<Index>(looks);
    looks *= kStep;
  } while (choosers.recall(*forest, trying) < recall && forest->looks < kTrees * n);
  ProjectionTrees out;
  out.recall = tellers.recall(*forest, trying);
  out.looks = forest->looks;
  out.search = std::move(forest);
  return out;
}

}  // namespace lemma::neighbors
