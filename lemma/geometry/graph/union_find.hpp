// lemma/geometry/graph/union_find.hpp: sets that grow together (Tarjan 1975). Inner header: use
// lemma/geometry/graph.hpp.
#pragma once
#include <lemma/core/matrix.hpp>
#include <numeric>
#include <utility>
#include <vector>

namespace lemma {

class UnionFind {
 public:
  explicit UnionFind(Index count) : parent_(static_cast<std::size_t>(count)) {
    std::iota(parent_.begin(), parent_.end(), Index{0});
  }
  /// The first member of the set of i.
  Index find(Index i) {
    while (parent(i) != i) i = parent(i) = parent(parent(i));
    return i;
  }
  /// False when they were together before.
  bool join(Index i, Index j) {
    i = find(i), j = find(j);
    if (i == j) return false;
    if (j < i) std::swap(i, j);
    parent(j) = i;
    return true;
  }

 private:
  Index& parent(Index i) { return parent_[static_cast<std::size_t>(i)]; }
  std::vector<Index> parent_;
};

}  // namespace lemma
