// lemma/neighbor/knn.hpp: the k nearest training rows, for classes and numbers.
#pragma once
#include <lemma/geometry/metric.hpp>
#include <lemma/geometry/neighbors/vote.hpp>
#include <lemma/model/method.hpp>
#include <lemma/model/prior.hpp>
#include <memory>

namespace lemma {

/// What rows that vote say of a number: their mean, or the line through them.
enum class LocalFit { mean, line };
constexpr auto names_of(LocalFit) { return std::array<std::string_view, 2>{"mean", "line"}; }

/// Of the k training rows nearest to x by a metric d, row j counts K_j: 1, 1/d_j, or K(d_j / h) with h the distance of the
/// next row, number k + 1 (see VoteWeights). Of numbers their mean is predicted, of classes the votes are
///
///     P(c | x) ∝ (π_c / n_c) Σ_j K_j [class of row j is c],
///
/// which with π_c = n_c / n are the shares themselves; most votes win, the first class of equals. Of rows equally far, to the last
/// bit, those that come first in the training rows are taken. A row of weight w stands for w rows at one place. With gower
/// categories stay what they are, and a missing value leaves its column out; a row that can be compared with none gets
/// what all rows say together. local = line takes of numbers, in the place of their mean, the plane a + b·(z − x) of least
/// Σ_j K_j (y_j − a − b·(z_j − x))²: it is a at x. Of several the one with the shortest b, the columns in units of their spread.
///
/// Several k are judged at once: one search for the neighbours of each row without itself gives the leave-one-out error
/// for all of them; the k of least error is taken (of equals the smallest). Cover and Hart: with K classes and many rows the
/// error e of the nearest row brackets the Bayes risk R,
///
///     (K − 1)/K · (1 − √(1 − K/(K − 1) e))  ≤  R  ≤  e.
///
/// Cost         the search structure (geometry/neighbors.hpp), and one search for each row, up to kMostLeftOut rows where no
///              k is to be chosen. Memory O(n p) and O(n k).
/// Certificate  consistent: the rows that the model keeps are the rows, and the errors told are theirs, found anew from all
///              distances of each row, sorted. There is no optimum to prove but the choice of k: the method is its rows.
struct Knn {
  std::vector<double> k = {5};
  VoteWeights vote = VoteWeights::uniform;
  LocalFit local = LocalFit::mean;
  Metric metric;
  PriorChoice prior = Prior::proportions;

  static constexpr std::string_view name = "knn";
  static constexpr MethodAbout about{
      .family = "neighbor",
      .task = Task::classification,
      .summary = "the k nearest rows, for classes or numbers; k by leave-one-out where several are given",
      .objective = "the vote, or the mean, of the k rows z of least d(x, z)",
      .example = "lemma fit knn iris 'species ~ .' --k 1:25",
      .keeps_rows = true,
      .takes_weights = true,
      .either_response = true};
  static constexpr auto params() {
    return Listing{
        param("k", &Knn::k, "rows that vote; of several (1:51, or 1,5,9) the one of least leave-one-out error",
              at_least(1)),
        param("vote", &Knn::vote, "what a row counts: all alike, 1 / distance, or a kernel of the distance"),
        param("local", &Knn::local, "of numbers: the mean of the rows that vote, or a line (a plane) through them"),
        param("metric", &Knn::metric, "distance of two rows: a name, or one with numbers such as minkowski(3)"),
        param("prior", &Knn::prior,
              "class probabilities: as in the rows, all equal, or one number per class, in their order", within(0, 1))};
  }
  void check() const;
  /// Gower's distance takes categories as they are, and missing values.
  Needs needs(Needs usual) const {
    if (!metric.get<GowerMetric>()) return usual;
    usual.codes = usual.missing = true;
    usual.unseen = Unseen::missing;
    return usual;
  }
};
static_assert(Described<Knn>);

namespace knn {
class Kept;
std::shared_ptr<Kept> nothing_kept();
}  // namespace knn

struct KnnModel : Evidence {
  /// Up to so many rows the leave-one-out error of a single k is found.
  static constexpr Index kMostLeftOut = 50000;

  Knn spec;  // with the one k that was taken
  Vector tried, leave_one_out;
  Vector bayes_risk;
  Vector counts;
  bool of_classes = true;
  Matrix points;
  Vector response, weight;
  std::shared_ptr<knn::Kept> kept = knn::nothing_kept();

  static constexpr std::size_t kNotStored = 1;  // kept
  static constexpr auto fields() {
    using M = KnnModel;
    return Listing{
        result("tried", &M::tried, "each k that was judged"),
        result(
            "leave_one_out", &M::leave_one_out,
            "error of predicting each row from all others, for each of them: the share of wrong classes, or the mean "
            "squared error; empty beyond 50,000 rows"),
        result("bayes_risk", &M::bayes_risk,
               "of classes: where the least error of any classifier lies, after Cover and Hart, by the leave-one-out "
               "error of the nearest row; else empty"),
        result("counts", &M::counts, "rows of each class, by weight; of numbers the weight of all"),
        state("of_classes", &M::of_classes, "the response was a class, not a number"),
        state("points", &M::points, "the rows with a weight above 0"),
        state("response", &M::response, "of each row: a number, or the class counted from 0"),
        state("weight", &M::weight, "of each row")};
  }
  static constexpr auto parts() {
    return Listing{
        part({"neighbors", "numbers of the k training rows that vote, from 1 among those with a weight, nearest first",
              Given::asked, PartColumns::numbered, "neighbor"},
             &KnnModel::neighbor_rows),
        part({"distances", "how far each of them is", Given::asked, PartColumns::numbered, "distance"},
             &KnnModel::neighbor_distances)};
  }
  static constexpr UpdateKind kUpdates = UpdateKind::exact;
  Index width() const { return points.cols(); }
  Index class_count() const { return of_classes ? counts.size() : 0; }
  Task task() const { return of_classes ? Task::classification : Task::regression; }
  Index k() const { return static_cast<Index>(spec.k.front()); }
  void check() const;

  Vector predict(const MatrixView& x) const;   // numbers; Error of a model of classes
  Labels classify(const MatrixView& x) const;  // Error of a model of numbers, as probabilities are
  Matrix probabilities(const MatrixView& x) const;
  /// All of it by one search.
  Prediction prediction(const MatrixView& x, const PredictOptions& options) const;
  Matrix neighbor_rows(const MatrixView& x) const;       // NaN where no row can be compared
  Matrix neighbor_distances(const MatrixView& x) const;  // the same
  std::string summary(const Names& names) const;
};

KnnModel fit(const Valid<Knn>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const KnnModel& model, const Rows& rows, const Execution& execution);
/// The rows added to those that are kept. k, and what the metric learned, stay as they are.
KnnModel updated(const KnnModel& model, const Rows& rows, const FitOptions& options);

/// What the rows without each row say of it: probabilities of the classes, or one number, as fitting without it would. From one
/// search. Nothing where a fit without the row would choose otherwise (several k, a metric or prior that looks at the rows), a
/// class has one row alone, or rows have weights. `asked`: what the model was fitted by.
std::optional<Matrix> leave_one_out(const Knn& asked, const KnnModel& model, const Rows& rows,
                                    const Execution& execution);

extern template const Method& method_of<Knn>();

}  // namespace lemma
