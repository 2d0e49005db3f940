// lemma/linear/multinomial.hpp
#pragma once
#include <lemma/linear/logistic.hpp>
#include <optional>

namespace lemma {

enum class MultinomialPenalty { l2, l1, elastic_net };
constexpr auto names_of(MultinomialPenalty) { return std::array<std::string_view, 3>{"l2", "l1", "elastic_net"}; }

enum class MultinomialSolver { automatic, newton, lbfgs };
constexpr auto names_of(MultinomialSolver) { return std::array<std::string_view, 3>{"auto", "newton", "lbfgs"}; }

/// Multinomial logistic regression: with η_k = b₀_k + x·b_k and p_k = e^η_k / Σ e^η_l, the b₀ and b that minimise
///
///     J = Σ wᵢ (log Σ_k e^η_k − η_class) + Σ_k Σ_j pen(s_j b_kj),
///
/// with pen and s as in `logistic`. With λ > 0 every class has its own coefficients (symmetric; the intercepts sum to 0). With
/// λ = 0 only differences are determined: the coefficients are those against the first class, as in nnet's multinom, and
/// have standard errors.
///
/// Cost         a pass O(n p K); Newton's passes O(n p² K²) time and O(p² K²) memory, whatever n. Many columns times classes:
///              L-BFGS, for l2.
/// Certificate  λ > 0, optimal: the duality gap. u = t_c w (y − p) for the rows of class c, with t such that Σ u = 0 for each
///              class (the stationary point of a chain between the classes: always positive), is a dual point; relative to J.
///              λ = 0: a dual point by one more Newton step, which a second look takes by an orthogonal triangle. A λ that
///              was chosen is that of the least loss of held-out rows, found anew.
struct Multinomial {
  std::optional<double> lambda = 1;
  MultinomialPenalty penalty = MultinomialPenalty::l2;
  double alpha = 0.5;
  bool intercept = true;
  bool standardize = true;
  MultinomialSolver solver = MultinomialSolver::automatic;
  double tolerance = 1e-9;
  int max_iterations = 1000;

  static constexpr std::string_view name = "multinomial";
  static constexpr MethodAbout about{
      .family = "linear",
      .task = Task::classification,
      .summary = "multinomial logistic regression (softmax) of any number of classes",
      .objective = "minimise Σ w (log Σ exp(η_k) − η_class) + λ pen(b), η_k = b₀_k + x·b_k",
      .example = "lemma fit multinomial iris 'species ~ .'",
      .scans = true,
      .takes_weights = true,
      .takes_start = true};
  static constexpr auto params() {
    using M = Multinomial;
    return Listing{param("lambda", &M::lambda,
                         "weight of the penalty; 0: coefficients against the first class, with standard errors; "
                         "auto: chosen among 20 by the loss of rows held out in five folds",
                         at_least(0), Step::logarithmic),
                   param("penalty", &M::penalty, "on the coefficients: l2, l1 or elastic_net (alpha)"),
                   param("alpha", &M::alpha, "elastic_net: the share of l1", between(0, 1)),
                   param("intercept", &M::intercept, "fit unpenalised intercepts"),
                   param("standardize", &M::standardize,
                         "penalise the coefficients of columns divided by their standard deviation (divisor n)"),
                   param("solver", &M::solver, "the way to the optimum; auto chooses by size. lbfgs is for l2"),
                   param("tolerance", &M::tolerance, "duality gap at which the work ends, relative to the objective",
                         between(1e-13, 1e-2), Step::logarithmic),
                   param("max_iterations", &M::max_iterations, "iterations at most", at_least(1))};
  }
  void check() const;
};
static_assert(Described<Multinomial>);

struct MultinomialModel : Evidence {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  Multinomial spec;
  Matrix coefficients;  // a row for each class; without a penalty for each class but the first
  Vector intercept;
  Matrix std_errors, z, p;  // without a penalty
  Vector intercept_std_errors, intercept_z, intercept_p;
  double objective = kNone, deviance = kNone, null_deviance = kNone, df = kNone, aic = kNone;
  Vector counts;  // weight of each class's rows
  Vector lambda_path, held_out_loss;

  static constexpr auto fields() {
    using M = MultinomialModel;
    return Listing{
        result("coefficients", &M::coefficients,
               "a row for each class, a column for each feature, in the user's units; lambda 0: no row for the first "
               "class",
               kByFeature),
        result("intercept", &M::intercept, "one for each row of coefficients"),
        result("std_errors", &M::std_errors, "of the coefficients; empty with a penalty", kByFeature),
        result("z", &M::z, "coefficient over standard error", kByFeature),
        result("p", &M::p, "two-sided p-value of z", kByFeature),
        result("intercept_std_errors", &M::intercept_std_errors, "of the intercepts; empty with a penalty"),
        result("intercept_z", &M::intercept_z, "intercept over its standard error"),
        result("intercept_p", &M::intercept_p, "two-sided p-value of intercept_z"),
        result("objective", &M::objective, "sum of losses plus the penalty"),
        result("deviance", &M::deviance, "-2 log-likelihood"),
        result("null_deviance", &M::null_deviance, "of the intercepts alone"),
        result("df", &M::df, "number of coefficients that are not 0, and classes - 1 intercepts"),
        result("aic", &M::aic, "deviance + 2 df"),
        later(result("lambda_path", &M::lambda_path,
                     "lambda auto: those that were tried, the largest first; else empty")),
        later(result("held_out_loss", &M::held_out_loss,
                     "lambda auto: mean of -log(probability of the class) of held-out rows, for each of them")),
        result("counts", &M::counts, "rows of each class, by weight", kByClass)};
  }
  static constexpr PlaneSum kPlaneSum = PlaneSum::plain;
  Index width() const { return coefficients.cols(); }
  Index class_count() const { return counts.size(); }
  void check() const;

  Labels predict(const MatrixView& x) const;
  Matrix probabilities(const MatrixView& x) const;
  Matrix decision(const MatrixView& x) const;  // η, a column per class
  static Matrix probabilities_of(const Matrix& planes);
  AffineMap affine() const;  // of the decision
  std::string summary(const Names& names) const;
};

MultinomialModel fit(const Valid<Multinomial>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const MultinomialModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Multinomial>();

}  // namespace lemma
