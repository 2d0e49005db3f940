// lemma/cluster/kmedoids.hpp
#pragma once
#include <lemma/cluster/shared/medoid_clusters.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

enum class KMedoidsStart { build, sampled, random };
constexpr auto names_of(KMedoidsStart) { return std::array<std::string_view, 3>{"build", "sampled", "random"}; }

/// k of the rows, the medoids, that are near to all others by any dissimilarity:
///
///     minimise  Σᵢ min_m d(i, m)   over the k medoids m
///
/// From the medoids of BUILD (or those of BUILD on a sample, or random rows) exchanges of a medoid with another row are made as
/// long as one lowers the sum: FasterPAM (kmedoids/pam.hpp). CLARA, for many rows: that on samples of the rows, of which the best
/// for all rows is kept; each sample holds the best medoids so far.
///
/// Cost         BUILD O(n² k), a pass over the exchanges O(n²) and a few passes; 4 n² bytes, or O(n p) where that is more than
///              `gigabytes`, the dissimilarities then being computed when they are asked for. CLARA O(s² + n k) for a sample.
/// Certificate  consistent: no exchange of a medoid with any other row lowers the sum by more than 1e-9 of it. For each of the k n
///              exchanges the whole sum is taken anew, row by row; sizes and sums are those of the rows. With CLARA it is so
///              for the rows of the sample that was kept.
struct KMedoids {
  int k = 3;
  Input input = Input::rows;
  Metric metric;
  std::optional<KMedoidsStart> start;
  int restarts = 1;
  std::optional<int> sample;
  int samples = 5;
  int max_iterations = 100;
  double gigabytes = 2;

  static constexpr std::string_view name = "kmedoids";
  static constexpr MethodAbout about{
      .family = "cluster",
      .task = Task::clustering,
      .summary = "k of the rows that are nearest to all others, by any dissimilarity: PAM and CLARA",
      .objective = "minimise sum_i min_m d(i, m) over k medoids m among the rows, by exchanges (FasterPAM)",
      .example = "lemma fit kmedoids iris '~ . - species' --k 3",
      .uses_response = false,
      .random = true};
  static constexpr auto params() {
    return Listing{
        param("k", &KMedoids::k, "number of clusters", at_least(1)),
        param("input", &KMedoids::input, "rows, compared by the metric, or a square: the dissimilarities themselves"),
        param("metric", &KMedoids::metric, "how different two rows are"),
        param("start", &KMedoids::start,
              "the first medoids: by PAM's BUILD, by BUILD on a sample, or random rows; by default BUILD up to 5,000 "
              "rows, "
              "else on a sample"),
        param("restarts", &KMedoids::restarts,
              "starts, of which the best result is kept; those after the first are random", at_least(1)),
        param("sample", &KMedoids::sample,
              "CLARA: rows of a sample; by default all rows up to 20,000, else 1000 + 40 k", at_least(2)),
        param("samples", &KMedoids::samples, "CLARA: how many samples", at_least(1)),
        param("max_iterations", &KMedoids::max_iterations, "most passes over the exchanges of one start", at_least(1)),
        param("gigabytes", &KMedoids::gigabytes,
              "memory that the dissimilarities of rows may take; beyond it they are computed again and again",
              above(0))};
  }
  void check() const;
  Needs needs(Needs usual) const { return needs_for(input, metric, usual); }
};
static_assert(Described<KMedoids>);

struct KMedoidsModel : MedoidClusters {
  using Base = MedoidClusters;
  KMedoids spec;
  Vector sample_prints;

  static constexpr auto fields() {
    using M = KMedoidsModel;
    return Listing{
        result("medoids", &M::medoids, "the rows that are medoids; none where dissimilarities are given", kByFeature),
        result("medoid_rows", &M::medoid_rows, "their numbers", kRowNumbers),
        result("sizes", &M::sizes, "rows in each cluster"),
        result("within", &M::within, "sum of the dissimilarities to the medoid, for each cluster"),
        result("farthest", &M::farthest, "the greatest dissimilarity to the medoid, for each cluster"),
        result("total", &M::total, "sum of `within`: what is minimised"),
        result("things", &M::things, "names of the medoids, where the data give dissimilarities"),
        state("columns", &M::columns, "of the data"),
        state("order", &M::order, "a number of all rows in their order"),
        state("sample_prints", &M::sample_prints,
              "a number of each row of the sample that was kept; none of all rows")};
  }
  static constexpr auto parts() {
    return Listing{
        part({"distances", "dissimilarity of the row and each medoid", Given::asked, PartColumns::numbered, "distance"},
             &KMedoidsModel::distances)};
  }
  void check() const;
  /// The nearest medoid of each row, the first of equals. Of a model of a square a row holds its dissimilarities to all things.
  Labels assign(const MatrixView& x) const { return nearest_of(distances(x)); }
  Matrix distances(const MatrixView& x) const { return distances_by(KMedoids::name, spec.input, spec.metric, x); }
  std::string summary(const Names& names) const;
};

KMedoidsModel fit(const Valid<KMedoids>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const KMedoidsModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<KMedoids>();

}  // namespace lemma
