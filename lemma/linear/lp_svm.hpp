// lemma/linear/lp_svm.hpp
#pragma once
#include <lemma/linear/shared/margin_planes.hpp>
#include <lemma/model/class_weights.hpp>
#include <lemma/model/method.hpp>
#include <limits>

namespace lemma {

/// The support vector machine as a linear programme: the length of w is its sum of absolute values, so that most
/// coefficients are 0. With t = ±1 the side of a row's class and c = C · weight · class weight,
///
///     minimise  Σ |wⱼ| + Σ cᵢ ξᵢ      subject to   tᵢ (xᵢ·w + b) ≥ 1 − ξᵢ,   ξᵢ ≥ 0,
///
/// and with C = inf all ξ = 0 (hard margins): then there is a solution where, and only where, a plane separates the
/// classes. The programme that is solved is the dual one, which has a row for each column of the data instead of one for
/// each example:
///
///     maximise  Σ αᵢ     subject to   |Σ αᵢ tᵢ xᵢⱼ| ≤ 1 for each j,   Σ αᵢ tᵢ = 0,   0 ≤ αᵢ ≤ cᵢ;
///
/// w and b are its multipliers. More than two classes: one plane for each, against all others.
///
/// Cost         the simplex method on p + 1 rows and n bounded columns: O(p²) to O(n p) a step, some p to n steps.
/// Certificate  optimal: the relative gap between both programmes. `verify` makes α anew from the rows on the margin, all
///              others being at their bounds, and shrinks it until it is feasible.
struct LpSvm {
  double C = 1;
  bool intercept = true;
  ClassWeighting class_weights = ClassWeights::equal;

  static constexpr std::string_view name = "lp_svm";
  static constexpr MethodAbout about{
      .family = "linear",
      .task = Task::classification,
      .summary = "support vector machine as a linear programme: a plane with few coefficients",
      .objective = "minimise Σ |w| + C Σ ξ subject to t (x·w + b) ≥ 1 − ξ, ξ ≥ 0, t = ±1",
      .example = "lemma fit lp_svm pima_train 'type ~ .'",
      .takes_weights = true,
      .takes_sparse = true};
  static constexpr auto params() {
    using S = LpSvm;
    return Listing{
        param("C", &S::C,
              "weight of the slacks ξ beside Σ |w|; inf: no slack, and refused where no plane separates the classes",
              above(0).or_infinite(), Step::logarithmic),
        param("intercept", &S::intercept, "fit an intercept b"),
        param("class_weights", &S::class_weights,
              "factors on the weights of the rows of each class, in their order; balanced: all classes "
              "count the same",
              at_least(0))};
  }
  bool hard() const { return C == std::numeric_limits<double>::infinity(); }
};
static_assert(Described<LpSvm>);

struct LpSvmModel : MarginPlanes {
  using Base = MarginPlanes;
  LpSvm spec;
  PathNumbers objective, slack, n_zero;

  static constexpr auto fields() {
    using M = LpSvmModel;
    return joined(first_fields(),
                  Listing{result("objective", &M::objective, "sum of |w| plus C times the slacks"),
                          result("slack", &M::slack,
                                 "sum of the slacks of all rows, by weight; of each row: predict --diagnostics"),
                          result("n_zero", &M::n_zero, "number of coefficients that are 0")},
                  last_fields());
  }
  static constexpr PlaneSum kPlaneSum = PlaneSum::plain;
  void check() const;

  Matrix decision(const MatrixView& x) const;  // f(x) of each plane
  Labels predict(const MatrixView& x) const;
  std::vector<NamedColumn> diagnostics(const Block& block) const;  // margin and slack of each row
  std::string summary(const Names& names) const;
};

LpSvmModel fit(const Valid<LpSvm>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const LpSvmModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<LpSvm>();

}  // namespace lemma
