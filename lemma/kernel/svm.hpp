// lemma/kernel/svm.hpp: support vector machines: the widest margin, for classes and for numbers.
#pragma once
#include <lemma/geometry/kept_rows.hpp>
#include <lemma/geometry/kernel/bound.hpp>
#include <lemma/kernel/svm/smo.hpp>
#include <lemma/model/class_weights.hpp>
#include <lemma/model/method.hpp>
#include <lemma/model/path.hpp>

namespace lemma {

/// How machines that tell two classes apart tell several: a machine for each pair, or for each class against the rest.
enum class MultiClass { one_vs_one, one_vs_rest };
constexpr auto names_of(MultiClass) { return std::array<std::string_view, 2>{"one-vs-one", "one-vs-rest"}; }

/// The function f(x) = ⟨w, φ(x)⟩ + b of two classes tᵢ = ±1 (the second is +1), with k(x, z) = ⟨φ(x), φ(z)⟩, that solves
///
///     minimise   ½ ‖w‖² + Σ Cᵢ ξᵢ        subject to   tᵢ f(xᵢ) ≥ 1 − ξᵢ,   ξᵢ ≥ 0,
///     maximise   Σ αᵢ − ½ Σ αᵢ αⱼ tᵢ tⱼ k(xᵢ, xⱼ)     subject to   0 ≤ αᵢ ≤ Cᵢ,   Σ tᵢ αᵢ = 0        (its dual),
///
/// w = Σ αᵢ tᵢ φ(xᵢ), Cᵢ = C · weight · class weight. C = ∞ is the hard margin. For a number yᵢ the loss is that beyond ε:
///
///     minimise   ½ ‖w‖² + Σ Cᵢ max(0, |yᵢ − f(xᵢ)| − ε)
///     maximise   Σ βᵢ yᵢ − ε Σ |βᵢ| − ½ Σ βᵢ βⱼ k(xᵢ, xⱼ)      subject to   |βᵢ| ≤ Cᵢ,   Σ βᵢ = 0,    w = Σ βᵢ φ(xᵢ).
///
/// With `slack` t in the place of C: minimise ½ ‖w‖² subject to Σ ξᵢ ≤ t, whose multiplier is the C that is found.
///
/// Method       sequential minimal optimisation of the dual (smo.hpp); again from where it came to, with a tenth of the
///              tolerance, while the gap is too large. b is the average over 0 < αᵢ < Cᵢ, or the middle of its interval.
/// Cost         between O(n²) and O(n³) kernel values of O(d), O(n d) memory and the cache. A row costs O(d) for each
///              support vector to predict.
/// Certificate  optimal: the relative duality gap (P − D) / P of the worst machine, summed row by row:
///              P − D = Σ (Cᵢ ξᵢ + αᵢ (tᵢ f(xᵢ) − 1)), f computed anew from the kept rows. Hard margin: P is that of w
///              stretched until every row has its margin. A kernel that is not positive semidefinite has no such bound:
///              stationary then, the largest violation of the KKT conditions.
struct Svm {
  double C = 1;
  Kernel kernel;
  double epsilon = 0.1;
  std::optional<double> slack;
  bool average = false;
  bool standardize = false;
  MultiClass classes = MultiClass::one_vs_one;
  ClassWeighting class_weights = ClassWeights::equal;
  bool probabilities = false;
  double tolerance = 1e-3;
  double cache = 200;
  bool shrinking = true;
  WorkingSet working_set = WorkingSet::automatic;

  static constexpr std::string_view name = "svm";
  static constexpr MethodAbout about{
      .family = "kernel",
      .task = Task::classification,
      .summary = "support vector machine: the widest margin between classes, or a tube around numbers",
      .objective = "minimise ½‖w‖² + C Σ max(0, 1 − t f(x)), f(x) = ⟨w, φ(x)⟩ + b; numbers: C Σ max(0, |y − f(x)| − ε)",
      .example = "lemma fit svm iris 'species ~ .' --C 10 --kernel 'rbf(0.25)'",
      .keeps_rows = true,
      .takes_weights = true,
      .takes_sparse = true,
      .either_response = true,
      .random = true,
      .row_order_matters = true};  // `support` counts the rows, and α is one of many within the tolerance
  static constexpr auto params() {
    return Listing{
        param("C", &Svm::C, "weight of a row's loss; inf: hard margin", above(0).or_infinite(), Step::logarithmic),
        param("kernel", &Svm::kernel, "inner product of the features: a name, or an expression"),
        param("epsilon", &Svm::epsilon, "numbers: errors up to it cost nothing", at_least(0), Step::logarithmic),
        param("slack", &Svm::slack, "the sum of losses allowed, in the place of C, which is found; auto: C is used",
              at_least(0), Step::logarithmic),
        param("average", &Svm::average, "C weighs the average loss: C / n for each of n rows"),
        param("standardize", &Svm::standardize, "bring each column to mean 0 and standard deviation 1 first"),
        param("classes", &Svm::classes, "several classes: a machine for each pair, or for each class"),
        param("class_weights", &Svm::class_weights,
              "factors on the C of the rows of each class, in their order; balanced: all classes count the same",
              at_least(0)),
        param("probabilities", &Svm::probabilities,
              "learn probabilities of classes from 5-fold cross-validation (Platt's sigmoid)"),
        param("tolerance", &Svm::tolerance,
              "relative duality gap, and violation of the KKT conditions, at which the work ends", between(1e-12, 0.1),
              Step::logarithmic),
        param("cache", &Svm::cache, "megabytes of kernel values that are kept", above(0), Step::logarithmic),
        param("shrinking", &Svm::shrinking, "leave rows out that seem settled, and look at them again at the end"),
        param("working_set", &Svm::working_set, "rows that are worked on at a time; automatic chooses by size")};
  }
  Needs needs(Needs usual) const {
    usual.letters = kernel.letters();
    return usual;
  }
  static constexpr std::string_view way_to(std::string_view part) {
    return part == kProbabilitiesPart.name ? "--probabilities true" : "";
  }
  void check() const;  // columns of a precomputed kernel, or counts of pieces, have no scale of their own
};
static_assert(Described<Svm>);

struct SvmModel : Evidence {
  Svm spec;
  RowNumbers support;
  KeptRows support_vectors;
  PathMatrix dual_coefficients;
  PathNumbers bias, objective_primal, objective_dual, gap, margin, hull_distance;
  PathNumbers n_free, n_bounded, n_support;
  Matrix machines;  // negative and positive class of each; −1: all others
  Vector class_factors;
  bool of_classes = true;
  PathNumbers sigmoid_slope, sigmoid_offset;
  std::int64_t fold_seed = 0;
  std::int64_t order = 0;  // 0: not known, as in a file of before it was kept
  PathMatrix coefficients;
  PathNumbers intercept;
  Vector mean, deviation;  // of the columns, where they are standardised; support vectors are kept so

