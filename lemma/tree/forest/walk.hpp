// lemma/tree/forest/walk.hpp: many rows down one tree.
#pragma once
#include <lemma/tree/shared/nodes.hpp>

namespace lemma::forest {

/// Rows of finite numbers, and trees that ask for numbers alone, take no turn that a CPU could guess wrong: sixteen rows step at once, a
/// row in a leaf steps to where it is, and another takes its place. Other rows go the way of TreeNodes::leaves_of. Both reach the same
/// leaves.
class Walk {
 public:
  Walk(const TreeNodes& trees, const MatrixView& x);
  /// The node of the leaf that each row reaches.
  void leaves_of(Index tree, std::span<std::int32_t> out);

 private:
  struct Step {
    double threshold;
    std::int32_t child, column;
  };
  void lay_out(Index root, Index end);
  const TreeNodes& trees_;
  const MatrixView& x_;
  bool plain_;
  std::vector<Step> steps_;  // of the tree at hand
};

}  // namespace lemma::forest
