// lemma/linear/logistic.hpp
#pragma once
#include <lemma/model/class_weights.hpp>
#include <lemma/model/method.hpp>
#include <lemma/model/path.hpp>
#include <limits>

namespace lemma {

enum class Penalty { l2, l1, elastic_net, bridge };
constexpr auto names_of(Penalty) { return std::array<std::string_view, 4>{"l2", "l1", "elastic_net", "bridge"}; }

enum class LogisticSolver { automatic, newton, lbfgs, cg, gd, coordinate, sgd };
constexpr auto names_of(LogisticSolver) {
  return std::array<std::string_view, 7>{"auto", "newton", "lbfgs", "cg", "gd", "coordinate", "sgd"};
}

/// Logistic regression of two classes, or of proportions: with ηᵢ = offsetᵢ + b₀ + xᵢ·b and p = 1 / (1 + e^−η) the
/// probability of the second class, the b₀ and b that minimise
///
///     J(b₀, b) = Σ wᵢ (log(1 + e^ηᵢ) − yᵢ ηᵢ) + Σⱼ pen(cⱼ),         cⱼ = sⱼ bⱼ,   wᵢ = weight · class weight,
///
///     l2            pen(c) = ½ λ c²
///     l1            pen(c) = λ |c|
///     elastic_net   pen(c) = λ (α |c| + ½ (1 − α) c²)
///     bridge        pen(c) = (λ/ρ) |c|^ρ,   1 ≤ ρ ≤ 2,
///
/// with sⱼ the standard deviation of column j (divisor n), or 1 when columns are not standardised. The intercept is not
/// penalised. Several λ make a path: each starts from the one before, and the last one predicts.
///
/// Newton       b from the quadratic model of J at the last b: by Cholesky for l2, else by coordinate descent on it; steps
///              are halved until J falls. It starts on a sample of the blocks. Where there are too many columns for the
///              Hessian: by conjugate gradients for l2, by coordinate descent on the rows' columns (in memory) else.
/// Cost         a pass over the rows is O(n p), one with a Hessian O(n p²); about 3 of these and 4 of those in all.
///              O(p²) memory, whatever the number of rows, when they are streamed.
/// Certificate  optimal: the duality gap. u = t (y − p) w, with t chosen such that Σu = 0 and u is feasible, gives
///              D(u) = −Σ w (q log q + (1 − q) log(1 − q)) − Σ u·offset − Σ pen*(zⱼ), zⱼ = Σ u x̃ⱼ, q = y − u / w, and J − D
///              bounds the distance to the least J. It is relative to J. With λ = 0 the dual point must have z = 0, which
///              one more Newton step gives it; a second look takes that step by an orthogonal triangle of the rows instead of
///              the Hessian, and asks whether the classes overlap, without which there is no minimum. Every other number
///              of the model is held against the rows too.
struct Logistic {
  std::optional<std::vector<double>> lambda = std::vector<double>{1.0};
  Penalty penalty = Penalty::l2;
  double alpha = 0.5;
  double rho = 1.5;
  bool intercept = true;
  bool standardize = true;
  LogisticSolver solver = LogisticSolver::automatic;
  ClassWeighting class_weights = ClassWeights::equal;
  double tolerance = 1e-9;
  int max_iterations = 1000;
  int path_length = 100;
  std::optional<double> path_ratio;

