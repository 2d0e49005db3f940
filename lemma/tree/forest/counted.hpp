// lemma/tree/forest/counted.hpp: trees of random thresholds where every row counts once: sums of weights are counts of rows.
#pragma once
#include <lemma/tree/forest/grow.hpp>

namespace lemma::forest {

/// Grows the same trees as TreeGrower, to the bit, where two classes are told apart by columns of numbers without gaps and each tree is
/// given every row once: a row in a node is then four bytes (its number and its class) instead of 24, and a side is two counts.
class CountedGrower {
 public:
  static bool suits(const Plan& plan, const ForestRows& data);
  CountedGrower(const Plan& plan, const ForestRows& data, std::uint64_t seed);
  GrownTree grow(Index tree);

 private:
  using Item = std::uint32_t;  // twice the row, and one more of the second class
  struct Open {
    Index node, depth;
    std::uint32_t begin, end;
  };
  struct Counts {
    std::uint32_t rows = 0, second = 0;
    double worth() const { return rows > 0 ? double(second) * double(second) / double(rows) : 0; }
  };
  bool find_split(const Open& open, const Counts& all);
  bool gather(std::span<const Item> items, Index column, bool by_rank);  // false: all rows agree
  void cut_at_random(std::span<const Item> items, const Counts& all, Index column, bool by_rank);
  std::uint32_t part(std::span<Item> items);
  void make_leaf(const Open& open, const Counts& all, GrownTree& out);

  const Plan& plan_;
  const ForestRows& data_;
  std::uint64_t seed_;
  RandomStream stream_{0};
  ColumnDraw draw_;
  Split split_;
  std::vector<Item> all_, items_, spare_;
  std::vector<std::uint32_t> rank_;  // of the items in the column at hand, in a large node
  std::vector<double> value_;        // in a small one
  double low_ = 0, high_ = 0;
  std::vector<std::pair<Open, GrownTree::Leaf>> leaves_;
  Asking asking_;
};

}  // namespace lemma::forest
