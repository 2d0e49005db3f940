// lemma/ensemble/stacking.hpp
#pragma once
#include <cstdint>
#include <lemma/model/any_spec.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

/// Stacking (Wolpert 1992): a last method learns how far to trust each of several others. Its columns are what they say of rows that
/// they have not seen,
///
///     z_m(xᵢ) = f_m^(−fold(i))(xᵢ)          f_m^(−v): method m fitted to the rows outside fold v
///
/// and what it learns is used on what the methods say when they are fitted to all rows: f(x) = g(f_1(x), …, f_M(x)). Of classes z_m are the
/// probabilities of all classes but the first (1 for the class chosen, where a method has none), of numbers the number predicted.
///
///   Folds    equal rows are in one fold, so that no row is predicted by a model that saw its copy, and a weight of k is k copies. They
///            depend on the seed and the values of the rows, not on their order.
///
/// Cost         M (V + 1) fits and one of the last method.
/// Certificate  consistent: the fold of each row, which the model keeps, is found again; every method is fitted again without each fold,
///              so that no column of a row comes from a model which saw it; the last method's own certificate holds for these
///              columns, and each method's for all rows.
struct Stacking {
  std::optional<std::vector<AnySpec>> methods;
  std::optional<AnySpec> last;
  int folds = 5;

  static constexpr std::string_view name = "stacking";
  static constexpr MethodAbout about{
      .family = "ensemble",
      .task = Task::classification,
      .summary =
          "stacking: a last method learns from what others say of rows they have not seen, for classes or numbers",
      .objective = "f(x) = g(f_1(x), ..., f_M(x)), g fitted to predictions out of fold",
      .example = "lemma fit stacking boston 'medv ~ .'",
      .takes_weights = true,
      .either_response = true,
      .random = true};
  static constexpr auto params() {
    using S = Stacking;
    return Listing{
        param("methods", &S::methods,
              "those whose predictions are learned from; auto: lda and tree for classes, ridge and tree for numbers"),
        param("last", &S::last, "the method that learns from them; auto: multinomial for classes, ridge for numbers"),
        param("folds", &S::folds, "parts of the rows, each predicted by models fitted to the others", at_least(2))};
  }
  void check() const;
  Needs needs(Needs usual) const;
};
static_assert(Described<Stacking>);

struct StackingModel : Evidence {
  Stacking spec;
  Vector errors;
  Labels fold;
  std::vector<AnyModel> models;
  AnyModel last;
  Index features = 0, classes = 0;
  std::int64_t order = 0;
  std::string seed;

  static constexpr auto fields() {
    using M = StackingModel;
    return Listing{
        result("errors", &M::errors,
               "of each method on rows it has not seen: the share of wrong classes, or the mean squared error"),
        result("fold", &M::fold, "of each training row, from 0; -1: a row of weight 0", Along{Axis::row}),
        state("models", &M::models, "the methods, fitted to all rows"),
        state("last", &M::last, "the last method, fitted to what they said out of fold"),
        state("features", &M::features, "columns"),
        state("classes", &M::classes, "classes told apart; 0: numbers"),
        state("order", &M::order, "fingerprint of the training rows in their order, which `fold` follows"),
        state("seed", &M::seed, "by which folds were dealt")};
  }
  Index width() const { return features; }
  Index class_count() const { return classes; }
  Task task() const { return classes > 0 ? Task::classification : Task::regression; }
  bool has_probabilities() const;
  void check() const;

  /// What the methods say of rows: the columns of the last one.
  Matrix columns(const MatrixView& x) const;
  Vector predict(const MatrixView& x) const;
  Labels classify(const MatrixView& x) const;
  Matrix probabilities(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

StackingModel fit(const Valid<Stacking>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const StackingModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Stacking>();

}  // namespace lemma
