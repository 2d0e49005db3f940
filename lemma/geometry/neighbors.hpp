// lemma/geometry/neighbors.hpp: which points are nearest: one search, several structures behind it.
//
// All structures but the last give the same answer, to the last bit: the k points with the least (distance, row), or all within a
// radius, where the distance is the metric's and of equally far points the first row comes first. What differs is what
// is looked at:
//
//     brute_force  tiles of all distances: any metric, any dimension                        O(n p) for each query
//     kd_tree      boxes, split at the median of their widest side; metrics by columns      about O(p k + log n) for few p
//     ball_tree    balls; any metric with the triangle inequality, and those made of one    the same, when rows lie in few
//                  (sqeuclidean, cosine, correlation)                                       dimensions of many
//     projections  several trees that part points by chance; metrics by columns; most of    the points looked at
//                  the neighbours, what share of them is measured (`recall`)
//
// A kd-tree or ball tree passes over a node only when all of it is farther than the k-th found so far, rounding
// included; with ε > 0 already when it is farther than 1/(1 + ε) of that, so that each distance found is at most (1 +
// ε) times the true one. `automatic` takes a kd-tree for few columns, else the tree that a trial on a few points shows
// to be worth it, else brute force; with recall < 1 projections in the place of brute force over many points.
//
// Brute force of sums of squares (euclidean, sqeuclidean, cosine, correlation, mahalanobis) filters in float32 first,
// with a bound on the error, and compares exactly what passes.
//
// Cost  trees: O(n p log n) time to build, O(n p) memory; queries on all threads, each on its own.
#pragma once
#include <lemma/geometry/bound_metric.hpp>
#include <memory>

namespace lemma {

enum class SearchBy { automatic, brute_force, kd_tree, ball_tree, projections };
constexpr auto names_of(SearchBy) {
  return std::array<std::string_view, 5>{"auto", "brute_force", "kd_tree", "ball_tree", "projections"};
}

struct SearchOptions {
  SearchBy structure = SearchBy::automatic;
  double epsilon = 0;
  double recall = 1;  // projections alone are not exact: 1 is 0.95 for them

  static constexpr std::string_view name = "search";
  static constexpr auto params() {
    return Listing{
        param("structure", &SearchOptions::structure, "how neighbours are searched for"),
        param("epsilon", &SearchOptions::epsilon,
              "a neighbour may be farther than the true one by this share; 0: exact", at_least(0)),
        param("recall", &SearchOptions::recall, "share of the true neighbours that is enough; 1: all of them",
              Range{.low = 0, .high = 1, .low_open = true})};
  }
};

/// For each query its neighbours, nearest first, equally far ones in the order of the rows.
struct NeighborLists {
  std::vector<Index> start;  // those of query i are [start[i], start[i + 1])
  std::vector<std::int32_t> row;
  std::vector<double> distance;

  Index count() const { return static_cast<Index>(start.size()) - 1; }
  std::span<const std::int32_t> rows_of(Index i) const { return part(row, i); }
  std::span<const double> distances_of(Index i) const { return part(distance, i); }
  bool operator==(const NeighborLists&) const = default;

 private:
  template <class T>
  std::span<const T> part(const std::vector<T>& all, Index i) const {
    const Index from = start[static_cast<std::size_t>(i)], to = start[static_cast<std::size_t>(i) + 1];
    return {all.data() + from, static_cast<std::size_t>(to - from)};
  }
};

class SearchStructure;  // see neighbors/structure.hpp

class Neighbors {
 public:
  /// Error when the structure does not suit the metric, or a row cannot be compared.
  Neighbors(const MatrixView& points, const BoundMetric& metric, const Valid<SearchOptions>& how = SearchOptions{},
            const Execution& execution = {});
  Neighbors(const MatrixView& points, const Metric& metric, const Valid<SearchOptions>& how = SearchOptions{},
            const Execution& execution = {});
  ~Neighbors();
  Neighbors(Neighbors&&) noexcept;
  Neighbors& operator=(Neighbors&&) noexcept;

  Index count() const { return count_; }
  const BoundMetric& metric() const { return metric_; }
  /// Never `automatic`.
  SearchBy structure() const { return structure_; }
  /// "kd-tree: 3 columns are few": what was chosen, and why.
  const std::string& choice() const { return choice_; }
  /// What share of the true neighbours was found of a sample of the points; 1 where all are found for sure.
  double recall() const { return recall_; }

  /// The k nearest points of each row; all of them when there are no more than k. A point that gower cannot compare
  /// with the row (no column known of both) is nobody's neighbour. Error when k < 1.
  NeighborLists nearest(const MatrixView& queries, Index k, const Execution& execution = {}) const;
  /// The same of each point, itself left out (its copies stay).
  NeighborLists nearest_own(Index k, const Execution& execution = {}) const;

  /// All points at most that far. Error when the radius is negative or NaN.
  NeighborLists within(const MatrixView& queries, double radius, const Execution& execution = {}) const;
  NeighborLists within_own(double radius, const Execution& execution = {}) const;

 private:
  void choose(const Matrix& mapped, const SearchOptions& how, const Execution& execution);
  void choose_by_trial(const Matrix& mapped, double recall, const Execution& execution);
  void take_projections(const Matrix& mapped, double recall, const Execution& execution);
  void take(SearchBy structure, std::unique_ptr<const SearchStructure> search, const std::string& why);
  /// In which to search for the queries' neighbours.
  std::vector<std::int32_t> order_of(const Matrix& queries, const Execution& execution) const;
  /// The `most` nearest within the radius, of mapped queries or (nullptr) of the points themselves.
  NeighborLists collect(const Matrix* queries, Index most, double radius, const Execution& execution) const;

  BoundMetric metric_;
  Index count_;
  double epsilon_, recall_ = 1;
  SearchBy structure_ = SearchBy::brute_force;
  std::string choice_;
  std::unique_ptr<const SearchStructure> search_;
};

}  // namespace lemma
