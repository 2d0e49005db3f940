// lemma/linear/shared/learn_triangle.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/linear/shared/learn_triangle.hpp>

namespace lemma {
namespace {

/// Lengths whose squares, and their inverses, a double can hold with room to spare.
constexpr double kShortest = 1e-140, kLongest = 1e140;

void require_usable_units(std::string_view method, const LeastSquares& data, const Rows& rows) {
  for (Index j = 0; j <= data.features(); ++j) {
    const double length = std::hypot(data.triangle().col(j).stableNorm(), std::sqrt(data.mass()) * data.mean()(j));
    if (length == 0 || (length > kShortest && length < kLongest)) continue;
    throw Error(fmt::format("{}: the values of '{}' are too {} to be squared (they are about {:.0e}); use another unit",
                            method, j < data.features() ? rows.features[static_cast<std::size_t>(j)] : rows.target,
                            length > 1 ? "large" : "small", length / std::sqrt(data.mass())));
  }
}

}  // namespace

/// A value that is not finite shows in the triangle, so that only then the rows are searched for it. Rows with weights
/// are searched first: a weight of 0 would hide a value, and a negative precision a negative weight.
LeastSquares learn_triangle(std::string_view method, const Rows& rows, bool intercept, LeastSquares::Route route,
                            const Execution& execution) {
  if (rows.has_weights || rows.has_precision) require_finite(rows, execution.part(0, 0.1));
  try {
    LeastSquares data =
        scan(rows, LeastSquares(rows.width(), intercept, route), execution.part(0.1, 1, execution.message));
    require(data.rows() > 0, fmt::format("{}: all weights are 0, so there are no rows to learn from", method));
    require_usable_units(method, data, rows);
    return data;
  } catch (const Error&) {
    require_finite(rows, execution);
    throw;
  }
}

}  // namespace lemma
