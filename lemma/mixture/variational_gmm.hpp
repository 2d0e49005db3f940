// lemma/mixture/variational_gmm.hpp
#pragma once
#include <lemma/model/method.hpp>
#include <optional>

namespace lemma {

/// A mixture of at most K Gaussians about whose parameters there are beliefs (Bishop 2006, section 10.2): with S the covariance of all
/// rows (divisor n) and m₀ their mean, before the rows
///
///     π ~ Dirichlet(α₀, …, α₀),     Λ_k ~ Wishart(ν₀, Ψ₀⁻¹), Ψ₀ = size · S,     μ_k | Λ_k ~ N(m₀, (β₀ Λ_k)⁻¹).
///
/// The posterior is approximated by q(Z) q(π) Π q(μ_k, Λ_k), which are of the same kinds; with r_ik = q(zᵢ = k), N_k = Σ wᵢ r_ik, and
/// x̄_k and N_k S_k mean and scatter of the rows by r,
///
///     r_ik ∝ exp(E log π_k + ½ E log det Λ_k − ½ E (xᵢ − μ_k)ᵀ Λ_k (xᵢ − μ_k))                                   (E)
///     α_k = α₀ + N_k,  β_k = β₀ + N_k,  ν_k = ν₀ + N_k,  m_k = (β₀ m₀ + N_k x̄_k) / β_k,
///     Ψ_k = Ψ₀ + N_k S_k + (β₀ N_k / β_k) (x̄_k − m₀)(x̄_k − m₀)ᵀ                                                  (M)
///
/// Each step raises a lower bound of log p(rows). With a small α₀ a component that explains too few rows loses them all: it switches itself
/// off, so that K need only be large enough. A new row's density averages over the beliefs: a mixture of Student's t.
///
/// Cost         for each step one scan, O(n K p²); O(K p²) memory.
/// Certificate  consistent: one more step from scratch, by eigenvectors instead of triangles, moves no share, no mean and no covariance
///              farther than `tolerance`, at most 1e-3; the bound is found by another formula, as the evidence of the rows that r parts
///              plus the entropy of r, where no expectation appears; and it never fell on its way.
struct VariationalGmm {
  int components = 10;
  std::optional<double> concentration;
  double strength = 1;
  std::optional<double> degrees;
  double size = 1;
  int restarts = 5;
  int max_iterations = 2000;
  double tolerance = 1e-6;

  static constexpr std::string_view name = "variational_gmm";
  static constexpr MethodAbout about{
      .family = "mixture",
      .task = Task::clustering,
      .summary =
          "a Bayesian mixture of Gaussians by variational inference: components that are not needed switch themselves "
          "off",
      .objective = "maximise a lower bound of log p(rows) over q(Z) q(pi) prod q(mu_k, Lambda_k), from several starts",
      .example = "lemma fit variational_gmm faithful '~ eruptions + waiting' --components 6",
      .scans = true,
      .takes_weights = true,
      .uses_response = false,
      .random = true};
  static constexpr auto params() {
    using S = VariationalGmm;
    return Listing{
        param("components", &S::components, "the most Gaussians there may be", at_least(1)),
        param("concentration", &S::concentration,
              "alpha0 of the prior of the shares: small ones switch components off; auto: 1/components", above(0),
              Step::logarithmic),
        param("strength", &S::strength, "beta0, the rows that the mean of all rows is worth as the mean of a component",
              above(0), Step::logarithmic),
        param("degrees", &S::degrees, "nu0, the rows that the prior of a covariance is worth, above p - 1; auto: p",
              above(0)),
        param("size", &S::size, "Psi0 in units of the covariance of all rows", above(0), Step::logarithmic),
        param("restarts", &S::restarts, "starts from k-means, of which the greatest bound is kept", at_least(1)),
        param("max_iterations", &S::max_iterations, "most steps of one start", at_least(1)),
        param("tolerance", &S::tolerance,
              "stop when a step moves no share, mean (in standard deviations of its component) or covariance (relative "
              "to itself) farther",
              within(0, 1), Step::logarithmic)};
  }
};
static_assert(Described<VariationalGmm>);

struct VariationalGmmModel : Evidence {
  VariationalGmm spec;  // with the values that were chosen
  Vector weights;
  Vector rows;  // N_k, falling
  Matrix means;
  Matrix covariances;  // Ψ_k / ν_k below each other
  int alive = 0;
  double lower_bound = 0;
  int iterations = 0;
  Vector trace;
  Vector centre;  // m₀
  Matrix spread;  // S

  static constexpr auto fields() {
    using M = VariationalGmmModel;
    return Listing{result("weights", &M::weights, "expected share of each component, the largest first"),
                   result("rows", &M::rows, "how many rows each component has: next to none where it is switched off"),
                   result("means", &M::means, "expected mean of each component, one in each row", kByFeature),
                   result("covariances", &M::covariances,
                          "of the components below each other: the inverse of the expected precision", kByFeature),
                   result("alive", &M::alive, "components with half a row at least"),
                   result("lower_bound", &M::lower_bound, "of log p(rows): compare choices of the prior with it"),
                   result("iterations", &M::iterations, "of the start that was kept"),
                   result("trace", &M::trace, "lower bound at each of them: it never falls"),
                   state("centre", &M::centre, "mean of all rows, m0"),
                   state("spread", &M::spread, "covariance of all rows, S")};
  }
  Index width() const { return means.cols(); }
  Index k() const { return means.rows(); }
  void check() const;
  Labels assign(const MatrixView& x) const;
  Matrix memberships(const MatrixView& x) const;  // r
  Vector log_density(const MatrixView& x) const;  // of the predictive
  DrawnRows draw(Index count, std::uint64_t seed) const;
  std::string summary(const Names& names) const;
};

VariationalGmmModel fit(const Valid<VariationalGmm>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const VariationalGmmModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<VariationalGmm>();

}  // namespace lemma
