// lemma/tree/tree/parts.hpp: what the files of `tree` share.
#pragma once
#include <lemma/tree/tree.hpp>
#include <lemma/tree/tree/prune.hpp>

namespace lemma::tree {

/// The plan of a spec whose choices are made. `counts`: of classes, the weight of each; `rate`: of counts, the mean of all.
Plan plan_of(const Tree& spec, std::span<const double> counts, double rate);

/// Rows that take part; empty: all. Those kept aside are the first share of the groups that the seed puts in order.
std::vector<std::uint8_t> kept_in(const RankedColumns& data, double aside, std::uint64_t seed);

/// Estimates from what the rows of each node say: drawn to the parent's, and kept within the bounds of monotone columns.
Matrix estimates_of(const Tree& spec, const TreeNodes& nodes, const VectorView& weight, const Matrix& said);
/// Of classes with these probabilities: the one of least expected loss.
int class_of(const Plan& plan, const Eigen::Ref<const Eigen::RowVectorXd>& p);
/// Probabilities of the classes from the weights of their rows.
Eigen::RowVectorXd probabilities_of(const Plan& plan, std::span<const double> counts);

/// The number of each node as rpart counts.
Vector numbers_of(const TreeNodes& nodes, const std::vector<std::uint8_t>& turned);
Vector importance_of(const TreeModel& model);
/// The table as a matrix: with five columns where there are cross-validated errors, else three.
Matrix matrix_of(const std::vector<CpRow>& table);

/// The model of a tree; its names, table and certificate are still to come.
TreeModel model_of(const Tree& spec, const GrownTree& grown, const Plan& plan, const Labels& levels);
/// Only the splits for which `keep` holds.
TreeModel cut(const TreeModel& model, const std::vector<bool>& keep);

/// Where a row goes at a node of a fitted tree.
struct Way {
  const TreeModel& model;
  bool is_missing(Index node, double value) const;
  /// By the split, or by a surrogate; nothing where all their values are missing.
  std::optional<bool> goes_left(Index node, const double* row) const;
  Index next(Index node, const double* row) const {
    const bool left = goes_left(node, row).value_or(model.nodes[node].missing_left != 0);
    return left ? model.nodes.left(node) : model.nodes.right(node);
  }
  Index leaf(const double* row) const {
    Index i = 0;
    while (!model.nodes.is_leaf(i)) i = next(i, row);
    return i;
  }
  /// The share of a row that goes left at a node; between 0 and 1 by fractions alone, where its values are missing.
  double left_share(Index node, const double* row) const;
  /// visit(leaf, share) of every leaf that a part of the row reaches, by fractions.
  void each_leaf(const double* row, const std::function<void(Index, double)>& visit) const;
};
/// Is the code in the set that begins there?
inline bool is_in(const std::vector<std::uint32_t>& sets, double begin, double code) {
  const auto k = static_cast<std::uint32_t>(code);
  return (sets[static_cast<std::size_t>(begin) + k / 32] >> (k % 32) & 1U) != 0;
}

/// Of a long table of a large tree the certificate prunes anew at one cp in so many; 1: at each.
Index cps_apart(const TreeModel& model);
/// What the certificate claims of so many splits, the worst of which falls short of the best by a share of its gain, and of the
/// subtrees of one cp in so many.
std::string claim(Index splits, double worst, double tolerance, Index apart);

/// What a node asks of a row that goes to its child: "glu< 123.5", "V4=n,y".
std::string question(const TreeModel& model, Index node, bool left);
std::string written(const TreeModel& model);

}  // namespace lemma::tree
