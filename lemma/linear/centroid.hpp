// lemma/linear/centroid.hpp
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

/// The nearest class mean: with means μ_k,
///
///     f_k(x) = (x − μ)·(μ_k − μ) − ½ ‖μ_k − μ‖²,        μ the mean of the μ_k,
///
/// which differs from −½ ‖x − μ_k‖² by the same for all classes; the class of greatest f_k is predicted. For two classes the
/// decision is f₁ − f₀ = (μ₁ − μ₀)·(x − ½ (μ₀ + μ₁)): a plane halfway between the means. With `scale` each column is divided
/// first by its standard deviation within the classes (divisor n − K).
///
/// Cost         one scan, O(n p) time and O(K p) memory.
/// Certificate  optimal: the means minimise Σ w ‖x − μ_class‖²; verify sums x − μ_class over each class, in units of the
///              columns' spread, and finds counts and scales anew.
struct Centroid {
  bool scale = false;

  static constexpr std::string_view name = "centroid";
  static constexpr MethodAbout about{
      .family = "linear",
      .task = Task::classification,
      .summary = "the class whose mean is nearest",
      .objective = "class of least ||x - mean_k||; for two, the sign of (m1 - m0)·(x - (m0 + m1)/2)",
      .example = "lemma fit centroid iris 'species ~ .'",
      .scans = true,
      .takes_weights = true};
  static constexpr auto params() {
    return Listing{param("scale", &Centroid::scale, "divide each column by its standard deviation within the classes")};
  }
};
static_assert(Described<Centroid>);

struct CentroidModel : Evidence {
  Centroid spec;
  Matrix means;
  Vector counts, scale;

  static constexpr auto fields() {
    using M = CentroidModel;
    return Listing{result("means", &M::means, "one row for each class", kClassesByFeature),
                   result("counts", &M::counts, "rows of each class, by weight", kByClass),
                   result("scale", &M::scale, "each column is divided by it; 1 without `scale`", kByFeature)};
  }
  static constexpr UpdateKind kUpdates = UpdateKind::exact;
  static constexpr PlaneSum kPlaneSum = PlaneSum::twofold;
  Index width() const { return means.cols(); }
  Index class_count() const { return means.rows(); }
  void check() const;
  /// One column, positive for the second class, where there are two; else one for each class.
  Matrix decision(const MatrixView& x) const;
  Labels predict(const MatrixView& x) const;
  AffineMap affine() const;
  std::string summary(const Names& names) const;
};

CentroidModel fit(const Valid<Centroid>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const CentroidModel& model, const Rows& rows, const Execution& execution);
/// The fit to all rows, from these and from the means, counts and scales of those before.
CentroidModel updated(const CentroidModel& model, const Rows& rows, const FitOptions& options);

extern template const Method& method_of<Centroid>();

}  // namespace lemma
