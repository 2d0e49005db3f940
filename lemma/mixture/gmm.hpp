// lemma/mixture/gmm.hpp
#pragma once
#include <lemma/mixture/shared/criteria.hpp>
#include <lemma/mixture/shared/em.hpp>
#include <lemma/model/method.hpp>
#include <optional>
#include <variant>

namespace lemma {

enum class Covariance { full, diagonal, spherical, tied };
constexpr auto names_of(Covariance) { return std::array<std::string_view, 4>{"full", "diagonal", "spherical", "tied"}; }
enum class GmmStart { kmeans, random };
constexpr auto names_of(GmmStart) { return std::array<std::string_view, 2>{"kmeans", "random"}; }

/// A mixture of K Gaussians by maximum likelihood:
///
///     f(x) = Σ_k π_k N(x; μ_k, Σ_k),     maximise  ℓ = Σᵢ wᵢ log f(xᵢ)
///
/// with Σ_k of its own (full), of its variances alone (diagonal), σ_k² I (spherical), one Σ for all (tied), or σ² I with a given
/// σ² (`variance`), whose limit σ² → 0 is k-means. EM (shared/em.hpp) goes from a start to a fixed point
///
///     π_k = n_k / n,   μ_k = Σ wᵢ r_ik xᵢ / n_k,   Σ_k = Σ wᵢ r_ik (xᵢ − μ_k)(xᵢ − μ_k)ᵀ / n_k,      n_k = Σ wᵢ r_ik
///
/// ℓ has no upper bound: a component may shrink onto a few rows. So Σ_k ⪰ floor · S is asked for, S the covariance of all rows
/// (diagonal: its variances; spherical: their mean), and the M-step's maximum under it is Σ_k with its eigenvalues in units of S
/// clipped at the floor: ℓ still never falls. Of several starts the greatest ℓ is kept; one in which the floor binds only when it
/// binds in all. Of several K the one with the least BIC is.
///
/// Cost         for each iteration one scan, O(n K p²) (diagonal, spherical: O(n K p)); O(K p²) memory.
/// Certificate  consistent: one more step from scratch, by eigenvectors instead of triangles, moves no weight, no mean (in
///              standard deviations of its component) and no covariance (relative to itself) farther than `tolerance`, at most
///              1e-3; ℓ and the criteria are those of the rows, and ℓ never fell on its way.
struct Gmm {
  std::vector<double> components = {3};
  Covariance covariance = Covariance::full;
  std::optional<double> variance;
  std::variant<GmmStart, Matrix> start = GmmStart::kmeans;
  std::optional<int> restarts;
  double floor = 1e-6;
  em::Solver solver = em::Solver::em;
  int max_iterations = 1000;
  double tolerance = 1e-6;

  static constexpr std::string_view name = "gmm";
  static constexpr MethodAbout about{
      .family = "mixture",
      .task = Task::clustering,
      .summary = "a mixture of Gaussians by maximum likelihood: soft clusters, a density, rows to draw",
      .objective = "maximise sum_i w_i log sum_k pi_k N(x_i; mu_k, Sigma_k), by EM from several starts",
      .example = "lemma fit gmm iris '~ . - species' --components 3",
      .scans = true,
      .takes_weights = true,
      .uses_response = false,
      .random = true};
  static constexpr auto params() {
    return Listing{
        param("components", &Gmm::components,
              "number of Gaussians; of several (1,2,3,4) the one with the least BIC is taken", at_least(1)),
        param("covariance", &Gmm::covariance,
              "what the covariances may be: each its own (full), variances alone (diagonal), one variance each "
              "(spherical), one for all (tied)"),
        param("variance", &Gmm::variance,
              "this variance in every column of every component, not learned; needs covariance spherical", above(0)),
        param("start", &Gmm::start,
              "where to begin: kmeans (its clusters), random (rows as means, the covariance of all rows), or a file "
              "with one mean in each row"),
        param("restarts", &Gmm::restarts,
              "starts, of which the best result is kept; by default 5, or 1 from given means", at_least(1)),
        param("floor", &Gmm::floor, "no covariance is smaller in any direction than this share of that of all rows",
              between(1e-12, 0.1), Step::logarithmic),
        param("solver", &Gmm::solver, "EM, or EM with accelerated steps that never lower the likelihood"),
        param("max_iterations", &Gmm::max_iterations, "most iterations of one start", at_least(1)),
        param("tolerance", &Gmm::tolerance,
              "stop when a step moves no weight, mean (in standard deviations of its component) or covariance "
              "(relative to itself) farther",
              within(0, 1), Step::logarithmic)};
  }
  void check() const;
};
static_assert(Described<Gmm>);

struct GmmModel : SearchedMixture {
  using Base = SearchedMixture;
  Gmm spec;
  Matrix means;  // one in each row
  Matrix
      covariances;  // full: K blocks of p rows; tied: p rows; diagonal: a row of variances each; spherical: one variance each

  static constexpr auto fields() {
    return joined(
        first_fields(),
        Listing{
            result("means", &GmmModel::means, "mean of each component, one in each row", kByFeature),
            result("covariances", &GmmModel::covariances,
                   "full: those of the components below each other; tied: the one of all; diagonal: a row of variances "
                   "each; spherical: a variance each",
                   kByFeature)},
        last_fields("whether a covariance was held up by the floor", "log-likelihood at each of them: it never falls"));
  }
  Index width() const { return means.cols(); }
  Index k() const { return means.rows(); }
  void check() const;
  Matrix covariance(Index component) const;  // p × p
  Labels assign(const MatrixView& x) const;
  Matrix memberships(const MatrixView& x) const;
  Vector log_density(const MatrixView& x) const;
  DrawnRows draw(Index count, std::uint64_t seed) const;
  std::string summary(const Names& names) const;
};

GmmModel fit(const Valid<Gmm>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const GmmModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Gmm>();

}  // namespace lemma
