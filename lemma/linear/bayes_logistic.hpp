// lemma/linear/bayes_logistic.hpp
#pragma once
#include <lemma/model/method.hpp>
#include <lemma/model/one_vs_rest.hpp>
#include <lemma/model/path.hpp>

namespace lemma {

enum class LogisticPrior { gaussian, laplace };
constexpr auto names_of(LogisticPrior) { return std::array<std::string_view, 2>{"gaussian", "laplace"}; }

enum class LogisticPosterior { laplace, variational };
constexpr auto names_of(LogisticPosterior) { return std::array<std::string_view, 2>{"laplace", "variational"}; }

/// Bayesian logistic regression: with η = b₀ + x·b, p(second class | x) = 1 / (1 + e^−η) and cⱼ = sⱼ bⱼ (sⱼ the standard
/// deviation of column j, divisor n; 1 when columns are not standardised), the mode of the posterior minimises
///
///     J = Σ wᵢ (log(1 + e^ηᵢ) − tᵢ ηᵢ) + ½ α ‖c‖²        prior N(0, 1/α), or
///     J = Σ wᵢ (log(1 + e^ηᵢ) − tᵢ ηᵢ) + α ‖c‖₁          Laplace's prior with rate α;  b₀ flat.
///
/// Around it the posterior is taken to be Gaussian with the covariance H⁻¹, H the Hessian of J (Laplace's approximation; under
/// Laplace's prior of the coefficients that are not 0, the others stay 0). The probability of a new row averages over it,
///
///     p ≈ 1 / (1 + e^(−κ η)),    κ = 1 / √(1 + π v / 8),    v the variance of η        (MacKay),
///
/// so that rows far from the data get probabilities nearer to ½. More than two classes: one against the others for each, with
/// probabilities brought to the sum 1.
///
/// Or the Gaussian N(m, S) of Jaakkola and Jordan (2000), with zᵢ = [1 x] centred and scaled: as log σ(η) ≥ log σ(ξ) + (η − ξ)/2 −
/// λ(ξ)(η² − ξ²), λ(ξ) = tanh(ξ/2)/4ξ, the posterior has a lower bound for any ξᵢ that is a Gaussian in the coefficients; by turns
///
///     S⁻¹ = α I_c + 2 Σ wᵢ λ(ξᵢ) zᵢ zᵢᵀ,    m = S Σ wᵢ (tᵢ − ½) zᵢ,    ξᵢ² = zᵢᵀ (S + m mᵀ) zᵢ,
///
/// and a lower bound of the evidence never falls. It is told as log_evidence, m in the place of the mode.
///
/// Cost         a scan for each Newton step, O(n p²), about seven; memory does not grow with the rows.
/// Certificate  stationary: the gradient at the mode in posterior standard deviations (under Laplace's prior with its kinks),
///              from plain sums over the rows. variational, consistent: S⁻¹ and m by plain sums at the ξ of S and m are those of
///              the model, in posterior standard deviations, and the bound is found anew.
struct BayesLogistic {
  LogisticPrior prior = LogisticPrior::gaussian;
  LogisticPosterior approximation = LogisticPosterior::laplace;
  double alpha = 1;
  bool intercept = true;
  bool standardize = true;
  int max_iterations = 100;

  static constexpr std::string_view name = "bayes_logistic";
  static constexpr MethodAbout about{.family = "linear",
                                     .task = Task::classification,
                                     .summary = "Bayesian logistic regression with Laplace's approximation",
                                     .objective = "mode and curvature of the posterior; probabilities averaged over it",
                                     .example = "lemma fit bayes_logistic pima_train 'type ~ .'",
                                     .scans = true,
                                     .takes_weights = true};
  static constexpr auto params() {
    return Listing{param("prior", &BayesLogistic::prior, "of the coefficients"),
                   param("approximation", &BayesLogistic::approximation,
                         "of the posterior: the curvature at its mode, or the Gaussian of Jaakkola and Jordan's bound"),
                   param("alpha", &BayesLogistic::alpha, "precision of the Gaussian prior, or rate of Laplace's",
                         above(0), Step::logarithmic),
                   param("intercept", &BayesLogistic::intercept, "fit an intercept, with a flat prior"),
                   param("standardize", &BayesLogistic::standardize,
                         "the prior is on the coefficients of columns divided by their standard deviation (divisor n)"),
                   formerly("iterations", param("max_iterations", &BayesLogistic::max_iterations,
                                                "Newton steps, or turns of the bound, at most", between(1, 1e6)))};
  }
  void check() const;  // the bound is for the Gaussian prior
};
static_assert(Described<BayesLogistic>);

struct BayesLogisticModel : Evidence {
  BayesLogistic spec;
  PathMatrix coefficients, std_errors;  // one row for each plane
  PathNumbers intercept, intercept_std_error, log_likelihood, log_evidence;
  Matrix posterior;  // H⁻¹ of each plane below the other, [centred intercept, c]
  Vector mean, scale;

  static constexpr auto fields() {
    using M = BayesLogisticModel;
    return Listing{
        result("coefficients", &M::coefficients,
               "mode of the posterior, or mean; one row for each class where there are several", kByFeature),
        result("intercept", &M::intercept, "0 when none is fitted"),
        result("std_errors", &M::std_errors,
               "posterior standard deviations; 0 for a coefficient that Laplace's prior holds at 0", kByFeature),
        result("intercept_std_error", &M::intercept_std_error, "posterior standard deviation of the intercept"),
        result("log_likelihood", &M::log_likelihood, "at the mode"),
        result("log_evidence", &M::log_evidence,
               "Laplace's approximation to the log of the marginal likelihood, or the lower bound of it"),
        state("posterior", &M::posterior, "covariance for centred and scaled columns"),
        state("mean", &M::mean, "of the columns; 0 without an intercept"),
        state("scale", &M::scale, "of the columns, in the prior")};
  }
  Index width() const { return coefficients.of.cols(); }
  Index planes() const { return coefficients.of.rows(); }
  Index class_count() const { return classes_for(planes()); }
  void check() const;
  Matrix decision(const MatrixView& x) const;       // η of each plane, at the mode
  Matrix probabilities(const MatrixView& x) const;  // averaged over the posterior
  Labels predict(const MatrixView& x) const;
  AffineMap affine() const { return {coefficients.of, intercept.of}; }
  std::string summary(const Names& names) const;
};

BayesLogisticModel fit(const Valid<BayesLogistic>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const BayesLogisticModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<BayesLogistic>();

}  // namespace lemma
