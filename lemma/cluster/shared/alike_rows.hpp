// lemma/cluster/shared/alike_rows.hpp: each different row once.
#pragma once
#include <lemma/core/rows.hpp>
#include <string_view>

namespace lemma {

/// Rows that are alike count as one with the sum of their weights, and stand in an order that their values give them: copies are
/// weights, and the order in which rows come does not matter. Rows of weight 0 are not there.
struct AlikeRows {
  Matrix x;
  Vector w;
};
/// Error naming a number that cannot be used, or that all weights are 0.
AlikeRows alike_rows(std::string_view method, const Rows& rows, const Execution& execution);

}  // namespace lemma
