// lemma/kernel/kernel_perceptron.hpp
#pragma once
#include <lemma/kernel/shared/rows.hpp>
#include <lemma/model/method.hpp>
#include <lemma/model/one_vs_rest.hpp>
#include <lemma/model/path.hpp>

namespace lemma {

/// The perceptron in the space of a kernel: rows are taken one after the other, and a function f + b with
/// f = Σ αⱼ k(·, xⱼ) that has a row on its wrong side (or on its border) is moved towards it,
///
///     αᵢ ← αᵢ + s,  b ← b + s,        s = +1 for the positive class, −1 for the other:   |αᵢ| counts the mistakes on row i,
///
/// until a pass over all rows changes nothing: then f + b separates the classes. With a margin γ between them in the space
/// and k(x, x) ≤ R² that takes at most (R/γ)² updates (Novikoff). Where nothing separates them the updates never end; after
/// `passes` of them the work stops, says so, and gives the function that went longest without a mistake (Gallant's pocket).
/// More than two classes: one function for each, against all others.
///
/// Cost         O(n) for an update, and n kernel values for the first mistake on a row; they are kept while there is room.
///              Only rows with αᵢ ≠ 0 are kept by the model.
/// Certificate  optimal when all functions separate: no row is on the wrong side. Otherwise nothing is claimed.
struct KernelPerceptron {
  Kernel kernel;
  int max_iterations = 200;
  bool intercept = true;
  double gigabytes = 1;

  static constexpr std::string_view name = "kernel_perceptron";
  static constexpr MethodAbout about{
      .family = "kernel",
      .task = Task::classification,
      .summary = "a function of a kernel between two classes, where there is one",
      .objective =
          "alpha + s for each row on the wrong side of f(x) = sum alpha k(x, x_j) + b (s = +1 or -1), until none is",
      .example = "lemma fit kernel_perceptron crabs 'sp ~ FL + RW + CL + CW + BD' --kernel 'rbf(0.1)'",
      .keeps_rows = true,
      .takes_weights = true,
      .takes_sparse = true,
      .row_order_matters = true};
  static constexpr auto params() {
    using S = KernelPerceptron;
    return Listing{
        param("kernel", &S::kernel, "inner product of the features"),
        formerly("passes", param("max_iterations", &S::max_iterations, "passes over the rows after which it gives up",
                                 between(1, 1e9))),
        param("intercept", &S::intercept, "learn b too; else it is 0"),
        param("gigabytes", &S::gigabytes, "gigabytes of kernel values that are kept; others are made again", above(0))};
  }
  Needs needs(Needs usual) const {
    usual.letters = kernel.letters();
    return usual;
  }
};
static_assert(Described<KernelPerceptron>);

struct KernelPerceptronModel : Evidence {
  KernelPerceptron spec;
  PathNumbers intercept, margin, errors, updates, passes;
  RowNumbers support;
  KeptRows support_vectors;
  PathMatrix dual_coefficients;  // a row for each function
  std::int64_t order = 0;        // 0: not known, as in a file of before it was kept

  static constexpr auto fields() {
    using M = KernelPerceptronModel;
    return Listing{
        result("intercept", &M::intercept, "b, of each function where there are several; so are all that follow"),
        result("margin", &M::margin,
               "distance of the nearest row from the border in the kernel's space; negative where one is on the wrong "
               "side"),
        result("errors", &M::errors, "weight of the rows on the wrong side"),
        result("updates", &M::updates, "mistakes that were made"),
        result("passes", &M::passes, "passes over the rows, with the one that changed nothing"),
        state("support", &M::support, "numbers of the rows that are kept among the training rows, from 1"),
        state("support_vectors", &M::support_vectors, "the rows themselves; of a precomputed kernel none are kept"),
        state("dual_coefficients", &M::dual_coefficients, "alpha of each kept row; a row for each function"),
        state("order", &M::order, "fingerprint of the training rows in their order, which `support` counts")};
  }
  Index width() const { return support_vectors.width; }
  Index functions() const { return dual_coefficients.of.rows(); }
  Index class_count() const { return classes_for(functions()); }
  void check() const;
  Matrix decision(const MatrixView& x) const;  // f(x) + b, a column for each function
  Labels predict(const MatrixView& x) const;
  /// All of it, with the kernel computed once.
  Prediction prediction(const MatrixView& x, const PredictOptions& options) const;
  std::string summary(const Names& names) const;
};

/// Files of before `order` was kept are read as well.
void read_fields(KernelPerceptronModel& model, const Value& value);

KernelPerceptronModel fit(const Valid<KernelPerceptron>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const KernelPerceptronModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<KernelPerceptron>();

}  // namespace lemma
