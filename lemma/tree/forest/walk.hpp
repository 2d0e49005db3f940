// lemma/tree/forest/walk.hpp: many rows down one tree.
#pragma once
#include <lemma/tree/shared/nodes.hpp>

namespace lemma::forest {

/// Rows of finite numbers, and trees that ask for numbers alone, take no turn that a CPU could guess wrong: sixteen rows step at once, a
/// row in a leaf stays where it is, and another takes its place. Other rows go the way of TreeNodes::leaves_of. Both reach the same
/// leaves.
class Walk {
 public:
  Walk(const TreeNodes& trees, const MatrixView& x);
  /// The node of the leaf that each row reaches; `out` has room for one row more than there are.
  void leaves_of(Index tree, std::span<std::int32_t> out);

 private:
  const TreeNodes& trees_;
  const MatrixView& x_;
  bool plain_;
};

}  // namespace lemma::forest
