// lemma/tree/tree/prune.hpp: which subtree to keep: by cost-complexity, its errors by cross-validation, or rows kept aside.
#pragma once
#include <lemma/tree/tree/grow.hpp>

namespace lemma::tree {

/// Of each split the α at which it is lost as α grows: the subtree that minimises risk + α · leaves (the smallest of equals) has
/// just the splits of a complexity above α. Weakest links first (Breiman, Friedman, Olshen and Stone, 1984), O(n depth log n).
void find_complexities(GrownTree& tree);
/// Only the splits of a complexity above α, the rest laid out anew.
GrownTree pruned(const GrownTree& tree, double alpha);

/// A row for each tree of the nested sequence, the root alone first: the least cp it is the best for, its splits, and its risk
/// in units of the root's.
struct CpRow {
  double cp, splits, error;
  double cross_error = std::numeric_limits<double>::quiet_NaN(), deviation = cross_error;
};
std::vector<CpRow> cp_table(const GrownTree& tree, double cp);

/// Each row's number by what it holds, so that copies of a row stay together and the order of the rows plays no part: 0, 1, …
/// in an order that the seed chooses.
struct RowGroups {
  std::vector<std::uint32_t> of;  // of each row
  std::uint32_t count = 0;
};
RowGroups row_groups(const RankedColumns& data, std::uint64_t seed);

/// Rows taken down a tree by their values.
struct Walker {
  const MatrixView& x;
  const RankedColumns& data;
  const Plan& plan;

  /// True: left. Empty: the value is missing, and so is every surrogate's.
  static bool is_missing(const Grown& node, double value) {
    return node.sides.empty() ? std::isnan(value)
                              : !(value >= 0 && value < static_cast<double>(node.sides.size())) ||
                                    node.sides[static_cast<std::size_t>(value)] == 0;
  }
  bool goes_left(const Grown& node, const double* row) const;
  /// Σ w · loss of the rows of `group` at each node: as if it were a leaf.
  double loss(std::uint32_t row, const Grown& node) const;
};

/// Fills in the cross-validated errors and their standard errors as rpart does: `folds` trees, each pruned at the geometric means
/// of the table's cps.
void cross_validate(std::vector<CpRow>& table, const RankedColumns& data, const PackedOrder& order,
                    const std::vector<std::uint8_t>& in, const MatrixView& x, const GrownTree& tree, const Plan& plan,
                    int folds, const RowGroups& groups, const Execution& execution);

/// Every split is lost that leaves no less error on the rows kept aside (those that are not `in`).
GrownTree pruned_by(const GrownTree& tree, const RankedColumns& data, const std::vector<std::uint8_t>& in,
                    const MatrixView& x, const Plan& plan);

}  // namespace lemma::tree
