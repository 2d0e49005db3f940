// lemma/tree/oblique_tree.hpp
#pragma once
#include <lemma/model/method.hpp>
#include <lemma/tree/shared/nodes.hpp>
#include <lemma/tree/shared/tallies.hpp>

namespace lemma {

enum class ObliqueDirections { linear, random };
constexpr auto names_of(ObliqueDirections) { return std::array<std::string_view, 2>{"linear", "random"}; }

/// A tree whose nodes ask for linear combinations: a·x < t goes left. At each node these directions a are tried
///
///     each column by itself
///     linear    of each class against the rest Fisher's discriminant (S + εI)⁻¹ s, S the covariances of the node's columns and s
///               those with the indicator, and the direction of a logistic regression with a small penalty; of numbers the
///               direction of their regression, and the logistic one of those above the mean against those below
///     random    independent normal coefficients of the columns in units of their deviation
///
/// and the split of greatest gain = n i(t) − n_left i(left) − n_right i(right) is taken, i the Gini impurity or the variance, over
/// all directions and all thresholds midway between neighbouring values of a·x. Of equals the first, columns before the rest.
///
/// Cost         O(m p (log m + p)) for a node of m rows and p columns.
/// Certificate  consistent: every row reaches its leaf, what is told of each node is its rows', every direction is one of those
///              tried there, no threshold along any of them has a greater gain, counted anew, and every leaf had to be one.
struct ObliqueTree {
  ObliqueDirections directions = ObliqueDirections::linear;
  int tries = 20;
  int min_split = 20;
  std::optional<int> min_leaf;
  int depth = 30;
  double min_decrease = 0.01;

  static constexpr std::string_view name = "oblique_tree";
  static constexpr MethodAbout about{
      .family = "tree",
      .task = Task::classification,
      .summary = "a tree that splits on linear combinations of the columns, for classes or numbers",
      .objective = "each split a.x < t the greatest n i(t) - n_l i(l) - n_r i(r) over the directions tried",
      .example = "lemma fit oblique_tree crabs 'sp:sex ~ FL + RW + CL + CW + BD'",
      .takes_weights = true,
      .either_response = true,
      .random = true};
  static constexpr auto params() {
    using S = ObliqueTree;
    return Listing{
        param("directions", &S::directions,
              "besides the single columns: those of linear classifiers at the node (of numbers, the regression), or at "
              "random"),
        param("tries", &S::tries, "of random directions at a node", at_least(1), Step::logarithmic),
        param("min_split", &S::min_split, "rows that a node must have to be split", at_least(2), Step::logarithmic),
        param("min_leaf", &S::min_leaf, "rows that a leaf must have; auto: a third of min_split", at_least(1),
              Step::logarithmic),
        param("depth", &S::depth, "splits on the way to a leaf, at most", between(0, 52)),
        param("min_decrease", &S::min_decrease, "gain of a split, as a share of the impurity of all rows, at least",
              between(0, 1))};
  }
};
static_assert(Described<ObliqueTree>);

struct ObliqueTreeModel : Tallies {
  using Base = Tallies;
  ObliqueTree spec;
  TreeNodes nodes;    // a node's column is the number of its direction
  Matrix directions;  // a row for each split: coefficients of the columns, the largest in units of its deviation made 1
  Vector gain;        // of each node's split; 0: a leaf
  std::string seed;   // of random directions; empty: none

  static constexpr auto fields() {
    using M = ObliqueTreeModel;
    return joined(
        Listing{
            result("nodes", &M::nodes, "direction and threshold of each node, and how far on its left child stands"),
            result("directions", &M::directions, "of each split: coefficients of the columns", Along{Axis::feature}),
            result("gain", &M::gain, "of each node's split; 0 of a leaf"),
            state("seed", &M::seed, "of random directions; empty: none")},
        tally_fields());
  }
  static constexpr auto parts() {
    return Listing{
        part(PartInfo{"leaf", "the node, from 0, where the row's way ends", Given::asked}, &ObliqueTreeModel::leaf)};
  }

  Index width() const { return directions.cols(); }
  Index class_count() const { return counts.cols(); }
  Task task() const { return of_classes() ? Task::classification : Task::regression; }
  void check() const;
  /// a·x of a node and a row, added up column by column.
  double along(Index node, const double* row) const;
  bool goes_left(Index node, const double* row) const { return along(node, row) < nodes[node].threshold; }
  Vector predict(const MatrixView& x) const;
  Labels classify(const MatrixView& x) const;
  Matrix probabilities(const MatrixView& x) const;
  Vector leaf(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

ObliqueTreeModel fit(const Valid<ObliqueTree>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const ObliqueTreeModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<ObliqueTree>();

}  // namespace lemma
