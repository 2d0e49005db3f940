// lemma/optimize/semidefinite_test.cpp
#include <gtest/gtest.h>

#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/optimize/semidefinite.hpp>

namespace lemma {
namespace {

Csr unit_rows(Index n) {
  Csr out;
  out.width = n;
  out.start = {0};
  for (Index i = 0; i < n; ++i) {
    out.column.push_back(static_cast<std::int32_t>(i));
    out.value.push_back(1);
    out.start.push_back(i + 1);
  }
  return out;
}

Matrix slack_of(const SemidefiniteProgramme& p, const Vector& y) {
  Matrix out = -p.c;
  for (Index k = 0; k < p.a.rows(); ++k)
    for (Index e = p.a.start[at(k)]; e < p.a.start[at(k) + 1]; ++e)
      for (Index f = p.a.start[at(k)]; f < p.a.start[at(k) + 1]; ++f)
        out(p.a.column[at(e)], p.a.column[at(f)]) += y(k) * p.a.value[at(e)] * p.a.value[at(f)];
  return out;
}

void expect_proved(const SemidefiniteProgramme& p, const SemidefiniteAnswer& found, double tolerance = 1e-7) {
  EXPECT_TRUE(found.converged);
  EXPECT_GE(found.gap(), -1e-12 * std::abs(found.dual));
  EXPECT_LE(found.gap(), tolerance * std::abs(found.dual));
  EXPECT_NEAR(found.primal, p.c.cwiseProduct(found.x).sum(), 1e-10 * std::abs(found.dual));
  EXPECT_NEAR(found.dual, p.b.dot(found.y), 1e-10 * std::abs(found.dual));
  EXPECT_GE(found.y.minCoeff(), 0);
  const Eigenpairs x = symmetric_eigen(found.x), z = symmetric_eigen(slack_of(p, found.y));
  EXPECT_GE(x.values.minCoeff(), -1e-10 * x.values(0));
  EXPECT_GE(z.values.minCoeff(), -1e-10 * z.values(0));
  for (Index k = 0; k < p.a.rows(); ++k) {
    double square = 0;
    for (Index e = p.a.start[at(k)]; e < p.a.start[at(k) + 1]; ++e)
      for (Index f = p.a.start[at(k)]; f < p.a.start[at(k) + 1]; ++f)
        square += p.a.value[at(e)] * p.a.value[at(f)] * found.x(p.a.column[at(e)], p.a.column[at(f)]);
    EXPECT_LE(square, p.b(k) * (1 + 1e-10));
  }
}

TEST(Semidefinite, OneVariableIsALinearProgramme) {
  const SemidefiniteProgramme p{Matrix::Constant(1, 1, 3.0), unit_rows(1), Vector::Constant(1, 2.0)};
  const SemidefiniteAnswer found = solve(p);
  EXPECT_NEAR(found.primal, 6, 1e-6);
  EXPECT_NEAR(found.y(0), 3, 1e-6);
  expect_proved(p, found);
}

TEST(Semidefinite, OffDiagonalRewardsPullToTheBoundary) {  // max 2 x₁₂ with x₁₁, x₂₂ ≤ 1 is 2, at the matrix of ones
  const SemidefiniteProgramme p{(Matrix(2, 2) << 0, 1, 1, 0).finished(), unit_rows(2), Vector::Ones(2)};
  const SemidefiniteAnswer found = solve(p);
  EXPECT_NEAR(found.primal, 2, 1e-6);
  EXPECT_LT((found.x - Matrix::Ones(2, 2)).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_LT((found.y - Vector::Ones(2)).cwiseAbs().maxCoeff(), 1e-5);
  expect_proved(p, found);
}

TEST(Semidefinite,
     BoundsTheCutOfAFiveCycle) {  // max ¼ ⟨L, X⟩ with x_ii = 1: (5/8)(5 + √5) = 4.5225 (Goemans and Williamson 1995)
  Matrix laplacian = Matrix::Zero(5, 5);
  for (Index i = 0; i < 5; ++i) {
    laplacian(i, i) = 2;
    laplacian(i, (i + 1) % 5) = laplacian((i + 1) % 5, i) = -1;
  }
  const SemidefiniteProgramme p{0.25 * laplacian, unit_rows(5), Vector::Ones(5)};
  const SemidefiniteAnswer found = solve(p);
  EXPECT_NEAR(found.primal, 5.0 / 8 * (5 + std::sqrt(5.0)) / 1, 1e-6);
  expect_proved(p, found);
}

TEST(Semidefinite, RandomProgrammesAreProved) {
  for (const Index n : {3, 8, 20}) {
    const Index m = 3 * n;
    const Matrix half = normal_matrix(n, n, 3, static_cast<std::uint64_t>(n)), rows = normal_matrix(m, n, 4);
    SemidefiniteProgramme p{half + half.transpose(), {}, Vector::LinSpaced(m, 0.5, 2)};
    p.a.width = n;
    p.a.start = {0};
    for (Index k = 0; k < m; ++k) {
      for (Index j = 0; j < n; ++j) {
        p.a.column.push_back(static_cast<std::int32_t>(j));
        p.a.value.push_back(rows(k, j));
      }
      p.a.start.push_back(static_cast<Index>(p.a.value.size()));
    }
    SemidefiniteOptions one, two;
    one.execution.threads = 1, two.execution.threads = 2;
    const SemidefiniteAnswer found = solve(p, one), again = solve(p, two);
    EXPECT_EQ(found.x, again.x);
    EXPECT_EQ(found.y, again.y);
    expect_proved(p, found);
  }
}

TEST(Semidefinite, RefusesWhatItCannotSolve) {
  EXPECT_THROW(solve({Matrix::Identity(2, 2), unit_rows(1), Vector::Ones(1)}), Error);
  Csr narrow = unit_rows(1);
  narrow.width = 2;
  EXPECT_THROW(solve({Matrix::Identity(2, 2), narrow, Vector::Ones(1)}), Error);  // unbounded
  EXPECT_THROW(solve({Matrix::Identity(1, 1), unit_rows(1), Vector::Zero(1)}), Error);
}

}  // namespace
}  // namespace lemma