  static constexpr auto fields() {
    using M = SvmModel;
    return Listing{
        result("support", &M::support, "numbers of the support vectors among the training rows, from 1", kRowNumbers),
        result("support_vectors", &M::support_vectors, "the rows themselves; of a precomputed kernel none are kept"),
        result("dual_coefficients", &M::dual_coefficients,
               "t alpha (numbers: beta) of each support vector; a row for each machine"),
        later(result("coefficients", &M::coefficients,
                     "linear kernel: w, in the units of the columns, a row for each machine: f(x) = x w + intercept; "
                     "else empty",
                     kByFeature)),
        later(result("intercept", &M::intercept, "linear kernel: of each machine; else empty")),
        result("bias", &M::bias, "b, of each machine where there are several; so are all that follow"),
        result("objective_primal", &M::objective_primal, "1/2 |w|^2 + sum of C losses"),
        result("objective_dual", &M::objective_dual, "of the multipliers: not above the least primal objective"),
        result("gap", &M::gap,
               "primal - dual, relative to the primal; none with a kernel that is not positive semidefinite"),
        result("margin", &M::margin, "1 / |w|; numbers: epsilon / sqrt(1 + |w|^2), half the width of the tube"),
        result("n_free", &M::n_free, "support vectors on the margin: 0 < alpha < C"),
        result("n_bounded", &M::n_bounded, "support vectors inside the margin: alpha = C"),
        result("n_support", &M::n_support, "support vectors of the machine"),
        result("hull_distance", &M::hull_distance,
               "between the means of the two classes' rows by their multipliers; no margin is wider than half of it"),
        result("machines", &M::machines, "the negative and the positive class of each, from 0; -1: all the others"),
        later(result("mean", &M::mean, "standardize: of each column; else empty", kByFeature)),
        later(result("deviation", &M::deviation, "standardize: standard deviation of each column; else empty",
                     kByFeature)),
        state("class_factors", &M::class_factors, "factors on C of the classes"),
        state("of_classes", &M::of_classes, "the response was a class, not a number"),
        state("sigmoid_slope", &M::sigmoid_slope, "A of 1 / (1 + exp(A f + B)), of each machine; none without"),
        state("sigmoid_offset", &M::sigmoid_offset, "B of the same"),
        state("fold_seed", &M::fold_seed, "seed of the folds that the sigmoids were learned on"),
        state("order", &M::order, "fingerprint of the training rows in their order, which `support` counts")};
  }
  static constexpr auto parts() {
    return Listing{
        part({"machines", "f of each machine, of a pair or of a class against the rest, as `machines` lists them",
              Given::asked, PartColumns::own},
             &SvmModel::decisions_of_machines)};
  }
  Index width() const { return support_vectors.width; }
  Index machine_count() const { return bias.size(); }
  Index class_count() const { return class_factors.size(); }
  bool has_probabilities() const { return sigmoid_slope.size() > 0; }
  void check() const;
  Task task() const { return of_classes ? Task::classification : Task::regression; }

  /// f of each machine: a column each.
  Matrix machine_values(const MatrixView& x, const Execution& execution = {}) const;
  NamedMatrix decisions_of_machines(const MatrixView& x) const;  // by their classes: versicolor_against_setosa
  Vector predict(const MatrixView& x) const;   // numbers; Error of a model of classes, as classify is of one of numbers
  Labels classify(const MatrixView& x) const;  // of two classes by the sign of f, else the largest column of decision
  /// f of two classes. Of several one column a class: of each class against the rest, or how many of its pairs it wins;
  /// ties go to the larger sum of f.
  Matrix decision(const MatrixView& x) const;
  Matrix probabilities(const MatrixView& x) const;  // Error unless they were asked for
  /// All of it, with the kernel computed once.
  Prediction prediction(const MatrixView& x, const PredictOptions& options) const;

  /// Of the training rows in their order, for each machine: alpha (numbers: beta), slack, margin (t f; numbers:
  /// ε − |y − f|), side (0: without a loss, 1: on the margin, 2: with a loss) and kkt, by how much the row violates its
  /// conditions.
  std::vector<NamedColumn> diagnostics(const Block& block) const;
  std::string summary(const Names& names) const;
};

/// Files of before `order` was kept are read as well.
void read_fields(SvmModel& model, const Value& value);

SvmModel fit(const Valid<Svm>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const SvmModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Svm>();

}  // namespace lemma
