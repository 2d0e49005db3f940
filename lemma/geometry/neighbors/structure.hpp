// lemma/geometry/neighbors/structure.hpp: what a search structure is. Inner header: use lemma/geometry/neighbors.hpp.
#pragma once
#include <lemma/geometry/neighbors/collector.hpp>
#include <memory>

namespace lemma {

/// Points in panels, in an order of the structure's own, and a way to show a query those that it might want.
class SearchStructure {
 public:
  using Collector = neighbors::Collector;
  using Order = std::vector<std::int32_t>;

  SearchStructure(PackedPoints points, Order order) : points_(std::move(points)), order_(std::move(order)) {}
  virtual ~SearchStructure() = default;

  /// Shows each of the mapped rows (one after the other) its points. A collector for each, begun.
  virtual void search(const double* rows, Index count, Collector* collectors) const = 0;

  /// A number that is near for rows that want the same points: searched in its order they find them still at hand.
  virtual Index home(const double*) const { return 0; }

  const PackedPoints& points() const { return points_; }
  /// Which row stands at each place.
  const Order& order() const { return order_; }

 protected:
  void scan(const double* x, Index panel, Collector& collector) const;
  void offer(const double* x, Index place, double sum, Collector& collector) const;

  PackedPoints points_;
  Order order_;
};

namespace neighbors {
std::unique_ptr<const SearchStructure> brute_force(const BoundMetric& metric, const Matrix& mapped);
std::unique_ptr<const SearchStructure> kd_tree(const BoundMetric& metric, const Matrix& mapped,
                                               const Execution& execution);
std::unique_ptr<const SearchStructure> ball_tree(const BoundMetric& metric, const Matrix& mapped,
                                                 const Execution& execution);
}  // namespace neighbors
}  // namespace lemma
