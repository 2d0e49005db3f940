// lemma/bayes/mcmc.hpp: draws from the posterior of a generalised linear model.
#pragma once
#include <lemma/model/method.hpp>
#include <lemma/model/path.hpp>

namespace lemma {

enum class McmcFamily { logistic, softmax, gaussian, poisson };
constexpr auto names_of(McmcFamily) {
  return std::array<std::string_view, 4>{"logistic", "softmax", "gaussian", "poisson"};
}
enum class McmcSampler { nuts, metropolis, gibbs };
constexpr auto names_of(McmcSampler) { return std::array<std::string_view, 3>{"nuts", "metropolis", "gibbs"}; }

/// Columns are centred (with an intercept) and divided by their standard deviation (divisor n), zⱼ = (xⱼ − meanⱼ) / scaleⱼ; a
/// Gaussian response too. With η = c₀ + z·c the energy, −log of the posterior up to a constant, is
///
///     U(θ) = Σ wᵢ ℓ(tᵢ, ηᵢ) + ½ α ‖c‖² + ½ α₀ c₀²,        α₀ = 0.01
///
///     logistic  ℓ = log(1 + e^η) − t η          softmax  ℓ = log Σ e^ηₖ − η_t, a plane for each class
///     poisson   ℓ = e^η − t η                   gaussian ℓ = (t − η)² / 2σ² + log σ, σ given or log σ ~ N(0, 1)
///
/// Chains move in q, θ = mode + R⁻¹ q with RᵀR the curvature of U at its mode, where the posterior is nearly round.
///   nuts        Hamilton's equations by leapfrog, along a path that doubles until it turns back; a point of the path is taken in
///               proportion to e^−H (Hoffman & Gelman 2014, Betancourt 2017); dual averaging of the step while warming up
///   metropolis  random walk, its step brought to an acceptance of 0.234 while warming up; 5 d steps for each draw
///   gibbs       each part of θ from its conditional, given the others, three rounds for each draw: a normal for gaussian (log σ by a
///               slice); of classes given Pólya-Gamma draws beside the rows (Polson, Scott and Windle 2013). None is known for poisson
/// Each chain has a random stream of its own and begins apart from the others, 1.5 posterior deviations about the mode.
///
/// Of every quantity: split R̂ of ranks, and of ranks of distances from the median (Vehtari et al. 2021), effective sample size
/// by Geyer's monotone sequence, and the Monte Carlo error of its mean, sd / √ESS.
///
/// Cost         O(n d) for each step (gaussian: O(d²), from one triangle of the rows), about seven for each draw.
/// Certificate  consistent, from the stored draws and the rows. The energy of each draw and its gradient are found anew from plain
///              sums; R̂ is at most 1.05, the effective size at least 100, and no more than one draw in a hundred divergent. Draws
///              of this posterior alone meet Stein's identities E f′ = E f ∂U/∂q: with f = 1 they see a wrong mean, with f = q a
///              wrong spread, with f = (q − 1)₊ a wrong tail, up to 5 Monte Carlo errors. Chains of the other sampler, fewer,
///              agree in mean, standard deviation and the shares of both tails up to 5 Monte Carlo errors.
struct Mcmc {
  std::optional<McmcFamily> family;
  McmcSampler sampler = McmcSampler::nuts;
  double alpha = 1;
  std::optional<double> noise;
  bool intercept = true;
  bool standardize = true;
  int chains = 4;
  int draws = 500;
  int warmup = 300;
  double target = 0.8;
  double level = 0.95;

