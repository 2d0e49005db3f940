// lemma/geometry/graph/concurrent_sets.hpp: sets that several threads join at once. Inner header: use
// lemma/geometry/graph.hpp.
#pragma once
#include <atomic>
#include <lemma/core/matrix.hpp>
#include <memory>
#include <utility>

namespace lemma {

/// As UnionFind. A root is only ever linked to a smaller one, by one exchange, so that the sets are the same whatever the
/// order in which joins come, and a set's root is its first member.
class ConcurrentSets {
 public:
  explicit ConcurrentSets(Index count) : parent_(std::make_unique<std::atomic<Index>[]>(at(count))) {
    for (Index i = 0; i < count; ++i) parent_[at(i)].store(i, std::memory_order_relaxed);
  }
  /// The first member of the set of i, once all joins are made.
  Index find(Index i) const {
    for (Index above = parent(i); above != i; above = parent(i)) {
      const Index next = parent(above);
      if (next != above) parent_[at(i)].compare_exchange_weak(above, next, std::memory_order_relaxed);
      i = next;
    }
    return i;
  }
  void join(Index i, Index j) {
    for (;;) {
      i = find(i), j = find(j);
      if (i == j) return;
      if (i < j) std::swap(i, j);
      Index root = i;
      if (parent_[at(i)].compare_exchange_strong(root, j, std::memory_order_relaxed)) return;
    }
  }

 private:
  Index parent(Index i) const { return parent_[at(i)].load(std::memory_order_relaxed); }
  std::unique_ptr<std::atomic<Index>[]> parent_;
};

}  // namespace lemma
