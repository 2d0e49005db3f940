// lemma/density/kde.hpp
#pragma once
#include <lemma/model/method.hpp>
#include <memory>
#include <variant>

namespace lemma {

enum class DensityKernel { gaussian, epanechnikov, uniform, triangular, biweight, cosine };
constexpr auto names_of(DensityKernel) {
  return std::array<std::string_view, 6>{"gaussian", "epanechnikov", "uniform", "triangular", "biweight", "cosine"};
}

enum class BandwidthRule { rule_of_thumb, nrd0, nrd, scott, silverman, sheather_jones, likelihood, half_splits };
constexpr auto names_of(BandwidthRule) {
  return std::array<std::string_view, 8>{"rule_of_thumb", "nrd0",           "nrd",        "scott",
                                         "silverman",     "sheather_jones", "likelihood", "half_splits"};
}

/// Kernel density estimate (Parzen window) in d columns:
///
///     f(x) = (1 / n) Σ wᵢ D(‖u‖) / (c_d h₁ ⋯ h_d),      uⱼ = (xⱼ − xᵢⱼ) / hⱼ,   c_d = ∫ D(‖u‖) du,   n = Σ wᵢ
///
///     gaussian exp(−½ r²) · epanechnikov 1 − r² · uniform 1 · triangular 1 − r · biweight (1 − r²)² · cosine cos(π r / 2), the last
///     five for r ≤ 1 and 0 beyond.
///
/// h is given in the columns' units, or found by a rule (σ the standard deviation of the column with divisor n − 1, q its quartile
/// range, m = min(σ, q / 1.34)), which gives the standard deviation of the kernel: h is that over the one of D.
///
///     rule_of_thumb   1.06 σ n^(−1/(d+4))             scott      σ n^(−1/(d+4))
///     nrd0            0.9 m n^(−1/(d+4))              silverman  σ (4 / ((d + 2) n))^(1/(d+4))
///     nrd             1.06 m n^(−1/(d+4))
///     sheather_jones  one column: solves h = (2 √π n Ŝ(h))^(−1/5), Ŝ the estimate of ∫ f″² with the bandwidth that h stands for
///     likelihood      c times Scott's, c the one of the greatest Σ wᵢ log f₋ᵢ(xᵢ), f₋ᵢ without a copy of row i
///     half_splits     c of the greatest mean over 10 random halves of log f of the one half at the rows of the other
///
/// Cost         up to 1,000 rows O(n d) a place; beyond, rows in the boxes of a k-d tree of which most are not looked into, to a
///              relative error of `tolerance` at the most (kde/sums.hpp). O(n d) memory.
/// Certificate  consistent: nothing is minimised, f is its definition. The model keeps the rows of the fit, its bandwidth is the one
///              that the rule gives for them (by other sums; half_splits is searched again), and what it says at a fixed sample of places is what plain sums over all
///              rows say, within the tolerance; the leave-one-out likelihood follows too.
struct Kde {
  DensityKernel kernel = DensityKernel::gaussian;
  std::variant<BandwidthRule, std::vector<double>> bandwidth = BandwidthRule::nrd0;
  double tolerance = 1e-6;

  static constexpr std::string_view name = "kde";
  static constexpr MethodAbout about{.family = "density",
                                     .task = Task::density,
                                     .summary = "kernel density estimate: the mean of a bump at each row",
                                     .objective = "f(x) = Σ w D(‖(x - xᵢ) / h‖) / (n c h₁ ⋯ h_d)",
                                     .example = "lemma fit kde faithful '~ eruptions' --bandwidth sheather_jones",
                                     .keeps_rows = true,
                                     .takes_weights = true,
                                     .uses_response = false};
  static constexpr auto params() {
    return Listing{
        param("kernel", &Kde::kernel, "the shape of a bump"),
        param(
            "bandwidth", &Kde::bandwidth,
            "how wide a bump is, in the columns' units: one number for all or one for each, or the rule to find it by",
            above(0), Step::logarithmic),
        param("tolerance", &Kde::tolerance, "relative error that a density may have, of more than 1,000 rows",
              between(1e-12, 0.1), Step::logarithmic)};
  }
};
static_assert(Described<Kde>);

namespace kde {
/// Rows in their tree, made when first asked for and kept with the model.
class Kept;
std::shared_ptr<Kept> nothing_kept();
}  // namespace kde

struct KdeModel : Evidence {
  /// Of more rows so many are left out one by one.
  static constexpr Index kMostJudged = 2000;

  Kde spec;
  Vector bandwidth;
  double loo_log_likelihood = 0;
  Matrix points;
  Vector weights;
  std::shared_ptr<kde::Kept> kept = kde::nothing_kept();

  static constexpr std::size_t kNotStored = 1;  // kept
  static constexpr auto fields() {
    using M = KdeModel;
    return Listing{
        result("bandwidth", &M::bandwidth, "of each column, in its own units", kByFeature),
        result(
            "loo_log_likelihood", &M::loo_log_likelihood,
            "sum of the log densities of the rows, each by the others; of more than 2,000 rows from so many of them"),
        state("points", &M::points, "the rows with a weight above 0"), state("weights", &M::weights, "of the rows")};
  }
  Index width() const { return points.cols(); }
  void check() const;
  Vector log_density(const MatrixView& x) const;
  DrawnRows draw(Index count, std::uint64_t seed) const;
  std::string summary(const Names& names) const;
};

KdeModel fit(const Valid<Kde>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const KdeModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Kde>();

}  // namespace lemma
