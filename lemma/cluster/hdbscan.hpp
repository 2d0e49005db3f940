// lemma/cluster/hdbscan.hpp
#pragma once
#include <lemma/geometry/compared.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

enum class ClusterSelection { eom, leaf };
constexpr auto names_of(ClusterSelection) { return std::array<std::string_view, 2>{"eom", "leaf"}; }

/// Clusters of all densities at once (Campello, Moulavi and Sander 2013). With core_i the distance within which row i has
/// min_points rows, itself counted, two rows are as far apart as they reach each other,
///
///     r(i, j) = max(d(i, j), core_i, core_j),
///
/// and the hierarchy is single linkage of r: at height h its clusters are what `dbscan` finds with the radius h. Going down from
/// the top a cluster loses rows, which leave it, or it parts: into those of its parts that have at least min_cluster_size rows,
/// where there are two or more of them. Parts at equal heights part at once, so that no order of the rows matters. With
/// λ = (greatest height) / height a cluster that is born at λ_C has the stability
///
///     S(C) = Σ_{i ∈ C} (λ at which row i leaves C − λ_C).
///
/// `eom` (excess of mass) takes, of all clusters of which none holds another and none is all rows, those with the greatest sum of
/// stabilities (of equals the larger clusters); `leaf` takes those that do not part. Rows of none of them are noise. Heights of 0
/// (copies of rows) count as the least height above 0.
///
/// Cost         O(n² p) time, of Euclidean distances in float32 for most pairs; memory O(n (p + min_points)), of a square 4 n² bytes.
/// Certificate  consistent: from all distances, the core distances are those of the rows and each merge is as high as the least r
///              between its two sides and no pair of rows comes together higher than r: this tree is the hierarchy. Stabilities
///              follow anew from the height at which each row first stands among min_cluster_size; no choice has a greater sum.
struct Hdbscan {
  int min_cluster_size = 5;
  std::optional<int> min_points;
  ClusterSelection selection = ClusterSelection::eom;
  Input input = Input::rows;
  Metric metric;

  static constexpr std::string_view name = "hdbscan";
  static constexpr MethodAbout about{
      .family = "cluster",
      .task = Task::clustering,
      .summary = "clusters of all densities, from the hierarchy of dbscan over all radii; the rest is noise",
      .objective = "choose clusters of the tree of max(d(i,j), core_i, core_j) with the greatest sum of stabilities",
      .example = "lemma fit hdbscan faithful --min_cluster_size 10",
      .keeps_rows = true,
      .uses_response = false};
  static constexpr auto params() {
    return Listing{
        param("min_cluster_size", &Hdbscan::min_cluster_size, "a cluster has at least so many rows", at_least(2)),
        param("min_points", &Hdbscan::min_points,
              "rows within a row's core distance, itself counted; by default min_cluster_size", at_least(1)),
        param("selection", &Hdbscan::selection,
              "clusters that are taken: those of the greatest excess of mass, or those that do not part"),
        param("input", &Hdbscan::input, "rows, compared by the metric, or a square: the dissimilarities themselves"),
        param("metric", &Hdbscan::metric, "how different two rows are")};
  }
  void check() const;
  Needs needs(Needs usual) const { return needs_for(input, metric, usual); }
};
static_assert(Described<Hdbscan>);

struct HdbscanModel : Evidence {
  Hdbscan spec;
  Vector labels;     // of each row, from 1; 0: noise
  Vector strengths;  // of each row in its cluster
  Vector outliers;   // of each row
  Vector sizes, stabilities;
  Index noise = 0;
  Matrix tree;     // a cluster in each row: parent, size, birth, split, stability, cluster
  Matrix merges;   // as R's hclust
  Vector heights;  // of the merges
  Vector core;     // distances
  Index columns = 0;
  Vector prints;

  static constexpr auto fields() {
    using M = HdbscanModel;
    constexpr Along by_row{.across = Axis::row};
    return Listing{
        result("labels", &M::labels, "the cluster of each row, from the most stable one on; 0: noise", by_row),
        result("strengths", &M::strengths, "how deep each row lies in its cluster: 1 the deepest, 0 noise", by_row),
        result("outliers", &M::outliers, "GLOSH: how early each row leaves beside the rows near it; 1: at once",
               by_row),
        result("sizes", &M::sizes, "rows in each cluster"),
        result("stabilities", &M::stabilities, "of each cluster"),
        result("noise", &M::noise, "rows that belong to no cluster"),
        result("tree", &M::tree,
               "all clusters of the hierarchy: row of the parent (0: none), rows, height of its birth and of its "
               "parting (0: "
               "none), stability, and which of the clusters taken it is (0: none)"),
        result("merges", &M::merges, "the two sides of each step: -i is row i alone, s the cluster of step s"),
        result("heights", &M::heights, "mutual reachability distance of the two sides"),
        result("core", &M::core, "distance within which each row has min_points rows", by_row),
        state("columns", &M::columns, "how many columns there are"),
        state("prints", &M::prints, "a number of each row, by which it is known again")};
  }
  Index width() const { return columns; }
  Index rows() const { return labels.size(); }
  Index k() const { return sizes.size(); }
  void check() const;
  std::string summary(const Names& names) const;
};

HdbscanModel fit(const Valid<Hdbscan>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const HdbscanModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Hdbscan>();

}  // namespace lemma
