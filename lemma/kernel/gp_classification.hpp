// lemma/kernel/gp_classification.hpp
#pragma once
#include <lemma/kernel/shared/rows.hpp>
#include <lemma/model/method.hpp>
#include <lemma/model/path.hpp>
#include <memory>

namespace lemma {

enum class GpInference { laplace, ep };
constexpr auto names_of(GpInference) { return std::array<std::string_view, 2>{"laplace", "ep"}; }

/// Gaussian process classification of two classes t = ±1 by Laplace's approximation, or by expectation propagation:
///
///     P(t | f) = 1 / (1 + e^(−t f(x))),    f ~ GP(0, k).
///
/// What the rows say of f is taken as Gaussian about its mode f̂ = Kα, the minimum of
///
///     J(α) = Σ wᵢ log(1 + e^(−tᵢ fᵢ)) + ½ αᵀKα,
///
/// with the curvature W = w p (1 − p) there. With B = I + W^½ K W^½ = RᵀR and k* = (k(x, xⱼ))ⱼ, at a row x
///
///     f has the mean k*·α and the variance k(x, x) − ‖R⁻ᵀ W^½ k*‖²,
///     P(class 2 | x) = ∫ (1 + e^(−f))⁻¹ N(f; mean, variance) df,
///     log q(y) = −J(α) − Σ log Rᵢᵢ        (the evidence, to compare kernels by).
///
/// ep: what a row says of f is a site exp(ζ + ν f − ½ τ f²), so that the posterior has Σ = (K⁻¹ + T)⁻¹ and the mean Kα = Σν. The
/// cavity of a row is its marginal without its own site; the sites are those for which the cavity times the site has the mass,
/// mean and variance of the cavity times 1 / (1 + e^(−t f)). W is T then, and log q(y) = Σ w ζ − ½ log |B| + ½ νᵀΣν.
///
/// More than two classes: a process for each against all others, and their probabilities brought to the sum 1. (Rasmussen and
/// Williams 2006, algorithms 3.1 and 3.2; section 3.6.)
///
/// Cost         about 8 Newton steps of n³/3 for each process, 16 n² bytes; ep: about 20 turns of 4 n³/3, 32 n² bytes; O(n²) for a
///              predicted row.
/// Certificate  optimal: the duality gap of J relative to it, with the kernel's values made anew from the rows; the evidence is held
///              against another factorisation. What is claimed is the mode: Laplace's approximation itself is none.
struct GpClassification {
  Kernel kernel;
  GpInference inference = GpInference::laplace;
  double tolerance = 1e-9;
  int max_iterations = 100;
  double gigabytes = 1;

  static constexpr std::string_view name = "gp_classification";
  static constexpr MethodAbout about{
      .family = "kernel",
      .task = Task::classification,
      .summary =
          "Gaussian process classification by Laplace's approximation or expectation propagation: averaged "
          "probabilities",
      .objective = "P(2 | x) = ∫ sigmoid(f) q(f | x) df, q Gaussian, near Π P(t | f) N(f; 0, K)",
      .example = "lemma fit gp_classification pima_train 'type ~ .' --kernel '4*rbf(0.001)'",
      .keeps_rows = true,
      .takes_weights = true,
      .takes_sparse = true};
  static constexpr auto params() {
    using S = GpClassification;
    return Listing{
        param("kernel", &S::kernel, "covariance of f: its factor is the variance, as in 4*rbf(0.1)"),
        param("inference", &S::inference,
              "laplace: a Gaussian about the mode; ep: expectation propagation, the moments of each row"),
        param("tolerance", &S::tolerance,
              "duality gap at which the search for the mode ends, relative to its objective; ep: change of the "
              "sites",
              between(1e-13, 0.1), Step::logarithmic),
        param("max_iterations", &S::max_iterations, "Newton's steps, or turns of the sites, at most", at_least(1)),
        param("gigabytes", &S::gigabytes, "gigabytes that the kernel matrix may take", above(0))};
  }
  Needs needs(Needs usual) const {
    usual.letters = kernel.letters();
    return usual;
  }
  void check() const;  // a precomputed kernel does not tell the variance of f at a new row
};
static_assert(Described<GpClassification>);

/// R of each process, made when it is first asked for.
class LaplaceFactors;
std::shared_ptr<LaplaceFactors> no_laplace_factors();

struct GpClassificationModel : Evidence {
  GpClassification spec;
  PathNumbers log_evidence, objective;
  Vector counts;
  KeptRows points;
  Vector weights;
  PathMatrix dual_coefficients;  // a row for each process
  PathMatrix site_precision;
  std::shared_ptr<LaplaceFactors> factors = no_laplace_factors();
  static constexpr std::size_t kNotStored = 1;  // factors

  static constexpr auto fields() {
    using M = GpClassificationModel;
    return Listing{
        result("log_evidence", &M::log_evidence,
               "log q(y), the approximation of the marginal likelihood. Of more than two classes one for each"),
        result("objective", &M::objective, "J at the mode: the loss plus ½ fᵀK⁻¹f; of ep none"),
        result("counts", &M::counts, "rows of each class, by weight", kByClass),
        state("points", &M::points, "the rows with a weight above 0"),
        state("weights", &M::weights, "of these rows"),
        state("dual_coefficients", &M::dual_coefficients, "α, one for each kept row; a row for each process"),
        later(state("site_precision", &M::site_precision,
                    "ep: T, what each row adds to the precision of f there, a row for each process; else empty"))};
  }
  static constexpr auto parts() {
    using M = GpClassificationModel;
    return Listing{part({"latent_variance", "variance of f at the row, of each process", Given::asked,
                         PartColumns::classes, "latent_variance"},
                        &M::latent_variance),
                   part({"map_probability", "1 / (1 + exp(-mean of f)), not averaged, of each process", Given::asked,
                         PartColumns::classes, "map"},
                        &M::map_probability)};
  }
  Index width() const { return points.width; }
  Index functions() const { return dual_coefficients.of.rows(); }
  Index class_count() const { return counts.size(); }
  bool by_sites() const { return spec.inference == GpInference::ep; }
  void check() const;

  struct Latent {
    Matrix mean, variance;  // a column for each process
  };
  Latent latent(const MatrixView& x) const;
  Matrix latent_variance(const MatrixView& x) const { return latent(x).variance; }
  Matrix map_probability(const MatrixView& x) const;
  Matrix decision(const MatrixView& x) const;       // the mean of f
  Matrix probabilities(const MatrixView& x) const;  // averaged
  Labels predict(const MatrixView& x) const;        // the class of the greatest probability
  Prediction prediction(const MatrixView& x, const PredictOptions& options) const;
  std::string summary(const Names& names) const;
};

/// ∫ (1 + e^(−f))⁻¹ N(f; mean, variance) df.
double averaged_logistic(double mean, double variance);

GpClassificationModel fit(const Valid<GpClassification>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const GpClassificationModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<GpClassification>();

}  // namespace lemma
