// lemma/linear/multitask_lasso.hpp
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

/// Linear regression of several responses that share their columns (Obozinski and others; the group lasso of Yuan and Lin 2006 over
/// the rows of the coefficients): the b₀ and B that minimise
///
///     J(b₀, B) = ½ Σ wᵢ Σₖ (yᵢₖ − b₀ₖ − xᵢ·bₖ)² / tₖ² + λ Σⱼ ‖cⱼ‖₂,          cⱼₖ = sⱼ Bⱼₖ / tₖ,
///
/// cⱼ the row of column j, sⱼ its standard deviation and tₖ that of response k (divisor n; 1 where they are not standardised). A
/// column is in the model for all responses or for none. Of one response it is the lasso.
///
/// Algorithm    coordinate descent over the rows: with u the column's product with what the others leave of the responses,
///              cⱼ = max(0, 1 − λ / ‖u‖) u / Gⱼⱼ,  G = ZᵀWZ. λ auto: down a path from the least λ without any column, that of least
///              BIC = n m log(Σ rss / n m) + m · columns · log(n m), rss in the responses' units tₖ.
/// Cost         one scan, O(n (p + m)²) time and O((p + m)²) memory; O(p² m) a sweep.
/// Certificate  optimal: the duality gap P − D in units of J at B = 0, by plain sums over the rows: the dual point is the residual,
///              shrunk until no column's product with it is longer than λ.
struct MultitaskLasso {
  std::optional<double> lambda;
  int path_length = 50;
  bool intercept = true;
  bool standardize = true;
  bool standardize_responses = true;
  double tolerance = 1e-10;
  int max_iterations = 100'000;

  static constexpr std::string_view name = "multitask_lasso";
  static constexpr MethodAbout about{
      .family = "linear",
      .task = Task::regression,
      .summary = "linear regression of several responses, the columns chosen for all of them together",
      .objective = "minimise ½ Σ w ‖y − b₀ − Bᵀx‖² + λ Σ ‖row of B‖",
      .example = "lemma fit multitask_lasso boston 'cbind(medv, rm) ~ . - medv - rm'",
      .scans = true,
      .takes_weights = true,
      .takes_several = true};
  static constexpr auto params() {
    using S = MultitaskLasso;
    return Listing{
        param("lambda", &S::lambda, "the penalty; auto: of a path of them the one of least bic", above(0),
              Step::logarithmic),
        param("path_length", &S::path_length, "how many λ are tried where it is auto", between(2, 10000)),
        param("intercept", &S::intercept, "fit unpenalised intercepts"),
        param("standardize", &S::standardize,
              "penalise the coefficients of columns divided by their standard deviation"),
        param("standardize_responses", &S::standardize_responses,
              "divide the responses by theirs, so that each counts the same whatever its unit"),
        param("tolerance", &S::tolerance, "duality gap at which the work ends, in units of the objective at B = 0",
              between(1e-14, 0.1), Step::logarithmic),
        param("max_iterations", &S::max_iterations, "sweeps over the columns for each λ, at most",
              between(1, 1'000'000'000))};
  }
};
static_assert(Described<MultitaskLasso>);

struct MultitaskLassoModel : Evidence {
  MultitaskLasso spec;
  Matrix coefficients;
  Vector intercept;
  double lambda = 0, kept = 0, objective = 0, norm = 0;
  Vector explained;
  Vector lambda_path, bic;
  Vector mean, scale, response_mean, response_scale;

  static constexpr auto fields() {
    using M = MultitaskLassoModel;
    return Listing{
        result("coefficients", &M::coefficients, "a row for each column, a column for each response", kFeaturesDown),
        result("intercept", &M::intercept, "of each response; 0 when none is fitted"),
        result("lambda", &M::lambda, "the penalty, given or chosen"),
        result("kept", &M::kept, "columns in the model"),
        result("objective", &M::objective, "½ rss + penalty"),
        result("norm", &M::norm, "sum of the lengths of the rows, on the scale of the penalty"),
        result("explained", &M::explained, "share of the variance of each response that the model explains (R²)"),
        result("lambda_path", &M::lambda_path, "lambda auto: those that were tried, the largest first; else empty"),
        result("bic", &M::bic, "lambda auto: of each of them"),
        state("mean", &M::mean, "of each column; 0 without intercepts"),
        state("response_mean", &M::response_mean, "of each response; 0 without intercepts"),
        state("scale", &M::scale, "of each column; 1 where columns are not standardised"),
        state("response_scale", &M::response_scale, "of each response")};
  }
  static constexpr auto parts() { return Listing{part(kValuesPart, &MultitaskLassoModel::values)}; }
  Index width() const { return coefficients.rows(); }
  Index responses() const { return intercept.size(); }
  std::vector<Index> response_classes() const {
    return responses() > 1 ? std::vector<Index>(at(responses()), 0) : std::vector<Index>{};
  }
  bool gives(std::string_view part) const { return (responses() > 1) == (part == kValuesPart.name); }
  void check() const;

  Matrix values(const MatrixView& x) const;   // a column for each response
  Vector predict(const MatrixView& x) const;  // of one response
  Prediction prediction(const MatrixView& x, const PredictOptions& options) const;
  std::string summary(const Names& names) const;
};

MultitaskLassoModel fit(const Valid<MultitaskLasso>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const MultitaskLassoModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<MultitaskLasso>();

}  // namespace lemma
