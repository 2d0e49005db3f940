// lemma/tree/optimal_tree.hpp
#pragma once
#include <lemma/model/method.hpp>
#include <lemma/tree/shared/nodes.hpp>
#include <lemma/tree/shared/tallies.hpp>

namespace lemma {

/// The best of all trees of a given depth on the training rows. A tree asks `x < threshold` of a number, midway between two
/// neighbouring values of the node, or `x = level` of a category. Of all trees T of depth at most d this one minimises
///
///     R(T) + cp · R(root) · leaves(T)         R: weight of the rows of a wrong class; of numbers the squared errors
///
/// where a greedy tree takes the split that looks best at each node and may be far off. Dynamic programming over subsets of the
/// rows with bounds, after DL8.5 (Aglin, Nijssen and Schaus 2020), MurTree (Demirović et al. 2022) and ConTree (Brița, van der
/// Linden and Demirović 2025). Few rows and a small depth: the time grows with the number of splits to the power of the depth − 1,
/// less what bounds save. Where `max_iterations` ends the search, the best tree found is kept, with the least cost that a better one
/// can have.
///
/// Cost         depth 2: O((n p)²) at most; each level more multiplies by the number of splits that no bound excludes.
/// Certificate  optimal: no tree of that depth costs less than `bound`, refuted anew split by split, by a search that remembers
///              nothing and knows nothing of how the tree was found; the gap is cost − bound.
struct OptimalTree {
  int depth = 2;
  double cp = 0;
  int max_iterations = 1'000'000;

  static constexpr std::string_view name = "optimal_tree";
  static constexpr MethodAbout about{
      .family = "tree",
      .task = Task::classification,
      .summary = "the best of all trees of a given depth, with a proof, for classes or numbers",
      .objective = "of all trees of depth at most d the least R(T) + cp R(root) leaves(T)",
      .example = "lemma fit optimal_tree iris 'species ~ .' --depth 2",
      .takes_weights = true,
      .takes_codes = true,
      .either_response = true};
  static constexpr auto params() {
    using S = OptimalTree;
    return Listing{
        param("depth", &S::depth, "splits on the way to a leaf, at most", between(0, 8)),
        param("cp", &S::cp, "what a leaf costs, as a share of the root's loss", at_least(0), Step::logarithmic),
        param("max_iterations", &S::max_iterations,
              "subsets of the rows whose best subtree is looked for, at most; then the best tree found is kept, and "
              "its gap told",
              at_least(1), Step::logarithmic)};
  }
};
static_assert(Described<OptimalTree>);

struct OptimalTreeModel : Tallies {
  using Base = Tallies;
  OptimalTree spec;
  TreeNodes nodes;
  double cost = 0;   // of the tree: what its leaves lose, and cp · R(root) for each
  double bound = 0;  // no tree of that depth costs less
  std::vector<std::string> levels;

  static constexpr auto fields() {
    using M = OptimalTreeModel;
    return joined(
        Listing{result("nodes", &M::nodes, "column and threshold of each node, and how far on its left child stands"),
                result("cost", &M::cost, "loss of the leaves, and what each leaf costs"),
                result("bound", &M::bound, "no tree of this depth costs less"),
                state("levels", &M::levels, "names of the categories, column after column")},
        tally_fields());
  }
  static constexpr auto parts() {
    return Listing{
        part(PartInfo{"leaf", "the node, from 0, where the row's way ends", Given::asked}, &OptimalTreeModel::leaf)};
  }

  Index width() const { return nodes.width(); }
  Index class_count() const { return counts.cols(); }
  Task task() const { return of_classes() ? Task::classification : Task::regression; }
  void check() const;
  Vector predict(const MatrixView& x) const;
  Labels classify(const MatrixView& x) const;
  Matrix probabilities(const MatrixView& x) const;
  Vector leaf(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

OptimalTreeModel fit(const Valid<OptimalTree>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const OptimalTreeModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<OptimalTree>();

}  // namespace lemma
