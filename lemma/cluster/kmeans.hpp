// lemma/cluster/kmeans.hpp
#pragma once
#include <lemma/cluster/shared/cluster_counts.hpp>
#include <lemma/geometry/lloyd/start.hpp>
#include <lemma/geometry/metric.hpp>
#include <lemma/model/method.hpp>
#include <optional>
#include <variant>

namespace lemma {

enum class ChooseClusters { gap, silhouette, knee };
constexpr auto names_of(ChooseClusters) { return std::array<std::string_view, 3>{"gap", "silhouette", "knee"}; }

/// k centres that lie as near to the rows as they can:
///
///     minimise  Σᵢ wᵢ min_k ‖xᵢ − c_k‖²
///
/// Lloyd's algorithm (lloyd.hpp) goes from a start to a fixed point: every row belongs to its nearest centre, every
/// centre is the mean of its rows. There are many fixed points; the best of several starts is kept.
///
/// With the metric mahalanobis ‖·‖² is (x − c)ᵀ C⁻¹ (x − c), C the covariance of all rows (divisor n − 1) or a given one: k-means of the
/// rows as R⁻ᵀ x, RᵀR = C, which units and correlations of the columns do not change.
///
/// With `batch` a start first follows so many rows at a time, in random order, by steps that fall as w / N (kmeans/batches.hpp), 1 being
/// row by row; Lloyd's algorithm goes on from there, and has little left to do.
///
/// Of several k the one is taken that one of three rules proposes: the gap statistic (the first k whose log W, beside that of
/// rows spread evenly over the same box, is not surpassed by the next k's beyond its standard error), the greatest silhouette (of
/// centres: (b − a) / b with the distances to the nearest and the second one), or the knee of the curve of W. All three are told.
///
/// With `bound` so many steps go into a number that no clustering into k can fall below, and that the certificate proves again
/// (kmeans/lower_bound.hpp): how far from the best of all this one can be.
///
/// Cost         a few dozen scans for each restart, O(n p k) each at most; kmeans++ takes 2k scans more.
/// Certificate  consistent: one more step from scratch, by plain distances and another sum, moves no centre farther than
///              1e-9 of the rows' root mean square distance to their mean (or `tolerance`, if that is larger, but never
///              1e-3), and finds the sizes and sums of squares of the model and an objective that only fell.
struct KMeans {
  ClusterCounts k;
  std::variant<KMeansStart, Matrix> start = KMeansStart::plus_plus;
  std::optional<int> restarts;
  int max_iterations = 300;
  double tolerance = 0;
  ChooseClusters choose = ChooseClusters::gap;
  int references = 10;
  std::variant<EuclideanMetric, MahalanobisMetric> metric;
  std::optional<int> batch;
  int passes = 1;
  int bound = 0;

  static constexpr std::string_view name = "kmeans";
  static constexpr MethodAbout about{
      .family = "cluster",
      .task = Task::clustering,
      .summary = "k centres with the least sum of squared distances to the rows",
      .objective = "minimise sum_i w_i min_k ||x_i - c_k||^2, by Lloyd's algorithm from several starts",
      .example = "lemma fit kmeans iris '~ . - species' --k 3",
      .scans = true,
      .takes_weights = true,
      .uses_response = false,
      .random = true};
  static constexpr auto params() {
    return Listing{
        param("k", &KMeans::k,
              "number of clusters, or several (1:10) to choose from; by default that of the given centres, else 3",
              at_least(1)),
        param("start", &KMeans::start,
              "where to begin: kmeans++, random (rows), or a file with one centre in each row"),
        param("restarts", &KMeans::restarts,
              "starts, of which the best result is kept; by default 10, or 1 from given centres", at_least(1)),
        param("max_iterations", &KMeans::max_iterations, "most iterations of one start", at_least(1)),
        param("tolerance", &KMeans::tolerance,
              "stop when no centre moves farther, as a share of the rows' root mean square distance to their mean; 0: "
              "when none moves",
              at_least(0)),
        param("choose", &KMeans::choose,
              "of several k: by the gap statistic, the silhouette, or the knee of the curve"),
        param("references", &KMeans::references,
              "of several k: sets of rows without clusters that the gap statistic compares with; 0: none", at_least(0)),
        param("metric", &KMeans::metric, "euclidean, or mahalanobis: by the covariance of all rows, or a given one"),
        param("batch", &KMeans::batch,
              "rows that a start first follows at a time, by falling steps in random order; 1: row by row; left out: "
              "it does not",
              at_least(1)),
        param("passes", &KMeans::passes, "with batch: how often a start goes over the rows so", at_least(1)),
        param("bound", &KMeans::bound,
              "steps towards a lower bound on the total within of all clusterings into k, for up to 1,000 different "
              "rows: how far from the best this one can be; 0: none",
              at_least(0))};
  }
  void check() const;
};
static_assert(Described<KMeans>);

struct KMeansModel : Evidence {
  KMeans spec;
  Matrix centers;  // one in each row
  Vector sizes;    // weight of the rows of each cluster
  Vector within;   // Σ w ‖x − c‖² of each cluster
  double total_within = 0, total_ss = 0, between = 0;
  int iterations = 0;  // of the start that was kept
  Vector objective;    // Σ within after each of its assignments
  int updates = 0;
  Vector starts;     // total_within of each start
  Matrix curve;      // of each k that was tried: see choose.hpp
  Vector proposals;  // k by the gap, the silhouette, the knee; none where one k was given
  double lower_bound = 0;
  Vector bound_pairs;    // the multipliers that prove it:
  Matrix bound_triples;  // see kmeans/lower_bound.hpp

