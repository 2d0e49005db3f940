// lemma/linear/glm.hpp
#pragma once
#include <lemma/linear/glm/family.hpp>
#include <lemma/linear/shared/sandwich.hpp>
#include <lemma/math/least_squares.hpp>
#include <lemma/model/method.hpp>
#include <limits>

namespace lemma {

/// none: not in the printed table, and Wald's in the results.
enum class CoefficientInterval { none, wald, profile };
constexpr auto names_of(CoefficientInterval) { return std::array<std::string_view, 3>{"none", "wald", "profile"}; }

/// Generalised linear model: y has a distribution of the family with mean μ,
///
///     g(μᵢ) = ηᵢ = offsetᵢ + b₀ + xᵢ·b,
///
/// (negative_binomial: and θ; the quasi families have no likelihood, but the same equations)
/// and b₀, b maximise the likelihood: they minimise the deviance D = Σ wᵢ d(yᵢ, μᵢ), wᵢ = weight · precision. Weights are
/// frequencies (n = Σ weight), precisions R's glm weights: the number of trials of a proportion, the inverse variance of a
/// mean. With cbind(successes, failures) the trials are such prior weights, and n is the number of rows.
///
/// Fisher scoring (IRLS): with W = (dμ/dη)²/V(μ) and the working residual r = (y − μ)/(dμ/dη), the step is the weighted
/// least-squares fit of r to x; it is halved while the deviance is not finite or grows. R's first guess and R's rule count
/// the iterations; the steps then go on until rounding stops them, so coefficients and standard errors are those of the
/// maximum itself. Where the classes can be separated there is none: the separating columns are named, and their
/// coefficients are not determined (null).
///
/// Standard errors may be robust (linear/shared/sandwich.hpp): then tests, Wald's intervals and those of means are too.
///
/// Cost         a scan for each iteration: O(n p²) time, O(p²) memory, from memory or from disk.
/// Certificate  optimal (stationary where the log-likelihood is not concave): ½ gᵀ H⁻¹ g, what the next step would gain,
///              relative to the squares that cancel in the working residuals; verify takes the triangle by Householder
///              and holds every other number of the model against the rows.
struct Glm {
  std::optional<GlmFamily> family;
  std::optional<GlmLink> link;
  std::optional<GlmVariance> variance;
  std::optional<double> theta;
  bool intercept = true;
  std::optional<StandardErrors> errors;
  CoefficientInterval interval = CoefficientInterval::none;
  double level = 0.95;
  double epsilon = 1e-8;
  int max_iterations = 25;
  double tolerance = kRankTolerance;

  static constexpr std::string_view name = "glm";
  static constexpr MethodAbout about{
      .family = "linear",
      .task = Task::regression,
      .summary = "generalised linear model: logistic, probit, Poisson, gamma, … regression",
      .objective = "minimise the deviance Σ w d(y, μ), g(μ) = b₀ + x·b + offset",
      .example = "lemma fit glm pima_train 'type ~ .'",
      .scans = true,
      .takes_weights = true,
      .takes_precision = true,
      .takes_offset = true,
      .takes_clusters = true,
      .takes_counts = true,
      .either_response = true};
  static constexpr auto params() {
    return Listing{
        param("family", &Glm::family, "distribution of y; by default binomial for classes and counts, else gaussian"),
        param("link", &Glm::link, "what is linear in x; by default the family's canonical link"),
        param("variance", &Glm::variance,
              "of the quasi family: how the variance follows the mean; by default constant"),
        param(
            "theta", &Glm::theta,
            "of the negative_binomial family: the variance is mu + mu^2 / theta; by default that of maximum likelihood",
            above(0), Step::logarithmic),
        param("intercept", &Glm::intercept, "fit an intercept"),
        param("errors", &Glm::errors, kAboutErrors),
        param("interval", &Glm::interval,
              "confidence intervals of the coefficients in the printed table: none, wald, or by profile likelihood"),
        param("level", &Glm::level, "confidence level of the intervals for the coefficients", within(0, 1)),
        param("epsilon", &Glm::epsilon, "an iteration counts as the last when |ΔD| / (|D| + 0.1) is below this",
              between(1e-15, 0.1), Step::logarithmic),
        param("max_iterations", &Glm::max_iterations, "most iterations until then", between(1, 10000)),
        param("tolerance", &Glm::tolerance,
              "a column is aliased when less than this share of it is orthogonal to the columns before it",
              between(1e-15, 0.1), Step::logarithmic)};
  }
  /// A link, a variance or a theta that the family does not have; a profile of what robust errors do not trust.
  void check() const;
  Needs needs(Needs usual) const {
    usual.classes = !family || *family == GlmFamily::binomial || *family == GlmFamily::quasibinomial ||
                    (*family == GlmFamily::quasi && variance == GlmVariance::mu_rest);
    return usual;
  }
};
static_assert(Described<Glm>);

struct GlmModel : Evidence {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  Glm spec;
  Vector coefficients, std_errors, z, t, p, lower, upper, odds_ratios;
  double intercept = 0;
  double intercept_std_error = kNone, intercept_z = kNone, intercept_p = kNone;
  double intercept_lower = kNone, intercept_upper = kNone;
  Index rank = 0;
  double null_deviance = kNone, residual_deviance = kNone, df_null = kNone, df_residual = kNone;
  int iterations = 0;
  double dispersion = kNone, pearson_chi2 = kNone;
  double log_likelihood = kNone, aic = kNone, bic = kNone;
  Matrix covariance;
  Vector residual_quantiles;
  Index clusters = 0;
  double theta = 0, theta_std_error = 0;

