// lemma/kernel/kernel_logistic.hpp
#pragma once
#include <lemma/kernel/shared/rows.hpp>
#include <lemma/model/method.hpp>
#include <lemma/model/path.hpp>

namespace lemma {

enum class KernelLogisticSolver { newton, stochastic };
constexpr auto names_of(KernelLogisticSolver) { return std::array<std::string_view, 2>{"newton", "stochastic"}; }

enum class KernelLogisticClasses { one_vs_rest, softmax };
constexpr auto names_of(KernelLogisticClasses) { return std::array<std::string_view, 2>{"one-vs-rest", "softmax"}; }

/// Logistic regression in the space of a kernel: with p(x) = 1 / (1 + e^−(f(x) + b)) the probability of the second class,
/// the function f = Σ αⱼ k(·, xⱼ) and the number b that minimise
///
///     J(f, b) = Σ wᵢ (log(1 + e^ηᵢ) − yᵢ ηᵢ) + ½ λ ‖f‖²,        ηᵢ = f(xᵢ) + b,   y = 1 or 0,   ‖f‖² = αᵀKα.
///
/// Where J is least, λα = w (y − p) and Σα = 0 (b is not penalised). More than two classes: one function for each, against
/// all others, and its probabilities brought to the sum 1; or (softmax) all together, p_k = e^ηₖ / Σ e^ηₗ,
///
///     J(F, b) = Σ wᵢ (log Σₖ e^ηᵢₖ − ηᵢ of its class) + ½ λ Σₖ ‖fₖ‖²,         Σₖ fₖ = 0,   Σ b = 0.
///
/// newton       each step is kernel ridge regression of the working response z = η + (y − p) / (p (1 − p)),
///
///                  (K + λ W⁻¹) α + b 1 = z,   1ᵀα = 0,   W = w p (1 − p),
///
///              by one Cholesky factorisation of λI + W^½KW^½, halved until J falls; b is then brought to its best. softmax: by
///              conjugate gradients in the functions' own inner product.
/// stochastic   rows xᵢ are drawn by their weights, and f ← (1 − s λ/n) f − s (pᵢ − yᵢ) k(·, xᵢ), b ← b − s (pᵢ − yᵢ), with a
///              step s that falls like 1 / (1 + s₀ t λ/n); the functions on the way are averaged, later ones count more.
///              Kernel values are made as they are needed: O(n) memory.
/// Cost         newton: about 8 steps of n³/3 for each function, 8 n² bytes; softmax: of some dozen products, n² for each class.
///              stochastic: O(n² d) a pass over the rows.
/// Certificate  optimal: the duality gap relative to J. With b at its best, α̃ = w (y − p)/λ is a point of the dual
///              (Σα̃ = 0), and J(f, b) − D = ½ λ (α − α̃)ᵀK(α − α̃) (+ what a b beside its best costs), with the kernel's
///              values made anew from the rows; softmax: the same with a sum over the classes. A kernel that is not positive semidefinite: stationary, λα = w (y − p).
struct KernelLogistic {
  Kernel kernel;
  std::optional<double> lambda = 1;
  bool intercept = true;
  KernelLogisticClasses classes = KernelLogisticClasses::one_vs_rest;
  KernelLogisticSolver solver = KernelLogisticSolver::newton;
  double tolerance = 1e-9;
  int max_iterations = 1000;
  double gigabytes = 1;

  static constexpr std::string_view name = "kernel_logistic";
  static constexpr MethodAbout about{
      .family = "kernel",
      .task = Task::classification,
      .summary = "logistic regression in the space of a kernel",
      .objective = "minimise Σ w (log(1 + exp(η)) − y η) + ½ λ ‖f‖², η = f(x) + b",
      .example = "lemma fit kernel_logistic pima_train 'type ~ .' --kernel 'rbf(0.0001)' --lambda 0.5",
      .keeps_rows = true,
      .takes_weights = true,
      .takes_sparse = true,
      .random = true};
  static constexpr auto params() {
    using S = KernelLogistic;
    return Listing{
        param("kernel", &S::kernel, "inner product of the features"),
        param("lambda", &S::lambda,
              "penalty on the squared norm of f; auto: chosen among 20 by the loss of rows held out in five folds",
              above(0), Step::logarithmic),
        param("intercept", &S::intercept, "fit an unpenalised intercept"),
        param("classes", &S::classes,
              "more than two: a function for each against all others, or all of them together (newton, and a kernel "
              "that is "
              "positive semidefinite)"),
        param(
            "solver", &S::solver,
            "newton: a factorisation a step; stochastic: a row a step, in little memory, with a tolerance of at least "
            "1e-3"),
        param("tolerance", &S::tolerance, "duality gap at which the work ends, relative to the objective",
              between(1e-13, 0.1), Step::logarithmic),
        param("max_iterations", &S::max_iterations, "steps of newton, or passes of stochastic, at most", at_least(1)),
        param("gigabytes", &S::gigabytes, "gigabytes that the kernel matrix of newton may take", above(0))};
  }
  void check() const;  // softmax has one solver
  Needs needs(Needs usual) const {
    usual.letters = kernel.letters();
    return usual;
  }
};
static_assert(Described<KernelLogistic>);

struct KernelLogisticModel : Evidence {
  KernelLogistic spec;
  PathNumbers intercept, objective, deviance, squared_norm;
  Vector counts;
  KeptRows points;
  RowNumbers places;
  PathMatrix dual_coefficients;  // a row for each function
  Vector lambda_path, held_out_loss;

  static constexpr auto fields() {
    using M = KernelLogisticModel;
    return Listing{
        result("intercept", &M::intercept,
               "b; 0 when none is fitted. Of more than two classes one for each, and so are the next three"),
        result("objective", &M::objective, "sum of losses plus ½ λ ‖f‖²; softmax: one, of all classes together"),
        result("deviance", &M::deviance, "twice the sum of losses; softmax: one"),
        result("squared_norm", &M::squared_norm, "‖f‖²"),
        result("counts", &M::counts, "rows of each class, by weight", kByClass),
        later(result("lambda_path", &M::lambda_path,
                     "lambda auto: those that were tried, the largest first; else empty")),
        later(result("held_out_loss", &M::held_out_loss,
                     "lambda auto: mean of -log(probability of the class) of held-out rows, for each of them")),
        state("points", &M::points, "the rows with a weight above 0; none for a precomputed kernel"),
        state("places", &M::places, "of the rows, for a precomputed kernel"),
        state("dual_coefficients", &M::dual_coefficients, "α, one for each kept row; a row for each function")};
  }
  Index width() const { return points.width; }
  Index functions() const { return dual_coefficients.of.rows(); }
  Index class_count() const { return counts.size(); }
  /// One objective of all classes, not one for each.
  bool is_joint() const { return spec.classes == KernelLogisticClasses::softmax && counts.size() > 2; }
  void check() const;
  Matrix decision(const MatrixView& x) const;       // f(x) + b, a column for each function
  Matrix probabilities(const MatrixView& x) const;  // a column for each class
  Labels predict(const MatrixView& x) const;
  /// All of it, with the kernel computed once.
  Prediction prediction(const MatrixView& x, const PredictOptions& options) const;
  std::string summary(const Names& names) const;
};

KernelLogisticModel fit(const Valid<KernelLogistic>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const KernelLogisticModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<KernelLogistic>();

}  // namespace lemma
