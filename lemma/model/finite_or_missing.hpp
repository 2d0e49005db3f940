// lemma/model/finite_or_missing.hpp: rows of methods to which a missing value is a value.
#pragma once
#include <lemma/core/rows.hpp>
#include <string_view>

namespace lemma {

/// Error naming column and row (counted from 1) of an infinity, of a response that is missing or infinite, or of a weight that is
/// negative or not finite. NaN in x is a missing value.
void require_finite_or_missing(std::string_view method, const Rows& rows, const Execution& execution);

}  // namespace lemma
