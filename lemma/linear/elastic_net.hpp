// lemma/linear/elastic_net.hpp
#pragma once
#include <lemma/linear/shared/penalised_path.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

/// Which λ of a path predicts.
enum class PathChoice { bic, aic, last };
constexpr auto names_of(PathChoice) { return std::array<std::string_view, 3>{"bic", "aic", "last"}; }

/// The parameters of every method that fits a path of λ.
template <class Spec>
constexpr auto path_params() {
  return Listing{
      param("lambda", &Spec::lambda, "the penalties; auto: a path of them, from the least that leaves no coefficient",
            at_least(0), Step::logarithmic),
      formerly("lambdas", param("path_length", &Spec::path_length, "number of λ when they are chosen by the method",
                                between(1, 10000))),
      formerly("ratio", param("path_ratio", &Spec::path_ratio,
                              "last λ over the first; auto: 1e-4, or 1e-2 with fewer rows than columns", within(0, 1),
                              Step::logarithmic)),
      param("intercept", &Spec::intercept, "fit an unpenalised intercept"),
      param("standardize", &Spec::standardize,
            "penalise the coefficients of columns divided by their standard deviation (divisor n)"),
      param("penalty_factors", &Spec::penalty_factors,
            "a factor on the penalty of each column, 0 for none; empty: all 1", at_least(0)),
      param("positive", &Spec::positive, "allow no coefficient below 0"),
      param("choose", &Spec::choose, "the λ that predicts: least bic or aic, or the last"),
      param("tolerance", &Spec::tolerance, "duality gap at which a λ is done, in units of the objective at b = 0",
            between(1e-15, 0.1), Step::logarithmic),
      formerly("max_sweeps", param("max_iterations", &Spec::max_iterations,
                                   "sweeps over the coefficients for each λ, at most", between(1, 1'000'000'000)))};
}

/// Linear regression with the elastic-net penalty: for each λ of a path the b₀ and b that minimise
///
///     J(b₀, b) = ½ Σ wᵢ (yᵢ − offsetᵢ − b₀ − xᵢ·b)² + λ Σ fⱼ (α |cⱼ| + ½ (1−α) cⱼ²),        wᵢ = weight · precision,
///
/// with cⱼ = sⱼ bⱼ, sⱼ the standard deviation of column j (divisor n; 1 when columns are not standardised) and fⱼ the
/// penalty factors. Many coefficients are exactly 0: the larger λ, the more.
///
/// Algorithm    coordinate descent along the path (lemma/linear/shared/coordinate_path.hpp): warm starts on the line through the
///              last two solutions, strong and safe rules, dense columns or sparse ones.
/// Cost         rows in memory, of many none copied; with p ≤ n one O(n p²) Gram matrix, else a copy and O(n p) for each λ.
/// Certificate  optimal: the duality gap P − D of every λ, in units of J at b = 0; the dual point is the residual, shrunk
///              until |zⱼ·θ| ≤ λα fⱼ where there is no square in the penalty. verify finds it from the rows and the
///              coefficients alone.
struct ElasticNet {
  double alpha = 0.5;
  std::vector<double> lambda;
  int path_length = 100;
  std::optional<double> path_ratio;
  bool intercept = true;
  bool standardize = true;
  std::vector<double> penalty_factors;
  bool positive = false;
  PathChoice choose = PathChoice::bic;
  double tolerance = 1e-10;
  int max_iterations = 100'000;

  static constexpr std::string_view name = "elastic_net";
  static constexpr MethodAbout about{.family = "linear",
                                     .task = Task::regression,
                                     .summary = "linear regression with absolute and squared coefficients penalised",
                                     .objective = "minimise ½ Σ w (y − b₀ − x·b)² + λ (α ‖b‖₁ + ½ (1−α) ‖b‖²)",
                                     .example = "lemma fit elastic_net boston 'medv ~ .' --alpha 0.5",
                                     .takes_weights = true,
                                     .takes_precision = true,
                                     .takes_offset = true,
                                     .takes_sparse = true};
  static constexpr auto params() {
    return joined(
        Listing{param("alpha", &ElasticNet::alpha,
                      "share of the absolute values in the penalty: 1 is the lasso, 0 is ridge", between(0, 1))},
        path_params<ElasticNet>());
  }
};
static_assert(Described<ElasticNet>);

/// What a path of penalised fits says; the verbs are those of the λ that predicts.
template <class Spec>
struct PathModel : PenalisedPath {
  using Base = PenalisedPath;
  Spec spec;
  PathNumbers norm, gap;

  static constexpr auto fields() {
    using M = PathModel;
    return joined(
        first_fields("the penalties, in the order given; chosen ones from the largest",
                     "number of coefficients that are not 0"),
        Listing{
            result("norm", &M::norm, "sum of the coefficients' sizes on the scale of the penalty, with its factors"),
            result("objective", &M::objective, "½ rss + penalty"),
            result("gap", &M::gap,
                   "how much the objective exceeds its minimum at most, in units of the objective at b = 0")},
        last_fields());
  }
  static constexpr PlaneSum kPlaneSum = PlaneSum::twofold;
  void check() const;
  Vector predict(const MatrixView& x) const;
  /// When columns enter along the path, as glmnet prints it, and the coefficients that predict.
  std::string summary(const Names& names) const;
};

using ElasticNetModel = PathModel<ElasticNet>;
ElasticNetModel fit(const Valid<ElasticNet>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const ElasticNetModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<ElasticNet>();

}  // namespace lemma
