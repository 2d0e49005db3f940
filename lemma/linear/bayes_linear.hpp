// lemma/linear/bayes_linear.hpp
#pragma once
#include <lemma/model/method.hpp>
#include <limits>

namespace lemma {

/// Bayesian linear regression with a conjugate prior:
///
///     y = b₀ + x·b + ε,    ε ~ N(0, 1/β),    cⱼ = sⱼ bⱼ ~ N(0, 1/α),    b₀ flat,
///
/// sⱼ the standard deviation of column j (divisor n; 1 when columns are not standardised). The posterior of c is Gaussian,
///
///     mean m = β A⁻¹ ZᵀWy,    covariance A⁻¹,    A = α I + β ZᵀWZ        (Z: centred and scaled columns),
///
/// and α and β are those of greatest evidence p(y | α, β) (type II maximum likelihood), unless they are given. In λ = α/β the
/// best β is known, so that this is a search along one line, over a grid first: it finds the greatest of several maxima. There
///
///     γ = α ‖m‖²,    n' − γ = β ‖y − Zm‖²,    γ = Σ β σ² / (α + β σ²)        (σ: singular values of Z, n' = n − 1)
///
/// γ counts the coefficients that the data determine. Without an intercept n' = n.
///
/// Cost         one scan, O(n p²) time, O(p²) memory, one SVD of the triangle.
/// Certificate  stationary: the three equations above and the posterior mean, with A from another triangle of the rows and a QR
///              in the place of the SVD. Then every other number is held against them.
struct BayesLinear {
  std::optional<double> alpha, beta;
  bool intercept = true;
  bool standardize = true;

  static constexpr std::string_view name = "bayes_linear";
  static constexpr MethodAbout about{.family = "linear",
                                     .task = Task::regression,
                                     .summary = "Bayesian linear regression, its two precisions by evidence",
                                     .objective = "posterior of b for b ~ N(0, 1/alpha), y ~ N(b0 + x·b, 1/beta)",
                                     .example = "lemma fit bayes_linear boston 'medv ~ .'",
                                     .scans = true,
                                     .takes_weights = true,
                                     .takes_offset = true};
  static constexpr auto params() {
    return Listing{
        param("alpha", &BayesLinear::alpha, "precision of the prior; empty: the one of greatest evidence", above(0),
              Step::logarithmic),
        param("beta", &BayesLinear::beta, "precision of the noise; empty: the one of greatest evidence", above(0),
              Step::logarithmic),
        param("intercept", &BayesLinear::intercept, "fit an intercept, with a flat prior"),
        param("standardize", &BayesLinear::standardize,
              "the prior is on the coefficients of columns divided by their standard deviation (divisor n)")};
  }
};
static_assert(Described<BayesLinear>);

struct BayesLinearModel : Evidence {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  BayesLinear spec;
  Vector coefficients, std_errors;
  double intercept = 0, intercept_std_error = kNone;
  double alpha = kNone, beta = kNone, gamma = kNone, log_evidence = kNone, sigma = kNone, rss = kNone;
  Matrix covariance;
  Vector mean, scale;
  double mass = kNone;
  // Of the rows, for updates: the means of x and y, and their triangle about them.
  Vector seen_mean;
  Matrix seen_triangle;

  static constexpr UpdateKind kUpdates = UpdateKind::exact;
  static constexpr auto fields() {
    using M = BayesLinearModel;
    return Listing{
        result("coefficients", &M::coefficients, "posterior means", kByFeature),
        result("intercept", &M::intercept, "posterior mean; 0 when none is fitted"),
        result("std_errors", &M::std_errors, "posterior standard deviations of the coefficients", kByFeature),
        result("intercept_std_error", &M::intercept_std_error, "posterior standard deviation of the intercept"),
        result("alpha", &M::alpha, "precision of the prior, for standardised columns"),
        result("beta", &M::beta, "precision of the noise"),
        result("gamma", &M::gamma, "coefficients that the data determine: effective parameters"),
        result("log_evidence", &M::log_evidence, "log p(y | alpha, beta)"),
        result("sigma", &M::sigma, "standard deviation of the noise"),
        result("rss", &M::rss, "sum of squared residuals of the posterior mean"),
        result("covariance", &M::covariance, "of the posterior, the intercept first"),
        state("mean", &M::mean, "of the columns; 0 without an intercept"),
        state("scale", &M::scale, "of the columns, in the prior"),
        state("mass", &M::mass, "sum of the weights"),
        later(state("seen_mean", &M::seen_mean, "of x, then of y, for updates")),
        later(state("seen_triangle", &M::seen_triangle, "of x and y about their means"))};
  }
  Index width() const { return coefficients.size(); }
  void check() const;
  Vector predict(const MatrixView& x) const;
  /// Where the mean response (confidence) or a new one (prediction) lies with probability `level`, by the posterior.
  Interval interval(const MatrixView& x, IntervalKind kind, double level) const;
  AffineMap affine() const { return {coefficients.transpose(), Vector::Constant(1, intercept)}; }
  std::string summary(const Names& names) const;
};

BayesLinearModel fit(const Valid<BayesLinear>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const BayesLinearModel& model, const Rows& rows, const Execution& execution);
/// The posterior of all rows, from these and from the triangle of those before; precisions that are learned are learned again.
BayesLinearModel updated(const BayesLinearModel& model, const Rows& rows, const FitOptions& options);

extern template const Method& method_of<BayesLinear>();

}  // namespace lemma