  static constexpr auto fields() {
    return Listing{
        result("centers", &KMeansModel::centers, "mean of each cluster, one in each row", kByFeature),
        result("sizes", &KMeansModel::sizes, "rows in each cluster (their weight)"),
        result("within", &KMeansModel::within, "sum of squared distances to the centre, for each cluster"),
        result("total_within", &KMeansModel::total_within, "sum of `within`: what is minimised"),
        result("total_ss", &KMeansModel::total_ss, "sum of squared distances to the mean of all rows"),
        result("between", &KMeansModel::between, "total_ss - total_within"),
        result("iterations", &KMeansModel::iterations, "of the start that was kept"),
        result("objective", &KMeansModel::objective, "total_within after each assignment of the start that was kept"),
        later(result("starts", &KMeansModel::starts, "total_within that each start ended with")),
        later(result(
            "curve", &KMeansModel::curve,
            "of each k that was tried: k, within of the best and of the worst start, silhouette, gap, its standard "
            "error")),
        later(result("proposals", &KMeansModel::proposals,
                     "of several k those by the gap (0: not looked at), the silhouette and the knee")),
        later(result("lower_bound", &KMeansModel::lower_bound,
                     "no clustering into k has a smaller total_within; 0 unless `bound` asks for one")),
        later(state("bound_pairs", &KMeansModel::bound_pairs, "multipliers of pairs of rows that prove lower_bound")),
        later(state("bound_triples", &KMeansModel::bound_triples,
                    "three rows and the multiplier of their triangle, which prove lower_bound")),
        later(state("updates", &KMeansModel::updates, "how often new rows were taken in since the fit"))};
  }
  static constexpr auto parts() {
    return Listing{part({"distances", "from the row to each centre", Given::asked, PartColumns::numbered, "distance"},
                        &KMeansModel::distances)};
  }
  static constexpr UpdateKind kUpdates = UpdateKind::near;
  static constexpr bool kVerifiesTogether = true;
  Index width() const { return centers.cols(); }
  Index k() const { return centers.rows(); }
  void check() const;
  /// The nearest centre of each row, the first of equals.
  Labels assign(const MatrixView& x) const;
  Matrix distances(const MatrixView& x) const;  // to each centre, a column each
  std::string summary(const Names& names) const;
};

KMeansModel fit(const Valid<KMeans>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const KMeansModel& model, const Rows& rows, const Execution& execution);
/// Lloyd's algorithm from the centres, on the new rows and, in the place of the old ones, their centres with the weight of
/// their clusters: old rows stay with those they were with. Sizes, sums of squares and the mean of all are exact; the
/// assignment of the old rows is not looked at again, so that it is near to the fit of all rows from these centres.
KMeansModel updated(const KMeansModel& model, const Rows& rows, const FitOptions& options);

extern template const Method& method_of<KMeans>();

}  // namespace lemma
