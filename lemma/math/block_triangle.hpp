// lemma/math/block_triangle.hpp: the triangle of a block of rows by the cheapest route that keeps its digits.
#pragma once
#include <algorithm>
#include <functional>
#include <lemma/core/asking.hpp>
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

/// to = from, a few rows at a time, between which the work this thread is at is asked whether it goes on: a large matrix that is
/// turned from rows to columns takes seconds.
template <class To, class From>
void assign_listening(To& to, const From& from) {
  constexpr Index kStrip = 64;
  to.resize(from.rows(), from.cols());
  Asking asking;
  for (Index i = 0; i < from.rows(); i += kStrip) {
    const Index size = std::min(kStrip, from.rows() - i);
    asking.before(static_cast<std::size_t>(size * from.cols()));
    to.middleRows(i, size) = from.middleRows(i, size);
  }
}

}  // namespace lemma
