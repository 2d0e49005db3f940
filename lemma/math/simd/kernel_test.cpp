// lemma/math/simd/kernel_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/math/simd/kernel.hpp>

namespace lemma::simd {
namespace {

double kernel(const Matrix& x, Index i, const Matrix& z, Index j, double gamma) {
  return std::exp(-gamma * (x.row(i) - z.row(j)).squaredNorm());
}

TEST(SimdKernel, IsTheGaussianOfEveryPair) {
  for (const Index width : {1, 3, 8, 50}) {
    const Matrix x = normal_matrix(23, width, 1), z = normal_matrix(131, width, 2);
    for (const double gamma : {1e-6, 0.02, 1.0, 30.0}) {
      const GaussianPoints points(z, gamma);
      const GaussianRows rows = points.rows(x);
      for (const Index first : {0, 5, 64}) {
        Matrix out(23, 131 - first);
        points.block(rows, first, out);
        for (Index i = 0; i < 23; ++i)
          for (Index j = first; j < 131; ++j) {
            const double wanted = kernel(x, i, z, j, gamma);
            ASSERT_NEAR(out(i, j - first), wanted, 1e-14 * (1 + gamma * static_cast<double>(width)) * wanted + 1e-300);
          }
      }
    }
  }
}

TEST(SimdKernel, IsSymmetricAndOneOnTheDiagonalToTheLastBit) {
  const Matrix z = normal_matrix(77, 5, 3);
  const GaussianPoints points(z, 0.7);
  std::vector<Index> all(77);
  for (Index i = 0; i < 77; ++i) all[static_cast<std::size_t>(i)] = i;
  Matrix own(77, 77), anew(77, 77);
  points.block(points.own_rows(all), 0, own);
  points.block(points.rows(z), 0, anew);
  EXPECT_EQ(own, own.transpose());
  EXPECT_EQ(own, anew);
  EXPECT_EQ(own.diagonal(), Vector::Ones(77));
}

TEST(SimdKernel, SumsOverRowsAndOverPoints) {
  const Matrix x = normal_matrix(19, 6, 4), z = normal_matrix(100, 6, 5);
  const GaussianPoints points(z, 0.2);
  const GaussianRows rows = points.rows(x);
  Matrix block(19, 100);
  points.block(rows, 0, block);
  const Vector by_row = normal_matrix(19, 1, 6), by_point = normal_matrix(100, 1, 7);
  Vector at_points = Vector::Constant(90, 2), at_rows(19);
  points.add_at_points(rows, {by_row.data(), 19}, 7, {at_points.data(), 90});
  points.expand(rows, {by_point.data(), 100}, {at_rows.data(), 19});
  EXPECT_LE((at_points - Vector::Constant(90, 2) - block.middleCols(7, 90).transpose() * by_row).cwiseAbs().maxCoeff(),
            1e-14);
  EXPECT_LE((at_rows - block * by_point).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(SimdKernel, IsZeroFarAway) {
  Matrix z(2, 1);
  z << 0, 1e6;
  const GaussianPoints points(z, 1);
  Matrix out(1, 2);
  points.block(points.rows(z.topRows(1)), 0, out);
  EXPECT_EQ(out(0, 0), 1);
  EXPECT_EQ(out(0, 1), 0);
}

}  // namespace
}  // namespace lemma::simd
