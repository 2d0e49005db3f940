// lemma/tree/tree.hpp
#pragma once
#include <lemma/model/method.hpp>
#include <lemma/model/prior.hpp>
#include <lemma/tree/shared/nodes.hpp>
#include <lemma/tree/tree/grow.hpp>

namespace lemma {

enum class TreePruning { cp, least, one_se, validation };
constexpr auto names_of(TreePruning) { return std::array<std::string_view, 4>{"cp", "least", "one_se", "validation"}; }
enum class TreeForm { text, lines, rules };
constexpr auto names_of(TreeForm) { return std::array<std::string_view, 3>{"text", "lines", "rules"}; }

/// A classification or regression tree, as rpart grows and prunes it. A node t with rows of weight n and impurity i is split where
///
///     gain = n i(t) − n_left i(t_left) − n_right i(t_right)
///
/// is greatest: over all columns, all thresholds midway between neighbouring values, and of categories over all sets (by their
/// order for two classes and numbers, one by one for up to 10 of them, else one against the rest). Of equals the first column and
/// the lowest threshold. Then the subtree that minimises
///
///     R(T) + cp · R(root) · leaves(T)         R: loss of the training rows
///
/// is kept. The subtrees for all cp are nested; each row of `cp_table` is one.
///
/// Cost         columns are sorted once: O(p n log n), then O(p n) for each level of the tree.
/// Certificate  consistent: every row reaches its leaf, what is told of each node is its rows', and no split of a node has a greater
///              gain than its own, counted anew column by column; for each cp of the table the pruned tree is the best of all
///              subtrees (found anew from the leaves up).
struct Tree {
  std::optional<TreeCriterion> criterion;
  int min_split = 20;
  std::optional<int> min_leaf;
  double cp = 0.01;
  int depth = 30;
  std::optional<int> leaves;
  double min_decrease = 0;
  double purity = 1;
  PriorChoice prior = Prior::proportions;
  std::vector<double> loss;
  TreeMissing missing = TreeMissing::surrogates;
  int surrogates = 5;
  std::vector<double> monotone;
  double shrink = 0;
  TreePruning prune = TreePruning::cp;
  int folds = 10;
  double validation = 0;
  TreeForm form = TreeForm::text;

  static constexpr std::string_view name = "tree";
  static constexpr MethodAbout about{
      .family = "tree",
      .task = Task::classification,
      .summary = "a classification or regression tree, grown and pruned as rpart does",
      .objective =
          "each split the greatest n i(t) - n_l i(l) - n_r i(r); of all subtrees the least R(T) + cp R(root) leaves(T)",
      .example = "lemma fit tree iris 'species ~ .'",
      .takes_weights = true,
      .takes_missing = true,
      .takes_codes = true,
      .either_response = true,
      .random = true};
  static constexpr auto params() {
    return Listing{
        param("criterion", &Tree::criterion,
              "impurity: gini, entropy or misclassification of classes; variance, absolute (deviation from the median) "
              "or "
              "poisson (deviance of counts) of numbers; auto: gini, variance"),
        param("min_split", &Tree::min_split, "rows that a node must have to be split", at_least(1), Step::logarithmic),
        param("min_leaf", &Tree::min_leaf, "rows that a leaf must have; auto: a third of min_split", at_least(1),
              Step::logarithmic),
        param("cp", &Tree::cp,
              "what a split must take off the loss, as a share of the root's; below 0: nothing is pruned", at_least(-1),
              Step::logarithmic),
        param("depth", &Tree::depth, "splits on the way to a leaf, at most", between(0, 52)),
        param("leaves", &Tree::leaves, "leaves at most, the best splits first; auto: any number", at_least(1)),
        param("min_decrease", &Tree::min_decrease, "gain of a split, over the rows of the tree, at least", at_least(0)),
        param("purity", &Tree::purity, "share of one class from which a node is not split",
              Range{.low = 0, .high = 1, .low_open = true}),
        param("prior", &Tree::prior,
              "class probabilities: as in the rows, all equal, or one number per class, in their order", within(0, 1)),
        param("loss", &Tree::loss,
              "of classes: loss of taking class j for class k, row by row; empty: 1 for each mistake", at_least(0)),
        param("gaps", &Tree::missing,
              "rows without a value follow surrogate splits, the direction of the greater gain, or both ways in "
              "fractions"),
        param("surrogates", &Tree::surrogates, "surrogate splits kept for each split", at_least(0)),
        param("monotone", &Tree::monotone,
              "for each column 1: what is predicted never falls with it, -1: never rises, 0: either; empty: all 0",
              between(-1, 1)),
        param("shrink", &Tree::shrink, "estimates of a node are drawn to its parent's as by so many rows", at_least(0)),
        param("prune", &Tree::prune,
              "which tree of the nested sequence: that of cp, of the least cross-validated error, the smallest within "
              "one "
              "standard error of it, or by the rows kept aside (--validation)"),
        param("folds", &Tree::folds, "of the cross-validation; 0: none", at_least(0)),
        param("validation", &Tree::validation, "share of the rows kept aside to prune by",
              Range{.low = 0, .high = 1, .high_open = true}),
        param("form", &Tree::form, "how the tree is written: as R does, drawn with lines, or as rules")};
  }
  void check() const;
};
static_assert(Described<Tree>);

/// What `lemma prune` takes.
struct TreePrune {
  std::optional<double> cp;
  std::optional<TreeForm> form;

