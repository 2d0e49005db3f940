// lemma/cluster/shared/dendrogram.hpp: hierarchies of rows, written as R's hclust writes them.
//
// n rows and n − 1 merges. Row t of `merges` names the two clusters that step t joins: −i is row i alone, s is the cluster
// that step s made (both counted from 1). A row alone stands before a cluster, of two alike the smaller number first.
#pragma once
#include <lemma/core/params.hpp>
#include <span>

namespace lemma {

/// A merge as an algorithm finds it: any row of either side.
struct Joined {
  Index a = 0, b = 0;
  double height = 0;
};

/// The merges in the order given. Error when one joins rows that are together already.
Matrix merges_of(std::span<const Joined> joined);

/// A node of the tree for each merge: `left` and `right` are rows (below 0: ~row) or earlier merges.
class MergeTree {
 public:
  /// Error unless these are merges: each row and each cluster but the last one joined once, and not before it was made.
  MergeTree(const Matrix& merges, std::string_view method);

  Index rows() const { return static_cast<Index>(left_.size()) + 1; }
  Index steps() const { return static_cast<Index>(left_.size()); }
  Index left(Index step) const { return left_[at(step)]; }
  Index right(Index step) const { return right_[at(step)]; }
  static bool is_row(Index node) { return node < 0; }
  /// Rows below a node: 1 of a row alone.
  Index size(Index node) const { return is_row(node) ? 1 : size_[at(node)]; }
  /// The step that joins a node with another; steps() of the last one, which none does.
  Index end(Index node) const { return is_row(node) ? row_end_[at(~node)] : end_[at(node)]; }
  /// The rows from left to right, so that each cluster stands together.
  const std::vector<Index>& order() const { return order_; }
  /// Where in the order the rows of a node begin.
  Index first(Index node) const { return is_row(node) ? place_[at(~node)] : first_[at(node)]; }
  /// The step that joins what stands at places p − 1 and p of the order (0 of the first place has no meaning): the
  /// step that joins the rows at places p < q is the greatest of joins()[p + 1 … q].
  const std::vector<Index>& joins() const { return joins_; }
  /// How many merges lie above a row or a merge.
  Index depth(Index node) const { return is_row(node) ? row_depth_[at(~node)] : depth_[at(node)]; }

 private:
  std::vector<Index> left_, right_, size_, end_, row_end_, order_, place_, first_, joins_, depth_, row_depth_;
};

/// The clusters after all but the last k − 1 merges; numbered, as R's cutree does, in the order in which rows meet them.
Labels cut_into(const Matrix& merges, Index k);

/// Merges lower than one of the clusters that they join: centroids can do that. Rounding does not count.
int inversions_of(const MergeTree& tree, const Vector& heights);
/// 1 − the mean over the rows of (height of its first merge) / (height of the last): cluster::agnes. NaN when the last is 0.
double agglomerative_coefficient(const MergeTree& tree, const Vector& heights);

/// What `lemma cut` takes.
struct Cut {
  std::optional<int> k;
  std::optional<double> height;

  static constexpr std::string_view name = "cut";
  static constexpr auto params() {
    return Listing{
        param("k", &Cut::k, "number of clusters; by default, where no height is given, that of the fit", at_least(1)),
        param("height", &Cut::height, "clusters that are made by merges up to this height")};
  }
  void check() const;
};
static_assert(Described<Cut>);

/// The clusters that a cut asks for; `otherwise` so many when it asks for none. Error when it asks for more than there are
/// rows, or for a height where the heights do not rise.
Labels cut(const Matrix& merges, const Vector& heights, const Cut& how, Index otherwise, std::string_view method);

}  // namespace lemma
