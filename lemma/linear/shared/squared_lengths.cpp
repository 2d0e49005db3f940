// lemma/linear/shared/squared_lengths.cpp
#include <algorithm>
#include <lemma/linear/shared/squared_lengths.hpp>
#include <lemma/math/row_products.hpp>

namespace lemma {
namespace {

Matrix whitened(const MatrixView& x, const CentredTriangle& of, const RightTriangle& triangle) {
  Matrix rows(x.rows(), of.triangle.rows());
  for (Index i = 0; i < rows.rows(); ++i)
    for (Index j = 0; j < rows.cols(); ++j) {
      const Index column = of.kept[static_cast<std::size_t>(j)];
      rows(i, j) = (x(i, column) - of.mean(column)) - of.mean_rest(column);
    }
  triangle.divide(rows);
  return rows;
}

}  // namespace

Matrix whitened_rows(const MatrixView& x, const CentredTriangle& of) {
  if (of.triangle.rows() == 0) return Matrix(x.rows(), 0);
  return whitened(x, of, RightTriangle(of.triangle));
}

Vector squared_lengths(const MatrixView& x, const CentredTriangle& of) {
  constexpr Index kChunk = 4096;  // rows copied at a time
  Vector out = Vector::Constant(x.rows(), of.constant);
  if (of.triangle.rows() == 0) return out;
  const RightTriangle triangle(of.triangle);
  for (Index first = 0; first < x.rows(); first += kChunk) {
    const Index count = std::min(kChunk, x.rows() - first);
    out.segment(first, count) += whitened(x.middleRows(first, count), of, triangle).rowwise().squaredNorm();
  }
  return out;
}

}  // namespace lemma
