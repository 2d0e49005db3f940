// lemma/math/block_triangle.hpp: the triangle of a block of rows by the cheapest route that keeps its digits.
#pragma once
#include <functional>
#include <lemma/core/matrix.hpp>

namespace lemma {

/// The upper triangle R with RᵀR = AᵀA, with no more rows than A has. `fill` writes A into a row-major tile of rows × columns.
///
/// By Householder; or, with `by_condition`, by Cholesky of the Gram matrix AᵀA, four times faster, where the digits are
/// safe: 512 rows or more, columns scaled to unit length, an estimated condition κ ≤ 512 of all but the last (relative error about κ² 1e-16
/// in the worst direction), and at least 1e-2 of the last column, the response, orthogonal to the others (which decides
/// over the digits of the residual sum of squares alone: 12).
Matrix block_triangle(Index rows, Index columns, const std::function<void(Eigen::Ref<Matrix>)>& fill,
                      bool by_condition);

}  // namespace lemma
