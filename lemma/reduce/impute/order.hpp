// lemma/reduce/impute/order.hpp: medians and modes by scans. Inner header: use lemma/reduce/impute.hpp.
#pragma once
#include <lemma/core/rows.hpp>

namespace lemma {

/// The median of each column; NaN takes no part. `present` is the weight of each column's values. Nine scans: the
/// lower middle value is found eight bits at a time, so memory does not grow with the rows; one more finds its neighbour.
Vector medians(const Rows& rows, const Vector& present, const Execution& execution);

/// The most frequent value of each column, of equals the least, and its weight. NaN takes no part.
struct Mode {
  double value = 0, weight = 0;
};
std::vector<Mode> modes(const Rows& rows, const Execution& execution);

}  // namespace lemma
