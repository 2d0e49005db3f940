// lemma/tree/tree/recount.hpp: the rows of a fitted tree's nodes counted anew, by another route than growth: rows are brought into
// the order of the leaves they reach, so that a node's rows stand together, and each column is sorted by its values and taken
// down the tree on its own. Impurities are computed as they are defined, from the counts of each side.
#pragma once
#include <lemma/tree/tree/parts.hpp>

namespace lemma::tree {

/// A part of a row in a leaf: rows that go both ways have several.
struct Member {
  Index row;
  double weight;
  int label;
  double y;
};

/// Rows on one side of a split.
struct Side {
  double weight = 0, sum = 0, squares = 0, logs = 0;  // of numbers: Σ w y, Σ w y², Σ w y log y about the node's mean
  std::vector<double> counts;                         // of classes, by what a row counts in a split
};

struct NodeCount {
  std::size_t begin = 0, middle = 0, end = 0;  // its members; the right child's begin in the middle
  double weight = 0, mean = 0, value = 0, risk = 0;
  std::vector<double> counts;
  double lower = -std::numeric_limits<double>::infinity(), upper = -lower;
};

/// What the rows say of the split that a node has.
struct SplitCount {
  double gain = 0;           // of the node's own split
  double best = 0;           // of all splits of all columns
  double low = 0, high = 0;  // values beside the threshold
  double left_mean = 0, right_mean = 0, left_weight = 0, right_weight = 0;
  std::vector<std::uint8_t> seen;  // of categories: whether a row has it
};

struct Recount {
  std::vector<Member> members;       // in the order of the leaves
  std::vector<std::uint16_t> label;  // of each, once more: a pass over a column reads little else
  std::vector<double> weight;
  std::vector<NodeCount> nodes;
  std::vector<SplitCount> splits;
  Plan plan;
  bool plain_classes = false;  // two of them by Gini's index, each row counting 1, no column monotone
};

Recount recount(const TreeModel& model, const Rows& rows, const MatrixView& x, const Execution& execution);

}  // namespace lemma::tree
