// lemma/discriminant/qda.hpp: Gaussian classes, each with a covariance of its own.
#pragma once
#include <lemma/model/method.hpp>
#include <lemma/model/prior.hpp>

namespace lemma {

/// What the covariance of a class is: any, a diagonal, one variance in all directions; its own, or (common) one for all classes.
enum class QdaShape { full, diagonal, isotropic, common, common_diagonal, common_isotropic };
constexpr auto names_of(QdaShape) {
  return std::array<std::string_view, 6>{"full",   "diagonal",        "isotropic",
                                         "common", "common_diagonal", "common_isotropic"};
}

/// Divisor of a class's covariance, and of the pooled one: n_k − 1 and n − K, or n_k and n.
enum class ClassDivisor { unbiased, ml };
constexpr auto names_of(ClassDivisor) { return std::array<std::string_view, 2>{"unbiased", "ml"}; }

/// Quadratic discriminant analysis: class k is Gaussian with the mean m_k and the covariance Σ_k,
///
///     δ_k(x) = log π_k − ½ log det Σ_k − ½ (x − m_k)ᵀ Σ_k⁻¹ (x − m_k),
///
/// the class of greatest δ_k is predicted, and exp δ_k, normalised, are the posteriors. From the scatter of each class,
///
///     S_k = Σ w (x − m_k)(x − m_k)ᵀ / (n_k − 1),     S = Σ_k Σ w (x − m_k)(x − m_k)ᵀ / (n − K)
///
/// (n_k and n with ml), brought to their shape (a diagonal; or tr/p in all directions), Σ_k is made by two steps of
/// regularised discriminant analysis (Friedman 1989, in the form of Hastie, Tibshirani and Friedman 4.3.1):
///
///     T_k = (1 − λ) S_k + λ S   (pooling λ),        Σ_k = (1 − γ) T_k + γ (tr T_k / p) I   (sphere γ).
///
/// λ = 1, or a common shape, has one covariance for all: the classes of lda.
///
/// Cost         one scan, O(n p²) time and O(K p²) memory, and O(K p³); a row costs O(K p²).
/// Certificate  optimal: counts, means and scatters made anew by plain sums about the model's means, in units of the
///              columns' spreads in the class; the covariances that follow, and their factors, held against the model's.
struct Qda {
  QdaShape shape = QdaShape::full;
  double pooling = 0;
  double sphere = 0;
  ClassDivisor covariance = ClassDivisor::unbiased;
  PriorChoice prior = Prior::proportions;

  static constexpr std::string_view name = "qda";
  static constexpr MethodAbout about{
      .family = "discriminant",
      .task = Task::classification,
      .summary = "quadratic discriminant analysis: Gaussian classes, each with a covariance of its own",
      .objective = "delta_k(x) = log prior_k - log det S_k / 2 - (x - m_k)' S_k^-1 (x - m_k) / 2",
      .example = "lemma fit qda iris 'species ~ .'",
      .scans = true,
      .takes_weights = true};
  static constexpr auto params() {
    return Listing{
        param("shape", &Qda::shape,
              "of the covariances: any, a diagonal, or one variance; of each class, or in common"),
        param("pooling", &Qda::pooling, "how far each covariance moves towards the pooled one; 1: lda", between(0, 1)),
        param("sphere", &Qda::sphere, "how far it then moves towards one variance in all directions", between(0, 1)),
        param("covariance", &Qda::covariance, "divisors: n_k - 1 and n - K (unbiased), or n_k and n (ml)"),
        param("prior", &Qda::prior,
              "class probabilities: as in the rows, all equal, or one number per class, in their order", within(0, 1))};
  }
  void check() const { check_prior(name, prior); }
};
static_assert(Described<Qda>);

struct QdaModel : Evidence {
  Qda spec;
  Vector prior, counts;
  Matrix means;
  Matrix covariances;  // Σ_1, Σ_2, … below each other, p rows each
  Vector log_determinants;
  Matrix own;        // S_1, S_2, … as the rows have them, in the same way
  Matrix triangles;  // R_k with R_kᵀ R_k = Σ_k, in the same way

  static constexpr auto fields() {
    using M = QdaModel;
    return Listing{
        result("prior", &M::prior, "prior probability of each class", kByClass),
        result("counts", &M::counts, "rows of each class, by weight", kByClass),
        result("means", &M::means, "class means: a row per class, a column per feature", kClassesByFeature),
        result("covariances", &M::covariances,
               "of the classes, one below the other: a row per class and feature, a column per feature", kByFeature),
        result("log_determinants", &M::log_determinants, "logarithm of the determinant of each covariance", kByClass),
        state("own", &M::own, "covariances of the rows of each class, before shape, pooling and sphere"),
        state("triangles", &M::triangles, "the Cholesky factor of each covariance")};
  }
  static constexpr UpdateKind kUpdates = UpdateKind::exact;
  Index width() const { return means.cols(); }
  Index class_count() const { return means.rows(); }
  void check() const;
  Labels predict(const MatrixView& x) const;
  Matrix probabilities(const MatrixView& x) const;
  Matrix decision(const MatrixView& x) const;  // δ_k, a column per class
  /// A class by the priors, then x from its Gaussian. Row i depends on the seed and i alone.
  DrawnRows draw(Index count, std::uint64_t seed) const;
  std::string summary(const Names& names) const;

  auto covariance(Index k) const { return covariances.middleRows(k * width(), width()); }
};

QdaModel fit(const Valid<Qda>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const QdaModel& model, const Rows& rows, const Execution& execution);
/// The fit to all rows, from these and from the counts, means and covariances of those before.
QdaModel updated(const QdaModel& model, const Rows& rows, const FitOptions& options);

extern template const Method& method_of<Qda>();

}  // namespace lemma
