// lemma/tree/forest/grove.hpp: many trees and what they say together: what the methods forest and extra_trees share.
#pragma once
#include <lemma/model/method.hpp>
#include <lemma/tree/forest/plan.hpp>
#include <lemma/tree/shared/nodes.hpp>
#include <memory>

namespace lemma {

namespace forest {
/// What is made of the stored rows when it is first asked for; copies of a model share it.
struct MemoryCell;
std::shared_ptr<MemoryCell> empty_memory();

/// How to ask a fit for what some parts need.
constexpr std::string_view way_to(std::string_view part) {
  for (const std::string_view each : {"proximity", "distance", "weights", "filled", "quantiles"})
    if (part == each) return "--keep_rows true";
  return "";
}
/// Error unless a split can choose from so many columns.
void require_columns(std::string_view method, Index mtry, Index width);
/// Error where importance needs rows outside the bags and there are none.
void require_bags(std::string_view method, ForestImportance importance, bool replace, double share);
}  // namespace forest

/// `lemma outliers MODEL`: which training rows are unlike those that the forest takes for their own.
struct OutlierOptions {
  bool within = true;

  static constexpr std::string_view name = "outliers";
  static constexpr auto params() {
    return Listing{param("within", &OutlierOptions::within, "hold a row against the rows of its own class alone")};
  }
};
static_assert(Described<OutlierOptions>);

/// The prediction for a row is the mean over trees of what its leaves say: the mean of their numbers, or the shares of the classes.
struct Grove : Evidence {
  std::optional<double> oob_error;
  Vector oob_error_by_tree, importance, counts;
  Matrix oob;
  bool of_classes = true;
  TreeNodes trees;
  Vector leaf_value;  // numbers: of each leaf
  Labels leaf_class;  // classes: of a leaf that says one of them; -1 - i: what it says stands in row i of
  Matrix leaf_shares;
  Vector leaf_weight;  // of the rows of its bag in each leaf, by which SHAP values are expected
  Labels order;        // of each training row its place by its own values, by which bags are drawn; -1: a weight of 0
  std::int64_t seed = 1;
  Vector weight;       // of the rows by place; empty: all 1
  Labels kept_leaves;  // with keep_rows: of each tree, of each row by place, its leaf among those of the tree
  Vector kept_response;
  Matrix kept_rows;
  std::shared_ptr<forest::MemoryCell> memory = forest::empty_memory();
  static constexpr std::size_t kNotStored = 1;

  static constexpr auto grove_fields() {
    using M = Grove;
    return Listing{
        result("oob_error", &M::oob_error,
               "of predicting each row by the trees that did not see it: the share of wrong classes, or the mean "
               "squared error; null where every tree saw every row"),
        result("importance", &M::importance, "of each column, by the measure asked for", kByFeature),
        result("counts", &M::counts, "rows of each class, by weight; of numbers the weight of all"),
        result("oob_error_by_tree", &M::oob_error_by_tree,
               "the same error by the first 1, 2, 3, ... trees; none where the first tree saw all rows"),
        result("oob", &M::oob,
               "of each training row what the trees say together that did not see it: a number, or a share for each "
               "class; missing where all saw it",
               {.across = Axis::number, .down = Axis::row}),
        state("of_classes", &M::of_classes, "the response was a class, not a number"),
        state("trees", &M::trees, "the nodes of all trees"),
        state("leaf_value", &M::leaf_value, "of each leaf its number"),
        state("leaf_class", &M::leaf_class, "of each leaf its class, or where its shares stand"),
        state("leaf_shares", &M::leaf_shares, "shares of the classes in leaves of several"),
        state("leaf_weight", &M::leaf_weight, "of the rows in each leaf"),
        state("order", &M::order, "of each training row its place by its own values"),
        state("seed", &M::seed, "of the random numbers"),
        state("weight", &M::weight, "of the training rows by place; empty: all 1"),
        state("kept_leaves", &M::kept_leaves, "with keep_rows: the leaf of each training row in each tree"),
        state("kept_response", &M::kept_response, "with keep_rows: the response of each training row"),
        state("kept_rows", &M::kept_rows, "with keep_rows: the training rows")};
  }

