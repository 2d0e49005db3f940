// lemma/reduce/cca.hpp
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

/// Canonical correlations (Hotelling 1936) of two sets of columns measured on the same rows, the responses y and the others x:
///
///     ρ_k = max corr(a·x, b·y),  uncorrelated with the pairs before it
///
/// With the triangles RₓᵀRₓ and RᵧᵀRᵧ of the centred columns and M = Rₓ⁻ᵀ XᵀY Rᵧ⁻¹ = U diag(ρ) Vᵀ (Björck and Golub 1973):
/// A = √(n−1) Rₓ⁻¹ U, B = √(n−1) Rᵧ⁻¹ V. M comes from one triangle of all columns, so that no condition number is squared. A column that
/// depends on those before it takes no part. Variates have mean 0 and standard deviation 1 (divisor n − 1); each pair is turned so that of
/// the correlations of the x with their variate the largest in size is positive.
///
/// Bartlett's test: −(n − 1 − (p + q + 1)/2) Σ_{j ≥ k} log(1 − ρ_j²) is about χ² with (p − k + 1)(q − k + 1) degrees of freedom where ρ_k
/// and those after it are 0 and rows are normal.
///
/// Cost         three scans, O(n (p + q)²) time and O((p + q)²) memory.
/// Certificate  optimal: by plain sums from the rows the variates have the identity as covariance, and each pair its ρ; and the sum of
///              squares of all correlations that any variates can have, by eigenvalues of (Sₓₓ)⁻¹ Sₓᵧ (Sᵧᵧ)⁻¹ Sᵧₓ, leaves no larger one out.
struct Cca {
  std::optional<int> components;

  static constexpr std::string_view name = "cca";
  static constexpr MethodAbout about{
      .family = "reduce",
      .task = Task::transformation,
      .summary = "canonical correlations: what two sets of columns have in common",
      .objective = "max corr(a.x, b.y), each pair uncorrelated with those before it",
      .example = "lemma fit cca iris 'cbind(petal_length, petal_width) ~ sepal_length + sepal_width'",
      .scans = true,
      .takes_weights = true,
      .takes_several = true};
  static constexpr auto params() {
    return Listing{param("components", &Cca::components, "pairs of variates to keep; by default all", at_least(1))};
  }
};
static_assert(Described<Cca>);

struct CcaModel : Evidence {
  Cca spec;
  Vector correlations, p_values;
  Matrix coefficients, response_coefficients;
  Matrix loadings, response_loadings;
  Vector mean, response_mean;
  double weight = 0;
  Matrix seen_covariance;  // of columns and responses together, for updates; empty beyond kMostKept of them

  static constexpr auto fields() {
    using M = CcaModel;
    return Listing{
        result("correlations", &M::correlations, "rho of each pair of variates, descending"),
        result("p_values", &M::p_values, "of Bartlett's test that this correlation and all after it are 0"),
        result("coefficients", &M::coefficients, "A: x variates are (x - mean) times it; a row per feature",
               kFeaturesDown),
        result("response_coefficients", &M::response_coefficients, "B: the same of the responses, a row for each"),
        result("loadings", &M::loadings, "correlations of the columns with their own variates", kFeaturesDown),
        result("response_loadings", &M::response_loadings, "the same of the responses"),
        result("mean", &M::mean, "of each column", kByFeature),
        result("response_mean", &M::response_mean, "of each response"),
        state("weight", &M::weight, "of all rows"),
        later(state("seen_covariance", &M::seen_covariance,
                    "of columns and responses together, for updates; empty beyond 500 of them"))};
  }
  static constexpr UpdateKind kUpdates = UpdateKind::exact;
  static constexpr Index kMostKept = 500;
  Index width() const { return mean.size(); }
  Index responses() const { return response_mean.size(); }
  std::vector<Index> response_classes() const {
    return responses() > 1 ? std::vector<Index>(at(responses()), 0) : std::vector<Index>{};
  }
  Index components() const { return correlations.size(); }
  void check() const;
  Index output_width() const { return components(); }
  Matrix transform(const MatrixView& x) const;
  /// Of responses: a row of numbers for each row.
  Matrix response_variates(const MatrixView& y) const;
  std::vector<std::string> output_names(const std::vector<std::string>&) const;
  AffineMap affine() const;
  std::string summary(const Names& names) const;
};

CcaModel fit(const Valid<Cca>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const CcaModel& model, const Rows& rows, const Execution& execution);
/// The fit to all rows, from these and from the means and covariance of those before.
CcaModel updated(const CcaModel& model, const Rows& rows, const FitOptions& options);

extern template const Method& method_of<Cca>();

}  // namespace lemma
