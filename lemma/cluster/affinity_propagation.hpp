// lemma/cluster/affinity_propagation.hpp
#pragma once
#include <lemma/cluster/shared/medoid_clusters.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

/// Rows that stand for others, the exemplars, as many as pay (Frey and Dueck 2007):
///
///     maximise  Σᵢ s(i, exemplar of i) + preference · K       over the exemplars and their number K;   s = −d, any dissimilarity
///
/// Rows tell each other, again and again, how well k would do for i (responsibility) and how many others want k (availability):
///
///     r(i, k) ← s(i, k) − max_{k′≠k} (a(i, k′) + s(i, k′))
///     a(i, k) ← min(0, r(k, k) + Σ_{i′∉{i,k}} max(0, r(i′, k))),     a(k, k) ← Σ_{i′≠k} max(0, r(i′, k))
///
/// with s(k, k) = preference, each message `damping` of the old one and the rest of the new one. The exemplars are the k with
/// r(k, k) + a(k, k) > 0; when they have been the same `patience` times, messages have settled. From there exemplars are exchanged,
/// left out or taken in as long as that is for the better, which is seldom much. Preferences differ by a billionth of the greatest
/// dissimilarity, so that of two rows that could stand for each other one does.
///
/// Cost         O(n²) for a round of messages, some hundred rounds; 20 n² bytes.
/// Certificate  consistent: every row is with its nearest exemplar, and no exchange of an exemplar with another row, none
///              left out and none taken in raises the net similarity by more than 1e-9 of its size: each of the (K + 1)(n + 1) sums is taken
///              anew from the dissimilarities; sizes and sums are those of the rows. Messages that have not settled leave exemplars of
///              which that is not so.
struct AffinityPropagation {
  Input input = Input::rows;
  Metric metric = SqEuclideanMetric{};
  std::optional<double> preference;
  double damping = 0.9;
  int patience = 50;
  int max_iterations = 1000;
  double gigabytes = 4;

  static constexpr std::string_view name = "affinity_propagation";
  static constexpr MethodAbout about{
      .family = "cluster",
      .task = Task::clustering,
      .summary = "rows that stand for others, as many as pay: found by messages between all pairs",
      .objective = "maximise sum_i s(i, exemplar of i) + preference K over exemplars and their number, s = -d",
      .example = "lemma fit affinity_propagation iris '~ . - species' --preference=-50",
      .uses_response = false};
  static constexpr auto params() {
    using S = AffinityPropagation;
    return Listing{
        param("input", &S::input, "rows, compared by the metric, or a square: the dissimilarities themselves"),
        param("metric", &S::metric, "how different two rows are"),
        param("preference", &S::preference,
              "what an exemplar adds to the net similarity, at most 0: the lower, the fewer clusters; by default the "
              "median of -d"),
        param("damping", &S::damping, "share of the old message in the new one", between(0.5, 0.999)),
        param("patience", &S::patience, "rounds with the same exemplars after which messages have settled",
              at_least(1)),
        param("max_iterations", &S::max_iterations, "most rounds of messages", at_least(1)),
        param("gigabytes", &S::gigabytes, "memory that dissimilarities and messages may take", above(0))};
  }
  void check() const;
  Needs needs(Needs usual) const { return needs_for(input, metric, usual); }
};
static_assert(Described<AffinityPropagation>);

struct AffinityPropagationModel : MedoidClusters {
  using Base = MedoidClusters;
  AffinityPropagation spec;
  double net_similarity = 0;

  static constexpr auto fields() {
    using M = AffinityPropagationModel;
    return Listing{result("exemplars", &M::medoids,
                          "the rows that stand for others; none where dissimilarities are given", kByFeature),
                   result("exemplar_rows", &M::medoid_rows, "their numbers", kRowNumbers),
                   result("sizes", &M::sizes, "rows in each cluster"),
                   result("within", &M::within, "sum of the dissimilarities to the exemplar, for each cluster"),
                   result("farthest", &M::farthest, "the greatest dissimilarity to the exemplar, for each cluster"),
                   result("total", &M::total, "sum of `within`"),
                   result("net_similarity", &M::net_similarity, "preference times K less `total`: what is maximised"),
                   result("things", &M::things, "names of the exemplars, where the data give dissimilarities"),
                   state("columns", &M::columns, "of the data"),
                   state("order", &M::order, "a number of all rows in their order")};
  }
  static constexpr auto parts() {
    return Listing{part(
        {"distances", "dissimilarity of the row and each exemplar", Given::asked, PartColumns::numbered, "distance"},
        &AffinityPropagationModel::distances)};
  }
  void check() const;
  /// The nearest exemplar of each row, the first of equals.
  Labels assign(const MatrixView& x) const { return nearest_of(distances(x)); }
  Matrix distances(const MatrixView& x) const {
    return distances_by(AffinityPropagation::name, spec.input, spec.metric, x);
  }
  std::string summary(const Names& names) const;
};

AffinityPropagationModel fit(const Valid<AffinityPropagation>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const AffinityPropagationModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<AffinityPropagation>();

}  // namespace lemma