  // The slopes where the iterations ended (0 where aliased): the coefficients, and where classes are separated those that
  // have no limit too. R with RᵀR = Σ w W (x − mean)ᵀ(x − mean), over the columns that take part, at these slopes.
  Vector slopes;
  double base = 0;
  Labels kept;
  Vector separating;  // a direction along which the likelihood only grows, the intercept's share last; empty: none
  Matrix triangle;
  Vector mean, mean_rest;
  double mass = 0;
  bool classes = false, counts = false;
  Matrix scatter;  // of the scores, for errors that are not classical; else empty
  bool theta_learned = false;
  // After an update: where the rows before it had their maximum (slopes, then the intercept), and their information there.
  Vector past, past_mean;
  Matrix past_triangle;
  double past_mass = 0;
  int updates = 0;

  static constexpr auto fields() {
    using M = GlmModel;
    return Listing{
        result("coefficients", &M::coefficients, "one for each feature; null where it is aliased or has no limit",
               kByFeature),
        result("intercept", &M::intercept, "0 when none is fitted; null where it has no limit"),
        result("std_errors", &M::std_errors, "standard errors of the coefficients", kByFeature),
        result("z", &M::z, "coefficient over standard error; normal, or t where the dispersion is estimated",
               kByFeature),
        result("t", &M::t, "the same as z where the dispersion is estimated; else empty", kByFeature),
        result("p", &M::p, "two-sided p-value", kByFeature),
        result("lower", &M::lower, "lower confidence limit of each coefficient", kByFeature),
        result("upper", &M::upper, "upper confidence limit of each coefficient", kByFeature),
        result("odds_ratios", &M::odds_ratios, "exp(coefficient), for the binomial family; else empty", kByFeature),
        result("intercept_std_error", &M::intercept_std_error, "standard error of the intercept"),
        result("intercept_z", &M::intercept_z, "intercept over its standard error"),
        result("intercept_p", &M::intercept_p, "two-sided p-value of intercept_z"),
        result("intercept_lower", &M::intercept_lower, "lower confidence limit of the intercept"),
        result("intercept_upper", &M::intercept_upper, "upper confidence limit of the intercept"),
        result("rank", &M::rank, "number of coefficients that are determined, with the intercept"),
        result("null_deviance", &M::null_deviance, "deviance with the intercept (and the offset) alone"),
        result("residual_deviance", &M::residual_deviance, "deviance of the fit"),
        result("df_null", &M::df_null, "n - 1, or n without an intercept"),
        result("df_residual", &M::df_residual, "n - rank"),
        result("iterations", &M::iterations, "Fisher scoring iterations by R's rule"),
        result("dispersion", &M::dispersion, "1, or pearson_chi2 / df_residual where it is estimated"),
        result("pearson_chi2", &M::pearson_chi2, "sum of w (y - mean)^2 / V(mean)"),
        result("log_likelihood", &M::log_likelihood,
               "at the maximum; an estimated dispersion is that of R's logLik; null for quasi families"),
        result("aic", &M::aic, "-2 log_likelihood + 2 (rank, + 1 where the dispersion or theta is estimated)"),
        result("bic", &M::bic, "-2 log_likelihood + log(n) (the same number)"),
        result("covariance", &M::covariance, "of the coefficients, the intercept first; null where not determined"),
        result("residual_quantiles", &M::residual_quantiles,
               "least, quartiles and largest deviance residual; empty beyond 100,000 rows"),
        later(result("theta", &M::theta,
                     "of negative_binomial: the variance is mean + mean^2 / theta; 0 where the family has none")),
        later(
            result("theta_std_error", &M::theta_std_error, "of theta, where it is that of maximum likelihood; else 0")),
        later(result("clusters", &M::clusters, "how many there are, for errors cluster; else 0")),
        state("slopes", &M::slopes, "where the iterations ended; 0 where aliased"),
        state("base", &M::base, "the intercept where the iterations ended"),
        state("kept", &M::kept, "columns that take part"),
        state("separating", &M::separating, "direction in which the likelihood only grows, the intercept last"),
        state("triangle", &M::triangle, "R of the columns that take part, with the weights of the last step"),
        state("mean", &M::mean, "of the columns, with these weights; 0 without an intercept"),
        state("mean_rest", &M::mean_rest, "what rounding left out of the mean"),
        state("mass", &M::mass, "sum of these weights"),
        state("classes", &M::classes, "the response was categorical"),
        state("counts", &M::counts, "the response was cbind(successes, failures)"),
        later(state("past", &M::past, "coefficients before the last update, the intercept last; empty: never updated")),
        later(state("past_mean", &M::past_mean, "the mean then")),
        later(state("past_triangle", &M::past_triangle, "R then")),
        later(state("past_mass", &M::past_mass, "sum of the weights then")),
        later(state("updates", &M::updates, "how often new rows were taken in since the fit")),
        later(state("theta_learned", &M::theta_learned, "theta is that of maximum likelihood")),
        later(state("scatter", &M::scatter, "of the scores, where the information is 1; empty for classical errors"))};
  }
  static constexpr UpdateKind kUpdates = UpdateKind::near;
  Index width() const { return slopes.size(); }
  void check() const;
  GlmLaw law() const;

