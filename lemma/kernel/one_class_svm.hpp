// lemma/kernel/one_class_svm.hpp: where rows are, and which lie outside.
#pragma once
#include <lemma/kernel/shared/rows.hpp>
#include <lemma/kernel/svm/smo.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

/// One-class support vector machine (Schölkopf and others 2001): a plane in the space of a kernel that has all but a share of
/// the rows on its far side from the origin, as far out as it can be,
///
///     minimise   P = ½ ‖w‖² − ρ + Σ Cᵢ max(0, ρ − ⟨w, φ(xᵢ)⟩),      Cᵢ = weightᵢ / (ν n),
///     maximise   D = −½ Σ αᵢ αⱼ k(xᵢ, xⱼ)      subject to   0 ≤ αᵢ ≤ Cᵢ,   Σ αᵢ = 1,
///
/// w = Σ αᵢ φ(xᵢ). The score of a row is f(x) = ⟨w, φ(x)⟩ − ρ: above 0 among the rows, below 0 outside. At most a share ν of the
/// training rows lies outside, and at least a share ν carries the plane (αᵢ > 0).
///
/// Method       sequential minimal optimisation (svm/smo.hpp); again from where it came to, with a tenth of the tolerance, while
///              the gap is too large. ρ is ⟨w, φ(x)⟩ of the rows with 0 < αᵢ < Cᵢ, or the middle of what the others allow.
/// Cost         between O(n²) and O(n³) kernel values, O(n d) memory and the cache; a row costs O(d) for each support vector.
/// Certificate  optimal: (P − D) / ½‖w‖² with the kernel's values made anew from the rows; the multipliers are held against what
///              rows of these features allow. A kernel that is not positive semidefinite has no such bound: it is refused.
struct OneClassSvm {
  double nu = 0.1;
  Kernel kernel;
  double tolerance = 1e-6;
  double cache = 200;

  static constexpr std::string_view name = "one_class_svm";
  static constexpr MethodAbout about{
      .family = "kernel",
      .task = Task::transformation,
      .summary = "one-class support vector machine: a score of each row, below 0 outside of where the others are",
      .objective = "minimise ½‖w‖² − ρ + Σ max(0, ρ − ⟨w, φ(x)⟩) / (ν n); score ⟨w, φ(x)⟩ − ρ",
      .example = "lemma fit one_class_svm faithful '~ .' --nu 0.05",
      .keeps_rows = true,
      .takes_weights = true,
      .takes_sparse = true,
      .uses_response = false,
      .row_order_matters = true};  // α is one of many within the tolerance
  static constexpr auto params() {
    using S = OneClassSvm;
    return Listing{param("nu", &S::nu, "no more than this share of the rows lies outside, no less carries the plane",
                         between(1e-6, 1), Step::logarithmic),
                   param("kernel", &S::kernel, "inner product of the features: a name, or an expression"),
                   param("tolerance", &S::tolerance, "relative duality gap at which the work ends", between(1e-12, 0.1),
                         Step::logarithmic),
                   param("cache", &S::cache, "megabytes of kernel values that are kept", above(0), Step::logarithmic)};
  }
  /// No precomputed kernel: a model does not keep its values between the rows that carry the plane, which the certificate needs.
  void check() const;
  Needs needs(Needs usual) const {
    usual.letters = kernel.letters();
    return usual;
  }
};
static_assert(Described<OneClassSvm>);

struct OneClassSvmModel : Evidence {
  OneClassSvm spec;
  double rho = 0, objective = 0;
  double n_support = 0, n_outside = 0, mass = 0;
  Vector dual_coefficients;
  KeptRows support_vectors;
  RowNumbers places;

  static constexpr auto fields() {
    using M = OneClassSvmModel;
    return Listing{result("rho", &M::rho, "how far out the plane is: a row is outside where its <w, phi(x)> is less"),
                   result("objective", &M::objective, "½ ‖w‖², of the dual"),
                   result("n_support", &M::n_support, "rows that carry the plane"),
                   result("n_outside", &M::n_outside,
                          "training rows outside, by weight: farther than the score is known to the tolerance"),
                   state("mass", &M::mass, "n, the weight of all rows"),
                   state("dual_coefficients", &M::dual_coefficients, "alpha of each support vector; their sum is 1"),
                   state("support_vectors", &M::support_vectors, "the rows themselves; none for a precomputed kernel"),
                   state("places", &M::places, "of the support vectors, for a precomputed kernel")};
  }
  static constexpr auto parts() {
    return Listing{
        part({"outlier", "yes where the score is below 0 by more than it is known to the tolerance, else no"},
             &OneClassSvmModel::outlier)};
  }
  Index width() const { return support_vectors.width; }
  void check() const;
  Vector score(const MatrixView& x) const;  // f
  Strings outlier(const MatrixView& x) const;
  Index output_width() const { return 1; }
  Matrix transform(const MatrixView& x) const { return score(x); }
  std::vector<std::string> output_names(const std::vector<std::string>&) const { return {"score"}; }
  std::string summary(const Names& names) const;
};

OneClassSvmModel fit(const Valid<OneClassSvm>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const OneClassSvmModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<OneClassSvm>();

}  // namespace lemma
