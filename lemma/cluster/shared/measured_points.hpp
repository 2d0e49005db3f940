// lemma/cluster/shared/measured_points.hpp: rows gathered, and a metric that has learned what it needs of them.
#pragma once
#include <lemma/core/rows.hpp>
#include <lemma/geometry/bound_metric.hpp>

namespace lemma {

struct MeasuredPoints {
  Matrix points;
  BoundMetric metric;
};

/// Error naming row and column of a number that cannot be used (gower takes missing ones).
MeasuredPoints measured_points(const Metric& metric, const Rows& rows, const Execution& execution);

/// The weight of each row; 1 where there are none.
Vector weights_of(const Rows& rows, const Execution& execution);

/// Some of the rows, in the order given.
Matrix rows_at(const MatrixView& points, const std::vector<Index>& which);

}  // namespace lemma
