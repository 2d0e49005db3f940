// lemma/tree/shared/nodes.hpp: binary trees, one or many, in one array: where a row goes.
#pragma once
#include <cmath>
#include <cstdint>
#include <lemma/core/rows.hpp>
#include <lemma/model/fields.hpp>
#include <span>
#include <string_view>
#include <vector>

namespace lemma {

/// A node asks one column. x < threshold goes left, as does a category of the node's set; everything else goes right. What is
/// missing goes where missing_left says. Thresholds of an exact split lie midway between two neighbouring values.
struct TreeNode {
  double threshold = 0;           // of categories: where its set begins in TreeNodes::sets
  std::int32_t child = 0;         // so many nodes further on stands the left child, behind it the right one; 0: a leaf
  std::uint32_t column : 30 = 0;  // that it asks; of a leaf: its number among all leaves
  std::uint32_t categories : 1 = 0;
  std::uint32_t missing_left : 1 = 0;

  bool is_leaf() const { return child == 0; }
};
static_assert(sizeof(TreeNode) == 16);

/// Trees one after the other. Children stand behind their parents, so that a walk ends; each node but a root is the child of one.
/// A model keeps its values beside them: a row of a matrix for each node, or for each leaf.
struct TreeNodes {
  std::vector<TreeNode> nodes;
  std::vector<std::int32_t> roots = {0};  // of each tree
  std::vector<std::uint32_t> sets;        // of categories, a bit for each level that goes left, in words of 32
  Labels levels;                          // of each column how many categories it has; 0: it holds numbers

  Index width() const { return static_cast<Index>(levels.size()); }
  Index size() const { return static_cast<Index>(nodes.size()); }
  Index trees() const { return static_cast<Index>(roots.size()); }
  Index leaves() const { return (size() + trees()) / 2; }
  const TreeNode& operator[](Index i) const { return nodes[at(i)]; }
  bool is_leaf(Index i) const { return nodes[at(i)].is_leaf(); }
  Index left(Index i) const { return i + nodes[at(i)].child; }
  Index right(Index i) const { return left(i) + 1; }

  /// Not a number, or not a category that the column has.
  bool is_missing(const TreeNode& node, double x) const {
    return node.categories ? !(x >= 0 && x < levels[node.column]) : std::isnan(x);
  }
  bool goes_left(const TreeNode& node, double x) const {
    if (is_missing(node, x)) return node.missing_left;
    return node.categories ? in_set(static_cast<std::size_t>(node.threshold), static_cast<std::uint32_t>(x))
                           : x < node.threshold;
  }
  bool in_set(std::size_t begin, std::uint32_t code) const { return sets[begin + code / 32] >> (code % 32) & 1U; }

  /// The leaf that a row reaches in a tree: the number of its node.
  Index leaf_of(const double* row, Index tree = 0) const {
    Index i = roots[at(tree)];
    while (!nodes[at(i)].is_leaf()) {
      const TreeNode& node = nodes[at(i)];
      i += node.child + (goes_left(node, row[node.column]) ? 0 : 1);
    }
    return i;
  }
  /// The same of each row of a block, several rows at a time.
  void leaves_of(const MatrixView& x, Index tree, std::span<std::int32_t> out) const;

  // ---- How they are made ----

  /// Room for a set of categories of this column; where it begins.
  std::size_t add_set(Index column);
  void put_in_set(std::size_t begin, std::uint32_t code) { sets[begin + code / 32] |= 1U << (code % 32); }
  /// Two leaves for a leaf, at the end of the array: the number of the left one.
  Index split(Index leaf);
  /// The trees of another behind these.
  void append(const TreeNodes& other);
  /// Each leaf gets its number, in the order of the nodes: the row of its value.
  void number_leaves();
  /// Error unless every walk stays inside and ends: what holds of a file's trees before a row enters them.
  void check(std::string_view method) const;
};

/// Of each column of the rows how many categories it has; 0: numbers.
Labels level_counts(const Rows& rows);
/// A tree of a single leaf.
TreeNodes single_leaf(Labels levels);

/// In a file: of every node its column (-1: a leaf); of those that ask their threshold, child and direction, as they come.
template <>
struct Codec<TreeNodes> {
  static Value write(const TreeNodes& trees);
  static void read(TreeNodes& field, const Value& value, const std::string& where);
};

/// Whole numbers from a file, each within [least, most].
std::vector<std::int64_t> whole_numbers(const Value& value, const std::string& where, std::int64_t least,
                                        std::int64_t most);

}  // namespace lemma
