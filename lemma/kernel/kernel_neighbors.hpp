// lemma/kernel/kernel_neighbors.hpp
#pragma once
#include <lemma/kernel/shared/rows.hpp>
#include <lemma/model/method.hpp>
#include <limits>

namespace lemma {

enum class NeighborVote { uniform, distance };
constexpr auto names_of(NeighborVote) { return std::array<std::string_view, 2>{"uniform", "distance"}; }

/// The k nearest training rows in the space of a kernel,
///
///     d²(x, z) = ‖φ(x) − φ(z)‖² = k(x, x) − 2 k(x, z) + k(z, z):
///
/// of classes their votes are the probabilities and most votes win (the first of equals), of numbers their mean is
/// predicted. A vote counts 1, or 1/d (then rows at distance 0, if there are any, decide alone). A row of weight w stands for
/// w rows at one place. Of rows equally far, to within rounding (1e-12 of the kernel's values), those that come first in the
/// training rows are taken. With the linear and the Gaussian kernel these are the neighbours by Euclidean distance.
///
/// Cost         nothing to fit but the leave-one-out error: n²/2 kernel values, up to kMostLeftOut rows. A row costs n kernel
///              values to predict.
/// Certificate  consistent: the rows that the model keeps are the rows, and its leave-one-out error is theirs, found anew by
///              sorting all rows for each. There is no optimum to prove: the method is its rows.
struct KernelNeighbors {
  int k = 5;
  Kernel kernel;
  NeighborVote vote = NeighborVote::uniform;

  static constexpr std::string_view name = "kernel_neighbors";
  static constexpr MethodAbout about{
      .family = "kernel",
      .task = Task::classification,
      .summary = "the k nearest rows in the space of a kernel, for classes or numbers",
      .objective = "the vote, or the mean, of the k rows z of least d^2 = k(x, x) - 2 k(x, z) + k(z, z)",
      .example = "lemma fit kernel_neighbors iris 'species ~ .' --k 7 --kernel 'laplace(0.5)'",
      .keeps_rows = true,
      .takes_weights = true,
      .takes_sparse = true,
      .either_response = true};
  static constexpr auto params() {
    using S = KernelNeighbors;
    return Listing{param("k", &S::k, "rows that vote", at_least(1)),
                   param("kernel", &S::kernel, "inner product of the features"),
                   param("vote", &S::vote, "each row alike, or by 1 / distance")};
  }
  void check() const;
  Needs needs(Needs usual) const {
    usual.letters = kernel.letters();
    return usual;
  }
};
static_assert(Described<KernelNeighbors>);

struct KernelNeighborsModel : Evidence {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  /// Up to so many rows the leave-one-out error is found.
  static constexpr Index kMostLeftOut = 10000;

  KernelNeighbors spec;
  double leave_one_out_error = kNone;
  Vector counts;
  bool of_classes = true;
  KeptRows points;
  Vector response, weight;

  static constexpr auto fields() {
    using M = KernelNeighborsModel;
    return Listing{
        result("leave_one_out_error", &M::leave_one_out_error,
               "of predicting each row from all others: the share of wrong classes, or the mean squared error; null "
               "beyond 10,000 rows"),
        result("counts", &M::counts, "rows of each class, by weight; of numbers the weight of all"),
        state("of_classes", &M::of_classes, "the response was a class, not a number"),
        state("points", &M::points, "the rows with a weight above 0"),
        state("response", &M::response, "of each row: a number, or the class counted from 0"),
        state("weight", &M::weight, "of each row")};
  }
  Index width() const { return points.width; }
  void check() const;
  Index class_count() const { return of_classes ? counts.size() : 0; }
  Task task() const { return of_classes ? Task::classification : Task::regression; }

  Vector predict(const MatrixView& x) const;   // numbers; Error of a model of classes
  Labels classify(const MatrixView& x) const;  // Error of a model of numbers, as probabilities are
  Matrix probabilities(const MatrixView& x) const;
  /// All of it, with the kernel computed once.
  Prediction prediction(const MatrixView& x, const PredictOptions& options) const;
  /// The rows that vote on x (counted from 0 among those kept), the nearest first, and their distances.
  struct Neighbors {
    std::vector<Index> row;
    std::vector<double> distance, copies;
  };
  std::vector<Neighbors> neighbors(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

KernelNeighborsModel fit(const Valid<KernelNeighbors>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const KernelNeighborsModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<KernelNeighbors>();

}  // namespace lemma
