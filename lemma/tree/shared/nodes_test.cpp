// lemma/tree/shared/nodes_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/tree/shared/nodes.hpp>

namespace lemma {
namespace {

const double kMissing = std::nan("");

/// x0 < 1.5 ? (x1 in {b, e} ? A : B) : C, with x1 of 40 levels; missing of x0 goes left, of x1 right.
TreeNodes small_tree() {
  TreeNodes out = single_leaf({0, 40});
  out.nodes[0].threshold = 1.5;
  out.nodes[0].missing_left = true;
  const Index left = out.split(0);
  out.nodes[at(left)].column = 1;
  out.nodes[at(left)].categories = true;
  const std::size_t set = out.add_set(1);
  out.nodes[at(left)].threshold = static_cast<double>(set);
  out.put_in_set(set, 1);
  out.put_in_set(set, 37);
  out.split(left);
  out.number_leaves();
  return out;
}

Index leaf(const TreeNodes& trees, double x0, double x1, Index tree = 0) {
  const double row[] = {x0, x1};
  return trees.leaf_of(row, tree);
}

TEST(TreeNodes, BelowTheThresholdAndInTheSetIsLeft) {
  const TreeNodes tree = small_tree();
  EXPECT_EQ(leaf(tree, 1.4999, 37), 3);
  EXPECT_EQ(leaf(tree, 1.4999, 1), 3);
  EXPECT_EQ(leaf(tree, 1, 2), 4);
  EXPECT_EQ(leaf(tree, 1.5, 1), 2);
}

TEST(TreeNodes, WhatIsMissingGoesWhereTheNodeSays) {
  const TreeNodes tree = small_tree();
  EXPECT_EQ(leaf(tree, kMissing, 1), 3);
  EXPECT_EQ(leaf(tree, 1, kMissing), 4);
  EXPECT_EQ(leaf(tree, 1, 40), 4) << "a category that there is not is missing";
  EXPECT_EQ(leaf(tree, 1, -1), 4);
}

TEST(TreeNodes, ABlockOfRowsGoesWhereEachOfThemGoes) {
  const TreeNodes tree = small_tree();
  Matrix x(37, 2);
  for (Index i = 0; i < x.rows(); ++i) x.row(i) << (i % 5 == 4 ? kMissing : 0.5 * double(i % 5)), double(i);
  std::vector<std::int32_t> found(37);
  tree.leaves_of(x, 0, found);
  for (Index i = 0; i < x.rows(); ++i) EXPECT_EQ(found[at(i)], tree.leaf_of(x.row(i).data()));
}

TEST(TreeNodes, TreesBehindTreesRouteAsTheyDidAlone) {
  TreeNodes forest = small_tree();
  forest.append(small_tree());
  forest.append(single_leaf({0, 40}));
  forest.number_leaves();
  forest.check("test");
  EXPECT_EQ(forest.trees(), 3);
  EXPECT_EQ(forest.leaves(), 7);
  EXPECT_EQ(leaf(forest, 1, 37, 1), 5 + 3);
  EXPECT_EQ(leaf(forest, 2, 37, 2), 10);
  EXPECT_EQ(forest[10].column, 6U) << "the last of seven leaves";
}

TEST(TreeNodes, LeadRowsTogetherWhereEachGoesAlone) {
  RandomStream stream(5);
  for (const Index splits :
       {3, 40, 900, -3, -40, -900}) {  // 900 is large: rows take turns in it; below 0: of categories too
    const bool sets = splits < 0;
    TreeNodes tree = single_leaf({0, 0, sets ? 40 : 0});
    for (Index k = 0; k < std::abs(splits); ++k) {
      Index leaf = stream.below(tree.size());
      while (!tree.is_leaf(leaf)) leaf = stream.below(2) == 0 ? tree.left(leaf) : tree.right(leaf);
      tree.split(leaf);
      TreeNode& node = tree.nodes[at(leaf)];
      node.threshold = stream.uniform();
      node.column = static_cast<std::uint32_t>(stream.below(3)) & 3U;
      node.missing_left = stream.below(2) == 0;
      if (!sets || node.column != 2) continue;
      const std::size_t begin = tree.add_set(2);
      for (std::uint32_t code = 0; code < 40; ++code)
        if (stream.below(2) == 0) tree.put_in_set(begin, code);
      node.categories = 1;
      node.threshold = static_cast<double>(begin);
    }
    TreeNodes both = tree;
    both.append(tree);
    both.number_leaves();
    for (const Index rows : {1, 7, 8, 9, 300}) {
      Matrix x(rows, 3);
      for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < 3; ++j)
          x(i, j) = stream.below(9) == 0 ? kMissing
                    : sets && j == 2     ? static_cast<double>(stream.below(41))  // one that there is not
                                         : stream.uniform();
      std::vector<std::int32_t> out(at(rows));
      both.leaves_of(x, 1, out);
      for (Index i = 0; i < rows; ++i) EXPECT_EQ(out[at(i)], both.leaf_of(&x(i, 0), 1)) << splits << " " << i;
    }
  }
}

TEST(TreeNodes, AFileGivesThemBack) {
  TreeNodes forest = small_tree();
  forest.append(small_tree());
  forest.number_leaves();
  TreeNodes back;
  Codec<TreeNodes>::read(back, Codec<TreeNodes>::write(forest), "trees");
  EXPECT_TRUE(Codec<TreeNodes>::write(back) == Codec<TreeNodes>::write(forest));
  for (const double x1 : {1.0, 2.0, 37.0, kMissing}) EXPECT_EQ(leaf(back, 1, x1, 1), leaf(forest, 1, x1, 1));
}

TEST(TreeNodes, ADamagedFileIsRefused) {
  const Value good = Codec<TreeNodes>::write(small_tree());
  const auto refuses = [&](std::string_view key, std::size_t i, double number) {
    Value bad = good;
    auto array = good.at(key).as_array();
    array.data[i] = number;
    bad.set(key, Value(array));
    TreeNodes out;
    EXPECT_THROW(Codec<TreeNodes>::read(out, bad, "trees"), Error) << key << " " << number;
  };
  refuses("columns", 0, 2);
  refuses("columns", 0, 1);  // a threshold of categories
  refuses("columns", 1, -1);
  refuses("columns", 2, 0);
  refuses("children", 0, 0);
  refuses("children", 0, 2);
  refuses("children", 0, 4);
  refuses("children", 0, 1e9);
  refuses("thresholds", 0, std::nan(""));
  refuses("thresholds", 1, 1);
  refuses("thresholds", 1, -1);
  refuses("sets", 1, 256);  // the 41st of 40 levels
  refuses("levels", 1, 70);
  refuses("roots", 0, 1);
  refuses("missing_left", 0, 0.5);
}

}  // namespace
}  // namespace lemma
