// lemma/ensemble/mixture_of_experts.hpp
#pragma once
#include <lemma/model/any_spec.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

/// Mixture of experts (Jacobs, Jordan, Nowlan and Hinton 1991). A gate shares rows out among K experts by their columns,
///
///     p(y | x) = Σ_k π_k(x) p_k(y | x)          ℓ = 1/W Σ wᵢ log p(yᵢ | xᵢ), W = Σ wᵢ
///
/// with π a classifier of K classes and p_k the probability that expert k gives a class, or of numbers a Gaussian around its prediction
/// with the variance σ_k². EM (Jordan and Jacobs 1994): with the responsibilities
///
///     E   r_ik = π_k(xᵢ) p_k(yᵢ | xᵢ) / p(yᵢ | xᵢ)
///     M   expert k ← the rows with weights wᵢ r_ik;  σ_k² = Σ wᵢ r_ik (yᵢ − f_k(xᵢ))² / Σ wᵢ r_ik
///         gate ← each row K times, as one of class k with weight wᵢ r_ik
///
/// until responsibilities stay as they are. Experts and gate are any methods that take weights. Where they maximise the likelihood (ols,
/// multinomial with λ = 0) ℓ never falls; with a penalty it is the penalised one that does not.
///
///   Start     rows go to the nearest of K rows drawn at random, by standardised columns, in every second start with the response
///             among them; the one of the largest ℓ after thirty rounds goes on to the end. Draws do not depend on the order of the rows.
///   Floors    σ_k is at least a thousandth of the response's standard deviation: an expert alone with one row would be
///             infinitely likely. Of classes every expert keeps a millionth of each row, so that it knows all of them.
///
/// Cost         a round is K fits of experts and one of the gate with K n rows.
/// Certificate  consistent: a fixed point. Each expert holds by its own certificate for the responsibilities that the model keeps, so does
///              the gate, and from experts and gate alone come responsibilities whose divergence from those kept, 1/W Σ wᵢ Σ_k r_ik
///              log(r_ik / kept_ik), is at most `tolerance`.
struct MixtureOfExperts {
  int experts = 2;
  std::optional<AnySpec> expert, gate;
  int restarts = 3;
  double tolerance = 1e-8;
  int max_iterations = 500;

  static constexpr std::string_view name = "mixture_of_experts";
  static constexpr MethodAbout about{
      .family = "ensemble",
      .task = Task::classification,
      .summary =
          "mixture of experts: a gate shares rows out among several models of one method, for classes or numbers",
      .objective = "max sum of w log(sum over k of gate_k(x) p_k(y | x)), by EM",
      .example = "lemma fit mixture_of_experts boston 'medv ~ lstat + rm'",
      .takes_weights = true,
      .either_response = true,
      .random = true};
  static constexpr auto params() {
    using S = MixtureOfExperts;
    return Listing{
        param("experts", &S::experts, "models among which rows are shared out", at_least(2)),
        param("expert", &S::expert,
              "the method of each, one that takes weights; auto: multinomial for classes, ols for numbers"),
        param("gate", &S::gate,
              "the method that shares rows out, a classifier with probabilities that takes weights; auto: multinomial"),
        formerly("starts",
                 param("restarts", &S::restarts, "starts of EM, of which the likeliest end is kept", at_least(1))),
        param("tolerance", &S::tolerance,
              "divergence of responsibilities from those of the round before at which the work ends, nats per row",
              Range{.low = 0, .high = 1, .low_open = true}, Step::logarithmic),
        param("max_iterations", &S::max_iterations, "rounds of EM at most, of each start", at_least(1))};
  }
  void check() const;
  Needs needs(Needs usual) const;
};
static_assert(Described<MixtureOfExperts>);

struct MixtureOfExpertsModel : Evidence {
  MixtureOfExperts spec;
  double log_likelihood = 0;
  Vector shares, deviations, trace;
  std::vector<AnyModel> experts;
  AnyModel gate;
  Matrix responsibilities;
  Index features = 0, classes = 0;

  static constexpr auto fields() {
    using M = MixtureOfExpertsModel;
    return Listing{
        result("log_likelihood", &M::log_likelihood, "mean over the rows, in nats"),
        result("shares", &M::shares, "of the rows, by their responsibilities, that each expert has"),
        result("deviations", &M::deviations, "of numbers: the standard deviation around each expert's prediction"),
        result("trace", &M::trace, "log likelihood before each round"),
        state("experts", &M::experts, "the models among which rows are shared out"),
        state("gate", &M::gate, "the classifier that shares them out"),
        state(
            "responsibilities", &M::responsibilities,
            "of the experts for each training row, by which they were fitted last; rows in the order of their values"),
        state("features", &M::features, "columns"),
        state("classes", &M::classes, "classes told apart; 0: numbers")};
  }
  static constexpr auto parts() {
    return Listing{part({"experts", "share of each expert in what is predicted, by the gate", Given::asked,
                         PartColumns::numbered, "expert"},
                        &MixtureOfExpertsModel::shares_at)};
  }
  Index width() const { return features; }
  Index class_count() const { return classes; }
  Task task() const { return classes > 0 ? Task::classification : Task::regression; }
  void check() const;

  Vector predict(const MatrixView& x) const;
  Labels classify(const MatrixView& x) const;
  Matrix probabilities(const MatrixView& x) const;
  /// π(x): a column for each expert.
  Matrix shares_at(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

MixtureOfExpertsModel fit(const Valid<MixtureOfExperts>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const MixtureOfExpertsModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<MixtureOfExperts>();

}  // namespace lemma
