// lemma/tree/forest/split.hpp: the best split of a node's rows on one column.
//
// A split is worth  Σ over both sides of  S² / W   (numbers, and two classes as 0 and 1: S = Σ w y, W = Σ w)
//                   Σ over both sides of  Σₖ nₖ² / W   (more classes: nₖ is the weight of class k)
// which is largest where the impurity that is left (variance, Gini's index, by weight) is least.
#pragma once
#include <lemma/core/asking.hpp>
#include <lemma/tree/forest/rows.hpp>

namespace lemma::forest {

/// A row in a node.
struct Item {
  double w = 0, s = 0;  // its weight (copies times the factor of its class), and that times its number
  std::uint32_t row = 0, label = 0;
};

/// What a node's rows add up to.
struct Totals {
  double copies = 0, w = 0, s = 0, worth = 0;
  bool pure = true;
  std::vector<double> classes;  // of more than two
};

struct Split {
  double worth = -1;  // of both sides; below 0: there is none
  Index column = -1;
  std::uint32_t cut = 0;  // numbers: ranks below it go left; of a small node whose threshold was drawn the values tell
  double threshold = 0;
  bool missing_left = false;
  std::vector<std::uint32_t> left;  // categories: codes that go left

  bool found() const { return column >= 0; }
};

/// Where to put what a search needs; one for each thread.
class SplitSearch {
 public:
  SplitSearch(const Plan& plan, const ForestRows& data);
  Totals totals(std::span<const Item> items) const;
  /// The best among columns drawn for this node. Columns that all rows agree in do not count among those drawn.
  void best(std::span<const Item> items, const Totals& totals, const RandomStream& tree, Index node, Split& out);
  void copies_of_rows(const std::vector<double>& copies) { copies_ = &copies; }

 private:
  double copies(const Item& item) const { return data_.factor.empty() ? item.w : (*copies_)[item.row]; }
  bool gather(std::span<const Item> items, Index column);  // false: all rows agree
  bool gather_values(std::span<const Item> items, Index column);
  std::uint32_t rank_from(Index column, double threshold) const;  // the first of values that are not below it
  template <class Key>
  void sort_and_scan(std::span<const Item> items, const Totals& totals, Index column, Split& out);
  template <class Key, class Sides>
  void scan(std::span<const Item> items, const Totals& totals, Index column, std::span<const Key> sorted, Split& out);
  template <class Key, class Sides>
  void scan_categories(std::span<const Item> items, const Totals& totals, Index column, std::span<const Key> sorted,
                       Split& out);
  template <class Sides>
  void cut_at_random(std::span<const Item> items, const Totals& totals, Index column, Split& out);
  template <class Sides>
  void part_at_random(std::span<const Item> items, const Totals& totals, Index column, Split& out);

  const Plan& plan_;
  const ForestRows& data_;
  const std::vector<double>* copies_ = nullptr;
  ColumnDraw draw_;
  std::vector<std::uint32_t> rank_, missing_;  // of the items in the column at hand; places of those without a value
  std::uint32_t least_ = 0, greatest_ = 0;
  std::vector<double> value_;  // the same of values, where thresholds are drawn
  double low_ = 0, high_ = 0;
  bool by_rank_ = false;  // the ranks of a large node in their place
  std::vector<std::uint32_t> keys_[2];
  std::vector<std::uint64_t> wide_keys_[2];
  struct Lot {  // rows of one category
    std::uint32_t code, begin, end;
    double order;
  };
  std::vector<Lot> lots_;
  std::vector<double> counts_[3];  // of classes: left, right, missing
  std::vector<std::uint32_t> codes_;
  Asking asking_;
};

}  // namespace lemma::forest
