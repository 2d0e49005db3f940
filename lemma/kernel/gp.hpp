// lemma/kernel/gp.hpp
#pragma once
#include <lemma/geometry/kernel/gradient.hpp>
#include <lemma/kernel/shared/rows.hpp>
#include <lemma/model/method.hpp>
#include <limits>

namespace lemma {

/// What the process is about: 0, or the mean of the responses.
enum class GpMean { zero, constant };
constexpr auto names_of(GpMean) { return std::array<std::string_view, 2>{"zero", "constant"}; }

/// Gaussian process regression:
///
///     y = m + f(x) + ε,    f ~ GP(0, k),    ε ~ N(0, σ²).
///
/// With A = K + σ² W⁻¹ = RᵀR and α = A⁻¹(y − m), what the rows say of f at x is Gaussian, with k* = (k(x, xⱼ))ⱼ:
///
///     mean m + k*·α,     variance k(x, x) − ‖R⁻ᵀ k*‖²        (of an observation: σ² more),
///     log p(y) = −½ (y − m)·α − Σ log Rᵢᵢ − ½ n log 2π,
///     ∂ log p(y) / ∂ log θ = ½ tr((ααᵀ − A⁻¹) ∂A/∂ log θ).
///
/// With `optimise`, σ² and the numbers in the kernel are those of greatest log p(y) (type II maximum likelihood), by L-BFGS on
/// their logarithms from several starts. m is the mean of the responses, or 0. A row of weight w is w observations of the
/// same y.
///
/// Cost         O(n² d + n³/3) time and 8 n² bytes; n³ for each evaluation of the gradient. O(n) for a predicted mean, O(n²)
///              for its standard deviation, from R, which a model in memory keeps and a loaded one makes when first asked.
/// Certificate  optimal for given hyperparameters: A α = y − m with K made anew from the rows. stationary for learned ones:
///              moreover no entry of the gradient is above 1e-6 n, found anew by eigenvalues and differences of the kernel's
///              values; beyond 600 rows by a triangle in the place of the eigenvalues, which is proved to be the inverse's by
///              multiplying with the kernel.
struct Gp {
  Kernel kernel;
  std::optional<double> noise;
  GpMean mean = GpMean::constant;
  bool optimise = true;
  bool learn_noise = true;
  bool ard = false;
  int restarts = 1;
  double gigabytes = 1;

  static constexpr std::string_view name = "gp";
  static constexpr MethodAbout about{
      .family = "kernel",
      .task = Task::regression,
      .summary = "Gaussian process regression, its hyperparameters by maximum likelihood",
      .objective = "posterior of f for f ~ GP(0, k), y ~ N(m + f(x), noise)",
      .example = "lemma fit gp mcycle 'accel ~ times' --kernel 'matern(5/2)'",
      .keeps_rows = true,
      .takes_weights = true,
      .takes_sparse = true,
      .random = true};
  static constexpr auto params() {
    return Listing{
        param("kernel", &Gp::kernel,
              "covariance of f; when it is learned, a term without a factor gets one: its variance"),
        param("noise", &Gp::noise,
              "variance of the noise, or where learning it begins; chosen: a tenth of y's variance", at_least(0),
              Step::logarithmic),
        param("mean", &Gp::mean, "the process is about 0, or about the mean of the responses"),
        param("optimise", &Gp::optimise, "learn the kernel's numbers and the noise by maximum likelihood"),
        param("learn_noise", &Gp::learn_noise, "the noise too; else it stays as given"),
        param("ard", &Gp::ard, "a length for each feature in rbf and matern (automatic relevance determination)"),
        param("restarts", &Gp::restarts, "further starts of the search, by chance", between(0, 1000)),
        param("gigabytes", &Gp::gigabytes, "gigabytes that the kernel matrix may take", above(0))};
  }
  Needs needs(Needs usual) const {
    usual.letters = kernel.letters();
    return usual;
  }
};
static_assert(Described<Gp>);

/// R with RᵀR = A, kept with a model in memory and made anew for a loaded one.
class GpFactor;
std::shared_ptr<GpFactor> empty_gp_factor();

struct GpModel : Evidence {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  /// Up to so many rows the gradient is found for given hyperparameters too.
  static constexpr Index kMostForGradient = 2000;

  Gp spec;
  double log_marginal_likelihood = kNone;
  std::vector<std::string> hyperparameter_names;
  Vector hyperparameters, lml_gradient;
  double noise = kNone, mean = 0, jitter = 0;
  KeptRows points;
  RowNumbers places;
  Vector weights, dual_coefficients;
  std::shared_ptr<GpFactor> factor = empty_gp_factor();
  static constexpr std::size_t kNotStored = 1;  // factor

  static constexpr auto fields() {
    using M = GpModel;
    return Listing{
        result("log_marginal_likelihood", &M::log_marginal_likelihood, "log p(y)"),
        later(result("hyperparameter_names", &M::hyperparameter_names, "what the hyperparameters are, in their order")),
        result("hyperparameters", &M::hyperparameters,
               "the kernel's, in the order in which it is written, then the noise"),
        result(
            "lml_gradient", &M::lml_gradient,
            "of log p(y) in the logarithm of each, as computed: the certificate says to what it is accurate; missing "
            "beyond 2,000 rows when they are given"),
        result("noise", &M::noise, "variance of the noise"),
        result("mean", &M::mean, "what the process is about"),
        result("jitter", &M::jitter, "added to the noise so that the matrix can be factorised; 0 unless needed"),
        state("points", &M::points, "the rows with a weight above 0; none for a precomputed kernel"),
        state("places", &M::places, "of the rows, for a precomputed kernel"),
        state("weights", &M::weights, "of the rows"),
        state("dual_coefficients", &M::dual_coefficients, "α, one for each kept row")};
  }
  Index width() const { return points.width; }
  void check() const;

  /// Mean and variance of f (with the process's own mean), row by row.
  struct Posterior {
    Vector mean, variance;
  };
  Posterior posterior(const MatrixView& x) const;
  Vector predict(const MatrixView& x) const;
  /// Where f (confidence) or an observation (prediction) lies with probability `level`.
  Interval interval(const MatrixView& x, IntervalKind kind, double level) const;
  /// Standard deviations of f and of an observation, a column each.
  Matrix deviations(const MatrixView& x) const;
  /// Functions drawn from the posterior or the prior, at the rows: a column each.
  Matrix samples(const MatrixView& x, const SampleOptions& options) const;
  std::string summary(const Names& names) const;
};

GpModel fit(const Valid<Gp>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const GpModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Gp>();

}  // namespace lemma
