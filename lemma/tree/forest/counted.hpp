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
    bool near = false;  // its rows stand in the block
    std::uint32_t size() const { return end - begin; }
  };
  struct Counts {
    std::uint32_t rows = 0, second = 0;
    double worth() const { return rows > 0 ? double(second) * double(second) / double(rows) : 0; }
  };
  /// The values of a node's rows side by side, column after column, where all nodes below find them; items count these rows then.
  void bring_near(Open& open);
  /// The values of a column, and how far those of a row lie from those of the next.
  struct ColumnOfValues {
    const double* first;
    std::size_t step;
    double operator[](Item item) const { return first[std::size_t{item >> 1} * step]; }
  };
  ColumnOfValues values_of(const Open& open, Index column) const {
    if (open.near) return {block_.data() + at(column) * block_items_.size(), 1};
    return {data_.values.data() + column, at(data_.width)};
  }
  static bool by_rank(const Open& open) { return !open.near && ForestRows::is_large(open.size()); }
  std::span<const Item> items_of(const Open& open) const { return {items_.data() + open.begin, open.size()}; }
  bool find_split(const Open& open, const Counts& all);
  bool gather(const Open& open, Index column);  // false: all rows agree
  void cut_at_random(const Open& open, const Counts& all, Index column);
  std::uint32_t part(const Open& open);
  void make_leaf(const Open& open, const Counts& all, GrownTree& out);

  const Plan& plan_;
  const ForestRows& data_;
  std::uint64_t seed_;
  std::uint32_t most_near_;  // rows of a block
  RandomStream stream_{0};
  ColumnDraw draw_;
  Split split_;
  std::vector<Item> all_, items_, spare_;
  std::vector<std::uint32_t> rank_;  // of the items in the column at hand, in a large node
  std::vector<double> value_;        // in a small one
  std::vector<double> block_;        // values of the rows of a small node, for the nodes below it
  std::vector<Item> block_items_;    // those rows
  double low_ = 0, high_ = 0;
  std::vector<std::pair<Open, GrownTree::Leaf>> leaves_;
  Asking asking_;
};

}  // namespace lemma::forest
