// lemma/math/simd/triangle_test.cpp
#include <gtest/gtest.h>

#include <lemma/core/random.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/math/simd/triangle.hpp>

namespace lemma {
namespace {

std::span<const double> span_of(const Vector& v) { return {v.data(), at(v.size())}; }

/// Column by column, the squares in four chains.
double square_of(const Vector& y) {
  double s[4] = {0, 0, 0, 0};
  const Index whole = y.size() / 4 * 4;
  for (Index j = 0; j < y.size(); ++j) s[j < whole ? j % 4 : 0] += y(j) * y(j);
  return (s[0] + s[1]) + (s[2] + s[3]);
}

TEST(RowsAside, SquaresHaveTheBitsOfTheQuotientRowByRow) {
  for (const Index columns : {1, 2, 3, 4, 5, 8, 20, 23, 25, 61})
    for (const Index rows : {1, 3, 31, 32, 33, 100}) {
      const Matrix x = normal_matrix(rows, columns, 1);
      const Vector origin = normal_matrix(columns, 1, 2).col(0), centre = normal_matrix(columns, 1, 3).col(0);
      Matrix r = normal_matrix(columns, columns, 4);  // what lies below the diagonal is not to be read
      r.diagonal() = r.diagonal().cwiseAbs().array() + 2;
      const Vector inverse = r.diagonal().cwiseInverse();
      Matrix y = (x.rowwise() - origin.transpose()).rowwise() - centre.transpose();
      RightTriangle(r).divide(y);
      Vector found(rows);
      simd::RowsAside aside(x, span_of(origin));
      aside.squares(span_of(centre), r, span_of(inverse), {found.data(), at(rows)});
      for (Index i = 0; i < rows; ++i)
        ASSERT_EQ(found(i), square_of(y.row(i))) << rows << " x " << columns << ", row " << i;
    }
}

TEST(RowsAside, SaysWhatDoesNotFit) {
  const Matrix x = normal_matrix(5, 3, 1);
  EXPECT_THROW(simd::RowsAside(x, span_of(Vector::Zero(2))), std::exception);
}

}  // namespace
}  // namespace lemma
