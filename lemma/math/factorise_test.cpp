// lemma/math/factorise_test.cpp
#include <gtest/gtest.h>

#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/math/factorise.hpp>

namespace lemma {
namespace {

TEST(Factorise, TheTriangleKeepsTheGramMatrixAndAPositiveDiagonal) {
  for (const Index rows : {20, 5, 3}) {
    const Matrix a = normal_matrix(rows, 5, 1), r = triangle_of(a);
    EXPECT_LT((r.transpose() * r - a.transpose() * a).norm(), 1e-13);
    EXPECT_GE(r.diagonal().minCoeff(), 0);
    EXPECT_EQ(Matrix(r.triangularView<Eigen::StrictlyLower>()).norm(), 0);
  }
}

TEST(Factorise, SharesAlikeBetweenEqualColumnsInAnyUnits) {
  const Matrix one = normal_matrix(10, 1, 2);
  Matrix a(10, 2);
  a << one, 1000 * one;
  const Vector b = 3 * one.col(0);
  const auto [w, rank] = least_squares(a, b);
  EXPECT_EQ(rank, 1);
  EXPECT_NEAR(w(0), 1.5, 1e-13);
  EXPECT_NEAR(w(1), 0.0015, 1e-16);
  EXPECT_LT(excess(a, b, w), 1e-26);
}

TEST(Factorise, TheExcessIsTheDifferenceOfTheObjectives) {
  const Matrix a = normal_matrix(30, 4, 3);
  const Vector b = normal_matrix(30, 1, 4).col(0), best = least_squares(a, b).w;
  Vector w = best;
  w(1) += 0.1;
  EXPECT_NEAR(excess(a, b, w), (a * w - b).squaredNorm() - (a * best - b).squaredNorm(), 1e-13);
  EXPECT_LT(excess(a, b, best), 1e-28);
}

TEST(Factorise, CholeskySolvesAndKnowsTheDeterminant) {
  const Matrix a{{4.0, 2.0}, {2.0, 5.0}};  // R = (2 1; 0 2), det 16
  const auto r = cholesky(a);
  ASSERT_TRUE(r);
  EXPECT_EQ(*r, (Matrix{{2.0, 1.0}, {0.0, 2.0}}));
  EXPECT_NEAR(log_determinant(*r), std::log(16.0), 1e-15);
  const Matrix b = normal_matrix(2, 3, 5);
  EXPECT_LT((a * solve_upper(*r, solve_upper_transposed(*r, b)) - b).norm(), 1e-14);
  EXPECT_LT((divide_by_upper(b.transpose(), *r) * *r - b.transpose()).norm(), 1e-14);
  EXPECT_FALSE(cholesky(Matrix{{1.0, 2.0}, {2.0, 1.0}}));
  EXPECT_THROW(cholesky(Matrix::Zero(2, 3)), Error);
}

}  // namespace
}  // namespace lemma
