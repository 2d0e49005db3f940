// lemma/cluster/agglomerative.hpp
#pragma once
#include <lemma/cluster/shared/dendrogram.hpp>
#include <lemma/geometry/compared.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

enum class Linkage { single, complete, average, weighted, centroid, median, ward };
constexpr auto names_of(Linkage) {
  return std::array<std::string_view, 7>{"single", "complete", "average", "weighted", "centroid", "median", "ward"};
}

/// A hierarchy of the rows: the two closest clusters are joined, again and again, until one is left. How close two clusters
/// A and B are:
///
///     single    min d(i, j)        complete  max d(i, j)        average  mean of d(i, j)        over i ∈ A, j ∈ B
///     weighted  mean of the two parts of the one that was joined last, each counting half
///     ward      √(2 |A| |B| / (|A| + |B|)) ‖c_A − c_B‖: the root of twice what joining them adds to the sum of squares
///     centroid  ‖c_A − c_B‖²        median  ‖m_A − m_B‖², m_{A∪B} = ½ (m_A + m_B)
///
/// Single linkage goes along the minimum spanning tree; complete, average, weighted and ward, which are reducible, by chains
/// of nearest neighbours; centroid and median, whose merges can be lower than those before them, by a list of nearest pairs.
///
/// Cost         O(n² p) time; memory 12 n² bytes, the dissimilarities and a square in which clusters are merged, or 8 n²,
///              more slowly, where `gigabytes` has no room for the square; O(n) for single linkage of rows. centroid and
///              median O(n³) at worst.
/// Certificate  consistent: each merge joins the closest pair of its moment. The linkage of every pair of clusters that ever
///              stood side by side is computed anew from the dissimilarities by its definition, from sums over pairs of rows
///              and not from merge to merge; none is closer than the merges made in its time, to 1e-9 of the greatest.
struct Agglomerative {
  Linkage linkage = Linkage::average;
  Input input = Input::rows;
  Metric metric;
  std::optional<int> k;
  double gigabytes = 8;

  static constexpr std::string_view name = "agglomerative";
  static constexpr MethodAbout about{
      .family = "cluster",
      .task = Task::clustering,
      .summary = "a hierarchy: the two closest clusters are joined until one is left",
      .objective =
          "join argmin_{A,B} d(A, B), d by single, complete, average, weighted, centroid, median or Ward's linkage",
      .example = "lemma fit agglomerative iris '~ . - species' --linkage average",
      .keeps_rows = true,
      .uses_response = false};
  static constexpr auto params() {
    return Listing{
        param("linkage", &Agglomerative::linkage, "how close two clusters are"),
        param("input", &Agglomerative::input,
              "rows, compared by the metric, or a square: the dissimilarities themselves"),
        param("metric", &Agglomerative::metric, "how different two rows are"),
        param("k", &Agglomerative::k, "clusters that `labels` tells; by default where the heights leave the widest gap",
              at_least(1)),
        param("gigabytes", &Agglomerative::gigabytes,
              "memory that the dissimilarities may take; single linkage of rows takes none", above(0))};
  }
  void check() const;
  Needs needs(Needs usual) const { return needs_for(input, metric, usual); }
};
static_assert(Described<Agglomerative>);

struct AgglomerativeModel : Evidence {
  Agglomerative spec;
  Matrix merges;   // as R's hclust
  Vector heights;  // of the merges
  Vector order;    // of the rows, so that no branches cross; numbers from 1
  Vector labels;   // the cluster of each row when there are k, from 1
  double coefficient = 0, cophenetic_correlation = 0;
  int inversions = 0;
  Index columns = 0;
  Vector prints;  // of each row a number of its own, by which it is known again in another order

  static constexpr auto fields() {
    using M = AgglomerativeModel;
    return Listing{
        result("merges", &M::merges, "the two clusters of each step: -i is row i alone, s the cluster of step s"),
        result("heights", &M::heights, "how far apart the two clusters of each step were"),
        result("order", &M::order, "the rows as a dendrogram shows them, no branches crossing", kRowNumbers),
        result("labels", &M::labels, "the cluster of each row when there are k", {.across = Axis::row}),
        result("coefficient", &M::coefficient,
               "agglomerative coefficient: 1 less the mean of (height at which a row is first joined) / (last height)"),
        result("cophenetic_correlation", &M::cophenetic_correlation,
               "of the dissimilarities with the heights at which two rows come together"),
        result("inversions", &M::inversions, "merges that are lower than one they build on"),
        state("columns", &M::columns, "how many columns there are"),
        state("prints", &M::prints, "a number of each row, by which it is known again")};
  }
  static constexpr auto actions() {
    return Listing{action("cut", "the rows in clusters, by their number or by a height", &AgglomerativeModel::cut)};
  }
  Index width() const { return columns; }
  Index rows() const { return merges.rows() + 1; }
  void check() const;
  /// What `lemma cut` says of the training rows.
  Prediction cut(const Valid<Cut>& how) const;
  std::string summary(const Names& names) const;
};

AgglomerativeModel fit(const Valid<Agglomerative>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const AgglomerativeModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Agglomerative>();

}  // namespace lemma