  /// What a model of either method can be asked for.
  template <class Model>
  static constexpr auto grove_parts() {
    return Listing{
        part({"leaf", "the number of its leaf in each tree", Given::asked, PartColumns::numbered}, &Grove::leaves),
        part({"shap", "what each column adds to the prediction (SHAP values), of each class", Given::asked,
              PartColumns::features},
             &Grove::shap),
        part({"shap_base", "the prediction that SHAP values are added to", Given::asked, PartColumns::classes},
             &Grove::shap_base),
        part({"quantiles", "of numbers like it: the ends of --level and the median", Given::asked, PartColumns::own},
             &Model::quantiles),
        part({"proximity", "to each training row: the share of trees in which both are in one leaf", Given::asked,
              PartColumns::numbered},
             &Model::proximity),
        part({"distance", "to each training row: the root of 1 - proximity, for a map of the rows", Given::asked,
              PartColumns::numbered},
             &Model::distance),
        part({"weights", "of each training row in the prediction: the forest as weighted neighbours", Given::asked,
              PartColumns::numbered, "weight"},
             &Model::weights),
        part({"filled", "its columns, what is missing filled from the training rows by proximity", Given::asked,
              PartColumns::features},
             &Model::filled)};
  }
  template <class Model>
  static constexpr auto grove_actions() {
    return Listing{action("outliers", "how unlike its own kind each training row is", &Model::outliers)};
  }
  bool gives_part(std::string_view part) const {
    return forest::way_to(part).empty() || (keeps_rows() && (part != "quantiles" || !of_classes));
  }

  Index width() const { return trees.width(); }
  Index class_count() const { return of_classes ? counts.size() : 0; }
  Task task() const { return of_classes ? Task::classification : Task::regression; }
  Index rows_by_place() const;  // training rows of a weight above 0
  bool keeps_rows() const { return kept_rows.rows() > 0; }
  std::uint64_t seed_bits() const { return static_cast<std::uint64_t>(seed); }

  Vector predict(const MatrixView& x) const;   // numbers; Error of a model of classes
  Labels classify(const MatrixView& x) const;  // Error of a model of numbers, as probabilities are
  Matrix probabilities(const MatrixView& x) const;
  Prediction prediction(const MatrixView& x, const PredictOptions& options) const;
  /// Of each row the number of its leaf in each tree, from 1, in the order of the tree's nodes.
  Matrix leaves(const MatrixView& x) const;
  /// Shapley's values of the columns, exactly: with shap_base they add up to the prediction. Of classes one after the other.
  Matrix shap(const MatrixView& x) const;
  Matrix shap_base(const MatrixView& x) const;
  /// What each tree says by itself: numbers, or of two classes the share of the second.
  Matrix said_by_trees(const MatrixView& x) const;

 protected:
  /// What the leaves say of a class (of numbers: of all).
  Vector said_by_leaves(Index k) const;
  /// What the trees [first, last) say, added up: a number, or a number for each class.
  void add_up(const MatrixView& x, Index first, Index last, Matrix& out) const;
  void check_grove(const forest::Plan& plan) const;
  std::string grove_summary(const forest::Plan& plan, const Names& names) const;
};

namespace forest {

/// All that is made of rows, for either method.
/// Gives back the number of trees: fewer than planned where it was cancelled.
Index fit_grove(Grove& out, const Plan& plan, const Rows& rows, const FitOptions& options);
/// How much is counted anew: trees whose every split is looked at again, as long as they cost less than so many steps.
inline constexpr double kStepsOfAFit = 3e7, kStepsOfASecondLook = 3e9;
Certificate certify_grove(const Grove& grove, const Plan& plan, const Rows& rows, double steps,
                          const Execution& execution);

}  // namespace forest
}  // namespace lemma
