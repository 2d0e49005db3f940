// lemma/math/row_products_test.cpp
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <lemma/core/cpu.hpp>
#include <lemma/core/random.hpp>
#include <lemma/math/row_products.hpp>

namespace lemma {
namespace {

/// One step of a chain, as the level in force takes it.
double step(double a, double b, double c) {
  return simd_level() == SimdLevel::baseline ? a * b + c : std::fma(a, b, c);
}

/// The definition, element by element.
Matrix chains(const MatrixView& x, const MatrixView& b) {
  Matrix out = Matrix::Zero(x.rows(), b.cols());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < b.cols(); ++j)
      for (Index k = 0; k < x.cols(); ++k) out(i, j) = step(x(i, k), b(k, j), out(i, j));
  return out;
}
Matrix divided(Matrix x, const MatrixView& r) {
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) {
      for (Index k = 0; k < j; ++k) x(i, j) = step(-x(i, k), r(k, j), x(i, j));
      x(i, j) *= 1 / r(j, j);
    }
  return x;
}

Matrix triangle(Index side, std::uint64_t seed) {
  Matrix r = normal_matrix(side, side, seed);
  r.diagonal().array() = r.diagonal().array().abs() + std::sqrt(static_cast<double>(side));
  return r;  // what lies below the diagonal is not to be read
}

bool is_same(const Matrix& a, const Matrix& b) { return (a.array() == b.array()).all(); }

TEST(RowProducts, EveryElementIsOneChainInTheOrderOfTheColumns) {
  for (const Index depth : {1, 2, 7, 255, 256, 257, 600})
    for (const Index columns : {1, 2, 3, 5, 8, 13, 24, 25, 60}) {
      const Matrix x = normal_matrix(11, depth, 1), b = normal_matrix(depth, columns, 2), expected = chains(x, b);
      EXPECT_TRUE(is_same(row_products(x, b), expected)) << depth << " x " << columns;
      EXPECT_TRUE(is_same(row_products_transposed(x, Matrix(b.transpose())), expected)) << depth << " x " << columns;
    }
}

TEST(RowProducts, ARowHasTheSameBitsInAnyCompanyAndAtAnyPlace) {
  const Matrix x = normal_matrix(230, 19, 3), b = normal_matrix(19, 10, 4), r = triangle(19, 5);
  const Matrix all = row_products(x, b);
  Matrix quotient = x;
  RightTriangle(r).divide(quotient);
  for (const Index size : {1, 2, 3, 5, 7, 96, 200})
    for (const Index shift : {0, 1}) {
      Matrix wide = Matrix::Constant(size + shift, 19 + 2, 7), into = Matrix::Constant(size + shift, 10 + 3, 9);
      for (Index first = 0; first + size <= x.rows(); first += size) {
        auto part = wide.block(shift, 1, size, 19);
        auto out = into.block(shift, 2, size, 10);
        part = x.middleRows(first, size);
        RightFactor(b).multiply(part, out);
        ASSERT_TRUE(is_same(out, all.middleRows(first, size))) << size << " rows from " << first;
        RightTriangle(r).divide(part);
        ASSERT_TRUE(is_same(part, quotient.middleRows(first, size))) << size << " rows from " << first;
      }
      EXPECT_TRUE((into.leftCols(2).array() == 9).all() && (into.rightCols(1).array() == 9).all());
      EXPECT_TRUE((wide.leftCols(1).array() == 7).all() && (wide.rightCols(1).array() == 7).all());
    }
}

TEST(RowProducts, AChainGoesOnFromWhatIsThere) {
  const Matrix x = normal_matrix(9, 31, 6), b = normal_matrix(31, 14, 7);
  Matrix out = row_products(x.leftCols(12), b.topRows(12));
  RightFactor(b.bottomRows(19)).add_to(x.rightCols(19), out);
  EXPECT_TRUE(is_same(out, chains(x, b)));
}

TEST(RowProducts, DivisionByATriangleIsTheTextbooksSubstitution) {
  for (const Index side : {1, 2, 5, 6, 12, 24, 25, 49, 300}) {
    const Matrix r = triangle(side, 8);
    Matrix x = normal_matrix(13, side, 9);
    const Matrix expected = divided(x, r);
    RightTriangle(r).divide(x);
    EXPECT_TRUE(is_same(x, expected)) << side;
  }
}

TEST(RowProducts, NothingTimesSomethingIsNothing) {
  EXPECT_EQ(row_products(Matrix(0, 3), Matrix::Ones(3, 2)).rows(), 0);
  EXPECT_TRUE(is_same(row_products(Matrix(2, 0), Matrix(0, 3)), Matrix::Zero(2, 3)));
  EXPECT_EQ(row_products(Matrix::Ones(2, 3), Matrix(3, 0)).cols(), 0);
  Matrix none(4, 0);
  RightTriangle(Matrix(0, 0)).divide(none);
  EXPECT_EQ(none.rows(), 4);
}

}  // namespace
}  // namespace lemma
