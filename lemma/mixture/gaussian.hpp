// lemma/mixture/gaussian.hpp
#pragma once
#include <lemma/model/method.hpp>
#include <optional>

namespace lemma {

enum class GaussianEstimate { likelihood, mcd };
constexpr auto names_of(GaussianEstimate) { return std::array<std::string_view, 2>{"likelihood", "mcd"}; }

/// One Gaussian, f(x) = N(x; μ, Σ), and the rows that hardly belong to it.
///
/// likelihood  μ and Σ maximise Σ wᵢ log f(xᵢ): the mean and the covariance with divisor n.
/// mcd         the minimum covariance determinant (Rousseeuw 1985), which up to half of the rows cannot spoil: of all sets of h
///             rows the one whose covariance has the least determinant. Steps from a set to the h rows nearest to its own
///             mean, by its own covariance, only lower the determinant (Rousseeuw and Van Driessen 1999); the best end of many
///             starts is kept. Then mean and covariance of the rows within the 0.975 quantile of χ²_p, each covariance times
///             α / P(χ²_{p+2} ≤ χ²_{p, α}), which makes it that of a Gaussian whose nearest share α was kept.
///
/// d² = (x − μ)ᵀ Σ⁻¹ (x − μ) says how far out a row lies; a row is an outlier where P(χ²_p > d²) ≤ `false_alarm`.
///
/// Cost         likelihood: one scan, O(n p²). mcd: the rows are gathered; restarts · O(n p²), of at most 2000 rows, then a few
///              steps with all.
/// Certificate  likelihood: optimal, by what the likelihood lacks to that of the best Gaussian, Σ_j (λⱼ − 1 − log λⱼ)/2 + ½ δᵀΣ⁻¹δ a row, with λ
///              the eigenvalues of Σ⁻¹S made anew about the model's mean. mcd: consistent: the h nearest rows have the raw mean and
///              covariance again, and the others follow from them.
struct Gaussian {
  GaussianEstimate estimate = GaussianEstimate::likelihood;
  std::optional<double> support;
  double false_alarm = 0.025;
  int restarts = 500;

  static constexpr std::string_view name = "gaussian";
  static constexpr MethodAbout about{
      .family = "mixture",
      .task = Task::density,
      .summary = "one Gaussian, by maximum likelihood or robustly (MCD), and the outliers from it",
      .objective =
          "maximise sum_i w_i log N(x_i; mu, Sigma); mcd: the h rows with the least determinant of their covariance",
      .example = "lemma fit gaussian iris '~ . - species'",
      .scans = true,
      .takes_weights = true,
      .uses_response = false,
      .random = true};
  static constexpr auto params() {
    return Listing{
        param("estimate", &Gaussian::estimate, "by maximum likelihood, or the minimum covariance determinant"),
        param("support", &Gaussian::support,
              "mcd: share of the rows in the set, at least a half; by default (n + p + 1) / 2n", between(0.5, 1)),
        param("false_alarm", &Gaussian::false_alarm,
              "a row is an outlier when a Gaussian one lies as far out with at most this probability", within(0, 1)),
        param("restarts", &Gaussian::restarts, "mcd: sets to begin with", at_least(1))};
  }
  void check() const;
};
static_assert(Described<Gaussian>);

struct GaussianModel : Evidence {
  Gaussian spec;
  Vector mean;
  Matrix covariance;
  double log_likelihood = 0;
  double cutoff = 0;    // d² beyond it: an outlier
  double outliers = 0;  // weight of the rows of the fit beyond it; NaN after an update, which does not see the old rows
  double weight = 0;    // Σ w, for updates; 0 in files from before there were any
  // mcd: the set of h rows.
  int set_rows = 0;
  Vector set_mean;
  Matrix set_covariance;  // divisor h, as it is

  static constexpr auto fields() {
    using M = GaussianModel;
    return Listing{
        result("mean", &M::mean, "of each column", kByFeature),
        result("covariance", &M::covariance, "likelihood: divisor n", Along{Axis::feature, Axis::feature}),
        result("log_likelihood", &M::log_likelihood, "sum of the log densities of the rows"),
        result("cutoff", &M::cutoff, "squared distance beyond which a row is an outlier: a quantile of chi-squared"),
        result("outliers", &M::outliers, "rows of the fit beyond it (their weight); not known after an update"),
        result("set_rows", &M::set_rows, "mcd: h, the rows in the set; otherwise 0"),
        state("set_mean", &M::set_mean, "mcd: mean of the set"),
        state("set_covariance", &M::set_covariance, "mcd: covariance of the set, divisor h"),
        later(state("weight", &M::weight, "sum of the weights of the rows, for updates"))};
  }
  static constexpr UpdateKind kUpdates = UpdateKind::exact;
  static constexpr auto parts() {
    return Listing{part({"distance", "from the mean, in standard deviations (Mahalanobis)"}, &GaussianModel::distance),
                   part({"tail", "probability that a Gaussian row lies as far out"}, &GaussianModel::tail),
                   part({"outlier", "1 where it is at most the false alarm, else 0"}, &GaussianModel::outlier)};
  }
  Index width() const { return mean.size(); }
  void check() const;
  Vector log_density(const MatrixView& x) const;
  Vector distance(const MatrixView& x) const;
  Vector tail(const MatrixView& x) const;
  Vector outlier(const MatrixView& x) const;
  DrawnRows draw(Index count, std::uint64_t seed) const;
  std::string summary(const Names& names) const;
};

GaussianModel fit(const Valid<Gaussian>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const GaussianModel& model, const Rows& rows, const Execution& execution);
/// The Gaussian of all rows, from these and from the weight, mean and covariance of those before. Error for mcd.
GaussianModel updated(const GaussianModel& model, const Rows& rows, const FitOptions& options);

extern template const Method& method_of<Gaussian>();

}  // namespace lemma
