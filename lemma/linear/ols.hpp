// lemma/linear/ols.hpp
#pragma once
#include <lemma/linear/shared/coefficient_table.hpp>
#include <lemma/linear/shared/sandwich.hpp>
#include <lemma/math/least_squares.hpp>
#include <lemma/model/method.hpp>
#include <limits>

namespace lemma {

/// Linear regression by least squares: the b₀ and b that minimise
///
///     J(b₀, b) = ½ Σ wᵢ (yᵢ − offsetᵢ − b₀ − xᵢ·b)²,        wᵢ = weight · precision.
///
/// Weights are frequencies (a row of weight k is k rows, n = Σ weight), precisions inverse variances: R's lm weights.
/// A column that is a linear combination of the columns before it is aliased, as in R's lm: it takes no part, its
/// coefficient is NaN (printed NA), and a warning names it.
///
/// Standard errors are the classical ones, or robust ones that hold where variances differ (HC0 to HC3) or where rows of one
/// cluster depend on each other: linear/shared/sandwich.hpp. Then t, p, limits, F (Wald's) and the intervals of means are
/// robust too.
///
/// Cost         two scans, O(n p min(n, p)) time, O(p min(n, p)) memory; one more for each refinement, one for robust standard errors
///              (O(clusters p) memory for those by clusters), and one for the quantiles of the residuals up to kMostResiduals rows.
/// Certificate  optimal: J(b₀, b) − min J, as a sum of squares in units of the terms that cancel in a residual. The
///              residuals are taken in twice the working precision; verify takes the triangle by Householder throughout,
///              and then holds every other number of the model against the rows: "difference of <field>" names the first
///              that is not right.
struct Ols {
  bool intercept = true;
  std::optional<StandardErrors> errors;
  PrintedInterval interval = PrintedInterval::none;
  double level = 0.95;
  double tolerance = kRankTolerance;

  static constexpr std::string_view name = "ols";
  static constexpr MethodAbout about{.family = "linear",
                                     .task = Task::regression,
                                     .summary = "linear regression by least squares",
                                     .objective = "minimise ½ Σ w (y − b₀ − x·b)²",
                                     .example = "lemma fit ols boston 'medv ~ .'",
                                     .scans = true,
                                     .takes_weights = true,
                                     .takes_precision = true,
                                     .takes_offset = true,
                                     .takes_clusters = true};
  static constexpr auto params() {
    return Listing{param("intercept", &Ols::intercept, "fit an intercept"), param("errors", &Ols::errors, kAboutErrors),
                   param("interval", &Ols::interval, "confidence intervals of the coefficients in the printed table"),
                   param("level", &Ols::level, "confidence level of the intervals for the coefficients", within(0, 1)),
                   param("tolerance", &Ols::tolerance,
                         "a column is aliased when less than this share of it is orthogonal to the columns before it",
                         between(1e-15, 0.1), Step::logarithmic)};
  }
};
static_assert(Described<Ols>);

/// Beyond so many coefficients their covariance is not kept: it would dwarf the rows. The triangle holds it.
inline constexpr Index kMostCovariances = 1000;

struct OlsModel : Evidence {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  Ols spec;
  Vector coefficients, std_errors, t, p, lower, upper;
  double intercept = 0;
  double intercept_std_error = kNone, intercept_t = kNone, intercept_p = kNone;
  double intercept_lower = kNone, intercept_upper = kNone;
  Index rank = 0;
  double rss = kNone, df_residual = kNone, sigma = kNone;
  double r_squared = kNone, adj_r_squared = kNone;
  double f_statistic = kNone, f_p = kNone;
  Vector f_df;
  double log_likelihood = kNone, aic = kNone, bic = kNone;
  Matrix covariance;
  Vector residual_quantiles;
  Index clusters = 0;
  int updates = 0;

  // What intervals and diagnostics need: R with RᵀR = Σ w (x − mean)ᵀ(x − mean), over the columns that take part.
  Labels kept;
  Matrix triangle;
  Vector mean, mean_rest;
  double mass = 0;
  bool has_precision = false;
  Matrix scatter;  // of the scores, for errors that are not classical; else empty

