// lemma/linear/shared/learn_triangle.hpp: rows to a least-squares triangle, with the errors a user can act on.
#pragma once
#include <lemma/math/least_squares.hpp>
#include <string_view>

namespace lemma {

/// The triangle of the rows, for `method`; an Error names a value that is not finite, or a column in unusable units.
LeastSquares learn_triangle(std::string_view method, const Rows& rows, bool intercept, LeastSquares::Route route,
                            const Execution& execution);

}  // namespace lemma
