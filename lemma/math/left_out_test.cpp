// lemma/math/left_out_test.cpp
#include <gtest/gtest.h>

#include <lemma/core/random.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/left_out.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/math/svd.hpp>

namespace lemma {
namespace {

/// A symmetric matrix with these eigenvalues, and its eigenvectors.
struct Made {
  Matrix a, vectors;
};
Made with_eigenvalues(const Vector& values) {
  const Index n = values.size();
  const Matrix q = symmetric_eigen(Matrix(normal_matrix(n, n, 4) + normal_matrix(n, n, 4).transpose())).vectors;
  const Matrix half = q * values.asDiagonal();
  Matrix a = multiply_transposed(half, q);
  return {0.5 * (a + a.transpose()), q};
}

/// Those of the first three eigenpairs proved to be the largest, and what is said when the second is left out.
void expect_told(const Vector& values) {
  const Made made = with_eigenvalues(values);
  const double bound = values(2) * (1 + 1e-8);
  EXPECT_TRUE(nothing_above(made.a, values.head(3), made.vectors.leftCols(3), bound));
  EXPECT_TRUE(nothing_above(made.a, values.head(3), made.vectors.leftCols(3), bound, {.threads = 2}));
  Vector some(2);
  some << values(0), values(2);
  Matrix vectors(made.a.rows(), 2);
  vectors << made.vectors.col(0), made.vectors.col(2);
  EXPECT_FALSE(nothing_above(made.a, some, vectors, bound));
  EXPECT_FALSE(nothing_above(made.a, values.head(3), made.vectors.leftCols(3), values(3) * (1 - 1e-6)));
}

TEST(NothingAbove, IsToldByNormsWhereEigenvaluesFall) {
  Vector values(600);
  for (Index k = 0; k < 600; ++k) values(k) = 100 / static_cast<double>((k + 1) * (k + 1));
  expect_told(values);
}

TEST(NothingAbove, IsToldByAFactorWhereTheyHardlyDo) { expect_told(Vector::LinSpaced(550, 3, 2)); }

TEST(NothingAbove, SeesNegativeEigenvaluesAsSmallOnes) {
  Vector values = Vector::LinSpaced(520, 1, 0.01);
  values.tail(3) << -5, -6, -7;
  values.head(3) << 9, 8, 4;
  expect_told(values);
}

TEST(NothingAbove, ServesSmallMatrices) {
  Vector values(5);
  values << 5, 4, 3, 2, -9;
  expect_told(values);
}

}  // namespace
}  // namespace lemma
