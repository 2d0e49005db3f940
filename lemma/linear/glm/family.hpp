// lemma/linear/glm/family.hpp: the distributions of a generalised linear model and the links that lead to their means.
#pragma once
#include <array>
#include <lemma/core/matrix.hpp>
#include <span>
#include <string>
#include <string_view>

namespace lemma {

enum class GlmFamily {
  binomial,
  poisson,
  gaussian,
  gamma,
  inverse_gaussian,
  negative_binomial,
  quasi,
  quasibinomial,
  quasipoisson
};
constexpr auto names_of(GlmFamily) {
  return std::array<std::string_view, 9>{"binomial", "poisson",          "gaussian",
                                         "gamma",    "inverse_gaussian", "negative_binomial",
                                         "quasi",    "quasibinomial",    "quasipoisson"};
}
/// V(μ) of the quasi family.
enum class GlmVariance { constant, mu, mu_rest, mu2, mu3 };
constexpr auto names_of(GlmVariance) {
  return std::array<std::string_view, 5>{"constant", "mu", "mu(1-mu)", "mu^2", "mu^3"};
}
enum class GlmLink { logit, probit, cloglog, log, identity, inverse, sqrt, inverse_square };
constexpr auto names_of(GlmLink) {
  return std::array<std::string_view, 8>{"logit", "probit", "cloglog", "log", "identity", "inverse", "sqrt", "1/mu^2"};
}

/// One row at a linear predictor η. A row with prior weight m then counts m W in the Fisher information, m W r in the
/// score, and m d in the deviance.
struct GlmPoint {
  double mean = 0;         // μ = g⁻¹(η)
  double slope = 0;        // dμ/dη
  double information = 0;  // W = (dμ/dη)² / V(μ)
  double residual = 0;     // r = (y − μ) / (dμ/dη), the working residual
  double deviance = 0;     // d, twice what the log-likelihood lacks to that of μ = y, over the dispersion
  double variance = 0;     // V(μ)
  double log_mean = 0;     // binomial: log μ and log(1 − μ), to full precision also where μ is nearly 0 or 1
  double log_rest = 0;
  bool valid = true;  // is μ a mean that the family can have?
};

/// A family together with its link: y has mean μ, g(μ) = η = b₀ + x·b + offset, and variance φ V(μ) / prior weight.
///
///                     V(μ)        canonical link     others
///     binomial        μ (1 − μ)   logit              probit cloglog log
///     poisson         μ           log                identity sqrt
///     gaussian        1           identity           log inverse
///     gamma           μ²          inverse            log identity
///     inverse_gaussian μ³         1/mu^2             log identity inverse
///     negative_binomial μ + μ²/θ  log                identity sqrt
///
/// The quasi families have the variance, the deviance and the scores of another one, its base (quasi: the one whose V(μ) it is
/// given), an estimated φ, and no likelihood; quasi goes with every link.
struct GlmLaw {
  GlmFamily family = GlmFamily::gaussian;
  GlmLink link = GlmLink::identity;
  GlmVariance variance = GlmVariance::constant;  // of quasi
  double theta = 0;                              // of negative_binomial
  bool theta_learned = false;

  /// Whose variance, deviance and domain it has.
  GlmFamily base() const;
  bool has_likelihood() const;

  static GlmLink canonical(GlmFamily family);
  static std::span<const GlmLink> links_of(GlmFamily family);
  /// Gaussian, gamma, inverse Gaussian and the quasi families: φ is estimated; otherwise it is 1.
  bool estimates_dispersion() const;
  /// Is the log-likelihood concave in η for every y, and is there nothing else to be learned? A stationary point is then the
  /// maximum.
  bool concave() const;
  std::string family_in_r() const;  // "Gamma", "inverse.gaussian", "Negative Binomial(1.275)"

  double mean(double eta) const;  // g⁻¹(η)
  double eta(double mean) const;  // g(μ); NaN outside the link's domain
  bool admits(double y) const;    // can y be observed?
  bool valid_mean(double mean) const;
  /// R's first guess of μ for a row with prior weight m: y moved a little away from the ends of its range.
  double first_mean(double y, double prior) const;

  GlmPoint at(double y, double eta) const;
  /// The same for many rows.
  void at(std::span<const double> y, std::span<const double> eta, std::span<GlmPoint> out) const;
  /// log-likelihood of one row with prior weight m; φ is used by gamma and inverse Gaussian only, as R does.
  double log_likelihood(double y, double prior, const GlmPoint& point, double dispersion) const;
};

}  // namespace lemma
