// lemma/math/tiled_cholesky_test.cpp: tiles give what the textbook's formulas give, on any number of threads.
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/math/tiled_cholesky.hpp>

namespace lemma {
namespace {

Matrix positive(Index n) {
  const Matrix a = normal_matrix(n, n, 7);
  return a * a.transpose() / static_cast<double>(n) + Matrix::Identity(n, n);
}
Matrix upper(const Matrix& a) { return a.triangularView<Eigen::Upper>(); }

class TiledCholesky : public testing::TestWithParam<Index> {};
INSTANTIATE_TEST_SUITE_P(Sides, TiledCholesky, testing::Values(1, 2, 255, 256, 257, 700));

TEST_P(TiledCholesky, FactorsSolvesAndInverts) {
  const Matrix a = positive(GetParam());
  Matrix r = a;
  ASSERT_TRUE(tiled_cholesky(r));
  EXPECT_LT((upper(r).transpose() * upper(r) - a).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_TRUE(Matrix(r.triangularView<Eigen::StrictlyLower>()) == Matrix(a.triangularView<Eigen::StrictlyLower>()));
  const Matrix b = normal_matrix(GetParam(), 150, 8);
  Matrix x = b;
  tiled_solve_upper_transposed(r, x);
  tiled_solve_upper(r, x);
  EXPECT_LT((a * x - b).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LT((a * solve_factored(r, b.col(0)) - b.col(0)).cwiseAbs().maxCoeff(), 1e-11);
  tiled_invert_upper(r);
  const Matrix inverse = upper(r) * upper(r).transpose();
  EXPECT_LT((a * inverse - Matrix::Identity(a.rows(), a.rows())).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LT((outer_diagonal(r) - inverse.diagonal()).cwiseAbs().maxCoeff(), 1e-13);
  const Index n = a.rows(), i = n / 3, j = n / 2;
  for (const auto& [from, to] : {std::pair{i, j}, {j, i}, {i, i}, {Index{0}, n - 1}}) {
    const Index rows = std::min<Index>(100, n - from), columns = std::min<Index>(70, n - to);
    EXPECT_LT((outer_tile(r, from, rows, to, columns) - inverse.block(from, to, rows, columns)).cwiseAbs().maxCoeff(),
              1e-13);
  }
}

TEST(TiledCholeskyThreads, GiveTheSameBits) {
  const Matrix a = positive(900), b = normal_matrix(900, 300, 9);
  Execution one, five;
  one.threads = 1;
  five.threads = 5;
  Matrix r = a, s = a, x = b, z = b;
  tiled_cholesky(r, one);
  tiled_cholesky(s, five);
  tiled_solve_upper_transposed(r, x, one);
  tiled_solve_upper_transposed(s, z, five);
  EXPECT_TRUE(r == s && x == z);
  tiled_invert_upper(r, one);
  tiled_invert_upper(s, five);
  EXPECT_TRUE(r == s);
}

TEST(TiledCholeskyThreads, AMatrixThatIsNotPositiveDefiniteIsRefused) {
  Matrix a = positive(600);
  a(599, 599) = -1;
  EXPECT_FALSE(tiled_cholesky(a));
  Matrix of_ones = Matrix::Ones(3, 3);
  of_ones(2, 2) = 0.5;
  EXPECT_FALSE(tiled_cholesky(of_ones));
}

}  // namespace
}  // namespace lemma
