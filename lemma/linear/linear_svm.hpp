// lemma/linear/linear_svm.hpp
#pragma once
#include <lemma/linear/shared/margin_planes.hpp>
#include <lemma/model/class_weights.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

enum class MarginLoss { hinge, squared_hinge };
constexpr auto names_of(MarginLoss) { return std::array<std::string_view, 2>{"hinge", "squared_hinge"}; }

/// The intercept is free, or counts as the coefficient of a column of ones and is penalised with the others (liblinear).
enum class Bias { free, penalised };
constexpr auto names_of(Bias) { return std::array<std::string_view, 2>{"free", "penalised"}; }

enum class LinearSvmSolver { automatic, exact, dual, pegasos };
constexpr auto names_of(LinearSvmSolver) { return std::array<std::string_view, 4>{"auto", "exact", "dual", "pegasos"}; }

/// The linear support vector machine: with f(x) = x·w + b and t = ±1 the side of a row's class,
///
///     minimise  P(w, b) = ½ ‖w‖² (+ ½ b² when the bias is penalised) + Σ cᵢ ℓ(tᵢ f(xᵢ)),     cᵢ = C · weight · class weight,
///     ℓ(m) = max(0, 1 − m)   (hinge)   or   max(0, 1 − m)²   (squared hinge).
///
/// Its dual, with v = Σ αᵢ tᵢ xᵢ, is
///
///     maximise  D(α) = Σ αᵢ − ½ ‖v‖² (− ½ (Σ αᵢ tᵢ)²) − Σ αᵢ² / 4cᵢ (squared hinge),    0 ≤ αᵢ (≤ cᵢ for the hinge),
///
/// and Σ αᵢ tᵢ = 0 when the bias is free. More than two classes: one plane for each, against all others.
///
/// exact    few columns: for the hinge an interior point method, each step a system of the width of the rows, and at its end the
///          optimum itself from the rows that lie on the margin; for the squared hinge Newton's method, which ends after
///          finitely many steps. O(n p²) a step.
/// dual     many columns, sparse rows: coordinate descent in random order; rows whose α has come to rest at a bound are left
///          out until the end. O(entries) a pass. The free bias is the multiplier of Σ αᵢ tᵢ = 0, by an augmented Lagrangian.
/// pegasos  stochastic subgradients of P with a decreasing step, averaged over the passes: a rough answer to big problems, whose
///          gap falls like 1 / passes. It is here to be compared with; dual is as cheap a pass, and converges linearly.
///
/// Certificate  optimal: the relative duality gap (P − D) / P. `verify` makes α anew from the margins: 0 beyond 1, c within, and
///              a small quadratic programme for those on it (hinge), 2c (1 − m) (squared hinge); for a free bias
///              the α of the class with the larger sum are shrunk until Σ αᵢ tᵢ = 0. The other numbers are held against the rows.
struct LinearSvm {
  double C = 1;
  MarginLoss loss = MarginLoss::hinge;
  bool intercept = true;
  Bias bias = Bias::free;
  ClassWeighting class_weights = ClassWeights::equal;
  LinearSvmSolver solver = LinearSvmSolver::automatic;
  double tolerance = 1e-4;
  int max_iterations = 1000;

  static constexpr std::string_view name = "linear_svm";
  static constexpr MethodAbout about{
      .family = "linear",
      .task = Task::classification,
      .summary = "linear support vector machine: the widest margin between classes, with the duality gap shown",
      .objective = "minimise ½ ‖w‖² + C Σ max(0, 1 − t (x·w + b)), or its square, t = ±1",
      .example = "lemma fit linear_svm pima_train 'type ~ .'",
      .takes_weights = true,
      .takes_sparse = true,
      .random = true};
  static constexpr auto params() {
    using S = LinearSvm;
    return Listing{
        param("C", &S::C, "weight of the losses beside ½ ‖w‖²: large for few errors, small for a wide margin", above(0),
              Step::logarithmic),
        param("loss", &S::loss, "of a row with margin m = t f(x): max(0, 1 - m), or its square"),
        param("intercept", &S::intercept, "fit an intercept b"),
        param("bias", &S::bias,
              "of the intercept: free, or penalised as the coefficient of a column of ones (liblinear)"),
        param("class_weights", &S::class_weights,
              "factors on the weights of the rows of each class, in their order; balanced: all classes count the same",
              at_least(0)),
        param("solver", &S::solver,
              "exact for few columns, dual (coordinate descent) for many; pegasos is rough: its gap falls like "
              "1 / passes, and its tolerance is 100 times looser"),
        param("tolerance", &S::tolerance, "duality gap at which the work ends, relative to the objective",
              between(1e-12, 0.1), Step::logarithmic),
        param("max_iterations", &S::max_iterations, "steps of exact, passes over the rows of the others, at most",
              at_least(1))};
  }
};
static_assert(Described<LinearSvm>);

struct LinearSvmModel : MarginPlanes {
  using Base = MarginPlanes;
  LinearSvm spec;
  PathNumbers objective_primal, objective_dual, gap, n_support;

  static constexpr auto fields() {
    using M = LinearSvmModel;
    return joined(
        first_fields(),
        Listing{result("objective_primal", &M::objective_primal, "P(w, b): penalty plus losses"),
                result("objective_dual", &M::objective_dual, "D of a dual point: no plane has a smaller P"),
                result("gap", &M::gap, "(P - D) / P"),
                result("n_support", &M::n_support, "weight of the rows on the margin, within it or on the wrong side")},
        last_fields());
  }
  static constexpr PlaneSum kPlaneSum = PlaneSum::plain;
  void check() const;

  Matrix decision(const MatrixView& x) const;  // f(x) of each plane
  Labels predict(const MatrixView& x) const;
  std::vector<NamedColumn> diagnostics(const Block& block) const;  // margin and slack of each row
  std::string summary(const Names& names) const;
};

LinearSvmModel fit(const Valid<LinearSvm>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const LinearSvmModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<LinearSvm>();

}  // namespace lemma
