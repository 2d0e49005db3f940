// lemma/cluster/dbscan/near_rows.hpp: the rows within a radius of each row, without lists that anyone keeps. Inner header: use
// lemma/cluster/dbscan.hpp.
#pragma once
#include <functional>
#include <lemma/geometry/bound_metric.hpp>
#include <lemma/geometry/neighbors/structure.hpp>
#include <memory>

namespace lemma {

/// Row i, and all rows at most the radius away from it, itself among them, in no order. On several threads.
using VisitNear = std::function<void(Index i, std::span<const std::int32_t> near)>;

class NearRows {
 public:
  virtual ~NearRows() = default;
  virtual void for_each(const Execution& execution, const VisitNear& visit) const = 0;

 protected:
  NearRows(const BoundMetric& metric, double radius);
  double limit_;  // the greatest sum whose distance is within the radius
};

/// Two ways that share no more than the arithmetic of a pair: boxes around panels of rows that lie together, each against all
/// others near it; and the cells of a grid, each row against the cells around its own. nullptr where metric, columns or radius do
/// not suit.
std::unique_ptr<const NearRows> near_rows_by_boxes(const Matrix& points, const BoundMetric& metric, double radius,
                                                   const Execution& execution);
std::unique_ptr<const NearRows> near_rows_by_cells(const Matrix& points, const BoundMetric& metric, double radius,
                                                   const Execution& execution);

}  // namespace lemma
