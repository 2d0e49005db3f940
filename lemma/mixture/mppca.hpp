// lemma/mixture/mppca.hpp
#pragma once
#include <lemma/mixture/shared/criteria.hpp>
#include <lemma/mixture/shared/em.hpp>
#include <lemma/mixture/shared/factors.hpp>
#include <lemma/model/method.hpp>
#include <optional>

namespace lemma {

/// A mixture of probabilistic principal components (Tipping and Bishop 1999): K sources, each q hidden numbers and noise alike in all
/// columns,
///
///     f(x) = Σ_k π_k N(x; μ_k, W_k W_kᵀ + σ_k² I),     maximise  ℓ = Σᵢ wᵢ log f(xᵢ):
///
/// flat pieces, in many columns with far fewer parameters than full covariances. EM (shared/em.hpp); with S_k the covariance of the rows
/// weighted by how far they belong to k, λ₁ ≥ … its eigenvalues and U their vectors, the M-step is σ_k² = mean of λ_{q+1} … λ_p and
/// W_k = U_q (Λ_q − σ_k² I)^½. No σ_k² is below `floor` times the mean variance of the columns (λ is then cut there too), which is the
/// M-step's maximum under that bound, so that ℓ never falls.
///
/// Cost         for each iteration one scan, O(n K p²), and O(K p³).
/// Certificate  consistent: one more step by the q × q matrices of the hidden numbers, with Tipping and Bishop's W ← S W (σ² I + M⁻¹WᵀSW)⁻¹ in the
///              place of eigenvectors, moves no weight, mean, loading (in standard deviations) and no σ² farther than `tolerance`, no other W_k
///              and σ_k² are better for S_k, and ℓ never fell.
struct Mppca {
  std::vector<double> components = {3};
  std::optional<int> dimensions;
  std::optional<int> restarts;
  double floor = 1e-6;
  em::Solver solver = em::Solver::em;
  int max_iterations = 1000;
  double tolerance = 1e-6;

  static constexpr std::string_view name = "mppca";
  static constexpr MethodAbout about{
      .family = "mixture",
      .task = Task::clustering,
      .summary = "a mixture of probabilistic principal components: clusters with few directions each",
      .objective = "maximise Σ w log Σ_k π_k N(xᵢ; μ_k, W_k W_k' + σ_k² I), by EM from several starts",
      .example = "lemma fit mppca iris '~ . - species' --components 3 --dimensions 1",
      .scans = true,
      .takes_weights = true,
      .uses_response = false,
      .random = true};
  static constexpr auto params() {
    return Listing{
        param("components", &Mppca::components,
              "number of sources; of several (1,2,3,4) the one with the least BIC is taken", at_least(1)),
        param("dimensions", &Mppca::dimensions, "hidden numbers of a row, fewer than columns; by default 1",
              at_least(1)),
        param("restarts", &Mppca::restarts,
              "starts, in turn from k-means and from random rows, of which the best result is kept; by default 10",
              at_least(1)),
        param("floor", &Mppca::floor, "no noise is smaller than this share of the mean variance of the columns",
              between(1e-12, 0.1), Step::logarithmic),
        param("solver", &Mppca::solver, "EM, or EM with accelerated steps that never lower the likelihood"),
        param("max_iterations", &Mppca::max_iterations, "most iterations of one start", at_least(1)),
        param("tolerance", &Mppca::tolerance,
              "stop when a step moves no weight, mean (in standard deviations of its component) or covariance "
              "(relative to itself) farther",
              within(0, 1), Step::logarithmic)};
  }
  void check() const;
};
static_assert(Described<Mppca>);

struct MppcaModel : SearchedMixture {
  using Base = SearchedMixture;
  Mppca spec;
  Matrix means;     // one in each row
  Matrix loadings;  // those of the components below each other: p rows each
  Vector noise;     // σ² of each

  static constexpr auto fields() {
    using M = MppcaModel;
    return joined(
        first_fields(),
        Listing{result("means", &M::means, "mean of each component, one in each row", kByFeature),
                result("loadings", &M::loadings,
                       "those of the components below each other, a row for each column of the data"),
                result("noise", &M::noise, "variance of the noise of each component")},
        last_fields("whether a noise was held up by the floor", "log-likelihood at each of them: it never falls"));
  }
  Index width() const { return means.cols(); }
  Index k() const { return means.rows(); }
  factors::Factors component(Index k) const;
  void check() const;
  Labels assign(const MatrixView& x) const;
  Matrix memberships(const MatrixView& x) const;
  Vector log_density(const MatrixView& x) const;
  DrawnRows draw(Index count, std::uint64_t seed) const;
  std::string summary(const Names& names) const;
};

MppcaModel fit(const Valid<Mppca>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const MppcaModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Mppca>();

}  // namespace lemma
