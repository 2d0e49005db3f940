// lemma/math/multiply.cpp
#include <algorithm>
#include <lemma/core/error.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/multiply.hpp>

namespace lemma {
namespace {

constexpr Index kSide = kProductTile;
constexpr Index kLarge = 1536, kLargeSide = 512;  // of a result this wide: larger tiles are packed less often

void require_matching(Index a, Index b) {
  require(a == b, "matrix product: " + std::to_string(a) + " columns meet " + std::to_string(b) + " rows");
}

/// work(first row, rows, first column, columns) for each tile of the result.
template <class Work>
void for_tiles(Index rows, Index columns, const Execution& execution, Work&& work) {
  const Index side = std::min(rows, columns) < kLarge ? kSide : kLargeSide;
  const Index down = (rows + side - 1) / side, across = (columns + side - 1) / side;
  parallel_for(down * across, execution, [&](Index t) {
    const Index i = t / across * side, j = t % across * side;
    work(i, std::min(side, rows - i), j, std::min(side, columns - j));
  });
}

/// Of a symmetric result the tiles on and above the diagonal, then their mirror images.
template <class Work>
Matrix symmetric(Index side, const Execution& execution, Work&& work) {
  Matrix c = Matrix::Zero(side, side);
  for_tiles(side, side, execution, [&](Index i, Index rows, Index j, Index columns) {
    if (i <= j) work(i, rows, j, columns, c);
  });
  c.triangularView<Eigen::StrictlyLower>() = c.transpose();
  return c;
}

}  // namespace

Matrix multiply(const MatrixView& a, const MatrixView& b, const Execution& execution) {
  require_matching(a.cols(), b.rows());
  Matrix c = Matrix::Zero(a.rows(), b.cols());
  for_tiles(c.rows(), c.cols(), execution, [&](Index i, Index rows, Index j, Index columns) {
    blas::gemm(blas::Op::plain, a.middleRows(i, rows), blas::Op::plain, b.middleCols(j, columns),
               c.block(i, j, rows, columns));
  });
  return c;
}

Matrix multiply_transposed(const MatrixView& a, const MatrixView& b, const Execution& execution) {
  require_matching(a.cols(), b.cols());
  Matrix c = Matrix::Zero(a.rows(), b.rows());
  for_tiles(c.rows(), c.cols(), execution, [&](Index i, Index rows, Index j, Index columns) {
    blas::gemm(blas::Op::plain, a.middleRows(i, rows), blas::Op::transposed, b.middleRows(j, columns),
               c.block(i, j, rows, columns));
  });
  return c;
}

Matrix transposed_multiply(const MatrixView& a, const MatrixView& b, const Execution& execution) {
  require_matching(a.rows(), b.rows());
  Matrix c = Matrix::Zero(a.cols(), b.cols());
  for_tiles(c.rows(), c.cols(), execution, [&](Index i, Index rows, Index j, Index columns) {
    blas::gemm(blas::Op::transposed, a.middleCols(i, rows), blas::Op::plain, b.middleCols(j, columns),
               c.block(i, j, rows, columns));
  });
  return c;
}

Matrix gram(const MatrixView& a, const Execution& execution) {
  return symmetric(a.cols(), execution, [&](Index i, Index rows, Index j, Index columns, Matrix& c) {
    if (i == j) blas::gram(a.middleCols(i, rows), c.block(i, i, rows, rows));
    else
      blas::gemm(blas::Op::transposed, a.middleCols(i, rows), blas::Op::plain, a.middleCols(j, columns),
                 c.block(i, j, rows, columns));
  });
}

Matrix outer_gram(const MatrixView& a, const Execution& execution) {
  return symmetric(a.rows(), execution, [&](Index i, Index rows, Index j, Index columns, Matrix& c) {
    if (i == j) blas::outer_gram(a.middleRows(i, rows), c.block(i, i, rows, rows));
    else
      blas::gemm(blas::Op::plain, a.middleRows(i, rows), blas::Op::transposed, a.middleRows(j, columns),
                 c.block(i, j, rows, columns));
  });
}

}  // namespace lemma
