// lemma/linear/ridge.hpp
#pragma once
#include <lemma/linear/shared/penalised_path.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

/// What chooses the λ that predicts, when several are given.
enum class RidgeChoice { gcv, loo };
constexpr auto names_of(RidgeChoice) { return std::array<std::string_view, 2>{"gcv", "loo"}; }

/// Ridge regression: for each λ the b₀ and b that minimise
///
///     J(b₀, b) = ½ Σ wᵢ (yᵢ − offsetᵢ − b₀ − xᵢ·b)² + ½ λ cᵀP c,        wᵢ = weight · precision,
///
/// with cⱼ = sⱼ bⱼ, sⱼ the standard deviation of column j (divisor n; 1 when columns are not standardised), and P the
/// identity, a diagonal of penalty factors, or a matrix. The intercept is not penalised. With λ = 0, and among columns
/// that P leaves free, the solution is the one with the least cᵀP c, then the shortest c.
///
/// One scan leaves the triangle R of the standardised columns; P = KᵀK is made the identity by c = E₀u + free part, and one
/// SVD of what R makes of u, R E₀ = U diag(σ) Wᵀ, gives every λ at once:
///
///     u = W diag(σ / (σ² + λ)) Uᵀ z,     df = 1 + rank of the free part + Σ σ² / (σ² + λ)   (the trace of the hat matrix).
///
/// Cost         one scan, O(n p²) time, O(p²) memory; O(p³) for all λ; one more scan for leave-one-out up to
///              kMostLeftOut rows, or when it chooses.
/// Certificate  optimal: J − min J by a pivoted Householder QR of R above √λ K, in units of the squares that cancel in a
///              residual; the worst of all λ. verify takes R from the rows anew by Householder, and holds every other
///              number of the model against it.
struct Ridge {
  std::vector<double> lambda{1};
  bool intercept = true;
  bool standardize = true;
  std::vector<double> penalty_factors;
  Matrix penalty;
  RidgeChoice choose = RidgeChoice::gcv;

  static constexpr std::string_view name = "ridge";
  static constexpr MethodAbout about{.family = "linear",
                                     .task = Task::regression,
                                     .summary = "linear regression with a penalty on the squared coefficients",
                                     .objective = "minimise ½ Σ w (y − b₀ − x·b)² + ½ λ ‖b‖²",
                                     .example = "lemma fit ridge boston 'medv ~ .' --lambda 0.1,1,10,100",
                                     .scans = true,
                                     .takes_weights = true,
                                     .takes_precision = true,
                                     .takes_offset = true};
  static constexpr auto params() {
    return Listing{param("lambda", &Ridge::lambda,
                         "penalty on the squared coefficients, or several to choose from; auto: a path of 100",
                         at_least(0), Step::logarithmic),
                   param("intercept", &Ridge::intercept, "fit an unpenalised intercept"),
                   param("standardize", &Ridge::standardize,
                         "penalise the coefficients of columns divided by their standard deviation (divisor n)"),
                   param("penalty_factors", &Ridge::penalty_factors,
                         "a factor on the penalty of each column, 0 for none; empty: all 1", at_least(0)),
                   param("penalty", &Ridge::penalty, "a matrix P in the place of ‖b‖², as bᵀP b; empty: the identity"),
                   param("choose", &Ridge::choose,
                         "the λ that predicts: least generalised cross-validation, or least leave-one-out error")};
  }
  void check() const;
};
static_assert(Described<Ridge>);

/// Up to so many rows the leave-one-out error is found unasked.
inline constexpr Index kMostLeftOut = 100'000;

struct RidgeModel : PenalisedPath {
  using Base = PenalisedPath;
  Ridge spec;
  PathNumbers gcv, loo_mse;
  // Of the rows, for updates: Σ weight, Σ weight · precision, the means of x and y, and their triangle about them.
  double seen_weight = 0, seen_mass = 0;
  Vector seen_mean;
  Matrix seen_triangle;
  int updates = 0;

  static constexpr auto fields() {
    using M = RidgeModel;
    return joined(
        first_fields("the penalties, in the order given",
                     "effective degrees of freedom: the trace of the hat matrix, with the intercept"),
        Listing{result("gcv", &M::gcv, "generalised cross-validation: n rss / (n - df)²"),
                result("loo_mse", &M::loo_mse,
                       "mean squared error of predicting each row from all others; null beyond 100,000 rows unless it "
                       "chooses, and after an update"),
                result("objective", &M::objective, "½ rss + ½ λ times the penalty")},
        last_fields(),
        Listing{
            later(state("seen_weight", &M::seen_weight, "sum of the weights of the rows, for updates")),
            later(state("seen_mass", &M::seen_mass, "sum of weight times precision")),
            later(state("seen_mean", &M::seen_mean, "of x, then of y")),
            later(state("seen_triangle", &M::seen_triangle, "of x and y about their means; empty beyond 500 columns")),
            later(state("updates", &M::updates, "how often new rows were taken in since the fit"))});
  }
  static constexpr UpdateKind kUpdates = UpdateKind::exact;
  static constexpr Index kMostKept = 500;
  static constexpr PlaneSum kPlaneSum = PlaneSum::twofold;
  void check() const;
  Vector predict(const MatrixView& x) const;
  /// The path as a table, then the coefficients that predict.
  std::string summary(const Names& names) const;
};

RidgeModel fit(const Valid<Ridge>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const RidgeModel& model, const Rows& rows, const Execution& execution);
/// The fit to all rows, from these and from the triangle of those before. Without the leave-one-out error, which takes rows.
RidgeModel updated(const RidgeModel& model, const Rows& rows, const FitOptions& options);

/// What is predicted of each row of the fit from all others, in closed form. Nothing where more than the coefficients changes
/// with the rows (λ is chosen; columns are standardised without an intercept), or rows have weights.
std::optional<Vector> leave_one_out(const RidgeModel& model, const Rows& rows, const Execution& execution = {});

extern template const Method& method_of<Ridge>();

}  // namespace lemma
