// lemma/cluster/kmedians.hpp
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

/// k centres with the least sum of absolute differences to the rows:
///
///     minimise  Σᵢ wᵢ min_k Σⱼ |xᵢⱼ − c_kj|
///
/// Every row goes to the nearest centre by Manhattan distance (the first of equals), every centre to the medians of its rows, column
/// by column, until no row changes its centre. Of an even number of rows the median is the middle of the two middle values. A start
/// draws rows in proportion to w · D, D the distance to the nearest centre drawn before; the best of several is kept. A centre
/// without rows goes to the row that is farthest from its own. One far value moves a median no more than a near one does.
///
/// Cost         O(n k p + n p log n) for an iteration; the rows are gathered, O(n p).
/// Certificate  consistent: no row is nearer to another centre than its own, and each centre is the median of its rows in each column,
///              found by counting the weight below and above it; sizes and sums are those of the rows.
struct KMedians {
  int k = 3;
  int restarts = 10;
  int max_iterations = 300;

  static constexpr std::string_view name = "kmedians";
  static constexpr MethodAbout about{
      .family = "cluster",
      .task = Task::clustering,
      .summary = "k centres with the least sum of absolute differences to the rows: medians in the place of means",
      .objective = "minimise sum_i w_i min_k ||x_i - c_k||_1, by rows to the nearest centre and centres to medians",
      .example = "lemma fit kmedians iris '~ . - species' --k 3",
      .takes_weights = true,
      .uses_response = false,
      .random = true};
  static constexpr auto params() {
    return Listing{param("k", &KMedians::k, "number of clusters", at_least(1)),
                   param("restarts", &KMedians::restarts, "starts, of which the best result is kept", at_least(1)),
                   param("max_iterations", &KMedians::max_iterations, "most iterations of one start", at_least(1))};
  }
};
static_assert(Described<KMedians>);

struct KMediansModel : Evidence {
  KMedians spec;
  Matrix centers;
  Vector sizes;
  Vector within;
  double total_within = 0;

  static constexpr auto fields() {
    using M = KMediansModel;
    return Listing{result("centers", &M::centers, "medians of each cluster, one centre in each row", kByFeature),
                   result("sizes", &M::sizes, "rows in each cluster (their weight)"),
                   result("within", &M::within, "sum of Manhattan distances to the centre, for each cluster"),
                   result("total_within", &M::total_within, "sum of `within`: what is minimised")};
  }
  static constexpr auto parts() {
    return Listing{part({"distances", "Manhattan distance from the row to each centre", Given::asked,
                         PartColumns::numbered, "distance"},
                        &KMediansModel::distances)};
  }
  Index width() const { return centers.cols(); }
  Index k() const { return centers.rows(); }
  void check() const;
  Labels assign(const MatrixView& x) const;
  Matrix distances(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

KMediansModel fit(const Valid<KMedians>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const KMediansModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<KMedians>();

}  // namespace lemma
