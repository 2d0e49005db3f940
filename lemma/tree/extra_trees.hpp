// lemma/tree/extra_trees.hpp
#pragma once
#include <lemma/tree/forest/grove.hpp>

namespace lemma {

/// Extremely randomised trees (Geurts, Ernst and Wehenkel 2006): as `forest`, but thresholds are drawn at random too. For each of mtry
/// columns a threshold is drawn between the least and the greatest value in the node, each place equally likely (of categories, each
/// goes left or right with probability ½), and the best of these mtry splits is taken. By default each tree is given all rows.
///
///     f(x) = 1/B Σ_b T_b(x)
///
/// Cost         O(B n log n · mtry) time: a node sorts nothing.
/// Certificate  consistent: every leaf says what its rows say, by walking each row down each tree; in a sample of the trees every
///              split is the best of those that its stream drew, counted anew on the values, and every leaf had to be one.
struct ExtraTrees {
  int trees = 100;
  std::optional<int> mtry;
  int cuts = 1;
  bool replace = false;
  double share = 1;
  std::optional<int> min_leaf;
  int min_split = 2;
  std::optional<int> depth, leaves;
  ForestVote vote = ForestVote::probability;
  ClassWeighting class_weights = ClassWeights::equal;
  ForestImportance importance = ForestImportance::impurity;
  bool keep_rows = false;

  static constexpr std::string_view name = "extra_trees";
  static constexpr MethodAbout about{
      .family = "tree",
      .task = Task::classification,
      .summary =
          "extremely randomised trees: thresholds drawn at random, the best of a few taken, for classes or numbers",
      .objective =
          "f(x) = mean over trees of the leaf of x; each split the best of one random threshold on each of mtry "
          "columns",
      .example = "lemma fit extra_trees iris 'species ~ .' --trees 200",
      .takes_weights = true,
      .takes_missing = true,
      .takes_codes = true,
      .either_response = true,
      .random = true};
  static constexpr auto params() {
    using S = ExtraTrees;
    return Listing{
        param("trees", &S::trees, "how many are grown", at_least(1), Step::logarithmic),
        param("mtry", &S::mtry, "columns that a split chooses from; auto: √d for classes, all for numbers",
              at_least(1)),
        param("cuts", &S::cuts, "thresholds drawn for each column", at_least(1)),
        param("replace", &S::replace,
              "rows are drawn with replacement; false and a share of 1: all rows for each tree"),
        param("share", &S::share, "of the rows that a tree is given", Range{.low = 0, .high = 1, .low_open = true}),
        param("min_leaf", &S::min_leaf, "rows in a leaf, at least; auto: 1 for classes, 5 for numbers", at_least(1)),
        param("min_split", &S::min_split, "rows in a node that is split, at least", at_least(2)),
        param("depth", &S::depth, "splits between the root and a leaf, at most; auto: any number", at_least(1)),
        param("leaves", &S::leaves, "of a tree, at most, those of greatest gain split first; auto: any number",
              at_least(2)),
        param("vote", &S::vote, "of a tree for a class: the shares in its leaf, or one vote for the most frequent"),
        param("class_weights", &S::class_weights,
              "factors on the weights of the rows of each class, in their order; balanced: all classes count the same",
              at_least(0)),
        param("importance", &S::importance,
              "of columns: by impurity, by permutation out of the bag, or impurity corrected by shuffled copies"),
        param("keep_rows", &S::keep_rows,
              "keep the training rows and their leaves: for proximities, weights, quantiles, outliers, missing values "
              "filled")};
  }
  void check() const;
  static constexpr std::string_view way_to(std::string_view part) { return forest::way_to(part); }
};
static_assert(Described<ExtraTrees>);

struct ExtraTreesModel : Grove {
  using Base = Grove;
  ExtraTrees spec;

  static constexpr auto fields() { return grove_fields(); }
  static constexpr auto parts() { return grove_parts<ExtraTreesModel>(); }
  static constexpr auto actions() { return grove_actions<ExtraTreesModel>(); }
  bool gives(std::string_view part) const { return gives_part(part); }
  void check() const;
  std::string summary(const Names& names) const;
  forest::Plan plan() const;
  Matrix proximity(const MatrixView& x) const;
  Matrix distance(const MatrixView& x) const;
  Matrix weights(const MatrixView& x) const;
  Matrix filled(const MatrixView& x) const;
  NamedMatrix quantiles(const MatrixView& x, const PredictOptions& options) const;
  Prediction outliers(const Valid<OutlierOptions>& options) const;
};

ExtraTreesModel fit(const Valid<ExtraTrees>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const ExtraTreesModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<ExtraTrees>();

}  // namespace lemma
