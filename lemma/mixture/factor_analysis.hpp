// lemma/mixture/factor_analysis.hpp
#pragma once
#include <lemma/mixture/shared/factors.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

enum class Rotation { varimax, promax, none };
constexpr auto names_of(Rotation) { return std::array<std::string_view, 3>{"varimax", "promax", "none"}; }

/// Factor analysis by maximum likelihood: columns z in units of their standard deviations (divisor n) are q common factors, and what each
/// has for itself,
///
///     z = L f + e,   f ~ N(0, Φ),  e ~ N(0, Ψ), Ψ diagonal;      Σ = L Φ Lᵀ + Ψ,     minimise  F = log det Σ + tr Σ⁻¹R − log det R − p,
///
/// R the correlations; n F / 2 is what the log-likelihood lacks to that of any Gaussian. With λ₁ ≥ … the eigenvalues of Ψ^−½ R Ψ^−½ and U
/// their vectors the best loadings for Ψ are Ψ^½ U_q (Λ_q − I)^½, F = Σ_{j>q} (λⱼ − log λⱼ − 1), and ∂F/∂ψⱼ = (Σⱼⱼ − 1) / ψⱼ² (Jöreskog
/// 1967): F is minimised over log ψ by L-BFGS, ψ ≥ 0.005 (a Heywood case is told).
///
/// Loadings are then turned, which changes neither Σ nor F. varimax: rows brought to length 1 (Kaiser), the rotation of the greatest
/// variance of squared loadings within columns; Φ = I. promax: from there by least squares towards |l|³ l, factors of variance 1 that may be
/// correlated (Hendrickson and White 1964). Columns come by their sums of squares, the largest entry positive.
///
/// Cost         one scan, O(n p²), and O(p³) for each iteration.
/// Certificate  stationary: the gradient of F in L and log Ψ, by Σ⁻¹ of the loadings as told instead of eigenvectors, is 0 (where ψ is at its bound, not
///              negative), and the loadings are those of the rotation, made anew; varimax: its own first-order conditions hold.
struct FactorAnalysis {
  int factors = 1;
  Rotation rotation = Rotation::varimax;
  int max_iterations = 1000;
  double tolerance = 1e-6;

  static constexpr std::string_view name = "factor_analysis";
  static constexpr MethodAbout about{
      .family = "mixture",
      .task = Task::density,
      .summary = "factor analysis by maximum likelihood, with varimax or promax rotation",
      .objective = "minimise log det Σ + tr Σ⁻¹R, Σ = L Φ L' + Ψ, R the correlations of the columns",
      .example = "lemma fit factor_analysis crabs '~ FL + RW + CL + CW + BD' --factors 2",
      .scans = true,
      .takes_weights = true,
      .uses_response = false};
  static constexpr auto params() {
    return Listing{param("factors", &FactorAnalysis::factors, "common factors", at_least(1)),
                   param("rotation", &FactorAnalysis::rotation,
                         "how loadings are turned: varimax (factors uncorrelated), promax (correlated), or none"),
                   param("max_iterations", &FactorAnalysis::max_iterations, "of L-BFGS, at most", at_least(1)),
                   param("tolerance", &FactorAnalysis::tolerance, "largest entry of the gradient that is called 0",
                         within(0, 1), Step::logarithmic)};
  }
};
static_assert(Described<FactorAnalysis>);

struct FactorAnalysisModel : Evidence {
  FactorAnalysis spec;
  Vector mean, deviations;     // of the columns, divisor n
  Vector uniquenesses;         // ψ
  Matrix loadings;             // L, of columns in units of their deviations
  Matrix factor_correlations;  // Φ
  double discrepancy = 0;      // F
  double log_likelihood = 0, aic = 0, bic = 0;
  double chi_squared = 0, p_value = 1;
  int parameters = 0, df = 0;

  static constexpr auto fields() {
    using M = FactorAnalysisModel;
    return Listing{
        result("mean", &M::mean, "of each column", kByFeature),
        result("deviations", &M::deviations, "standard deviation of each column, divisor n", kByFeature),
        result("uniquenesses", &M::uniquenesses, "share of each column's variance that no factor explains", kByFeature),
        result("loadings", &M::loadings, "of the columns, in units of their deviations, on the factors", kFeaturesDown),
        result("factor_correlations", &M::factor_correlations, "of the factors among each other"),
        result("discrepancy", &M::discrepancy, "F: twice what the log-likelihood of a row lacks to any Gaussian's"),
        result("log_likelihood", &M::log_likelihood, "sum of the log densities of the rows"),
        result("aic", &M::aic, "-2 log-likelihood + 2 parameters"),
        result("bic", &M::bic, "-2 log-likelihood + parameters log n"),
        result("chi_squared", &M::chi_squared, "(n - 1 - (2p + 5)/6 - 2q/3) F, against more factors"),
        result("p_value", &M::p_value, "of the hypothesis that so many factors are enough"),
        result("parameters", &M::parameters, "free numbers of the model"),
        result("df", &M::df, "degrees of freedom that are left")};
  }
  Index width() const { return mean.size(); }
  Index output_width() const { return loadings.cols(); }
  void check() const;
  Matrix correlation() const;  // Σ
  factors::Factors latent() const;
  Vector log_density(const MatrixView& x) const;
  Matrix transform(const MatrixView& x) const;  // E(f | x): Thomson's scores
  std::vector<std::string> output_names(const std::vector<std::string>& features) const;
  DrawnRows draw(Index count, std::uint64_t seed) const;
  std::string summary(const Names& names) const;
};

FactorAnalysisModel fit(const Valid<FactorAnalysis>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const FactorAnalysisModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<FactorAnalysis>();

}  // namespace lemma
