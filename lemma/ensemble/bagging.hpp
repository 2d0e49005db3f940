// lemma/ensemble/bagging.hpp
#pragma once
#include <array>
#include <lemma/model/any_spec.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

enum class BaggingVote { probability, vote };
constexpr auto names_of(BaggingVote) { return std::array<std::string_view, 2>{"probability", "vote"}; }

/// Bagging (Breiman 1996): one method fitted to B bags of rows, and the mean of what its models say,
///
///     f(x) = 1/B Σ_b f_b(x).
///
/// Of numbers f_b(x) is the number predicted; of classes the probabilities, or 1 for the class that model b chooses. A bag is n rows
/// drawn with replacement, or a share of them drawn without. A row that is in no bag of model b is new to it: the mean of the models
/// that have not seen a row is its prediction out of the bag, and
///
///     oob_error = Σ wᵢ L(yᵢ, f_oob(xᵢ)) / Σ wᵢ          over rows that some model has not seen
///
/// with L the squared error, or 1 for a wrong class, is an estimate of the error of new rows that costs no second fit.
///
///   Weights   of k count as k copies: a bag holds copies.
///   Chance    bags are drawn by rows in the order of their own values: they depend on the seed and on the rows, not on the order
///             of these. A bag that lacks a class is drawn again.
///
/// Cost         B fits, side by side.
/// Certificate  consistent: the bags are drawn again from the seed; every model's own certificate holds for the rows of its bag; and the
///              error out of the bag is that of rows which were not in the bags, asked one by one.
struct Bagging {
  std::optional<AnySpec> base;
  int rounds = 10;
  bool replace = true;
  std::optional<double> share;
  std::optional<BaggingVote> vote;

  static constexpr std::string_view name = "bagging";
  static constexpr MethodAbout about{
      .family = "ensemble",
      .task = Task::classification,
      .summary = "bagging: the mean of one method's models on bags of rows, for classes or numbers",
      .objective = "f(x) = mean of f_b(x), b = 1 ... B, each fitted to rows drawn at random",
      .example = "lemma fit bagging boston 'medv ~ .' --rounds 50",
      .takes_weights = true,
      .takes_missing = true,
      .takes_codes = true,
      .either_response = true,
      .random = true};
  static constexpr auto params() {
    using S = Bagging;
    return Listing{
        param("base", &S::base, "the method, any that predicts classes or numbers; auto: a tree that is not pruned"),
        param("rounds", &S::rounds, "bags, with a model each", at_least(1), Step::logarithmic),
        param("replace", &S::replace, "rows are drawn with replacement"),
        param("share", &S::share, "of the rows that a bag holds; auto: 1 with replacement, 0.632 without",
              Range{.low = 0, .high = 1, .low_open = true}),
        param("vote", &S::vote,
              "of a model for a class: its probabilities, or one vote; auto: probabilities where it has them")};
  }
  void check() const;
  Needs needs(Needs usual) const;
};
static_assert(Described<Bagging>);

struct BaggingModel : Evidence {
  Bagging spec;
  std::optional<double> oob_error;
  double outside = 0;
  std::vector<AnyModel> models;
  Index features = 0, classes = 0, rows = 0;
  std::string seed;

  static constexpr auto fields() {
    using M = BaggingModel;
    return Listing{
        result("oob_error", &M::oob_error,
               "out of the bag: the share of wrong classes, or the mean squared error; null where no row is outside"),
        result("outside", &M::outside, "share of the rows, by weight, that some model has not seen"),
        state("models", &M::models, "one for each bag"),
        state("features", &M::features, "columns"),
        state("classes", &M::classes, "classes told apart; 0: numbers"),
        state("rows", &M::rows, "of the fit"),
        state("seed", &M::seed, "by which bags were drawn")};
  }
  Index width() const { return features; }
  Index class_count() const { return classes; }
  Task task() const { return classes > 0 ? Task::classification : Task::regression; }
  void check() const;

  Vector predict(const MatrixView& x) const;
  Labels classify(const MatrixView& x) const;
  Matrix probabilities(const MatrixView& x) const;
  /// Of the training rows, all together: what is predicted out of the bag (a column for each class, or the number), and by how many
  /// models.
  std::vector<NamedColumn> diagnostics(const Block& block) const;
  std::string summary(const Names& names) const;
};

BaggingModel fit(const Valid<Bagging>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const BaggingModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Bagging>();

}  // namespace lemma
