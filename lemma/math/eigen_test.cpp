// lemma/math/eigen_test.cpp
#include <gtest/gtest.h>

#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/math/svd.hpp>

namespace lemma {
namespace {

Matrix symmetric_matrix(Index n) {
  const Matrix a = normal_matrix(n, n, 1);
  return a + a.transpose();
}

TEST(Eigen, OfATwoByTwoMatrixAreTheOnesByHand) {  // (2 1; 1 2): 3 along (1, 1), 1 along (1, −1)
  const Eigenpairs e = symmetric_eigen(Matrix{{2.0, 1.0}, {1.0, 2.0}});
  EXPECT_NEAR(e.values(0), 3, 1e-15);
  EXPECT_NEAR(e.values(1), 1, 1e-15);
  const double h = std::sqrt(0.5);
  EXPECT_LT((e.vectors - Matrix{{h, h}, {h, -h}}).norm(), 1e-15);  // the first of equals is positive
}

TEST(Eigen, DescendAndLeaveNoResidual) {
  const Matrix a = symmetric_matrix(40);
  const Eigenpairs all = symmetric_eigen(a), top = symmetric_eigen(a, 5);
  EXPECT_LT(eigen_residual(a, all), 1e-14);
  EXPECT_LT(eigen_residual(a, top), 1e-14);
  for (Index k = 0; k + 1 < 40; ++k) EXPECT_GE(all.values(k), all.values(k + 1));
  EXPECT_LT((all.values.head(5) - top.values).norm(), 1e-12);
  EXPECT_LT((all.vectors.leftCols(5) - top.vectors).norm(), 1e-11);
}

TEST(Eigen, AResidualSeesADamagedPair) {
  const Matrix a = symmetric_matrix(10);
  Eigenpairs e = symmetric_eigen(a);
  e.values(3) *= 1.001;
  EXPECT_GT(eigen_residual(a, e), 1e-6);
}

TEST(Eigen, TheGeneralisedProblemIsSolvedInTheMetricOfB) {
  const Matrix a = symmetric_matrix(8), half = normal_matrix(20, 8, 2), b = half.transpose() * half;
  const Eigenpairs e = generalised_eigen(a, b);
  EXPECT_LT((a * e.vectors - b * e.vectors * e.values.asDiagonal()).norm(), 1e-11);
  EXPECT_LT((e.vectors.transpose() * b * e.vectors - Matrix::Identity(8, 8)).norm(), 1e-12);
  EXPECT_THROW(generalised_eigen(a, -b), Error);
}

TEST(Eigen, RefusesWhatItCannotUse) {
  EXPECT_THROW(symmetric_eigen(Matrix::Zero(2, 3)), Error);
  EXPECT_THROW(symmetric_eigen(Matrix::Constant(2, 2, std::nan(""))), Error);
  EXPECT_THROW(symmetric_eigen(Matrix::Identity(2, 2), 3), Error);
  EXPECT_EQ(symmetric_eigen(Matrix::Zero(0, 0)).values.size(), 0);
}

TEST(Svd, RestoresTheMatrixTallOrWide) {
  for (const auto& [n, p] : {std::pair<Index, Index>{9, 4}, {4, 9}, {5, 5}}) {
    const Matrix a = normal_matrix(n, p, 3);
    const Svd d = thin_svd(a);
    EXPECT_LT((d.u * d.s.asDiagonal() * d.v.transpose() - a).norm(), 1e-13);
    Matrix turned = d.v;
    turn_columns(turned);
    EXPECT_EQ(turned, d.v);
  }
}

/// Rows with singular values that fall by half, about a centre that is not zero.
Matrix falling_rows(Index n, Index p) {
  Matrix x = normal_matrix(n, p, 4);
  for (Index j = 0; j < p; ++j) x.col(j) *= std::pow(0.8, static_cast<double>(j));
  return x.array() + 10;
}

TEST(RandomisedSvd, FindsTheLeadingTriplesToItsTolerance) {
  const Matrix x = falling_rows(700, 60);
  const Vector centre = x.colwise().mean().transpose();
  const Matrix centred = x.rowwise() - centre.transpose();
  const Svd exact = thin_svd(centred);
  const LeadingSvd found = randomised_svd(MemoryRows(x), centre, {.count = 5, .passes = 20});
  EXPECT_LT(found.residual.maxCoeff(), 1e-9);
  EXPECT_LT(((found.s - exact.s.head(5)).array() / exact.s.head(5).array()).abs().maxCoeff(), 1e-12);
  EXPECT_LT((found.v - exact.v.leftCols(5)).norm(), 1e-7);
}

TEST(RandomisedSvd, ReportsTheTrueResidual) {
  const Matrix x = normal_matrix(500, 120, 5);  // a flat spectrum: two passes cannot be enough
  const LeadingSvd found = randomised_svd(MemoryRows(x), Vector(), {.count = 4, .passes = 2});
  EXPECT_EQ(found.passes, 2);
  EXPECT_GT(found.residual.maxCoeff(), 1e-6);
  const Vector truth = (x.transpose() * (x * found.v) - found.v * found.s.cwiseAbs2().asDiagonal()).colwise().norm();
  EXPECT_LT((truth / found.s(0) / found.s(0) - found.residual).norm(), 1e-12);
}

TEST(RandomisedSvd, TheSameBitsOnAnyNumberOfThreadsAndOthersForAnotherSeed) {
  const Matrix x = normal_matrix(9000, 30, 6);
  Execution execution;
  execution.threads = 1;
  const RandomisedSvd how{.count = 3, .oversampling = 3, .passes = 2, .seed = 8};
  const LeadingSvd one = randomised_svd(MemoryRows(x), Vector(), how, execution);
  for (const int threads : {2, 3}) {
    execution.threads = threads;
    const LeadingSvd many = randomised_svd(MemoryRows(x), Vector(), how, execution);
    EXPECT_EQ(many.s, one.s);
    EXPECT_EQ(many.v, one.v);
  }
  const LeadingSvd other =
      randomised_svd(MemoryRows(x), Vector(), {.count = 3, .oversampling = 3, .passes = 2, .seed = 9});
  EXPECT_NE(other.v, one.v);
}

TEST(RandomisedSvd, AWeightIsThatManyCopies) {
  const Matrix x = falling_rows(50, 6);
  const Matrix twice = x(std::vector<Index>{0, 0, 1, 2, 3}, Eigen::all), once = x.topRows(4);
  const std::vector<double> w{2, 1, 1, 1};
  MemoryRows rows(once);
  rows.weights(w);
  const RandomisedSvd how{.count = 3, .passes = 4};
  EXPECT_LT((randomised_svd(rows, Vector(), how).s - randomised_svd(MemoryRows(twice), Vector(), how).s).norm(), 1e-11);
  EXPECT_THROW(randomised_svd(rows, Vector(), {.count = 5}), Error);
}

TEST(Multiply, TilesGiveTheProductAndTheSameBitsOnAnyNumberOfThreads) {
  const Matrix a = normal_matrix(300, 520, 1), b = normal_matrix(520, 270, 2);
  Execution execution;
  execution.threads = 1;
  const Matrix ab = multiply(a, b, execution), aa = gram(a, execution), outer = outer_gram(a, execution);
  EXPECT_LT((ab - a * b).norm(), 1e-10);
  EXPECT_LT((aa - a.transpose() * a).norm(), 1e-10);
  EXPECT_LT((outer - a * a.transpose()).norm(), 1e-10);
  EXPECT_EQ(aa, Matrix(aa.transpose()));
  EXPECT_LT((transposed_multiply(b, b, execution) - b.transpose() * b).norm(), 1e-10);
  EXPECT_LT((multiply_transposed(a, a, execution) - outer).norm(), 1e-10);
  execution.threads = 3;
  EXPECT_EQ(multiply(a, b, execution), ab);
  EXPECT_EQ(gram(a, execution), aa);
  EXPECT_EQ(outer_gram(a, execution), outer);
  EXPECT_THROW(multiply(a, a), Error);
}

}  // namespace
}  // namespace lemma
