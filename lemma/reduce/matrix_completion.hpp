// lemma/reduce/matrix_completion.hpp
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

/// Matrix completion (Mazumder, Hastie and Tibshirani 2010): a table of which some places are known, Ω, as one of low rank,
///
///     min ½ Σ_Ω (x_ij − z_ij)² + λ ‖Z‖_*,        ‖·‖_* the sum of the singular values
///
/// Solutions for falling λ, each from the one before it. At each λ: Z = A Bᵀ with λ ‖Z‖_* = min λ/2 (‖A‖² + ‖B‖²), a ridge regression
/// for each row of A and of B in turn, and further columns along singular vectors of the residual Y = P_Ω(X − Z) where it is
/// beyond λ: a stationary Z is the least of all exactly when ‖Y‖₂ ≤ λ. Which λ: by the error on known places that were left out; or,
/// where the noise δ is known, min ‖Z‖_* with ‖P_Ω(X − Z)‖ ≤ δ (Candès and Plan 2010): the λ whose residual is δ, which is its multiplier.
///
/// Cost         O(|Ω| r² + (n + p) r³) a sweep, r the rank; some ten sweeps for each λ. 40 |Ω| bytes.
/// Certificate  optimal: the dual max ⟨Y, X⟩ − ½ ‖Y‖² over Y on Ω with ‖Y‖₂ ≤ λ. The residual, made feasible, is a bound from below
///              on what any Z can reach; scores and norms are found anew from the rows. With noise that of the bounded problem:
///              max ⟨W, X⟩ − δ ‖W‖ over W on Ω with ‖W‖₂ ≤ 1, at W = Y/λ.
struct MatrixCompletion {
  std::optional<double> lambda;
  std::optional<double> noise;
  bool center = false;
  int path_length = 25;
  double path_ratio = 1e-3;
  double held_out = 0.1;
  double tolerance = 1e-6;
  int max_iterations = 1000;

  static constexpr std::string_view name = "matrix_completion";
  static constexpr MethodAbout about{
      .family = "reduce",
      .task = Task::transformation,
      .summary = "fills in missing values by a matrix of low rank: the nuclear norm",
      .objective = "min 1/2 sum of known (x - z)^2 + lambda |Z|_*",
      .example = "lemma fit matrix_completion breast_cancer '~ . - Class - Id' --center true",
      .takes_missing = true,
      .uses_response = false,
      .random = true};
  static constexpr auto params() {
    using S = MatrixCompletion;
    return Listing{
        param("lambda", &S::lambda,
              "price of a singular value; chosen: the one with the least error on places left out", above(0),
              Step::logarithmic),
        param("noise", &S::noise,
              "in the place of lambda: the root of the sum of squares that may be left of the known values", above(0),
              Step::logarithmic),
        param("center", &S::center, "take the mean of its known values from each column first"),
        formerly("steps", param("path_length", &S::path_length,
                                "values of lambda on the way down, from the one at which all is 0", at_least(2))),
        formerly("least", param("path_ratio", &S::path_ratio, "the last of them over the first", within(0, 1),
                                Step::logarithmic)),
        param("held_out", &S::held_out, "share of the known values left out to choose lambda", within(0, 1)),
        param("tolerance", &S::tolerance, "relative duality gap at which the work ends", above(0), Step::logarithmic),
        param("max_iterations", &S::max_iterations, "sweeps at each lambda", at_least(1))};
  }
  void check() const;
};
static_assert(Described<MatrixCompletion>);

struct MatrixCompletionModel : Evidence {
  MatrixCompletion spec;
  double lambda = 0;
  Index rank = 0;
  Vector singular_values;
  Matrix loadings;
  Vector centre;
  Index known = 0;
  double objective = 0, error = 0;
  Vector path_lambda, path_error;

  static constexpr auto fields() {
    using M = MatrixCompletionModel;
    return Listing{result("lambda", &M::lambda, "price of a singular value"),
                   result("rank", &M::rank, "of Z"),
                   result("singular_values", &M::singular_values, "of Z, descending"),
                   result("loadings", &M::loadings, "right singular vectors of Z: a row per feature", kFeaturesDown),
                   result("centre", &M::centre, "taken from each column first; 0 without --center", kByFeature),
                   result("known", &M::known, "values that are there"),
                   result("objective", &M::objective, "1/2 sum of known (x - z)^2 + lambda |Z|_*"),
                   result("error", &M::error, "root mean square of x - z where x is known"),
                   result("path_lambda", &M::path_lambda, "the lambdas that were tried, falling"),
                   result("path_error", &M::path_error,
                          "root mean square error on places left out, at each of them; the least one chose lambda, "
                          "so it is optimistic")};
  }
  Index width() const { return loadings.rows(); }
  void check() const;
  Index output_width() const { return width(); }
  /// Known values as they are, the others as the row of Z has them: that of the ridge regression on the known ones.
  Matrix transform(const MatrixView& x) const;
  std::vector<std::string> output_names(const std::vector<std::string>& features) const { return features; }
  /// V D^½, of which each row of Z is a mixture.
  Matrix factor() const;
  std::string summary(const Names& names) const;
};

MatrixCompletionModel fit(const Valid<MatrixCompletion>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const MatrixCompletionModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<MatrixCompletion>();

}  // namespace lemma
