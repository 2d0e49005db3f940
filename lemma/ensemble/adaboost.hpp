// lemma/ensemble/adaboost.hpp
#pragma once
#include <lemma/model/any_spec.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

/// AdaBoost (Freund and Schapire 1997). Learners G_1, G_2, … are fitted one after the other, each to the rows with those weighing
/// more that the learners before it got wrong. With wᵢ the weights of a round (those of the rows in the first):
///
///     err_t = Σ wᵢ [G_t(xᵢ) ≠ yᵢ] / Σ wᵢ          β_t = ½ log((1 − err_t) / err_t) + ½ log(K − 1)
///     wᵢ ← wᵢ e^{2 β_t} where G_t is wrong, and all are brought back to their sum
///
/// For two classes, y = ±1, this is coordinate descent on the risk Σ wᵢ exp(−yᵢ M(xᵢ)) with M(x) = Σ_t β_t G_t(x), and the
/// posterior of the second class is σ(2 M(x)). For K classes it is SAMME (Zhu, Zou, Rosset and Hastie 2009): class k has the votes
/// V_k(x) = Σ_t β_t [G_t(x) = k] and the posterior ∝ exp(2 V_k(x)); the risk is Σ wᵢ exp(−Σ_t 2 β_t ([G_t(xᵢ) = yᵢ] − 1/K)).
///
/// Ends          after so many rounds; at a learner without any error, which then decides alone (its β is that of an error of half
///               a row, and the β of all others besides); at a learner that is no better than chance, err ≥ 1 − 1/K, which is not taken.
/// Learners      any method that predicts classes. One that takes no weights is given rows drawn in proportion to them.
///
/// Cost          of stumps: the columns are sorted once, then O(n p) a round; of others that of so many fits.
/// Certificate   consistent: from the rows and the learners alone the weights of every round, err, β, the errors after each round and the
///               risk come out as told; every learner's own certificate holds for the weights of its round (of stumps: no stump
///               errs less, counted by another route); and where it ended early, the next learner is no better than chance.
struct AdaBoost {
  std::optional<AnySpec> base;
  int rounds = 50;
  std::optional<bool> resample;

  static constexpr std::string_view name = "adaboost";
  static constexpr MethodAbout about{
      .family = "ensemble",
      .task = Task::classification,
      .summary = "AdaBoost: learners one after the other, each on the rows that those before it got wrong",
      .objective = "min over b_t, G_t of sum w exp(-y M(x)), M(x) = sum of b_t G_t(x), one after the other",
      .example = "lemma fit adaboost ionosphere 'Class ~ . - V1 - V2' --rounds 100",
      .takes_weights = true,
      .takes_missing = true,
      .takes_codes = true,
      .random = true};
  static constexpr auto params() {
    using S = AdaBoost;
    return Listing{
        param("base", &S::base,
              "the learner, any method that predicts classes; auto: the stump of least weighted error"),
        param("rounds", &S::rounds, "learners, at most", at_least(1), Step::logarithmic),
        param(
            "resample", &S::resample,
            "a learner is given rows drawn by their weights instead of the weights; auto: where it takes no weights")};
  }
  void check() const;
  Needs needs(Needs usual) const;
};
static_assert(Described<AdaBoost>);

struct AdaBoostModel : Evidence {
  AdaBoost spec;
  Vector beta, error, training_error, risk;
  Matrix stumps;  // a row each: column, threshold, class below, class above, 1: missing values go below
  std::vector<AnyModel> models;
  Index features = 0, classes = 0;
  std::string seed;  // of the rows drawn; empty: none are

  static constexpr auto fields() {
    using M = AdaBoostModel;
    return Listing{
        result("beta", &M::beta, "vote of each learner"),
        result("error", &M::error, "of each learner, by the weights of its round"),
        result("training_error", &M::training_error, "of all learners up to each round, on the training rows"),
        result("risk", &M::risk, "after each round: the mean of the exponential loss"),
        state("stumps", &M::stumps,
              "of each: its column from 0, threshold, class below and above, and whether missing values go below"),
        state("models", &M::models, "the learners, where they are not stumps"),
        state("features", &M::features, "columns"),
        state("classes", &M::classes, "classes told apart"),
        state("seed", &M::seed, "of the rows drawn")};
  }
  Index width() const { return features; }
  Index class_count() const { return classes; }
  Index learners() const { return beta.size(); }
  void check() const;

  Labels predict(const MatrixView& x) const;
  Matrix probabilities(const MatrixView& x) const;
  /// M(x) for two classes, else the votes V_k(x).
  Matrix decision(const MatrixView& x) const;
  /// What the learner t (from 0) says.
  Labels says(Index t, const MatrixView& x, const Execution& execution = {}) const;
  /// Of rows with their classes: margin, from −1 to 1, by how much of the votes the right class leads; weight, the factor that all
  /// rounds gave the row.
  std::vector<NamedColumn> diagnostics(const Block& block) const;
  std::string summary(const Names& names) const;
};

AdaBoostModel fit(const Valid<AdaBoost>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const AdaBoostModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<AdaBoost>();

}  // namespace lemma
