// lemma/ensemble/model_average.hpp
#pragma once
#include <array>
#include <cstdint>
#include <lemma/model/any_spec.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

enum class AverageBy { mixture, posterior, equal };
constexpr auto names_of(AverageBy) { return std::array<std::string_view, 3>{"mixture", "posterior", "equal"}; }

/// The weighted mean of what several methods say,
///
///     f(x) = Σ_m α_m f_m(x)          α ≥ 0, Σ α_m = 1
///
/// with weights by the likelihood of rows that the methods had not seen. With p_m(yᵢ) the density that method m, fitted without the
/// fold of row i, gives its response (of classes the probability, of numbers a Gaussian around the prediction whose variance is the mean
/// squared error out of fold):
///
///     mixture    the α that maximise ℓ(α) = 1/W Σ wᵢ log Σ_m α_m p_m(yᵢ), W = Σ wᵢ: stacking of predictive distributions (Yao, Vehtari,
///                Simpson and Gelman 2018). Concave: one optimum.
///     posterior  α_m ∝ Π p_m(yᵢ)^wᵢ: of many rows the single best method
///     equal      1/M
///
///   Classes   a probability of 0 would rule a method out for ever: one more row, spread evenly over the K classes, is added to what a
///             method says where weights are learned, p ← (W p + 1/K) / (W + 1).
///   Folds     as in `stacking`: equal rows are in one fold, and they depend on the seed and the rows, not on their order.
///
/// Cost         M (V + 1) fits; ℓ by exchanging weight between two methods at a time, O(n M) a step.
/// Certificate  the gap of the weights: with g_m = ∂ℓ/∂α_m no weights reach more than ℓ + max g_m − Σ α_m g_m. The methods are fitted again
///              without each fold, so that no density of a row comes from a model which saw it, and each model's own certificate must
///              hold for all rows; its strength is that of the weakest among them.
struct ModelAverage {
  std::optional<std::vector<AnySpec>> methods;
  AverageBy by = AverageBy::mixture;
  int folds = 5;

  static constexpr std::string_view name = "model_average";
  static constexpr MethodAbout about{
      .family = "ensemble",
      .task = Task::classification,
      .summary = "the mean of several methods, weighted by the likelihood of rows they have not seen",
      .objective = "f(x) = sum of a_m f_m(x), a of the largest held-out likelihood of the mixture",
      .example = "lemma fit model_average boston 'medv ~ .'",
      .takes_weights = true,
      .either_response = true,
      .random = true};
  static constexpr auto params() {
    using S = ModelAverage;
    return Listing{
        param("methods", &S::methods,
              "those that are averaged; auto: lda and tree for classes, ridge and tree for numbers"),
        param(
            "by", &S::by,
            "the weights: of the mixture with the largest held-out likelihood, in proportion to the likelihood of each "
            "method, or all equal"),
        param("folds", &S::folds, "parts of the rows, each predicted by models fitted to the others", at_least(2))};
  }
  void check() const;
  Needs needs(Needs usual) const;
};
static_assert(Described<ModelAverage>);

struct ModelAverageModel : Evidence {
  ModelAverage spec;
  Vector weights, log_likelihoods, deviations;
  double log_likelihood = 0;
  Labels fold;
  std::vector<AnyModel> models;
  Index features = 0, classes = 0;
  std::int64_t order = 0;
  std::string seed;

  static constexpr auto fields() {
    using M = ModelAverageModel;
    return Listing{
        result("weights", &M::weights, "of each method"),
        result("log_likelihoods", &M::log_likelihoods, "of each method: mean over rows it has not seen, in nats"),
        result("log_likelihood", &M::log_likelihood, "of the mixture with these weights: mean over the same rows"),
        result("deviations", &M::deviations, "of numbers: the root mean squared error of each method out of fold"),
        result("fold", &M::fold, "of each training row, from 0; -1: a row of weight 0", Along{Axis::row}),
        state("models", &M::models, "the methods, fitted to all rows"),
        state("features", &M::features, "columns"),
        state("classes", &M::classes, "classes told apart; 0: numbers"),
        state("order", &M::order, "fingerprint of the training rows in their order, which `fold` follows"),
        state("seed", &M::seed, "by which folds were dealt")};
  }
  Index width() const { return features; }
  Index class_count() const { return classes; }
  Task task() const { return classes > 0 ? Task::classification : Task::regression; }
  void check() const;

  Vector predict(const MatrixView& x) const;
  Labels classify(const MatrixView& x) const;
  Matrix probabilities(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

ModelAverageModel fit(const Valid<ModelAverage>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const ModelAverageModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<ModelAverage>();

}  // namespace lemma
