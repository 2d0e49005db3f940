// lemma/mixture/mixture.hpp
#pragma once
#include <lemma/mixture/shared/criteria.hpp>
#include <lemma/mixture/shared/em.hpp>
#include <lemma/model/method.hpp>
#include <optional>

namespace lemma {

/// online: one pass of stepwise EM (Cappé and Moulines 2009), a step for every few rows, before EM goes on from where it ends.
enum class MixtureSolver { em, squarem, online };
constexpr auto names_of(MixtureSolver) { return std::array<std::string_view, 3>{"em", "squarem", "online"}; }

/// A mixture of K sources in which columns are independent, each of a family of its own, by maximum likelihood:
///
///     f(x) = Σ_k π_k Π_j f_kj(xⱼ),     maximise  ℓ = Σᵢ wᵢ log f(xᵢ)
///
///     gaussian     N(μ, σ²)                                  bernoulli    p^x (1 − p)^(1−x), x 0 or 1
///     categorical  p_level: latent classes                   poisson      e^−λ λ^x / x!, x a whole number
///     exponential  e^(−x/θ) / θ, x ≥ 0                       multinomial  all columns of this kind are counts of one:  N! Π p_j^xⱼ / xⱼ!
///
/// EM (shared/em.hpp) goes from a start to a fixed point, in which every parameter is that of its column in the rows, weighted by how far
/// they belong to the component. A missing value leaves its factor out (missing at random). So that ℓ has a greatest value, no variance,
/// rate or scale is below `floor` times that of all rows, no probability below `floor`: the M-step's maximum under these bounds, so
/// that ℓ still never falls. What EM climbs is the free energy F(q, θ) ≤ ℓ(θ), and `trace` is F at each E-step, where it is ℓ.
///
/// Cost         for each iteration one scan, O(n K p); O(K p) memory.
/// Certificate  consistent: one more step from scratch, by the formulas of the families instead of tables of logarithms, moves no
///              parameter (a mean in standard deviations, variances, rates and scales relative to themselves, probabilities as they
///              are) farther than `tolerance`; ℓ and the criteria are those of the rows, and ℓ never fell on its way.
struct Mixture {
  std::vector<double> components = {3};
  std::vector<std::string> kinds;
  std::optional<int> restarts;
  double floor = 1e-6;
  MixtureSolver solver = MixtureSolver::em;
  int max_iterations = 2000;
  double tolerance = 1e-6;

  static constexpr std::string_view name = "mixture";
  static constexpr MethodAbout about{
      .family = "mixture",
      .task = Task::clustering,
      .summary = "a mixture of sources with independent columns: numbers, yes and no, levels (latent classes), counts",
      .objective = "maximise Σ w log Σ_k π_k Π_j f_kj(xᵢⱼ), by EM from several starts",
      .example = "lemma fit mixture house_votes '~ . - Class' --components 2",
      .scans = true,
      .takes_weights = true,
      .takes_missing = true,
      .takes_codes = true,
      .uses_response = false,
      .random = true};
  static constexpr auto params() {
    return Listing{
        param("components", &Mixture::components,
              "number of sources; of several (1,2,3,4) the one with the least BIC is taken", at_least(1)),
        param(
            "kinds", &Mixture::kinds,
            "gaussian, bernoulli, poisson, exponential, multinomial or categorical: one for all columns of numbers, or "
            "one for each column; none, or auto: categories are categorical, numbers gaussian"),
        param("restarts", &Mixture::restarts, "starts, of which the best result is kept; by default 5", at_least(1)),
        param("floor", &Mixture::floor, "least probability, and least variance, rate or scale beside that of all rows",
              between(1e-12, 0.1), Step::logarithmic),
        param("solver", &Mixture::solver,
              "EM, EM with accelerated steps that never lower the likelihood, or EM after a pass of steps by few rows"),
        param("max_iterations", &Mixture::max_iterations, "most iterations of one start", at_least(1)),
        param("tolerance", &Mixture::tolerance,
              "stop when a step moves no weight, mean (in standard deviations), variance, rate or scale (relative to "
              "itself) or probability farther",
              within(0, 1), Step::logarithmic)};
  }
  void check() const;
};
static_assert(Described<Mixture>);

struct MixtureModel : SearchedMixture {
  using Base = SearchedMixture;
  Mixture spec;  // with the kind of each column
  Matrix values, variances, probabilities;
  Labels levels;
  Vector column_means, column_variances;

  static constexpr auto fields() {
    using M = MixtureModel;
    return joined(
        first_fields(),
        Listing{
            result("values", &M::values,
                   "of each component and column: mean, probability of 1, rate, scale, or share of the counts; 0 for "
                   "categories",
                   kByFeature),
            result("variances", &M::variances, "of each component and gaussian column; else 0", kByFeature),
            result("probabilities", &M::probabilities,
                   "of each component: of the levels of the first categorical column, then of the next"),
            state("levels", &M::levels, "how many each column has; 0: it holds numbers"),
            state("column_means", &M::column_means, "of the values of all rows: what floors are shares of"),
            state("column_variances", &M::column_variances, "of the values of all rows")},
        last_fields("whether a parameter is held up by the floor",
                    "log-likelihood, which is the free energy, at each of them: it never falls"));
  }
  Index width() const { return values.cols(); }
  Index k() const { return values.rows(); }
  void check() const;
  Labels assign(const MatrixView& x) const;
  Matrix memberships(const MatrixView& x) const;
  Vector log_density(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

MixtureModel fit(const Valid<Mixture>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const MixtureModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Mixture>();

}  // namespace lemma
