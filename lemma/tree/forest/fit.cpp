// lemma/tree/forest/fit.cpp: trees side by side, and what they say of rows outside their bags one after the other.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/core/text.hpp>
#include <lemma/model/cut_short.hpp>
#include <lemma/tree/forest/counted.hpp>
#include <lemma/tree/forest/grove.hpp>
#include <lemma/tree/forest/importance.hpp>
#include <lemma/tree/forest/outside.hpp>
#include <mutex>

namespace lemma::forest {
namespace {

/// Growers for as many threads as there are.
template <class Grower>
class GrowerPool {
 public:
  explicit GrowerPool(std::function<std::unique_ptr<Grower>()> make) : make_(std::move(make)) {}
  GrownTree grow(Index tree) {
    std::unique_ptr<Grower> grower;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        grower = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (!grower) grower = make_();
    GrownTree out = grower->grow(tree);
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(grower));
    return out;
  }

 private:
  std::function<std::unique_ptr<Grower>()> make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Grower>> free_;
};

/// use(tree) of each tree in turn. So many are grown side by side; which of them are does not matter to any of them. Gives back
/// how many there are: a cancel ends it after those that were grown before, if any.
Index grow_all(const Plan& plan, const ForestRows& data, std::uint64_t seed, const Execution& execution,
               const std::function<void(GrownTree&, Index)>& also, const std::function<void(GrownTree)>& use) {
  const Bags bags(plan, data, seed);
  GrowerPool<TreeGrower> pool([&] { return std::make_unique<TreeGrower>(plan, data, bags, seed); });
  GrowerPool<CountedGrower> counted([&] { return std::make_unique<CountedGrower>(plan, data, seed); });
  const bool counts = CountedGrower::suits(plan, data);
  const Index together = std::max<Index>(8, 8 * threads_of(execution));
  for (Index first = 0; first < plan.trees; first += together) {
    const Index count = std::min(together, plan.trees - first);
    std::vector<GrownTree> grown(at(count));
    const double total = static_cast<double>(plan.trees), begin = static_cast<double>(first) / total;
    try {
      parallel_for(count, execution.part(begin, static_cast<double>(first + count) / total, "growing trees"),
                   [&](Index i) {
                     grown[at(i)] = counts ? counted.grow(first + i) : pool.grow(first + i);
                     if (also) also(grown[at(i)], first + i);
                   });
    } catch (const Cancelled&) {
      if (first == 0) throw;
      return first;
    }
    for (Index i = 0; i < count; ++i) use(std::move(grown[at(i)]));
  }
  return plan.trees;
}

/// The leaves of a tree behind those before.
struct LeafStore {
  std::vector<double> values, shares, weights;
  Labels classes;

  void add(const GrownTree& tree, const ForestRows& data) {
    const auto k = at(data.classes);
    for (const GrownTree::Leaf& leaf : tree.leaves) {
      weights.push_back(leaf.weight);
      if (k == 0) {
        values.push_back(data.centre + data.scale * leaf.value);
      } else if (leaf.label >= 0) {
        classes.push_back(leaf.label);
      } else {
        classes.push_back(-1 - static_cast<int>(shares.size() / k));
        shares.insert(shares.end(), tree.shares.begin() + leaf.shares,
                      tree.shares.begin() + leaf.shares + static_cast<Index>(k));
      }
    }
  }
  void give(Grove& out, Index k) {
    out.leaf_value = Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
    out.leaf_weight = Eigen::Map<const Vector>(weights.data(), static_cast<Index>(weights.size()));
    out.leaf_class = std::move(classes);
    const Index rows = k == 0 ? 0 : static_cast<Index>(shares.size()) / k;
    out.leaf_shares = Eigen::Map<const Matrix>(shares.data(), rows, k);
  }
};

void take_rows(Grove& out, const ForestRows& data, const Rows& rows) {
  out.of_classes = data.classes > 0;
  out.counts = Vector::Zero(std::max<Index>(1, data.classes));
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(data.rows); ++i)
    out.counts(data.classes > 0 ? data.label[i] : 0) += data.weight_of(i);
  out.order.assign(at(rows.count()), -1);
  for (Index i = 0; i < data.rows; ++i) out.order[at(data.source[at(i)])] = static_cast<int>(i);
  out.weight = Eigen::Map<const Vector>(data.weight.data(), static_cast<Index>(data.weight.size()));
}

