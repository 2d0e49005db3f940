// lemma/embed/shared/value_order.hpp: an order that rows have by themselves.
#pragma once
#include <lemma/core/matrix.hpp>
#include <vector>

namespace lemma {

/// The numbers of the rows, sorted by what each holds: whatever order and unit they come in, the same rows have the same.
std::vector<Index> order_of(const Matrix& points);

}  // namespace lemma
