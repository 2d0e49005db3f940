// lemma/discriminant/lda.hpp
#pragma once
#include <lemma/model/method.hpp>
#include <lemma/model/prior.hpp>

namespace lemma {

/// Divisor of the pooled covariance: n − K or n.
enum class PooledDivisor { unbiased, ml };
constexpr auto names_of(PooledDivisor) { return std::array<std::string_view, 2>{"unbiased", "ml"}; }

/// Linear discriminant analysis: each class k is Gaussian with its own mean m_k and the one covariance S of all,
///
///     S = Σ w (x − m_class)(x − m_class)ᵀ / (n − K),     S_γ = (1 − γ) S + γ diag(S)     (shrinkage γ)
///     δ_k(x) = log π_k + (x − m)ᵀ S⁻¹ (m_k − m) − ½ (m_k − m)ᵀ S⁻¹ (m_k − m),     m = Σ π_k m_k
///
/// The class of greatest δ_k is predicted; exp δ_k, normalised, are the posteriors. Fisher's coordinates (x − m)ᵀ v are along
/// the directions of greatest variance between classes for that within,
///
///     B v = λ S v,     B = n Σ π_k (m_k − m)(m_k − m)ᵀ / (K − 1),     vᵀ S v = 1
///
/// as MASS::lda has them: the columns of `scaling`, √λ in `svd`, each turned so that its largest entry in size is positive.
///
/// Cost         one scan, O(n p²) time and O(p²) memory, and O(p³). Choosing the shrinkage takes a second scan.
/// Certificate  optimal: S, means and B made anew from the rows by plain sums about the model's means; the worst of the means
///              and priors, VᵀSV − I, ‖B v − λ S v‖ in the norm of S⁻¹ over λ₁, and the trace of S⁻¹B left outside.
struct Lda {
  PriorChoice prior = Prior::proportions;
  PooledDivisor covariance = PooledDivisor::unbiased;
  std::optional<double> shrinkage = 0.0;

  static constexpr std::string_view name = "lda";
  static constexpr MethodAbout about{
      .family = "discriminant",
      .task = Task::classification,
      .summary = "linear discriminant analysis: Gaussian classes with one covariance",
      .objective =
          "delta_k(x) = log prior_k + x' S^-1 m_k - m_k' S^-1 m_k / 2; coordinates B v = lambda S v, v'S v = 1",
      .example = "lemma fit lda crabs 'sp:sex ~ log(FL) + log(RW) + log(CL) + log(CW) + log(BD)'",
      .scans = true,
      .takes_weights = true};
  static constexpr auto params() {
    return Listing{
        param("prior", &Lda::prior,
              "class probabilities: as in the rows, all equal, or one number per class, in their order", within(0, 1)),
        param("covariance", &Lda::covariance, "divisor of the pooled covariance: n - K (unbiased) or n (ml)"),
        param("shrinkage", &Lda::shrinkage,
              "how far the pooled covariance moves towards its diagonal; auto: chosen for the least expected error",
              between(0, 1))};
  }
  void check() const;
};
static_assert(Described<Lda>);

struct LdaModel : Evidence {
  Lda spec;
  Vector prior;                // of each class
  Vector counts;               // weight of each class's rows
  Matrix means;                // a row per class
  Matrix scaling;              // a row per feature, a column per discriminant
  Vector svd;                  // √λ
  Vector proportion_of_trace;  // λ / Σλ
  Matrix covariance;           // pooled, after shrinkage

  static constexpr auto fields() {
    return Listing{
        result("prior", &LdaModel::prior, "prior probability of each class", kByClass),
        result("counts", &LdaModel::counts, "rows of each class, by weight", kByClass),
        result("means", &LdaModel::means, "class means: a row per class, a column per feature", kClassesByFeature),
        result("scaling", &LdaModel::scaling, "coefficients of the linear discriminants: a row per feature",
               kFeaturesDown),
        result("svd", &LdaModel::svd, "standard deviation between classes over that within, along each discriminant"),
        result("proportion_of_trace", &LdaModel::proportion_of_trace, "share of the variance between classes"),
        result("covariance", &LdaModel::covariance, "pooled covariance within the classes, after shrinkage",
               Along{Axis::feature, Axis::feature})};
  }
  static constexpr UpdateKind kUpdates = UpdateKind::exact;
  Index width() const { return means.cols(); }
  Index class_count() const { return means.rows(); }
  void check() const;
  Labels predict(const MatrixView& x) const;
  Matrix probabilities(const MatrixView& x) const;
  Matrix decision(const MatrixView& x) const;     // δ_k, a column per class
  Matrix coordinates(const MatrixView& x) const;  // Fisher's
  std::vector<std::string> coordinate_names() const;
  AffineMap affine() const;  // of the decision
  /// A class by the priors, then x from its Gaussian. Row i depends on the seed and i alone.
  DrawnRows draw(Index count, std::uint64_t seed) const;
  std::string summary(const Names& names) const;

  Vector centre() const;
  /// What the pooled scatter was divided by: n − K, or n.
  double divisor() const;
};

LdaModel fit(const Valid<Lda>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const LdaModel& model, const Rows& rows, const Execution& execution);
/// The fit to all rows, from these and from the counts, means and pooled covariance of those before. A shrinkage that was
/// chosen stays as it is.
LdaModel updated(const LdaModel& model, const Rows& rows, const FitOptions& options);

/// The posteriors of each row of the fit by the model without it, in closed form. Nothing where the rows have weights, the
/// covariance is shrunk or singular, or a class has one row alone.
std::optional<Matrix> leave_one_out(const LdaModel& model, const Rows& rows, const Execution& execution = {});

/// Fisher's direction for two classes, S⁻¹(m₂ − m₁), of unit length and pointing from the first class to the second; the
/// ratio it maximises is (w·(m₂ − m₁))² / wᵀ S_w w, where S_w is the scatter within (no divisor). Error for more classes.
struct FisherDirection {
  Vector w;
  double ratio;
};
FisherDirection fisher_direction(const LdaModel& model);

extern template const Method& method_of<Lda>();

}  // namespace lemma
