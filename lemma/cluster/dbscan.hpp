// lemma/cluster/dbscan.hpp
#pragma once
#include <lemma/geometry/neighbors.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

/// Clusters as the places where rows lie close together (Ester, Kriegel, Sander and Xu 1996). With N(x) the rows at most
/// `radius` from x, x itself among them:
///
///     core    |N(x)| ≥ min_points (the sum of weights, where rows have some)
///     cluster core rows joined by ways of core rows, each at most `radius` from the next: the components of that graph
///     border  other rows with a core row in N(x): they go with the nearest one, of equally near ones the first
///     noise   all others: they belong to no cluster
///
/// A new row goes with the nearest core row, if it is in reach, which is what it would be without changing the others; so
/// clusters do not depend on the order of the rows, but for their numbers. Without a radius the knee of the curve of
/// distances to the min_points-th row is taken: where it is farthest below the line from its first to its last point.
///
/// Cost         one search for all in reach of each row (geometry/neighbors.hpp): about O(n (p + m) log n) for few columns and m rows
///              in reach, O(n² p) at worst. Memory O(n p); who is in reach is used up row by row, or piece by piece.
/// Certificate  consistent: the clusters are exactly the density-connected sets. By another search (up to 20,000 rows by all
///              distances) the rows in reach are counted anew: the core rows are those of the model, core rows in reach
///              of each other have one cluster, each cluster hangs together, and other rows are where their nearest core row is.
struct Dbscan {
  std::optional<double> radius;
  int min_points = 5;
  Metric metric;

  static constexpr std::string_view name = "dbscan";
  static constexpr MethodAbout about{
      .family = "cluster",
      .task = Task::clustering,
      .summary = "clusters of any shape where rows lie close together; the rest is noise",
      .objective = "components of the core rows (those with min_points rows in reach), joined where they are in reach",
      .example = "lemma fit dbscan faithful --radius 1.5 --min_points 5",
      .keeps_rows = true,
      .takes_weights = true,
      .uses_response = false};
  static constexpr auto params() {
    return Listing{
        param("radius", &Dbscan::radius,
              "how far rows in reach of each other may be apart; by default the knee of the sorted distances to the "
              "min_points-th row",
              at_least(0)),
        param("min_points", &Dbscan::min_points, "rows in reach of a core row, itself counted", at_least(1)),
        param("metric", &Dbscan::metric, "distance of two rows")};
  }
  Needs needs(Needs usual) const {
    if (metric.takes_missing()) usual.codes = usual.missing = true;
    return usual;
  }
};
static_assert(Described<Dbscan>);

struct DbscanModel : Evidence {
  Dbscan spec;
  Vector sizes;       // of each cluster: its core and border rows, by weight
  Vector core_sizes;  // its core rows
  double noise = 0;   // weight of the rows of no cluster
  double mean_reach = 0;
  Vector core_rows;  // their numbers, from 1
  Matrix points;     // the core rows themselves
  Vector clusters;   // of each core row, from 1
  Index columns = 0;
  double order = 0;

  static constexpr auto fields() {
    using M = DbscanModel;
    return Listing{result("sizes", &M::sizes, "rows in each cluster (their weight)"),
                   result("core_sizes", &M::core_sizes, "core rows in each cluster"),
                   result("noise", &M::noise, "rows that belong to no cluster (their weight)"),
                   result("mean_reach", &M::mean_reach, "mean number of rows in reach of a row, itself counted"),
                   result("core_rows", &M::core_rows, "numbers of the core rows", kRowNumbers),
                   result("clusters", &M::clusters, "cluster of each core row, from 1"),
                   state("points", &M::points, "the core rows"),
                   state("columns", &M::columns, "of the data"),
                   state("order", &M::order, "a number of all rows in their order")};
  }
  static constexpr auto parts() {
    return Listing{
        part({"core_distance", "distance to the nearest core row; missing where there is none", Given::asked},
             &DbscanModel::core_distance)};
  }
  Index width() const { return columns; }
  Index k() const { return sizes.size(); }
  void check() const;
  /// The cluster of the nearest core row in reach, −1 (none) where there is none.
  Labels assign(const MatrixView& x) const;
  Vector core_distance(const MatrixView& x) const;
  bool gives(std::string_view part) const { return part != "core_distance" || points.rows() > 0; }
  std::string summary(const Names& names) const;
};

DbscanModel fit(const Valid<Dbscan>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const DbscanModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Dbscan>();

}  // namespace lemma