  Index class_count() const { return classes ? 2 : 0; }
  Task task() const { return classes ? Task::classification : Task::regression; }
  /// μ for each row: of two classes the probability of the second, of counts the share.
  Vector mean_of(const MatrixView& x, std::span<const double> offset = {}) const;
  /// μ, of numbers and counts; Error of a model of classes, as the next two are of one of numbers.
  Vector predict(const MatrixView& x, std::span<const double> offset = {}) const;
  Labels classify(const MatrixView& x, std::span<const double> offset = {}) const;
  Matrix probabilities(const MatrixView& x, std::span<const double> offset = {}) const;
  /// η for each row.
  Matrix decision(const MatrixView& x, std::span<const double> offset = {}) const;
  /// Where μ lies with probability `level`: the interval of η, carried through the link.
  Interval interval(const MatrixView& x, IntervalKind kind, double level, std::span<const double> offset = {}) const;
  /// Of the rows the model was fitted on: deviance, Pearson, response and working residuals, standardised deviance and
  /// Pearson residuals, leverage, Cook's distance. For a row of weight k they are those of one of its k copies.
  std::vector<NamedColumn> diagnostics(const Block& block) const;
  AffineMap affine() const;
  /// What R's print(summary(glm)) prints.
  std::string summary(const Names& names) const;

  StandardErrors errors() const { return spec.errors.value_or(StandardErrors::classical); }
  /// Of the tests: nothing where they are normal; df_residual, or clusters − 1, where the dispersion is estimated.
  std::optional<double> df_tests() const;
  CentredTriangle centre() const;
  Vector linear_predictor(const MatrixView& x, std::span<const double> offset) const;
  Vector quadratic_form(const MatrixView& x) const;  // [1 x]ᵀ (XᵀWX)⁻¹ [1 x] for each row
};

GlmModel fit(const Valid<Glm>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const GlmModel& model, const Rows& rows, const Execution& execution);
/// Near the fit to all rows: the deviance of those before is a quadratic about their maximum, that of the new ones itself.
/// Deviances and likelihoods of all rows are not known then.
GlmModel updated(const GlmModel& model, const Rows& rows, const FitOptions& options);

extern template const Method& method_of<Glm>();

}  // namespace lemma