  static constexpr std::string_view name = "mcmc";
  static constexpr MethodAbout about{
      .family = "bayes",
      .task = Task::classification,
      .summary = "draws from the posterior of logistic, softmax, linear and Poisson regression",
      .objective = "p(theta | rows) ~ prod p(y | theta) N(c; 0, 1/alpha), by Hamiltonian, Metropolis or Gibbs chains",
      .example = "lemma fit mcmc pima_train 'type ~ .'",
      .takes_weights = true,
      .either_response = true,
      .random = true};
  static constexpr auto params() {
    using S = Mcmc;
    return Listing{
        param("family", &S::family, "of the response; auto: logistic or softmax of classes, gaussian of numbers"),
        param("sampler", &S::sampler,
              "Hamiltonian with a no-U-turn criterion, a random walk, or from the conditionals (not for poisson)"),
        param("alpha", &S::alpha, "precision of the Gaussian prior of the coefficients", above(0), Step::logarithmic),
        param("noise", &S::noise, "of the gaussian family: its standard deviation; auto: drawn too", above(0),
              Step::logarithmic),
        param("intercept", &S::intercept, "with an intercept, of precision 0.01"),
        param("standardize", &S::standardize,
              "the prior is on the coefficients of columns divided by their standard deviation (divisor n)"),
        param("chains", &S::chains, "chains that begin apart", between(2, 1000)),
        param("draws", &S::draws, "kept of each chain", between(20, 1e6)),
        param("warmup", &S::warmup, "draws before them that only set the step", between(20, 1e6)),
        param("target", &S::target, "acceptance that the step of nuts is brought to", within(0, 1)),
        param("level", &S::level, "probability of the credible intervals", within(0, 1))};
  }
  void check() const;  // a noise, or conditionals, that the family does not have
  Needs needs(Needs usual) const {
    usual.classes = !family || *family == McmcFamily::logistic || *family == McmcFamily::softmax;
    return usual;
  }
};
static_assert(Described<Mcmc>);

struct McmcModel : Evidence {
  Mcmc spec;  // with the family that was chosen
  PathMatrix coefficients;
  PathNumbers intercept;
  Matrix quantities;
  Index divergences = 0;
  double acceptance = 0, step = 0;
  Vector mean, scale;
  double centre = 0, unit = 1;
  Matrix theta;
  Vector energy;

  static constexpr auto fields() {
    using M = McmcModel;
    return Listing{result("coefficients", &M::coefficients,
                          "posterior means; one row for each class where there are several", kByFeature),
                   result("intercept", &M::intercept, "posterior mean; 0 when there is none"),
                   result("quantities", &M::quantities,
                          "a row for the intercept and each coefficient (class by class), and sigma: mean, standard "
                          "deviation, ends of "
                          "the central interval, Monte Carlo error of the mean, effective sample size, R-hat"),
                   result("divergences", &M::divergences, "draws whose path left the energy behind"),
                   result("acceptance", &M::acceptance, "mean acceptance after warming up"),
                   result("step", &M::step, "mean step of the chains"),
                   state("mean", &M::mean, "of the columns; 0 without an intercept"),
                   state("scale", &M::scale, "of the columns"),
                   state("centre", &M::centre, "of the response, gaussian"),
                   state("unit", &M::unit, "of the response, gaussian"),
                   state("theta", &M::theta, "the draws, chain after chain, for standardised columns"),
                   state("energy", &M::energy, "-log posterior of each draw, up to a constant")};
  }
  Index width() const { return mean.size(); }
  Index lead() const { return spec.intercept ? 1 : 0; }
  Index terms() const { return width() + lead(); }  // of a plane
  Index planes() const { return coefficients.of.rows(); }
  bool of_classes() const { return *spec.family == McmcFamily::logistic || *spec.family == McmcFamily::softmax; }
  Index class_count() const { return !of_classes() ? 0 : planes() == 1 ? 2 : planes(); }
  Task task() const { return of_classes() ? Task::classification : Task::regression; }
  bool draws_noise() const { return *spec.family == McmcFamily::gaussian && !spec.noise; }
  /// Classes have no interval.
  bool gives(std::string_view part) const { return part != kIntervalPart.name || !of_classes(); }
  void check() const;

  Vector predict(const MatrixView& x) const;  // the mean of a new response
  Labels classify(const MatrixView& x) const;
  Matrix probabilities(const MatrixView& x) const;  // averaged over the draws
  /// Of the mean of the response there, or of a new response (gaussian).
  Interval interval(const MatrixView& x, IntervalKind kind, double level) const;
  std::string summary(const Names& names) const;
};

McmcModel fit(const Valid<Mcmc>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const McmcModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Mcmc>();

}  // namespace lemma