void keep_rows(Grove& out, const ForestRows& data, const Rows& rows, const Execution& execution) {
  Matrix space;
  const MatrixView x = matrix_of(rows, space, execution);
  out.kept_rows.resize(data.rows, data.width);
  out.kept_response.resize(data.rows);
  for (Index i = 0; i < data.rows; ++i) {
    out.kept_rows.row(i) = x.row(data.source[at(i)]);
    out.kept_response(i) = data.classes > 0 ? data.label[at(i)] : data.centre + data.scale * data.y[at(i)];
  }
}

/// What takes no part, and a response that leaves nothing to tell.
std::vector<std::string> warnings_of(const ForestRows& data, const Rows& rows) {
  std::vector<std::string> out, empty;
  const auto n = at(data.rows), d = at(data.width);
  for (std::size_t j = 0; j < d; ++j) {
    std::size_t i = 0;
    while (i < n && data.ranks[i * d + j] == kMissing) ++i;
    if (i == n) empty.push_back("'" + rows.features[j] + "'");
  }
  if (!empty.empty())
    out.push_back(fmt::format("{} {} no value in any row and {} no part", join_words(empty),
                              empty.size() == 1 ? "has" : "have", empty.size() == 1 ? "takes" : "take"));
  const auto alike = [](const auto& all) { return std::equal(all.begin() + 1, all.end(), all.begin()); };
  if (data.classes > 0 ? alike(data.label) : alike(data.y))
    out.push_back(fmt::format("{} is the same in all rows: each tree is one leaf",
                              rows.target.empty() ? "the response" : "'" + rows.target + "'"));
  return out;
}

void join(TreeNodes& out, std::vector<TreeNodes>& trees) {
  std::size_t nodes = 0, sets = 0;
  for (const TreeNodes& tree : trees) {
    nodes += tree.nodes.size();
    sets += tree.sets.size();
  }
  out = std::move(trees.front());
  out.nodes.reserve(nodes);
  out.sets.reserve(sets);
  for (std::size_t b = 1; b < trees.size(); ++b) {
    out.append(trees[b]);
    trees[b] = {};
  }
  out.number_leaves();
}

}  // namespace

Index fit_grove(Grove& out, const Plan& plan, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const ForestRows data = forest_rows(plan, rows, execution.part(0, 0.05, "sorting columns"));
  out.seed = static_cast<std::int64_t>(options.seed);
  take_rows(out, data, rows);
  out.warnings = warnings_of(data, rows);
  Outside outside(data);
  LeafStore leaves;
  std::vector<TreeNodes> trees;
  const bool by_permutation = plan.importance == ForestImportance::permutation;
  out.importance = Vector::Zero(data.width);
  std::function<void(GrownTree&, Index)> also;
  if (by_permutation)
    also = [&](GrownTree& tree, Index number) {
      tree.importance = permutation_importance(tree, data, options.seed, number);
    };
  const Index grown = grow_all(plan, data, options.seed, execution.part(0.05, 0.9), also, [&](GrownTree tree) {
    outside.add(tree);
    leaves.add(tree, data);
    for (Index j = 0; j < data.width; ++j) out.importance(j) += tree.importance[at(j)];
    out.kept_leaves.insert(out.kept_leaves.end(), tree.leaf_of.begin(), tree.leaf_of.end());
    trees.push_back(std::move(tree.nodes));
  });
  join(out.trees, trees);
  leaves.give(out, data.classes);
  outside.give(out);
  if (plan.importance == ForestImportance::corrected)
    out.importance = corrected_importance(plan, data, options.seed, execution.part(0.5, 0.9));
  else out.importance *= importance_unit(plan, data) / static_cast<double>(grown);
  if (plan.keep_rows) keep_rows(out, data, rows, grown < plan.trees ? unheard(execution) : execution);
  return grown;
}

Vector corrected_importance(const Plan& plan, const ForestRows& data, std::uint64_t seed, const Execution& execution) {
  const ForestRows both = with_shadows(data, seed);
  Plan other = plan;
  other.keep_rows = false;
  Vector out = Vector::Zero(data.width);
  const Index grown =
      grow_all(other, both, stream_of(seed, 1, Purpose::shadows).bits(), execution, {}, [&](GrownTree tree) {
        for (Index j = 0; j < data.width; ++j) out(j) += tree.importance[at(j)] - tree.importance[at(j + data.width)];
      });
  if (grown < plan.trees) throw Cancelled();
  return out * (importance_unit(plan, data) / static_cast<double>(plan.trees));
}

}  // namespace lemma::forest
