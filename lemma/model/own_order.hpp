// lemma/model/own_order.hpp: rows in an order that their values give them.
#pragma once
#include <lemma/core/row_views.hpp>
#include <optional>

namespace lemma {

/// The numbers of the rows, sorted by what each row holds: features, response, offset, weights. O(n p + n log n).
std::vector<Index> own_order(const Rows& rows, const Execution& execution = {});

/// All rows in memory, in their own order; sparse rows stay sparse. Whatever order they came in, they are the same rows
/// here, bit by bit, so that what depends on the order (sums that are rounded, solvers that visit one row after the other)
/// says the same of them.
class RowsInOwnOrder {
 public:
  explicit RowsInOwnOrder(const Rows& rows, const Execution& execution = {});
  RowsInOwnOrder(const RowsInOwnOrder&) = delete;
  RowsInOwnOrder& operator=(const RowsInOwnOrder&) = delete;
  const Rows& operator*() const;

 private:
  SelectedRows sorted_;
  BlockBuffer all_;
  std::optional<MemoryRows> dense_;
};

}  // namespace lemma
