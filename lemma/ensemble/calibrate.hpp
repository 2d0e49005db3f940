// lemma/ensemble/calibrate.hpp
#pragma once
#include <lemma/model/any_spec.hpp>

namespace lemma {

enum class CalibrationMap { platt, isotonic, temperature };
constexpr auto names_of(CalibrationMap) { return std::array<std::string_view, 3>{"platt", "isotonic", "temperature"}; }

/// Probabilities for any classifier: what its scores are worth is learned from rows that it has not seen.
///
/// Rows are dealt into folds, and each row gets its score s from the method fitted to the other folds. From these held-out scores a map
/// is learned, and the model is the method fitted to all rows, its scores put through the map:
///
///     platt        p = 1 / (1 + e^−(a s + b)), a and b of the largest likelihood with the targets (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2)
///     isotonic     the p(s) that never falls with the least Σ w (y − p(s))², by pooling neighbours that violate; between scores linear
///     temperature  p ∝ e^(β sₖ), β = 1/T ≥ 0 of the largest likelihood: one number for all classes
///
/// s is the decision value of the method, or the logarithm of its (odds of) probabilities where it has none. Of more than two classes
/// platt and isotonic map each class against the rest, and the results are brought to sum 1.
///
/// Folds go by the rows' own values, class by class: they depend neither on the order of the rows nor on copies, and equal rows stay
/// together, so that no row is scored by its copy.
///
/// Cost         folds + 1 fits, and O(n log n) for each map.
/// Certificate  the method's own must hold, and the map must be the optimum for held-out scores: `verify` fits the folds again,
///              makes the scores, and holds the map against its first-order conditions (platt, temperature: the gradient in units of
///              standardised scores; isotonic: sums of residuals that are nowhere negative and 0 where p rises). All three problems are
///              convex. A map learned from scores of rows that the method had learned from fails it.
struct Calibrate {
  std::optional<AnySpec> base;
  CalibrationMap map = CalibrationMap::platt;
  int folds = 5;

  static constexpr std::string_view name = "calibrate";
  static constexpr MethodAbout about{
      .family = "ensemble",
      .task = Task::classification,
      .summary = "probabilities for any classifier, learned from rows that it has not seen",
      .objective = "p = map(score), the map of the largest likelihood (or least squares) of held-out rows",
      .example = "lemma fit calibrate pima_train 'type ~ .' --base linear_svm",
      .takes_weights = true,
      .random = true};
  static constexpr auto params() {
    return Listing{
        param("base", &Calibrate::base, "the method whose scores become probabilities (default: linear_svm)"),
        param("map", &Calibrate::map,
              "from score to probability: a sigmoid, any curve that never falls, or one factor for all classes"),
        param("folds", &Calibrate::folds, "parts of the rows, each scored by the method fitted to the others",
              between(2, 1000))};
  }
  /// The method inside, with all its parameters.
  AnySpec inside() const;
  Needs needs(Needs usual) const;
  void check() const;
};
static_assert(Described<Calibrate>);

struct CalibrateModel : Evidence {
  Calibrate spec;
  AnyModel base;
  Vector slope, offset;   // platt: of each map; temperature: slope is β, and there is no offset; isotonic: none
  Vector scores, values;  // isotonic: where the curve turns, one map after the other, and what it is there
  Labels starts;          // isotonic: where each map begins among them, and the end
  double log_loss = 0;    // mean over the held-out rows, of the map's probabilities

  static constexpr auto fields() {
    using M = CalibrateModel;
    return Listing{state("base", &M::base, "the method fitted to all rows"),
                   result("slope", &M::slope, "of the scores: a of each class (platt), 1/T (temperature)"),
                   result("offset", &M::offset, "b of each class (platt)"),
                   result("scores", &M::scores, "where the curves turn (isotonic), class after class"),
                   result("values", &M::values, "the probability there"),
                   result("starts", &M::starts, "where each class begins among them, from 0, and the end"),
                   result("log_loss", &M::log_loss,
                          "mean over the held-out rows, in nats: an honest estimate but "
                          "for the two numbers, or the curve, that were learned from it")};
  }
  Index width() const { return base->width(); }
  Index class_count() const { return base->class_count(); }
  /// Maps: one of two classes (or of temperature), else one a class.
  Index maps() const { return spec.map == CalibrationMap::temperature || class_count() == 2 ? 1 : class_count(); }
  void check() const;
  Matrix probabilities(const MatrixView& x) const;
  Labels predict(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

CalibrateModel fit(const Valid<Calibrate>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const CalibrateModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Calibrate>();

}  // namespace lemma
