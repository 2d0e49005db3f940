// lemma/mixture/ppca.hpp
#pragma once
#include <lemma/mixture/shared/factors.hpp>
#include <lemma/model/method.hpp>
#include <optional>

namespace lemma {

enum class PpcaSolver { automatic, closed_form, em };
constexpr auto names_of(PpcaSolver) { return std::array<std::string_view, 3>{"auto", "closed_form", "em"}; }

/// Probabilistic principal components (Tipping and Bishop 1999): a row is q hidden numbers, and noise alike in all p columns,
///
///     x = μ + W z + e,   z ~ N(0, I_q),  e ~ N(0, σ² I);      x ~ N(μ, W Wᵀ + σ² I),    maximise  ℓ = Σᵢ wᵢ log f(xᵢ).
///
/// With the eigenvalues λ₁ ≥ λ₂ ≥ … of the covariance of the rows (divisor n) and their vectors U
///
///     σ² = mean of λ_{q+1} … λ_p,      W = U_q (Λ_q − σ² I)^½,
///
/// which no other W and σ² surpass; W is told with orthogonal columns, the longest first. Where values are missing, ℓ is that of those
/// that are known, and EM (shared/factors.hpp) goes to a fixed point. The coordinates of a row are E(z | x).
///
/// Cost         closed form: one scan, O(n p²), and O(p³). EM: a scan of O(n p q²) for each iteration (n q³ more where values are missing).
/// Certificate  closed form: optimal. What ℓ lacks to the greatest, a row, by another factorisation; it is never negative.
///              EM: consistent. One more step, by the covariance of the known values of each row, moves no mean or loading (in standard
///              deviations of its column) and no σ² (relative to itself) farther than `tolerance`, and ℓ never fell.
struct Ppca {
  std::optional<int> components;
  PpcaSolver solver = PpcaSolver::automatic;
  int max_iterations = 5000;
  double tolerance = 1e-6;

  static constexpr std::string_view name = "ppca";
  static constexpr MethodAbout about{
      .family = "mixture",
      .task = Task::density,
      .summary = "probabilistic principal components: a Gaussian with few directions, missing values allowed",
      .objective = "maximise Σ w log N(xᵢ; μ, W W' + σ² I), W with few columns",
      .example = "lemma fit ppca iris '~ . - species' --components 2",
      .scans = true,
      .takes_weights = true,
      .takes_missing = true,
      .uses_response = false};
  static constexpr auto params() {
    return Listing{
        param("components", &Ppca::components,
              "hidden numbers of a row, fewer than columns; by default 2, of two columns 1", at_least(1)),
        param("solver", &Ppca::solver, "closed form, EM, or (auto) EM where values are missing"),
        param("max_iterations", &Ppca::max_iterations, "of EM, at most", at_least(1)),
        param("tolerance", &Ppca::tolerance,
              "EM stops when a step moves no mean or loading (in standard deviations of its column) and no noise "
              "(relative to itself) farther",
              within(0, 1), Step::logarithmic)};
  }
};
static_assert(Described<Ppca>);

struct PpcaModel : Evidence {
  Ppca spec;
  Vector mean;
  Matrix loadings;   // W: a row for each column of x
  double noise = 0;  // σ²
  double log_likelihood = 0, aic = 0, bic = 0;
  int parameters = 0;
  bool missing = false;  // values were
  Vector trace;          // EM: ℓ on its way
  // Of the rows, for updates: Σ w and the covariance with divisor n. Of the closed form, up to kMostKept columns; else 0 and empty.
  double seen_weight = 0;
  Matrix seen_covariance;

  static constexpr auto fields() {
    using M = PpcaModel;
    return Listing{result("mean", &M::mean, "of each column", kByFeature),
                   result("loadings", &M::loadings, "W, a row for each column of the data", kFeaturesDown),
                   result("noise", &M::noise, "variance of the noise in each column"),
                   result("log_likelihood", &M::log_likelihood, "sum of the log densities of the rows"),
                   result("aic", &M::aic, "-2 log-likelihood + 2 parameters"),
                   result("bic", &M::bic, "-2 log-likelihood + parameters log n"),
                   result("parameters", &M::parameters, "free numbers of the model"),
                   result("missing", &M::missing, "whether values of the rows were missing"),
                   result("trace", &M::trace, "EM: log-likelihood on its way, which never falls"),
                   later(state("seen_weight", &M::seen_weight, "sum of the weights of the rows, for updates")),
                   later(state("seen_covariance", &M::seen_covariance,
                               "of the rows, divisor n; empty after EM and beyond 500 columns"))};
  }
  static constexpr UpdateKind kUpdates = UpdateKind::exact;
  static constexpr Index kMostKept = 500;
  static constexpr auto parts() {
    return Listing{
        part({"filled", "the row, its missing values at their expectation", Given::asked}, &PpcaModel::filled)};
  }
  Index width() const { return mean.size(); }
  Index output_width() const { return loadings.cols(); }
  factors::Factors factors() const { return {mean, loadings, Vector::Constant(mean.size(), noise)}; }
  void check() const;
  Vector log_density(const MatrixView& x) const;
  Matrix transform(const MatrixView& x) const;
  Matrix filled(const MatrixView& x) const;
  std::vector<std::string> output_names(const std::vector<std::string>& features) const;
  DrawnRows draw(Index count, std::uint64_t seed) const;
  std::string summary(const Names& names) const;
};

PpcaModel fit(const Valid<Ppca>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const PpcaModel& model, const Rows& rows, const Execution& execution);
/// The closed form of all rows, from these and from the mean and covariance of those before. Error after EM and where values
/// of the new rows are missing.
PpcaModel updated(const PpcaModel& model, const Rows& rows, const FitOptions& options);

extern template const Method& method_of<Ppca>();

}  // namespace lemma
