// lemma/metric/clustering.hpp: clusters against given classes, and clusters judged by the rows alone.
#pragma once
#include <lemma/core/rows.hpp>
#include <lemma/metric/measure.hpp>

namespace lemma {

// ---- Against given classes: two partitions of the same rows ----

/// Counts of (class, cluster): a row for each class, a column for each cluster, and a last one for rows of no cluster (−1) where
/// there are some. Weights are frequencies.
Matrix contingency(const Labels& classes, const Labels& clusters, const VectorView& weights = Vector());

/// The same of two clusterings: rows of no cluster in the first are a last row, as in the second they are a last column.
Matrix contingency_of_clusters(Labels one, const Labels& other, const VectorView& weights = Vector());

/// All from a contingency table of n = Σ rows. Of n (n − 1) / 2 pairs of rows, `rand` is the share on which the two
/// partitions agree; the adjusted forms are 0 on average for independent partitions with these margins and 1 for equal
/// ones (Hubert and Arabie 1985; Vinh, Epps and Bailey 2010). Information is in nats.
double rand_index(const Matrix& table);
double adjusted_rand_index(const Matrix& table);
double mutual_information(const Matrix& table);
double normalized_mutual_information(const Matrix& table);  // 2 I / (H(classes) + H(clusters))
/// Needs whole counts (NaN otherwise). Cost  O(n (rows + columns)).
double adjusted_mutual_information(const Matrix& table);
double purity(const Matrix& table);  // share of the rows in the most frequent class of their cluster
/// Of the pairs that are together in one partition those that are so in both: the geometric mean of the two shares (Fowlkes
/// and Mallows 1983).
double fowlkes_mallows(const Matrix& table);
/// H(classes) + H(clusters) − 2 I: a metric on partitions, 0 of equal ones (Meilă 2007).
double variation_of_information(const Matrix& table);

/// Clusters and classes paired one to one so that as many rows as possible lie in a pair: the Hungarian method (Kuhn 1955;
/// Jonker and Volgenant's shortest augmenting ways). With the prices that prove it: row_price + column_price ≥ entry for all,
/// and equal for the pairs.
struct Matching {
  std::vector<Index> row_of;  // of each column; −1: none is left for it
  double total = 0;
  Vector row_price, column_price;
};
/// Cost  O(m³), m the larger number of rows and columns.
Matching best_matching(const Matrix& table);
double matched_share(const Matrix& table);  // of the rows, those in a pair

std::vector<Measure> agreement_measures(const Labels& classes, const Labels& clusters,
                                        const VectorView& weights = Vector());

// ---- From the rows: Euclidean ----

/// Scatter about the clusters' means. Cost  O(n p), two passes over the rows.
struct ClusterScatter {
  Matrix centers;        // a row for each cluster
  Vector sizes;          // Σw
  Vector within;         // Σ w ‖x − center‖² of each cluster
  Vector mean_distance;  // mean of ‖x − center‖ of each cluster
  double between = 0;    // Σ size ‖center − mean‖²
  double total_within() const { return within.sum(); }
};
ClusterScatter cluster_scatter(const MatrixView& x, const Labels& clusters, const VectorView& weights = Vector());
/// Of rows that need not lie in memory. `clusters` and `weights` have one number for each of them.
ClusterScatter cluster_scatter(const Rows& rows, const Labels& clusters, const VectorView& weights = Vector(),
                               const Execution& execution = {});

double calinski_harabasz(const ClusterScatter& scatter);  // (between / (K − 1)) / (within / (n − K))
/// Mean over the clusters of the worst (dᵢ + dⱼ) / ‖cᵢ − cⱼ‖, d being the mean distance to the centre.
double davies_bouldin(const ClusterScatter& scatter);

/// More rows than this have no silhouette: it takes all n² distances.
inline constexpr Index kMostSilhouetteRows = 20000;

/// (b − a) / max(a, b) of each row: a is the mean distance to the other rows of its cluster, b that to the nearest other
/// cluster (Rousseeuw 1987); 0 in a cluster of one. Error beyond kMostSilhouetteRows rows, or for fewer than two clusters.
/// Cost  O(n² p) time, O(n K) memory.
Vector silhouettes(const MatrixView& x, const Labels& clusters, const VectorView& weights = Vector(),
                   const Execution& execution = {});

/// What follows from it: total_within, between_share, …
std::vector<Measure> scatter_measures(const ClusterScatter& scatter);

/// within, silhouette (with an interval by the jackknife), … ; the silhouette is NaN, and its meaning says why, beyond kMostSilhouetteRows rows.
std::vector<Measure> validity_measures(const MatrixView& x, const Labels& clusters,
                                       const VectorView& weights = Vector(), const Execution& execution = {});
std::vector<Measure> validity_measures(const Rows& rows, const Labels& clusters, const VectorView& weights = Vector(),
                                       const Execution& execution = {});

}  // namespace lemma