  static constexpr std::string_view name = "logistic";
  static constexpr MethodAbout about{
      .family = "linear",
      .task = Task::classification,
      .summary = "logistic regression of two classes, with a penalty and the solver of one's choice",
      .objective = "minimise Σ w (log(1 + exp(η)) − y η) + λ pen(b), η = b₀ + x·b",
      .example = "lemma fit logistic pima_train 'type ~ .'",
      .scans = true,
      .takes_weights = true,
      .takes_offset = true,
      .takes_sparse = true,
      .takes_counts = true,
      .takes_start = true,
      .either_response = true,
      .most_classes = 2};
  static constexpr auto params() {
    using L = Logistic;
    return Listing{
        param("lambda", &L::lambda,
              "weight of the penalty, or several for a path, the last of which predicts; auto: a path from the least λ "
              "that "
              "leaves no coefficient (l2: a thousand times it for α = 1)",
              at_least(0), Step::logarithmic),
        param("penalty", &L::penalty, "on the coefficients: l2, l1, elastic_net (alpha) or bridge (rho)"),
        param("alpha", &L::alpha, "elastic_net: the share of l1", between(0, 1)),
        param("rho", &L::rho, "bridge: the power of the coefficients", between(1, 2)),
        param("intercept", &L::intercept, "fit an unpenalised intercept"),
        param("standardize", &L::standardize,
              "penalise the coefficients of columns divided by their standard deviation (divisor n)"),
        param("solver", &L::solver,
              "the way to the optimum; auto chooses by size and penalty. sgd has a looser tolerance"),
        param("class_weights", &L::class_weights,
              "factors on the weights of the rows of each class, in their order; balanced: both classes count the same",
              at_least(0)),
        param("tolerance", &L::tolerance, "duality gap at which the work ends, relative to the objective",
              between(1e-13, 0.1), Step::logarithmic),
        param("max_iterations", &L::max_iterations, "iterations at most, for each λ", at_least(1)),
        param("path_length", &L::path_length, "number of λ when they are chosen by the method", at_least(2)),
        param("path_ratio", &L::path_ratio, "last λ over the first; auto: 1e-4, or 1e-2 with more columns than rows",
              within(0, 1), Step::logarithmic)};
  }
  void check() const;
};
static_assert(Described<Logistic>);

struct LogisticModel : Evidence {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  Logistic spec;
  PathNumbers lambda;
  PathMatrix coefficients;
  PathNumbers intercept, df, deviance_ratio, objective;
  double null_deviance = kNone;
  bool of_classes = true;
  Vector trace;
  Vector class_factors;   // 1, 1 for a numeric response
  Matrix curvature;       // at the coefficients that predict; empty where it does not apply
  Vector past;            // of an update: the coefficients before it, the intercept first
  Matrix past_curvature;  // and the curvature there

  static constexpr auto fields() {
    using M = LogisticModel;
    return Listing{
        result("lambda", &M::lambda, "weights of the penalty, in the order of the path"),
        result("coefficients", &M::coefficients, "one for each feature, in the user's units; a row for each λ",
               kByFeature),
        result("intercept", &M::intercept, "0 when none is fitted"),
        result("df", &M::df, "number of coefficients that are not 0"),
        result("deviance_ratio", &M::deviance_ratio, "1 - deviance / null deviance"),
        result("objective", &M::objective, "sum of losses plus the penalty"),
        result("null_deviance", &M::null_deviance, "of the best intercept alone (without one: of the offset)"),
        result("trace", &M::trace, "objective at the start and after each iteration, for the last λ"),
        state("of_classes", &M::of_classes, "the response was one of two classes, not a proportion"),
        state("class_factors", &M::class_factors, "factors on the weights of the two classes"),
        state("curvature", &M::curvature, "Hessian of the objective in the user's units, the intercept first; l2 only"),
        state("past", &M::past, "updated models: the coefficients before, the intercept first"),
        state("past_curvature", &M::past_curvature, "updated models: the Hessian there")};
  }
  static constexpr UpdateKind kUpdates = UpdateKind::near;
  static constexpr PlaneSum kPlaneSum = PlaneSum::plain;
  Index width() const { return coefficients.of.cols(); }
  Index chosen() const { return lambda.size() - 1; }
  void check() const;
  Index class_count() const { return of_classes ? 2 : 0; }
  Task task() const { return of_classes ? Task::classification : Task::regression; }

  using Offset = std::span<const double>;  // of each row; empty: none
  /// The proportion; Error of a model of classes, as the next two are of one of proportions.
  Vector predict(const MatrixView& x, Offset offset = {}) const;
  Labels classify(const MatrixView& x, Offset offset = {}) const;
  Matrix probabilities(const MatrixView& x, Offset offset = {}) const;
  Matrix decision(const MatrixView& x, Offset offset = {}) const;  // η
  static Vector value_of(const Matrix& planes);                    // a proportion
  static Matrix probabilities_of(const Matrix& planes);
  AffineMap affine() const;
  std::string summary(const Names& names) const;
};

LogisticModel fit(const Valid<Logistic>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const LogisticModel& model, const Rows& rows, const Execution& execution);

/// The model after these rows too, without those it was fitted on: their part of the objective is replaced by its quadratic
/// approximation at the old coefficients θ̂, with H the Hessian there (penalty included),
///
///     minimise Σ_new w (log(1 + e^η) − y η) + ½ (θ − θ̂)ᵀ H (θ − θ̂),          θ = (b₀, b).
///
/// In Bayesian words: the old posterior, as Laplace approximates it, is the new prior. The result can be updated again. For
/// l2 and at most 200 columns; Error otherwise. Certificate  stationary: the Newton decrement of this objective.
LogisticModel updated(const LogisticModel& model, const Rows& rows, const FitOptions& options);

extern template const Method& method_of<Logistic>();

}  // namespace lemma
