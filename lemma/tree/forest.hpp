// lemma/tree/forest.hpp
#pragma once
#include <lemma/tree/forest/grove.hpp>

namespace lemma {

/// Random forest (Breiman 2001): trees grown out on rows drawn at random, each split the best among a few columns drawn at random,
///
///     f(x) = 1/B Σ_b T_b(x),
///
/// where T_b(x) is the mean of the numbers, or the shares of the classes, in the leaf of tree b that x reaches. A split is the one
/// that leaves least variance, or least of Gini's index Σ p_k (1 − p_k), of all thresholds on the columns drawn; a threshold lies
/// midway between two values. A column that all rows of a node agree in does not count among those drawn.
///
///   Categories    a set of them goes left: the best one of all for numbers and for two classes (they are ordered by their means; a set
///                 that leaves fewer than min_leaf rows on a side is passed over for the next in that order);
///                 for more classes the best of those that begin with the categories richest in one class.
///   Missing       a split sends rows without a value to the side where they fit better; where a node had none, and for categories
///                 that it had none of, to the side with more rows. "Missing or not" is a split too.
///   Weights       of k count as k copies: with replacement they may be drawn k times as often.
///   Chance        a bag is drawn by rows in the order of their own values, a node's columns by (seed, tree, node): the forest does
///                 not depend on threads, nor on the order of the rows, nor on the units of the columns.
///
/// Cost         O(B n log n · mtry · log n) time: a node sorts ranks. 16 bytes for each value beside the rows, 24 for each row and thread.
/// Certificate  consistent: every leaf says what the rows of its bag say and the error out of the bag is that of rows walked down the
///              trees one by one; in a sample of the trees every split is the best on its columns, by all thresholds on the
///              values themselves, and every leaf had to be one.
struct Forest {
  int trees = 100;
  std::optional<int> mtry;
  bool replace = true;
  std::optional<double> share;
  std::optional<int> min_leaf;
  int min_split = 2;
  std::optional<int> depth, leaves, bins;
  ForestVote vote = ForestVote::probability;
  ClassWeighting class_weights = ClassWeights::equal;
  ForestImportance importance = ForestImportance::impurity;
  bool keep_rows = false;

  static constexpr std::string_view name = "forest";
  static constexpr MethodAbout about{
      .family = "tree",
      .task = Task::classification,
      .summary = "random forest: the mean of trees grown on rows and columns drawn at random, for classes or numbers",
      .objective = "f(x) = mean over trees of the leaf of x; each split the best among mtry columns drawn at random",
      .example = "lemma fit forest iris 'species ~ .' --trees 200",
      .takes_weights = true,
      .takes_missing = true,
      .takes_codes = true,
      .either_response = true,
      .random = true};
  static constexpr auto params() {
    using S = Forest;
    return Listing{
        param("trees", &S::trees, "how many are grown", at_least(1), Step::logarithmic),
        param("mtry", &S::mtry, "columns that a split chooses from; auto: √d for classes, d/3 for numbers",
              at_least(1)),
        param("replace", &S::replace, "rows are drawn with replacement"),
        param("share", &S::share, "of the rows that a tree is given; auto: 1 with replacement, 0.632 without",
              Range{.low = 0, .high = 1, .low_open = true}),
        param("min_leaf", &S::min_leaf, "rows in a leaf, at least; auto: 1 for classes, 5 for numbers", at_least(1)),
        param("min_split", &S::min_split, "rows in a node that is split, at least", at_least(2)),
        param("depth", &S::depth, "splits between the root and a leaf, at most; auto: any number", at_least(1)),
        param("leaves", &S::leaves, "of a tree, at most, those of greatest gain split first; auto: any number",
              at_least(2)),
        param("bins", &S::bins, "thresholds between so many groups of values alone; auto: between all values",
              between(2, 65535)),
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
static_assert(Described<Forest>);

struct ForestModel : Grove {
  using Base = Grove;
  Forest spec;

  static constexpr auto fields() { return grove_fields(); }
  static constexpr auto parts() {
    return joined(Listing{part({"standard_errors", "of the prediction, from how bags that lack a row say otherwise",
                                Given::asked, PartColumns::own},
                               &ForestModel::standard_errors)},
                  grove_parts<ForestModel>());
  }
  static constexpr auto actions() { return grove_actions<ForestModel>(); }
  bool gives(std::string_view part) const;
  void check() const;
  std::string summary(const Names& names) const;
  forest::Plan plan() const;

  /// Of numbers, and of the share of the second of two classes: by the infinitesimal jackknife, by the jackknife after the bootstrap
  /// (both less what chance in B trees adds to them; Wager, Hastie and Efron 2014), and by both.
  NamedMatrix standard_errors(const MatrixView& x) const;
  /// Of the mean: value ± z · standard error. Of an observation: quantiles of the training rows by their weights (Meinshausen 2006).
  Interval interval(const MatrixView& x, IntervalKind kind, double level) const;
  Matrix deviations(const MatrixView& x) const;  // of the mean, and of an observation by the error out of the bag
  Matrix proximity(const MatrixView& x) const;
  Matrix distance(const MatrixView& x) const;
  Matrix weights(const MatrixView& x) const;
  Matrix filled(const MatrixView& x) const;
  NamedMatrix quantiles(const MatrixView& x, const PredictOptions& options) const;
  Prediction outliers(const Valid<OutlierOptions>& options) const;
};

ForestModel fit(const Valid<Forest>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const ForestModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Forest>();

}  // namespace lemma
