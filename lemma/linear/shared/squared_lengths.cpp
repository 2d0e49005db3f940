// lemma/linear/shared/squared_lengths.cpp
#include <algorithm>
#include <lemma/linear/shared/squared_lengths.hpp>
#include <lemma/math/row_products.hpp>

namespace lemma {

Vector squared_lengths(const MatrixView& x, const CentredTriangle& of) {
  constexpr Index kChunk = 4096;  // rows copied at a time
  const Index k = of.triangle.rows();
  Vector out = Vector::Constant(x.rows(), of.constant);
  if (k == 0) return out;
  const RightTriangle triangle(of.triangle);
  for (Index first = 0; first < x.rows(); first += kChunk) {
    Matrix rows(std::min(kChunk, x.rows() - first), k);
    for (Index i = 0; i < rows.rows(); ++i)
      for (Index j = 0; j < k; ++j) {
        const Index column = of.kept[static_cast<std::size_t>(j)];
        rows(i, j) = (x(first + i, column) - of.mean(column)) - of.mean_rest(column);
      }
    triangle.divide(rows);
    out.segment(first, rows.rows()) += rows.rowwise().squaredNorm();
  }
  return out;
}

}  // namespace lemma