  static constexpr std::string_view name = "prune";
  static constexpr auto params() {
    return Listing{param("cp", &TreePrune::cp, "splits of a smaller complexity are lost; auto: none", at_least(-1)),
                   param("form", &TreePrune::form, "how the tree is written; auto: as before")};
  }
};
static_assert(Described<TreePrune>);

/// What stands beside the nodes: which categories each has seen, and its surrogate splits.
struct TreeDetails {
  std::vector<std::uint8_t> turned;        // of each node: its right child stands first
  std::vector<std::uint32_t> known;        // categories that its rows had, laid out as TreeNodes::sets
  std::vector<std::int32_t> node, column;  // of each surrogate, by node, the best first
  std::vector<double> threshold;           // of categories: where its sets begin
  std::vector<std::uint8_t> less_left;
  std::vector<double> agreement, adjusted;
  std::vector<std::uint32_t> sets, sets_known;
};
template <>
struct Codec<TreeDetails> {
  static Value write(const TreeDetails& details);
  static void read(TreeDetails& field, const Value& value, const std::string& where);
};

struct TreeModel : Evidence {
  Tree spec;
  TreeNodes nodes;
  Vector number;      // of each node as rpart counts: children of k are 2k and 2k + 1
  Vector weight;      // of its rows
  Matrix counts;      // of classes: weight of each; of numbers without columns
  Matrix estimates;   // probabilities of the classes, or the number
  Vector loss;        // of its rows if it were a leaf
  Vector gain;        // of its split; 0: a leaf
  Vector complexity;  // cp at which its split is lost; 0: a leaf
  Matrix cp_table;    // cp, splits, error, and where there are folds the cross-validated error and its deviation
  Vector importance;
  Labels label;  // of classes: what each node predicts
  TreeDetails details;
  std::vector<std::string> features, levels, classes;  // names; levels of all columns one after the other
  std::string seed;                                    // of the choice of rows kept aside; empty: none

  static constexpr auto fields() {
    using M = TreeModel;
    return Listing{
        result("nodes", &M::nodes, "column and threshold of each node, and how far on its left child stands"),
        result("node", &M::number, "of each node: children of k are 2k and 2k + 1, the lower mean first"),
        result("weight", &M::weight, "of each node's rows"),
        result("counts", &M::counts, "of each node: weight of each class", Along{Axis::label}),
        result("estimates", &M::estimates, "of each node: probabilities of the classes, or the number predicted"),
        result("loss", &M::loss, "of each node's rows, were it a leaf"),
        result("gain", &M::gain, "of each node's split; 0 of a leaf"),
        result("complexity", &M::complexity, "cp at which each node's split is lost; 0 of a leaf"),
        result(
            "cp_table", &M::cp_table,
            "a row for each tree of the nested sequence: cp, splits, error, cross-validated error, its standard error"),
        result("importance", &M::importance, "gains of each column's splits, and of its surrogates by their agreement",
               kByFeature),
        state("label", &M::label, "of each node: the class predicted"),
        state("details", &M::details, "surrogate splits, and the categories that each node has seen"),
        state("features", &M::features, "names of the columns"),
        state("levels", &M::levels, "names of their categories, column after column"),
        state("classes", &M::classes, "names of the classes"),
        state("seed", &M::seed, "of the choice of rows kept aside")};
  }
  static constexpr auto parts() {
    return Listing{
        part(PartInfo{"leaf", "number of the leaf that the row reaches", Given::asked}, &TreeModel::leaf),
        part(PartInfo{"path", "what is asked of the row on its way, and where it ends", Given::asked},
             &TreeModel::path),
        part(PartInfo{"shap", "what each column adds to the prediction (SHAP values), of each class", Given::asked,
                      PartColumns::features},
             &TreeModel::shap),
        part(PartInfo{"shap_base", "the prediction that SHAP values are added to", Given::asked, PartColumns::classes},
             &TreeModel::shap_base)};
  }
  static constexpr auto actions() {
    return Listing{action("prune", "the smaller tree that is the best for another cp", &TreeModel::prune)};
  }

  Index width() const { return nodes.width(); }
  Index class_count() const { return counts.cols(); }
  bool of_classes() const { return spec.criterion && is_of_classes(*spec.criterion); }
  Task task() const { return of_classes() ? Task::classification : Task::regression; }
  void check() const;
  Vector predict(const MatrixView& x) const;
  Labels classify(const MatrixView& x) const;
  Matrix probabilities(const MatrixView& x) const;
  Vector leaf(const MatrixView& x) const;
  Strings path(const MatrixView& x) const;
  /// Shapley's values of the columns, exactly: with shap_base they add up to the prediction. Of classes one after the other.
  Matrix shap(const MatrixView& x) const;
  Matrix shap_base(const MatrixView& x) const;
  TreeModel prune(const Valid<TreePrune>& to) const;
  std::string summary(const Names& names) const;
};

TreeModel fit(const Valid<Tree>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const TreeModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Tree>();

}  // namespace lemma
