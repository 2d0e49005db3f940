// lemma/math/blas_test.cpp
#include <gtest/gtest.h>

#include <cstdlib>
#include <lemma/core/random.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/openblas.hpp>
#include <thread>

namespace lemma {
namespace {

using blas::Op;

TEST(Blas, GetsTheKernelsOfTheLevelInForce) {
  const char* const users = std::getenv("OPENBLAS_CORETYPE");
  const std::string before = users ? users : "";
  const BlasInfo& info = blas_info();
  EXPECT_FALSE(info.core.empty());
  EXPECT_FALSE(info.library.empty());
  EXPECT_EQ(info.wanted, core_for(simd_setting()));
  EXPECT_EQ(info.degraded, is_slow_choice(info.core, simd_level()));
  if (!users || simd_setting().asked) {
    EXPECT_EQ(info.warning, "");
    EXPECT_TRUE(info.wanted.empty() || is_core(info.core, info.wanted)) << info.core;
  }
  const char* const after = std::getenv("OPENBLAS_CORETYPE");
  EXPECT_EQ(after ? after : "", before);  // set for the time of loading alone
}

TEST(Blas, ALevelMeansTheSameKernelsOnEveryCpu) {
  EXPECT_EQ(core_for({SimdLevel::avx512, false, false}), "SkylakeX");
  EXPECT_EQ(core_for({SimdLevel::avx2, false, false}), "Haswell");
  EXPECT_EQ(core_for({SimdLevel::avx2, true, true}), "Haswell");
  EXPECT_EQ(core_for({SimdLevel::baseline, true, false}), "Prescott");
  EXPECT_EQ(core_for({SimdLevel::baseline, false, false}), "");  // OpenBLAS knows older CPUs well
}

TEST(Blas, KnowsASlowChoiceWhenItSeesOne) {
  EXPECT_TRUE(is_slow_choice("Prescott", SimdLevel::avx512));
  EXPECT_TRUE(is_slow_choice("Haswell", SimdLevel::avx512));
  EXPECT_TRUE(is_slow_choice("Prescott", SimdLevel::avx2));
  EXPECT_FALSE(is_slow_choice("SKYLAKEX", SimdLevel::avx512));
  EXPECT_FALSE(is_slow_choice("Zen", SimdLevel::avx512));
  EXPECT_FALSE(is_slow_choice("haswell", SimdLevel::avx2));
  EXPECT_FALSE(is_slow_choice("Prescott", SimdLevel::baseline));
}

TEST(Blas, MultipliesRowMajorMatricesAndTheirParts) {
  const Matrix a = normal_matrix(7, 9, 1), b = normal_matrix(9, 5, 2);
  Matrix c(7, 5);
  blas::gemm(Op::plain, a, Op::plain, b, c);
  EXPECT_LT((c - a * b).norm(), 1e-13);
  Matrix d = Matrix::Ones(4, 3);
  blas::gemm(Op::transposed, a.block(1, 2, 5, 4), Op::transposed, b.topLeftCorner(3, 5), d, 2, -1);
  EXPECT_LT((d - (2 * a.block(1, 2, 5, 4).transpose() * b.topLeftCorner(3, 5).transpose() - Matrix::Ones(4, 3))).norm(),
            1e-13);
}

TEST(Blas, SquaresFillTheUpperTriangleAlone) {
  const Matrix a = normal_matrix(8, 4, 3);
  Matrix c = Matrix::Constant(4, 4, 7);
  blas::gram(a, c);
  const Matrix full = a.transpose() * a;
  EXPECT_LT((Matrix(c.triangularView<Eigen::Upper>()) - Matrix(full.triangularView<Eigen::Upper>())).norm(), 1e-13);
  EXPECT_EQ(c(3, 0), 7);
  Matrix o = Matrix::Zero(8, 8);
  blas::outer_gram(a, o);
  EXPECT_NEAR(o(2, 5), a.row(2).dot(a.row(5)), 1e-14);
  EXPECT_EQ(o(5, 2), 0);
}

TEST(Blas, TriangularSolvesUndoTriangularProducts) {
  Matrix r = normal_matrix(6, 6, 4).triangularView<Eigen::Upper>();
  r.diagonal().array() += 5;
  const Matrix b = normal_matrix(6, 3, 5), wide = normal_matrix(4, 6, 6);
  Matrix x = b;
  blas::multiply_upper(r, x);
  EXPECT_LT((x - r * b).norm(), 1e-13);
  blas::solve_upper(Op::plain, r, x);
  EXPECT_LT((x - b).norm(), 1e-13);
  x = r.transpose() * b;
  blas::solve_upper(Op::transposed, r, x);
  EXPECT_LT((x - b).norm(), 1e-13);
  x = wide * r;
  blas::divide_by_upper(r, x);
  EXPECT_LT((x - wide).norm(), 1e-13);
  Vector v = r * b.col(0);
  blas::solve_upper(Op::plain, r, v);
  EXPECT_LT((v - b.col(0)).norm(), 1e-13);
  v = r.transpose() * b.col(0);
  blas::solve_upper(Op::transposed, r, v);
  EXPECT_LT((v - b.col(0)).norm(), 1e-13);
}

TEST(Blas, CholeskyFindsTheFactorAndRefusesAnIndefiniteMatrix) {
  const Matrix a = normal_matrix(9, 5, 7), g = a.transpose() * a;
  Matrix r = g;
  ASSERT_TRUE(blas::cholesky(r));
  const Matrix upper = r.triangularView<Eigen::Upper>();
  EXPECT_LT((upper.transpose() * upper - g).norm(), 1e-12);
  Matrix indefinite = Matrix::Identity(3, 3);
  indefinite(2, 2) = -1;
  EXPECT_FALSE(blas::cholesky(indefinite));
  Matrix unknown = Matrix::Constant(2, 2, std::nan(""));
  EXPECT_FALSE(blas::cholesky(unknown));
}

TEST(Blas, ConditionOfADiagonalIsTheRatioOfItsEnds) {
  Matrix r = Matrix::Identity(4, 4);
  r(2, 2) = 1e-5;
  EXPECT_NEAR(blas::reciprocal_condition(r), 1e-5, 1e-12);
  r(2, 2) = 0;
  EXPECT_EQ(blas::reciprocal_condition(r), 0);
}

TEST(Blas, QFromHouseholderIsOrthonormalAndRestoresTheMatrix) {
  const Matrix a = normal_matrix(12, 4, 8);
  blas::Columns q = a;
  const Vector factors = blas::householder(q);
  const blas::Columns r = q.topRows(4).triangularView<Eigen::Upper>();
  blas::Columns b = a;
  blas::apply_q(Op::transposed, q, factors, b);
  EXPECT_LT((b.topRows(4) - r).norm(), 1e-13);
  EXPECT_LT(b.bottomRows(8).norm(), 1e-13);
  blas::form_q(q, factors);
  EXPECT_LT((q.transpose() * q - blas::Columns::Identity(4, 4)).norm(), 1e-14);
  EXPECT_LT((q * r - a).norm(), 1e-13);
}

TEST(Blas, StackedTrianglesKeepTheGramMatrix) {
  for (const Index n : {1, 5, 40, 70}) {
    const blas::Columns top = normal_matrix(n, n, 1).triangularView<Eigen::Upper>();
    const blas::Columns bottom = normal_matrix(n, n, 2).triangularView<Eigen::Upper>();
    const blas::Columns row = normal_matrix(1, n, 3);
    blas::Columns r = top, below(n + 1, n);
    below << row, bottom;
    blas::stack_triangles(r, below, 1);
    const blas::Columns expected = top.transpose() * top + bottom.transpose() * bottom + row.transpose() * row;
    EXPECT_LT((r.transpose() * r - expected).norm(), 1e-12 * expected.norm());
    EXPECT_EQ(blas::Columns(r.triangularView<Eigen::StrictlyLower>()).norm(), 0);
  }
}

TEST(Blas, FourThreadsThatStartAtOnceAgree) {
  const Matrix a = normal_matrix(200, 60, 9);
  std::vector<Matrix> results(4, Matrix::Zero(60, 60));
  std::vector<std::thread> threads;
  for (Matrix& c : results) threads.emplace_back([&] { blas::gram(a, c); });
  for (std::thread& t : threads) t.join();
  for (const Matrix& c : results) EXPECT_EQ(c, results[0]);
}

}  // namespace
}  // namespace lemma
