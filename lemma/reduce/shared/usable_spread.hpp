// lemma/reduce/shared/usable_spread.hpp: columns whose spread can be squared.
#pragma once
#include <lemma/core/rows.hpp>
#include <string_view>

namespace lemma {

/// Error naming a column whose values differ, but by so little or so much that the square of that is beyond the range of numbers. Looks
/// at the rows only where one of the variances gives reason to.
void require_usable_spread(std::string_view method, const Rows& rows, const VectorView& variances,
                           const Execution& execution);

}  // namespace lemma
