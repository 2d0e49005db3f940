// lemma/tree/shared/shap_test.cpp
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/tree/shared/shap.hpp>

namespace lemma {
namespace {

/// Shapley's value of one of four columns, v being what is said when a set of them is known.
template <class V>
double shapley_of(Index column, const V& v) {
  constexpr double kWeights[] = {1.0 / 4, 1.0 / 12, 1.0 / 12, 1.0 / 4};  // |S|! (3 − |S|)! / 4!
  double sum = 0;
  for (unsigned set = 0; set < 16; ++set)
    if (!(set >> column & 1U)) sum += kWeights[std::popcount(set)] * (v(set | 1U << column) - v(set));
  return sum;
}

/// A tree of random questions; columns 0 … 3, of which the last holds three categories.
struct RandomTree {
  TreeNodes nodes = single_leaf({0, 0, 0, 3});
  Vector values, cover;

  explicit RandomTree(RandomStream& stream, Index leaves) {
    for (Index count = 1; count < leaves; ++count) {
      Index leaf = stream.below(nodes.size());
      while (!nodes.is_leaf(leaf)) leaf = stream.below(nodes.size());
      nodes.split(leaf);
      const Index column = stream.below(4);
      const double threshold = column == 3 ? static_cast<double>(nodes.add_set(3)) : stream.normal();
      if (column == 3) nodes.put_in_set(nodes.sets.size() - 1, static_cast<std::uint32_t>(stream.below(3)));
      TreeNode& node = nodes.nodes[at(leaf)];
      node.column = static_cast<std::uint32_t>(column) & 3U;
      node.categories = column == 3;
      node.threshold = threshold;
      node.missing_left = stream.below(2) == 1;
    }
    nodes.number_leaves();
    values = Vector::NullaryExpr(nodes.leaves(), [&] { return stream.normal(); });
    cover = Vector::NullaryExpr(nodes.leaves(), [&] { return 1.0 + static_cast<double>(stream.below(9)); });
  }
  double cover_of(Index i) const {
    return nodes.is_leaf(i) ? cover(nodes[i].column) : cover_of(nodes.left(i)) + cover_of(nodes.right(i));
  }
  /// v(S): columns outside of S are not known.
  double said(Index i, const double* row, unsigned known) const {
    const TreeNode& node = nodes[i];
    if (node.is_leaf()) return values(node.column);
    const Index left = nodes.left(i), right = nodes.right(i);
    if (known >> node.column & 1U) return said(nodes.goes_left(node, row[node.column]) ? left : right, row, known);
    return (cover_of(left) * said(left, row, known) + cover_of(right) * said(right, row, known)) / cover_of(i);
  }
  double shapley(Index column, const double* row) const {
    return shapley_of(column, [&](unsigned known) { return said(0, row, known); });
  }
};

TEST(TreeShap, IsShapleysSumOverAllSetsOfColumns) {
  RandomStream stream(5);
  for (int trial = 0; trial < 60; ++trial) {
    const RandomTree tree(stream, 2 + trial % 14);
    const TreeShap explained(tree.nodes, tree.values, tree.cover);
    const double row[] = {stream.normal(), trial % 5 == 0 ? std::nan("") : stream.normal(), stream.normal(),
                          static_cast<double>(stream.below(3))};
    Vector phi = Vector::Zero(4);
    explained.add(0, row, phi.data());
    EXPECT_NEAR(explained.base(0), tree.said(0, row, 0), 1e-12);
    EXPECT_NEAR(explained.base(0) + phi.sum(), tree.said(0, row, 15), 1e-12);
    for (Index j = 0; j < 4; ++j) EXPECT_NEAR(phi(j), tree.shapley(j, row), 1e-12) << trial << " " << j;
  }
}

TEST(TreeShap, OfARowThatGoesBothWaysIsShapleysSumToo) {
  RandomStream stream(6);
  for (int trial = 0; trial < 40; ++trial) {
    const RandomTree tree(stream, 2 + trial % 14);
    const TreeShap explained(tree.nodes, tree.values, tree.cover);
    std::vector<double> left(at(tree.nodes.size()));
    for (double& each : left) each = static_cast<double>(stream.below(3)) / 2;
    const std::function<double(Index, unsigned)> said = [&](Index i, unsigned known) {
      const TreeNode& node = tree.nodes[i];
      if (node.is_leaf()) return tree.values(node.column);
      const Index child = tree.nodes.left(i);
      const double share = known >> node.column & 1U ? left[at(i)] : tree.cover_of(child) / tree.cover_of(i);
      return share * said(child, known) + (1 - share) * said(child + 1, known);
    };
    Vector phi = Vector::Zero(4);
    explained.add(
        0, [&](Index i) { return left[at(i)]; }, phi.data());
    for (Index j = 0; j < 4; ++j)
      EXPECT_NEAR(phi(j), shapley_of(j, [&](unsigned known) { return said(0, known); }), 1e-12) << trial << " " << j;
  }
}

TEST(TreeShap, OfATreeWithOneLeafSaysNothingOfColumns) {
  const TreeNodes leaf = single_leaf({0});
  const TreeShap explained(leaf, Vector::Constant(1, 3.0), Vector::Constant(1, 7.0));
  double phi = 0;
  const double row = 1;
  explained.add(0, &row, &phi);
  EXPECT_EQ(phi, 0);
  EXPECT_EQ(explained.base(0), 3);
}

}  // namespace
}  // namespace lemma
