// lemma/cluster/kmeans/mapped_rows.hpp: rows as a metric compares them. Inner header: use lemma/cluster/kmeans.hpp.
#pragma once
#include <lemma/core/rows.hpp>
#include <lemma/geometry/bound_metric.hpp>

namespace lemma {

/// Each row where plain squared distances are those of the metric. It looks at the rows, which must outlive it.
class MappedRows final : public Rows {
 public:
  MappedRows(const Rows& rows, const BoundMetric& metric) : rows_(rows), metric_(metric) {
    features = rows.features;
    has_weights = rows.has_weights;
  }
  Index count() const override { return rows_.count(); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override {
    BufferPool::Lease raw(pool_);
    const Block block = rows_.read(first, size, *raw);
    buffer.x = metric_.mapped(block.x);
    buffer.copy_outcome(block);
    return Block(buffer.x, first, buffer.outcome());
  }

 private:
  const Rows& rows_;
  const BoundMetric& metric_;
  mutable BufferPool pool_;
};

}  // namespace lemma
