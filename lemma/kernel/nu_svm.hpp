// lemma/kernel/nu_svm.hpp: a support vector machine of which the share of margin errors is asked for, not a cost.
#pragma once
#include <lemma/kernel/shared/rows.hpp>
#include <lemma/model/method.hpp>
#include <lemma/model/path.hpp>

namespace lemma {

/// ν-support vector classification of two classes tᵢ = ±1, the second +1 (Schölkopf and others 2000):
///
///     minimise   P = ½ ‖w‖² − ν ρ + Σ cᵢ max(0, ρ − tᵢ f(xᵢ)),      f(x) = ⟨w, φ(x)⟩ + b,   cᵢ = weightᵢ / n,
///     maximise   D = −½ Σ αᵢ αⱼ tᵢ tⱼ k(xᵢ, xⱼ)      subject to   0 ≤ αᵢ ≤ cᵢ,   Σ tᵢ αᵢ = 0,   Σ αᵢ = ν,
///
/// w = Σ αᵢ tᵢ φ(xᵢ). At most a share ν of the rows has a margin error (t f < ρ), and at least a share ν carries the plane. It is the
/// machine of `svm` with C = 1 / (ρ n), divided by ρ: the decision that is told is f / ρ, which is ±1 on the margins. There is
/// one for ν up to 2 min(n₊, n₋) / n. More than two classes: a machine for each pair, of its rows alone; the class that wins most
/// of its pairs, ties by the sum of its decisions.
///
/// Method       sequential minimal optimisation: the two sums are one for each class (ν/2), so a pair of rows of one class moves,
///              that of the greatest fall of the objective (Fan, Chen and Lin 2005). Again with a tenth of the tolerance while the
///              gap is too large.
/// Cost         for each pair between O(n²) and O(n³) time, 8 n² bytes, n its rows; a row costs O(d) for each support vector to predict.
/// Certificate  optimal: (P − D) / ½‖w‖² of the worst machine with the kernel's values made anew from the rows; the multipliers are held against what
///              rows of these features and class allow. A kernel that is not positive semidefinite is refused.
struct NuSvm {
  double nu = 0.5;
  Kernel kernel;
  double tolerance = 1e-6;
  double gigabytes = 1;

  static constexpr std::string_view name = "nu_svm";
  static constexpr MethodAbout about{
      .family = "kernel",
      .task = Task::classification,
      .summary = "support vector machine by the share of margin errors that is allowed",
      .objective = "minimise ½‖w‖² − ν ρ + Σ max(0, ρ − t f(x)) / n, f(x) = ⟨w, φ(x)⟩ + b",
      .example = "lemma fit nu_svm pima_train 'type ~ .' --nu 0.4",
      .keeps_rows = true,
      .takes_weights = true,
      .takes_sparse = true,
      .row_order_matters = true};  // α is one of many within the tolerance
  static constexpr auto params() {
    using S = NuSvm;
    return Listing{
        param("nu", &S::nu, "no more than this share of a machine's rows has a margin error, no less carries the plane",
              between(1e-6, 1), Step::linear),
        param("kernel", &S::kernel, "inner product of the features: a name, or an expression"),
        param("tolerance", &S::tolerance, "relative duality gap at which the work ends", between(1e-12, 0.1),
              Step::logarithmic),
        param("gigabytes", &S::gigabytes, "gigabytes that the kernel matrix may take", above(0))};
  }
  /// No precomputed kernel: a model does not keep its values between the rows that carry the plane, which the certificate needs.
  void check() const;
  Needs needs(Needs usual) const {
    usual.letters = kernel.letters();
    return usual;
  }
};
static_assert(Described<NuSvm>);

struct NuSvmModel : Evidence {
  NuSvm spec;
  PathNumbers rho, bias, objective, cost, n_support, margin_errors;  // of each machine: (0, 1), (0, 2), …, (1, 2), …
  Vector counts;
  PathMatrix dual_coefficients;
  KeptRows support_vectors;
  RowNumbers places;

  static constexpr auto fields() {
    using M = NuSvmModel;
    return Listing{
        result("rho", &M::rho,
               "the margin is rho / |w|. Of more than two classes one for each pair, (1, 2), (1, 3), …, (2, 3), …; so "
               "are the "
               "next five"),
        result("bias", &M::bias, "b of f, before it is divided by rho"),
        result("objective", &M::objective, "½ ‖w‖², of the dual"),
        result("cost", &M::cost, "1 / (rho n): the C with which svm has the same plane"),
        result("n_support", &M::n_support, "rows that carry the plane"),
        result("margin_errors", &M::margin_errors,
               "share of the training rows with t f < rho, by weight, farther than f is known to the tolerance; at "
               "most nu"),
        result("counts", &M::counts, "rows of each class, by weight", kByClass),
        state("dual_coefficients", &M::dual_coefficients,
              "t alpha of each support vector, a row for each machine; their sizes add up to nu"),
        state("support_vectors", &M::support_vectors, "the rows themselves; none for a precomputed kernel"),
        state("places", &M::places, "of the support vectors, for a precomputed kernel")};
  }
  static constexpr auto parts() {
    return Listing{part({"machines", "f / rho of the machine of each pair of classes", Given::asked, PartColumns::own},
                        &NuSvmModel::decisions_of_machines)};
  }
  Index width() const { return support_vectors.width; }
  Index class_count() const { return counts.size(); }
  Index machine_count() const { return dual_coefficients.of.rows(); }
  void check() const;

  Matrix machine_values(const MatrixView& x) const;              // f / rho, a column for each machine
  NamedMatrix decisions_of_machines(const MatrixView& x) const;  // by their classes: versicolor_against_setosa
  /// f / rho of two classes; of several how many of its pairs each class wins, ties in favour of the larger sum of f / rho.
  Matrix decision(const MatrixView& x) const;
  Labels predict(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

NuSvmModel fit(const Valid<NuSvm>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const NuSvmModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<NuSvm>();

}  // namespace lemma
