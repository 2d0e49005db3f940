// lemma/tree/forest/grow.hpp: one tree of a forest, from its bag to its leaves.
#pragma once
#include <algorithm>
#include <lemma/tree/forest/split.hpp>
#include <lemma/tree/shared/nodes.hpp>

namespace lemma::forest {

/// A tree and what its growth saw.
struct GrownTree {
  TreeNodes nodes;
  std::vector<double> importance;  // of each column: the decrease of impurity at its splits

  /// Of each leaf, in the order of the nodes.
  struct Leaf {
    double value = 0;                  // numbers: their mean, in units of ForestRows::y
    double weight = 0;                 // of the rows of the bag
    std::int32_t label = -1;           // classes: of a leaf that says one class
    std::uint32_t begin = 0, end = 0;  // its rows outside the bag, in `outside`
    std::uint32_t shares = 0;          // of a leaf that says several: where their shares begin in `shares`
  };
  std::vector<Leaf> leaves;
  std::vector<double> shares;
  std::vector<std::uint32_t> outside;  // rows outside the bag, leaf by leaf
  std::vector<std::int32_t> leaf_of;   // of each row its leaf, in the order of the leaves; where they are kept
};

/// Parts [begin, end) in place, keeping the order of either side: how many go left.
template <class T>
std::uint32_t part_in_place(T* items, std::uint32_t count, T* spare, auto goes_left) {
  std::uint32_t left = 0, right = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const T item = items[i];
    const bool to_left = goes_left(item);
    items[left] = item;
    spare[right] = item;
    left += to_left ? 1 : 0;
    right += to_left ? 0 : 1;
  }
  std::copy_n(spare, right, items + left);
  return left;
}

/// Grows trees one after the other: one for each thread.
class TreeGrower {
 public:
  TreeGrower(const Plan& plan, const ForestRows& data, const Bags& bags, std::uint64_t seed);
  GrownTree grow(Index tree);

 private:
  struct Open {  // a node whose rows are known
    Index node, depth;
    std::uint32_t begin, end, outside_begin, outside_end;
  };
  void fill_bag(Index tree);
  void grow_depth_first(GrownTree& out);
  void grow_best_first(GrownTree& out);
  bool find_split(const Open& open, Totals& totals);
  /// The node becomes two, and its rows are parted in their place.
  std::pair<Open, Open> part(const Open& open, const Totals& totals, const Split& split, GrownTree& out);
  void make_leaf(const Open& open, const Totals& totals, GrownTree& out);

  const Plan& plan_;
  const ForestRows& data_;
  const Bags& bags_;
  std::uint64_t seed_;
  RandomStream stream_{0};
  SplitSearch search_;
  Split split_;
  std::vector<double> copies_;
  std::vector<Item> items_, spare_items_;
  std::vector<std::uint32_t> outside_, spare_outside_;
  std::vector<std::pair<Open, GrownTree::Leaf>> leaves_;
};

}  // namespace lemma::forest
