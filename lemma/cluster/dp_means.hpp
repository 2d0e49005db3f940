// lemma/cluster/dp_means.hpp
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

/// K-means that finds the number of clusters, at the price of λ for each (Kulis and Jordan 2012, the limit of a Dirichlet process
/// mixture for small variances):
///
///     minimise  Σᵢ wᵢ min_k ‖xᵢ − c_k‖² + λ K     over centres and their number K
///
/// From one centre, the mean of all rows: rows go to their nearest centre one after the other, a row whose squared distance to it is
/// above λ becomes a centre of its own; then centres go to the means of their rows. Where no row changes, two clusters are joined
/// whose joining adds less than λ to the sum of squares, n₁ n₂ / (n₁ + n₂) ‖c₁ − c₂‖², and it goes on. The objective never rises.
///
/// Cost         O(n K p) for a pass; the rows are gathered, O(n p).
/// Certificate  consistent: no row is farther from its nearest centre than √λ, one more step moves no centre farther than 1e-9 of the
///              rows' spread, joining two clusters lowers nothing, and the objective is that of the rows, summed anew.
struct DpMeans {
  std::optional<double> lambda;
  int max_iterations = 300;

  static constexpr std::string_view name = "dp_means";
  static constexpr MethodAbout about{
      .family = "cluster",
      .task = Task::clustering,
      .summary = "k-means that finds the number of clusters itself, at a price for each",
      .objective = "minimise sum_i w_i min_k ||x_i - c_k||^2 + lambda K, over centres and their number K",
      .example = "lemma fit dp_means iris '~ . - species' --lambda 4",
      .takes_weights = true,
      .uses_response = false,
      .row_order_matters = true};
  static constexpr auto params() {
    return Listing{param("lambda", &DpMeans::lambda,
                         "price of a cluster: the squared distance beyond which a row begins its own; by default "
                         "the mean squared distance of "
                         "the rows to their mean",
                         above(0)),
                   param("max_iterations", &DpMeans::max_iterations, "most passes over the rows", at_least(1))};
  }
};
static_assert(Described<DpMeans>);

struct DpMeansModel : Evidence {
  DpMeans spec;
  Matrix centers;
  Vector sizes, within;
  double total_within = 0, objective = 0;

  static constexpr auto fields() {
    using M = DpMeansModel;
    return Listing{result("centers", &M::centers, "mean of each cluster, one in each row", kByFeature),
                   result("sizes", &M::sizes, "rows in each cluster (their weight)"),
                   result("within", &M::within, "sum of squared distances to the centre, for each cluster"),
                   result("total_within", &M::total_within, "sum of `within`"),
                   result("objective", &M::objective, "total_within + lambda K: what is minimised")};
  }
  static constexpr auto parts() {
    return Listing{part({"distances", "from the row to each centre", Given::asked, PartColumns::numbered, "distance"},
                        &DpMeansModel::distances)};
  }
  Index width() const { return centers.cols(); }
  Index k() const { return centers.rows(); }
  void check() const;
  /// The nearest centre, −1 (none) of a row that would begin a cluster of its own.
  Labels assign(const MatrixView& x) const;
  Matrix distances(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

DpMeansModel fit(const Valid<DpMeans>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const DpMeansModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<DpMeans>();

}  // namespace lemma
