// lemma/tree/forest/importance.cpp
#include <algorithm>
#include <lemma/tree/forest/importance.hpp>

namespace lemma::forest {
namespace {

/// What the leaves of a tree say, by the numbers of their nodes.
struct LeafOfNode {
  explicit LeafOfNode(const TreeNodes& nodes) : number(at(nodes.size()), 0) {
    std::uint32_t next = 0;
    for (Index i = 0; i < nodes.size(); ++i)
      if (nodes.is_leaf(i)) number[at(i)] = next++;
  }
  std::vector<std::uint32_t> number;
};

double error_of(const GrownTree& tree, const ForestRows& data, const GrownTree::Leaf& leaf, std::uint32_t row) {
  if (data.classes == 0) {
    const double off = leaf.value - data.y[row];
    return off * off;
  }
  std::int32_t label = leaf.label;
  if (label < 0) {
    const double* shares = tree.shares.data() + leaf.shares;
    label = static_cast<std::int32_t>(std::max_element(shares, shares + data.classes) - shares);
  }
  return label == static_cast<std::int32_t>(data.label[row]) ? 0 : 1;
}

}  // namespace

double importance_unit(const Plan& plan, const ForestRows& data) {
  if (plan.importance == ForestImportance::permutation) return data.scale * data.scale;
  // Of two classes S²/W counts half of what Gini's index does. A share of 1 draws as much as all rows weigh.
  const double rows = data.total_weight() * plan.share;
  return (data.classes == 2 ? 2.0 : 1.0) * data.scale * data.scale / rows;
}

std::vector<double> permutation_importance(const GrownTree& tree, const ForestRows& data, std::uint64_t seed,
                                           Index number) {
  std::vector<double> out(at(data.width), 0.0);
  if (tree.outside.empty()) return out;
  const LeafOfNode leaf_of(tree.nodes);
  std::vector<bool> asked(at(data.width), false);
  for (const TreeNode& node : tree.nodes.nodes)
    if (!node.is_leaf()) asked[node.column] = true;
  std::vector<std::uint32_t> rows = tree.outside;  // in an order that the tree has no part in
  std::sort(rows.begin(), rows.end());
  double weight = 0, before = 0;
  for (const std::uint32_t row : rows) weight += data.weight_of(row);
  for (const GrownTree::Leaf& leaf : tree.leaves)
    for (std::uint32_t i = leaf.begin; i < leaf.end; ++i)
      before += data.weight_of(tree.outside[i]) * error_of(tree, data, leaf, tree.outside[i]);
  const auto value = [&](std::uint32_t row, std::uint32_t column) {
    const std::uint32_t rank = data.ranks_of(row)[column];
    if (rank == kMissing) return std::numeric_limits<double>::quiet_NaN();
    return data.levels[column] > 0 ? static_cast<double>(rank) : data.low[column][rank];
  };
  for (std::uint32_t j = 0; j < asked.size(); ++j) {
    if (!asked[j]) continue;
    RandomStream stream = stream_of(seed, number, Purpose::shuffle, j);
    std::vector<std::uint32_t> other = rows;
    stream.shuffle(std::span<std::uint32_t>(other));
    double after = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Index place = 0;
      while (!tree.nodes.is_leaf(place)) {
        const TreeNode& node = tree.nodes[place];
        const double x = value(node.column == j ? other[i] : rows[i], node.column);
        place = tree.nodes.left(place) + (tree.nodes.goes_left(node, x) ? 0 : 1);
      }
      after += data.weight_of(rows[i]) * error_of(tree, data, tree.leaves[leaf_of.number[at(place)]], rows[i]);
    }
    out[j] = (after - before) / weight;
  }
  return out;
}

}  // namespace lemma::forest
