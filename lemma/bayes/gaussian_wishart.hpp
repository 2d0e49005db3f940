// lemma/bayes/gaussian_wishart.hpp: beliefs about the mean and covariance of all columns together.
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

/// Rows are x ~ N(μ, Σ) in p columns, with the conjugate prior μ | Σ ~ N(m, Σ/k) and Σ⁻¹ ~ Wishart(ν, Ψ⁻¹), E Σ = Ψ / (ν − p − 1).
/// After n rows of mean x̄ and scatter S = Σ (x − x̄)(x − x̄)ᵀ the posterior is of the same kind:
///
///     k' = k + n,   ν' = ν + n,   m' = (k m + n x̄) / k',   Ψ' = Ψ + S + (k n / k') (x̄ − m)(x̄ − m)ᵀ.
///
/// A mean μ_j is then Student's t with d = ν' − p + 1 degrees about m'_j, of squared scale Ψ'_jj / (k' d), and a new row
/// (the predictive) multivariate t with d degrees about m', of scale matrix Ψ' (k' + 1) / (k' d). The evidence is
///
///     log p(rows) = −(n p / 2) log π + log Γ_p(ν'/2) − log Γ_p(ν/2) + (ν/2) log det Ψ − (ν'/2) log det Ψ' + (p/2) log(k / k').
///
/// Cost         one scan, O(n p²) time and O(p²) memory, and O(p³).
/// Certificate  optimal: mean and scatter made anew by plain sums about the model's mean, the posterior held against them, and
///              the evidence against likelihood times prior over posterior at one (μ, Σ).
struct GaussianWishart {
  std::vector<double> mean;
  double strength = 0.01;
  std::optional<double> degrees;
  Matrix covariance;
  double level = 0.95;

  static constexpr std::string_view name = "gaussian_wishart";
  static constexpr MethodAbout about{
      .family = "bayes",
      .task = Task::density,
      .summary = "conjugate Bayesian model of the mean and covariance of all columns: normal and Wishart",
      .objective = "p(mu, S | rows) = p(mu, S) prod N(x; mu, S) / p(rows), in closed form",
      .example = "lemma fit gaussian_wishart faithful '~ eruptions + waiting' --mean 3,70",
      .scans = true,
      .takes_weights = true,
      .uses_response = false};
  static constexpr auto params() {
    using S = GaussianWishart;
    return Listing{
        param("mean", &S::mean, "m, expected mean of each column; none: 0"),
        param("strength", &S::strength, "k, the rows that this expectation is worth", above(0), Step::logarithmic),
        param("degrees", &S::degrees, "nu, the rows that the expected covariance is worth, above p + 1; auto: p + 2",
              above(0)),
        param("covariance", &S::covariance, "expected covariance, positive definite; none: the identity"),
        param("level", &S::level, "probability of the credible intervals", within(0, 1))};
  }
};
static_assert(Described<GaussianWishart>);

struct GaussianWishartModel : Evidence {
  GaussianWishart spec;  // with the values that were chosen
  double rows = 0;
  Vector mean;
  double strength = 0, degrees = 0;
  Matrix scale;
  Matrix covariance;
  Matrix intervals;
  double log_evidence = 0;
  Vector row_mean;
  Matrix scatter;

  static constexpr auto fields() {
    using M = GaussianWishartModel;
    return Listing{result("rows", &M::rows, "how many there were, by weight"),
                   result("mean", &M::mean, "m', expected mean of each column", kByFeature),
                   result("strength", &M::strength, "k', the rows that it is worth"),
                   result("degrees", &M::degrees, "nu'"),
                   result("scale", &M::scale, "Psi'", kByFeature),
                   result("covariance", &M::covariance, "expected covariance, Psi' / (nu' - p - 1)", kByFeature),
                   result("intervals", &M::intervals,
                          "of each column's mean: standard deviation, and lower and upper end of its credible interval",
                          kFeaturesDown),
                   result("log_evidence", &M::log_evidence, "log p(rows), after all updates"),
                   state("row_mean", &M::row_mean, "of the rows"),
                   state("scatter", &M::scatter, "of the rows about it")};
  }
  static constexpr UpdateKind kUpdates = UpdateKind::exact;
  Index width() const { return mean.size(); }
  void check() const;
  Vector log_density(const MatrixView& x) const;  // of the predictive
  /// From the predictive. Row i depends on the seed and i alone.
  DrawnRows draw(Index count, std::uint64_t seed) const;
  std::string summary(const Names& names) const;
};

GaussianWishartModel fit(const Valid<GaussianWishart>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const GaussianWishartModel& model, const Rows& rows, const Execution& execution);
/// The posterior is the prior of these rows.
GaussianWishartModel updated(const GaussianWishartModel& model, const Rows& rows, const FitOptions& options);

extern template const Method& method_of<GaussianWishart>();

}  // namespace lemma
