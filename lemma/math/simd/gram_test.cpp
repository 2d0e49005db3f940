// lemma/math/simd/gram_test.cpp
#include <gtest/gtest.h>

#include <cmath>
#include <lemma/core/random.hpp>
#include <lemma/math/simd/gram.hpp>
#include <limits>

namespace lemma {
namespace {

using Start = simd::GramTile::Start;

std::span<const double> row_of(const Matrix& x, Index i) {
  return {x.row(i).data(), static_cast<std::size_t>(x.cols())};
}
std::span<double> span_of(Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

struct Sums {
  Matrix upper;
  Vector sum;
};
Sums sums_of(const Matrix& x, const Matrix& origin, const Vector& root, Start start, double before) {
  Sums out{Matrix::Constant(x.cols(), x.cols(), before), Vector::Zero(x.cols())};
  simd::GramTile tile(out.upper, start);
  for (Index i = 0; i < x.rows(); ++i) tile.add(row_of(x, i), row_of(origin, 0), root(i), span_of(out.sum));
  tile.finish();
  return out;
}

TEST(GramTile, IsTheWeightedScatterAboutTheOriginAtEveryWidthAndLength) {
  for (const Index columns : {1, 2, 3, 7, 8, 9, 23, 24, 25, 47, 100, 193, 230})
    for (const Index rows : {0, 1, 5, 256, 257, 600}) {
      const Matrix x = normal_matrix(rows, columns, 1), origin = normal_matrix(1, columns, 2);
      const Vector root = normal_matrix(std::max<Index>(1, rows), 1, 3).col(0).cwiseAbs();
      const Matrix moved = root.head(rows).asDiagonal() * (x.rowwise() - origin.row(0));
      const Matrix expected = moved.transpose() * moved;
      const auto anew = sums_of(x, origin, root, Start::anew, 3), onto = sums_of(x, origin, root, Start::onto, 3);
      double worst = 0;
      for (Index i = 0; i < columns; ++i)
        for (Index j = 0; j < columns; ++j) {
          worst = std::max(worst, std::abs(anew.upper(i, j) - (j < i ? 3 : expected(i, j))));
          worst = std::max(worst, std::abs(onto.upper(i, j) - (j < i ? 3 : 3 + expected(i, j))));
        }
      EXPECT_LT(worst, 1e-11) << rows << " x " << columns;
      const Vector sum = moved.transpose() * root.head(rows);
      EXPECT_LT((anew.sum - sum).cwiseAbs().maxCoeff(), 1e-11) << rows << " x " << columns;
    }
}

TEST(GramTile, ManyRowsAtOnceHaveTheBitsOfOneAfterTheOther) {
  for (const Index columns : {1, 3, 8, 20, 24, 47})
    for (const Index rows : {1, 255, 256, 600}) {
      const Matrix wide = normal_matrix(rows, columns + 2, 1), origin = normal_matrix(1, columns, 2);
      const MatrixView x = wide.middleCols(1, columns);  // rows that stand apart
      Vector root = normal_matrix(rows, 1, 3).col(0).cwiseAbs();
      for (Index i = 0; i < rows; i += 3) root(i) = 0;
      Matrix one = Matrix::Zero(columns, columns), all = one;
      Vector one_sum = Vector::Zero(columns), all_sum = one_sum;
      simd::GramTile single(one, Start::onto);
      for (Index i = 0; i < rows; ++i)
        if (root(i) > 0)
          single.add({x.row(i).data(), static_cast<std::size_t>(columns)}, row_of(origin, 0), root(i),
                     span_of(one_sum));
      single.finish();
      simd::GramTile together(all, Start::onto);
      together.add(x, row_of(origin, 0), {root.data(), static_cast<std::size_t>(rows)}, span_of(all_sum));
      together.finish();
      EXPECT_EQ(one, all) << rows << " x " << columns;
      EXPECT_EQ(one_sum, all_sum) << rows << " x " << columns;
    }
}

TEST(GramTile, KeepsItsRowsWhenAnotherIsMadeOnTheSameThread) {
  const Matrix x = normal_matrix(10, 5, 1), other = normal_matrix(10, 5, 2), origin = Matrix::Zero(1, 5);
  Matrix first(5, 5), second(5, 5);
  simd::GramTile tile(first, Start::anew);
  for (Index i = 0; i < 5; ++i) tile.add(row_of(x, i), row_of(origin, 0), 1);
  {
    simd::GramTile inner(second, Start::anew);
    for (Index i = 0; i < 10; ++i) inner.add(row_of(other, i), row_of(origin, 0), 1);
    inner.finish();
  }
  for (Index i = 5; i < 10; ++i) tile.add(row_of(x, i), row_of(origin, 0), 1);
  tile.finish();
  EXPECT_LT(Matrix((first - x.transpose() * x).triangularView<Eigen::Upper>()).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_LT(Matrix((second - other.transpose() * other).triangularView<Eigen::Upper>()).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(GramTile, LetsOneValueThatIsNotANumberSpoilItsOwnColumnOnly) {
  Matrix x = normal_matrix(300, 30, 1);
  x(280, 29) = std::numeric_limits<double>::quiet_NaN();
  const auto out = sums_of(x, Matrix::Zero(1, 30), Vector::Ones(300), Start::anew, 0);
  EXPECT_TRUE(std::isnan(out.upper(29, 29)));
  EXPECT_TRUE(out.upper.diagonal().head(29).allFinite());
}

}  // namespace
}  // namespace lemma
