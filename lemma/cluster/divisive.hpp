// lemma/cluster/divisive.hpp
#pragma once
#include <lemma/cluster/shared/dendrogram.hpp>
#include <lemma/geometry/compared.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

enum class PartBy { diana, bisecting };
constexpr auto names_of(PartBy) { return std::array<std::string_view, 2>{"diana", "bisecting"}; }

/// A hierarchy from the top: one cluster of all rows is parted, again and again, until each row is alone (DIANA: Macnaughton-Smith
/// 1964, Kaufman and Rousseeuw 1990). The cluster of the greatest diameter is parted next. The row with the greatest mean
/// dissimilarity to the others leaves it and begins a splinter group; then, one after the other, the row follows of which
///
///     mean d to the others that stay  −  mean d to the splinter group
///
/// is greatest, as long as that is above 0. The height of a parting is the diameter, max d, of the cluster that is parted.
///
/// By `bisecting` each cluster is parted by 2-means (Steinbach, Karypis and Kumar 2000): the one of the greatest sum of squared
/// distances to its mean is next, and that sum is the height. Two starts, the better kept (divisive/bisecting.hpp). Rows alone, and
/// Euclidean distances.
///
/// Cost         O(n³) time at worst, about O(n²) for each large cluster that is parted; 4 n² bytes (8 n² while parting). Bisecting: O(m p) for a step of 2-means of m
///              rows, O(n p) memory.
/// Certificate  consistent: each height is the diameter of its cluster, found anew from all pairs; no row that stayed behind is on
///              average nearer to those that left than to those that stayed, and the row that left first is one of those that left;
///              to 1e-9 of the greatest dissimilarity. Bisecting: no row is nearer to the mean of the other side of its parting, and
///              heights are sums of squares, to 1e-9 of the sum of all.
struct Divisive {
  PartBy by = PartBy::diana;
  Input input = Input::rows;
  Metric metric;
  std::optional<int> k;
  double gigabytes = 4;

  static constexpr std::string_view name = "divisive";
  static constexpr MethodAbout about{
      .family = "cluster",
      .task = Task::clustering,
      .summary = "a hierarchy from the top: the widest cluster is parted until each row is alone (DIANA)",
      .objective = "part the cluster of greatest diameter; rows follow the splinter group while they are nearer to it",
      .example = "lemma fit divisive usarrests '~ . - state' --k 3",
      .keeps_rows = true,
      .uses_response = false};
  static constexpr auto params() {
    return Listing{
        param("by", &Divisive::by, "how a cluster is parted: by a splinter group (diana), or by 2-means (bisecting)"),
        param("input", &Divisive::input, "rows, compared by the metric, or a square: the dissimilarities themselves"),
        param("metric", &Divisive::metric, "how different two rows are"),
        param("k", &Divisive::k, "clusters that `labels` tells; by default where the heights leave the widest gap",
              at_least(1)),
        param("gigabytes", &Divisive::gigabytes, "memory that the dissimilarities may take", above(0))};
  }
  void check() const;
  Needs needs(Needs usual) const { return needs_for(input, metric, usual); }
};
static_assert(Described<Divisive>);

struct DivisiveModel : Evidence {
  Divisive spec;
  Matrix merges;   // the partings backwards, as R's hclust
  Vector heights;  // the diameter of the cluster that is parted
  Vector order;
  Vector labels;
  double coefficient = 0;
  Index columns = 0;
  Vector prints;

  static constexpr auto fields() {
    using M = DivisiveModel;
    return Listing{
        result("merges", &M::merges,
               "the partings from the last to the first, each joining what it parted, as R's hclust"),
        result("heights", &M::heights, "diameter of the cluster of each of them; bisecting: its sum of squares"),
        result("order", &M::order, "the rows as a dendrogram shows them, no branches crossing", kRowNumbers),
        result("labels", &M::labels, "the cluster of each row when there are k", {.across = Axis::row}),
        result("coefficient", &M::coefficient,
               "divisive coefficient: 1 less the mean of (diameter of the last cluster that a row is parted from) / "
               "(that of all)"),
        state("columns", &M::columns, "how many columns there are"),
        state("prints", &M::prints, "a number of each row, by which it is known again")};
  }
  static constexpr auto actions() {
    return Listing{action("cut", "the rows in clusters, by their number or by a height", &DivisiveModel::cut)};
  }
  Index width() const { return columns; }
  Index rows() const { return merges.rows() + 1; }
  void check() const;
  Prediction cut(const Valid<Cut>& how) const;
  std::string summary(const Names& names) const;
};

DivisiveModel fit(const Valid<Divisive>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const DivisiveModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Divisive>();

}  // namespace lemma
