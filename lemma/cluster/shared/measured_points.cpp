// lemma/cluster/shared/measured_points.cpp
#include <lemma/cluster/shared/measured_points.hpp>

namespace lemma {

MeasuredPoints measured_points(const Metric& metric, const Rows& rows, const Execution& execution) {
  if (!metric.takes_missing()) require_finite(rows, execution.part(0, 0.5));
  Matrix points = gather(rows, execution.part(0.5, 1));
  std::vector<Index> codes;
  for (Index j = 0; j < rows.width(); ++j)
    if (rows.holds_codes(j)) codes.push_back(j);
  BoundMetric bound = BoundMetric::of(metric, points, codes, execution.part(0, 0));
  return {std::move(points), std::move(bound)};
}

Vector weights_of(const Rows& rows, const Execution& execution) {
  Vector out = Vector::Ones(rows.count());
  if (!rows.has_weights) return out;
  BufferPool pool;
  const Index size = block_rows(rows);
  parallel_for(block_count(rows), execution, [&](Index b) {
    BufferPool::Lease buffer(pool);
    const Index first = b * size, count = std::min(size, rows.count() - first);
    const Block block = rows.outcome(first, count, *buffer);
    for (Index i = 0; i < count; ++i) out(first + i) = block.weight_of(i);
  });
  return out;
}

Matrix rows_at(const MatrixView& points, const std::vector<Index>& which) {
  Matrix out(static_cast<Index>(which.size()), points.cols());
  for (std::size_t i = 0; i < which.size(); ++i) out.row(static_cast<Index>(i)) = points.row(which[i]);
  return out;
}

}  // namespace lemma
