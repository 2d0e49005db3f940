// lemma/tree/shared/shap.hpp: what each column adds to what trees say of a row: SHAP values, exactly.
#pragma once
#include <functional>
#include <lemma/tree/shared/nodes.hpp>

namespace lemma {

/// With v(S) = what a tree says when only the columns of S are known (at a node that asks another one both children are taken, by
/// the weight of their rows), the value of column j is Shapley's
///
///     φⱼ = Σ over S without j of |S|! (p − |S| − 1)! / p!  [ v(S ∪ j) − v(S) ],     v(∅) + Σ φⱼ = what the tree says.
///
/// O(leaves · depth²) for a row and a tree (Lundberg et al., "Consistent individualized feature attribution", 2018).
class TreeShap {
 public:
  /// `values` and `cover`, the weight of the rows, are those of the leaves by their numbers. Looks at what it is given.
  TreeShap(const TreeNodes& trees, const VectorView& values, const VectorView& cover);
  TreeShap(TreeNodes&&, const VectorView&, const VectorView&) = delete;

  /// v(∅) of a tree: the mean of its leaves.
  double base(Index tree) const { return mean_[at(trees_.roots[at(tree)])]; }
  /// phi += the values of a row, one for each column.
  void add(Index tree, const double* row, double* phi) const;
  /// The same where a row goes other ways than its values say: `left(node)` is the share of it that goes left there.
  void add(Index tree, const std::function<double(Index)>& left, double* phi) const;

 private:
  /// A column on the way to a node: the share of rows that go this way when it is not known, and of the row when it is; and the
  /// weight of sets of columns by their size.
  struct Step {
    Index column;
    double unknown, known, weight;
  };
  template <class Left>
  void explain(Index tree, const Left& left, double* phi) const;
  template <class Left>
  void walk(Index node, const Left& left, double* phi, Step* way, Index length) const;
  double share(Index child, Index parent) const {
    return cover_[at(parent)] > 0 ? cover_[at(child)] / cover_[at(parent)] : 0.5;
  }

  const TreeNodes& trees_;
  std::vector<double> value_, cover_, mean_;  // of each node; values of leaves alone
  Index depth_ = 0;
};

}  // namespace lemma
