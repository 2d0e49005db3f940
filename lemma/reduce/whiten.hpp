// lemma/reduce/whiten.hpp
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

enum class Whitening {
  pca,  // scores along the principal axes
  zca   // turned back to the columns: of all whitenings the one that changes the rows least
};
constexpr auto names_of(Whitening) { return std::array<std::string_view, 2>{"pca", "zca"}; }

/// Brings the columns to mean 0, standard deviation 1 and no correlation. With the covariance S = V Λ Vᵀ (divisor n − 1),
///
///     pca  z = (Λ + ridge)^−½ Vᵀ (x − mean)        zca  z = V (Λ + ridge)^−½ Vᵀ (x − mean)
///
/// ridge = epsilon · trace(S) / p keeps directions of small variance from being blown up.
///
/// Columns are independent or not whatever their units: the rank is that of the correlations.
///
/// Cost         one scan, O(n p²) time and O(p²) memory, and O(p³).
/// Certificate  optimal: the whitened rows, scanned again by plain sums, have mean 0 and covariance I − ridge M Mᵀ, where M
///              is the matrix of the map (the identity without a ridge), and M is symmetric (zca) or has orthogonal rows,
///              shortest first (pca), all to 1e-8.
struct Whiten {
  Whitening kind = Whitening::pca;
  double epsilon = 0;

  static constexpr std::string_view name = "whiten";
  static constexpr MethodAbout about{
      .family = "reduce",
      .task = Task::transformation,
      .summary = "brings the columns to mean 0, standard deviation 1 and no correlation",
      .objective = "z = Lambda^-1/2 V' (x - mean), or V times that (zca), where the covariance is V Lambda V'",
      .example = "lemma fit whiten crabs '~ FL + RW + CL + CW + BD' --kind zca",
      .scans = true,
      .takes_weights = true,
      .uses_response = false};
  static constexpr auto params() {
    return Listing{
        param("kind", &Whiten::kind, "scores along the principal axes, or turned back to the columns"),
        param("epsilon", &Whiten::epsilon, "added to each variance, as a share of the mean variance", at_least(0))};
  }
};
static_assert(Described<Whiten>);

struct WhitenModel : Evidence {
  Whiten spec;
  Vector mean;
  Vector sdev;             // √(λ + ridge), descending
  Matrix loadings;         // V: a row per column of x, an axis per column
  double seen_weight = 0;  // Σ w; 0 in an older file

  static constexpr auto fields() {
    return Listing{
        result("mean", &WhitenModel::mean, "subtracted from each column", kByFeature),
        result("sdev", &WhitenModel::sdev, "standard deviation along each axis, ridge included"),
        result("loadings", &WhitenModel::loadings, "unit axes: a row per feature, a column per axis", kFeaturesDown),
        later(state("seen_weight", &WhitenModel::seen_weight, "sum of the weights of the rows"))};
  }
  static constexpr UpdateKind kUpdates = UpdateKind::exact;
  Index width() const { return mean.size(); }
  void check() const;
  Index output_width() const { return width(); }
  Matrix transform(const MatrixView& x) const;
  Matrix inverse(const MatrixView& z) const;
  std::vector<std::string> output_names(
      const std::vector<std::string>& features) const;  // zca keeps the names, pca has W1, W2, …
  AffineMap affine() const;
  std::string summary(const Names& names) const;
};

WhitenModel fit(const Valid<Whiten>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const WhitenModel& model, const Rows& rows, const Execution& execution);
/// The fit to all rows, from these and from the mean and covariance of those before, which V, Λ and n are.
WhitenModel updated(const WhitenModel& model, const Rows& rows, const FitOptions& options);

extern template const Method& method_of<Whiten>();

}  // namespace lemma
