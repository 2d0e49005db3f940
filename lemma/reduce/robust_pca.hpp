// lemma/reduce/robust_pca.hpp
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

/// Robust principal components (principal component pursuit: Candès, Li, Ma and Wright 2011): the rows as a matrix of low rank plus gross errors in
/// few places,
///
///     min ‖L‖_* + λ ‖S‖₁,   L + S = X,       λ = 1/√max(n, p),     ‖·‖_* the sum of the singular values
///
/// Where the rank is low and the errors are few and lie anywhere, L and S are found exactly, however large the errors are. By the augmented
/// Lagrangian: L ← singular values of X − S + Y/μ less 1/μ, S ← entries of X − L + Y/μ less λ/μ, Y ← Y + μ (X − L − S), in turn.
///
/// Cost         a singular value decomposition in each of some hundred rounds: O(n p min(n, p)) each; 48 n p bytes.
/// Certificate  optimal: the dual max ⟨Y, X⟩ over ‖Y‖₂ ≤ 1, |Y| ≤ λ. The Y of the model, made feasible, is a bound from below on what any
///              L + S = X can reach; the gap to it, with norms found anew by another route, and ‖X − L − S‖ are at most the tolerance.
struct RobustPca {
  std::optional<double> lambda;
  double tolerance = 1e-6;
  int max_iterations = 2000;

  static constexpr std::string_view name = "robust_pca";
  static constexpr MethodAbout about{.family = "reduce",
                                     .task = Task::transformation,
                                     .summary = "a matrix of low rank plus gross errors in few places",
                                     .objective = "min |L|_* + lambda |S|_1, L + S = X, lambda = 1 / sqrt(max(n, p))",
                                     .example = "lemma fit robust_pca crabs '~ FL + RW + CL + CW + BD'",
                                     .keeps_rows = true,
                                     .uses_response = false};
  static constexpr auto params() {
    using S = RobustPca;
    return Listing{param("lambda", &S::lambda, "price of an error's size; chosen: 1 / sqrt(max(rows, columns))",
                         above(0), Step::logarithmic),
                   param("tolerance", &S::tolerance, "relative gap and residual at which the work ends", above(0),
                         Step::logarithmic),
                   param("max_iterations", &S::max_iterations, "rounds of the augmented Lagrangian", at_least(1))};
  }
};
static_assert(Described<RobustPca>);

struct RobustPcaModel : Evidence {
  RobustPca spec;
  Index rank = 0;
  Vector singular_values;
  Matrix loadings, scores;
  Matrix errors;
  Index error_count = 0;
  double objective = 0;
  Matrix dual;
  std::vector<double> prints;

  static constexpr auto fields() {
    using M = RobustPcaModel;
    return Listing{
        result("rank", &M::rank, "of L"),
        result("singular_values", &M::singular_values, "of L, descending"),
        result("loadings", &M::loadings, "V of L = scores V': a row per feature, a column per component",
               kFeaturesDown),
        result("scores", &M::scores, "of the rows along the components", {.across = Axis::number, .down = Axis::row}),
        result("errors", &M::errors, "S: what is not of low rank, row by row",
               {.across = Axis::feature, .down = Axis::row}),
        result("error_count", &M::error_count, "entries of S that are not 0"),
        result("objective", &M::objective, "|L|_* + lambda |X - L|_1"),
        state("dual", &M::dual, "Y, whose <Y, X> bounds the objective from below"),
        state("prints", &M::prints, "a fingerprint of each row, to know it again in another order")};
  }
  Index width() const { return errors.cols(); }
  Matrix low_rank() const;
  void check() const;
  std::string summary(const Names& names) const;
};

RobustPcaModel fit(const Valid<RobustPca>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const RobustPcaModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<RobustPca>();

}  // namespace lemma
