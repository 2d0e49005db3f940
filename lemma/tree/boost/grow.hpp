// lemma/tree/boost/grow.hpp: one tree, grown from the slopes of its rows: each split the best of its node by the histograms.
#pragma once
#include <lemma/tree/boost/split.hpp>
#include <lemma/tree/shared/nodes.hpp>

namespace lemma::boost {

struct GrowRules {
  SplitRules split;
  int depth = 6;
  Index leaves = 64;
  bool best_first = true;                 // false: level by level
  std::vector<std::vector<char>> groups;  // of columns that may be asked on one path; none: all of them
};

/// A node while its tree grows: its rows are a range of the list of rows.
struct GrownNode {
  Index begin = 0, end = 0;
  int depth = 0;
  Sums sums;
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  std::vector<char> asked;   // columns on the way to it, where there are groups
  Split split;               // the best there is; made one when the node has children
  bool saw_missing = false;  // rows of it miss the value that is asked for
  Index rows() const { return end - begin; }
};

struct GrownTree {
  TreeNodes nodes;
  std::vector<GrownNode> about;  // of each node
  /// The node that a row reaches, by its codes.
  Index leaf_of(const BinnedRows& rows, Index row) const;
};

/// The rows in `which` grow a tree, and stand leaf by leaf in it afterwards. O(rows · columns) for each level, of which the
/// larger child of each split costs no more than its bins.
template <class Entry>
GrownTree grow(const BinnedRows& rows, std::span<std::uint32_t> which, const Entry* slopes,
               std::span<const double> weights, const std::vector<char>& columns, const GrowRules& rules,
               Kept<std::uint32_t>& scratch, const Execution& execution);

}  // namespace lemma::boost