  static constexpr auto fields() {
    using M = OlsModel;
    return Listing{
        result("coefficients", &M::coefficients, "one for each feature; null where it is aliased", kByFeature),
        result("intercept", &M::intercept, "0 when none is fitted"),
        result("std_errors", &M::std_errors, "standard errors of the coefficients", kByFeature),
        result("t", &M::t, "coefficient over standard error", kByFeature),
        result("p", &M::p, "two-sided p-value of t", kByFeature),
        result("lower", &M::lower, "lower confidence limit of each coefficient", kByFeature),
        result("upper", &M::upper, "upper confidence limit of each coefficient", kByFeature),
        result("intercept_std_error", &M::intercept_std_error, "standard error of the intercept"),
        result("intercept_t", &M::intercept_t, "intercept over its standard error"),
        result("intercept_p", &M::intercept_p, "two-sided p-value of intercept_t"),
        result("intercept_lower", &M::intercept_lower, "lower confidence limit of the intercept"),
        result("intercept_upper", &M::intercept_upper, "upper confidence limit of the intercept"),
        result("rank", &M::rank, "number of coefficients that are determined, with the intercept"),
        result("rss", &M::rss, "sum of squared residuals, weighted"),
        result("df_residual", &M::df_residual, "n - rank"),
        result("sigma", &M::sigma, "residual standard error, the root of rss / df_residual"),
        result("r_squared", &M::r_squared,
               "share of the sum of squares that is explained; not centred without an intercept"),
        result("adj_r_squared", &M::adj_r_squared,
               "the same for variances: 1 - (1 - r_squared) (n - intercept) / df_residual"),
        result("f_statistic", &M::f_statistic,
               "tests that all coefficients are 0; Wald's where errors are not classical"),
        result("f_df", &M::f_df, "degrees of freedom of f_statistic"),
        result("f_p", &M::f_p, "p-value of f_statistic"),
        result("log_likelihood", &M::log_likelihood, "of Gaussian errors, at the maximum"),
        result("aic", &M::aic, "-2 log_likelihood + 2 (rank + 1)"),
        result("bic", &M::bic, "-2 log_likelihood + log(n) (rank + 1)"),
        result("covariance", &M::covariance,
               "of the coefficients, the intercept first; null where aliased; empty beyond 1,000 coefficients"),
        result("residual_quantiles", &M::residual_quantiles,
               "least, quartiles and largest residual; empty beyond 100,000 rows and after an update"),
        later(result("clusters", &M::clusters, "how many there are, for errors cluster; else 0")),
        state("kept", &M::kept, "columns that take part"),
        state("triangle", &M::triangle, "R of the columns that take part"),
        state("mean", &M::mean, "of the columns; 0 without an intercept"),
        state("mean_rest", &M::mean_rest, "what rounding left out of the mean"),
        state("mass", &M::mass, "sum of weight times precision"),
        state("has_precision", &M::has_precision, "precisions were given"),
        later(state("updates", &M::updates, "how often new rows were taken in since the fit")),
        later(state("scatter", &M::scatter, "of the scores, where the information is 1; empty for classical errors"))};
  }
  static constexpr UpdateKind kUpdates = UpdateKind::exact;
  static constexpr PlaneSum kPlaneSum = PlaneSum::twofold;
  Index width() const { return coefficients.size(); }
  void check() const;

  Vector predict(const MatrixView& x) const;
  /// Where the mean response (confidence) or a new response of precision 1 (prediction) lies with probability `level`.
  Interval interval(const MatrixView& x, IntervalKind kind, double level) const;
  /// Of the rows the model was fitted on: leverage, residual, standardised and externally studentised residual, Cook's
  /// distance, leave-one-out residual, DFFITS. For a row of weight k they are those of one of its k copies. NaN where
  /// the row alone determines its fit (leverage 1), or has weight 0 and takes no part.
  std::vector<NamedColumn> diagnostics(const Block& block) const;
  AffineMap affine() const;
  /// What R's print(summary(lm)) prints.
  std::string summary(const Names& names) const;

  StandardErrors errors() const { return spec.errors.value_or(StandardErrors::classical); }
  double df_tests() const;  // of t and F: df_residual, or clusters − 1
  CentredTriangle centre() const;
  Vector slopes() const;                             // the coefficients, 0 where aliased
  Vector quadratic_form(const MatrixView& x) const;  // [1 x]ᵀ (XᵀWX)⁻¹ [1 x] for each row
};

OlsModel fit(const Valid<Ols>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const OlsModel& model, const Rows& rows, const Execution& execution);
/// The fit to all rows, from these and from the triangle of those before. Without the quantiles of the residuals, which take
/// rows; Error for robust standard errors and aliased columns, which do too.
OlsModel updated(const OlsModel& model, const Rows& rows, const FitOptions& options);

/// Mean squared error of predicting each row from all others, in closed form: Σ (rᵢ / (1 − hᵢ))² / n, by one scan over
/// the rows of the fit. NaN when a row has leverage 1: without it the fit is not determined.
double leave_one_out_mse(const OlsModel& model, const Rows& rows, const Execution& execution = {});

extern template const Method& method_of<Ols>();

}  // namespace lemma
