// lemma/reduce/pca.hpp
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

/// How the axes are found. Left to the method: `covariance` where there are at least as many rows as columns, else
/// `gram`; and `svd` in their place where a kept variance is so small beside the first that squares would lose its digits.
enum class PcaSolver {
  covariance,  // eigenvectors of XᵀX, by one scan
  gram,        // eigenvectors of XXᵀ: for more columns than rows; the rows are gathered in memory
  svd,         // singular vectors of X, by merged triangles: half the digits of a variance are not lost to squaring
  randomized   // the leading ones only, from a random block Krylov space, by a few scans
};
constexpr auto names_of(PcaSolver) {
  return std::array<std::string_view, 4>{"covariance", "gram", "svd", "randomized"};
}

/// How many components to keep, where that is left open: those before the first whose variance is not above
enum class PcaRule {
  permutation,   // what columns shuffled one by one give by chance (Horn's parallel analysis)
  broken_stick,  // the k-th longest piece of the total variance broken at random: (total / m) Σ_{j=k…m} 1/j
  kaiser         // the mean variance of the columns: 1 with `scale`
};
constexpr auto names_of(PcaRule) { return std::array<std::string_view, 3>{"permutation", "broken_stick", "kaiser"}; }

/// Principal components: the orthonormal axes v₁, v₂, … along which the rows vary most,
///
///     S v = λ v,  λ₁ ≥ λ₂ ≥ …,     S = Σ w (x − mean)(x − mean)ᵀ / (n − 1),  n = Σ w
///
/// and S of the columns divided by their standard deviations (the correlations) with `scale`. A row's scores are
/// zⱼ = vⱼ·(x − mean), divided by sdevⱼ = √λⱼ with `whiten`. Each axis is turned so that its largest entry in size is
/// positive. Components without variance (beyond rounding) are left out. With a `rule` all three counts are told; a shuffle
/// starts from the sorted values of a column, so that the order of the rows does not matter.
///
/// Cost         covariance: one scan, O(n p²) time and O(p²) memory. gram: O(n² p) and a copy of the rows. svd: O(n p²),
///              about four times the covariance's. randomized: O(n p (k + oversampling)) for each pass.
///              rule: the rows in memory, and a covariance or gram for each of the permutations.
/// Certificate  optimal: the worst of ‖S v − λ v‖ / λ₁, VᵀV − I, the mean, the scale and the total variance, with S made
///              anew from the rows about the model's mean; and nothing above λ_k is left outside the axes, which a
///              Cholesky factor of (λ_k + tolerance) I − (S − VΛVᵀ) proves. With more than 2048 columns S is only applied to
///              the axes and to probing directions outside; unless the variance left over is below λ_k, the claim is then
///              `stationary`. With a rule `verify` shuffles anew and counts again.
struct Pca {
  std::optional<double> components;
  bool center = true;
  bool scale = false;
  bool whiten = false;
  std::optional<PcaSolver> solver;
  int oversampling = 10;
  int max_iterations = 7;
  std::optional<PcaRule> rule;
  int permutations = 100;
  double level = 0.95;

  static constexpr std::string_view name = "pca";
  static constexpr MethodAbout about{
      .family = "reduce",
      .task = Task::transformation,
      .summary = "principal components: the orthogonal axes along which the rows vary most",
      .objective = "S v = lambda v, S the covariance (divisor n - 1) or, with scale, the correlation matrix",
      .example = "lemma fit pca crabs '~ FL + RW + CL + CW + BD' --components 2",
      .scans = true,
      .takes_weights = true,
      .uses_response = false,
      .random = true};
  static constexpr auto params() {
    return Listing{
        param("components", &Pca::components,
              "how many to keep: a whole number, or the share of the variance to reach (below 1); by default all",
              above(0)),
        param("center", &Pca::center, "subtract the column means"),
        param("scale", &Pca::scale, "divide columns by their standard deviations: correlation instead of covariance"),
        param("whiten", &Pca::whiten, "scores of standard deviation 1"),
        param("solver", &Pca::solver, "how the axes are found; by default an exact one, chosen by shape"),
        param("oversampling", &Pca::oversampling, "randomized: directions beyond those asked for", at_least(1)),
        formerly("passes", param("max_iterations", &Pca::max_iterations, "randomized: passes over the rows, at most",
                                 at_least(1))),
        param("rule", &Pca::rule,
              "how many components to keep where `components` is left open; all three counts are told"),
        param("permutations", &Pca::permutations, "of a rule: how often the columns are shuffled", at_least(1)),
        param("level", &Pca::level, "of a rule: the share of the shuffles that a variance must be above",
              within(0, 1))};
  }
  void check() const;
};
static_assert(Described<Pca>);

struct PcaModel : Evidence {
  Pca spec;
  Vector sdev;                // √λ, descending
  Vector explained;           // λ / total variance
  Matrix loadings;            // one row per column of x, one column per component
  Vector mean;                // 0 where columns are not centred
  Vector scale;               // 1 where columns are not scaled
  double total_variance = 0;  // trace of S
  // Of the rows, for updates: Σ w, the mean and the scatter about it. Empty where S was never made, or beyond kMostKept columns.
  double seen_weight = 0;
  Vector seen_mean;
  Matrix seen_scatter;
  // With a rule: a row for each component there could be, kept or not, its variance and what the rules hold it against.
  Matrix scree;
  Vector suggested;
  std::int64_t seed = 0;

  static constexpr auto fields() {
    return Listing{
        result("sdev", &PcaModel::sdev, "standard deviation of each component (divisor n - 1)"),
        result("explained", &PcaModel::explained, "share of the total variance of each component"),
        result("loadings", &PcaModel::loadings, "unit axes: a row per feature, a column per component", kFeaturesDown),
        result("mean", &PcaModel::mean, "subtracted from each column", kByFeature),
        result("scale", &PcaModel::scale, "each column is divided by it", kByFeature),
        result("total_variance", &PcaModel::total_variance, "sum of the variances of all columns"),
        later(state("seen_weight", &PcaModel::seen_weight, "sum of the weights of the rows, for updates")),
        later(state("seen_mean", &PcaModel::seen_mean, "of the columns; empty beyond 500 of them")),
        later(state("seen_scatter", &PcaModel::seen_scatter, "about their means; empty beyond 500")),
        later(
            result("scree", &PcaModel::scree,
                   "with a rule: of each component the variance, that of shuffled columns, the broken stick, the mean "
                   "variance")),
        later(result("suggested", &PcaModel::suggested,
                     "with a rule: how many components to keep by permutation, broken stick and Kaiser")),
        later(state("seed", &PcaModel::seed, "that the columns were shuffled by; 0 without a rule"))};
  }
  static constexpr UpdateKind kUpdates = UpdateKind::exact;
  static constexpr Index kMostKept = 500;
  Index width() const { return loadings.rows(); }
  Index components() const { return loadings.cols(); }
  void check() const;
  Index output_width() const { return components(); }
  Matrix transform(const MatrixView& x) const;
  Matrix inverse(const MatrixView& z) const;  // the point on the kept axes; x itself when all are kept
  std::vector<std::string> output_names(const std::vector<std::string>& features) const;
  AffineMap affine() const;
  std::string summary(const Names& names) const;
};

PcaModel fit(const Valid<Pca>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const PcaModel& model, const Rows& rows, const Execution& execution);
/// The fit to all rows, from these and from the mean and scatter of those before.
PcaModel updated(const PcaModel& model, const Rows& rows, const FitOptions& options);

extern template const Method& method_of<Pca>();

}  // namespace lemma
