// lemma/math/residuals_test.cpp
#include <gtest/gtest.h>

#include <cmath>
#include <lemma/core/random.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/nist_test.hpp>
#include <lemma/math/residuals.hpp>

namespace lemma {
namespace {

std::span<const double> span_of(const Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

/// What one must not do: Cholesky of XᵀX with the intercept's column of ones.
LinearSolution by_normal_equations(const nist::Linear& set, LinearSolution like) {
  Matrix a(set.x.rows(), set.x.cols() + 1);
  a << Vector::Ones(set.x.rows()), set.x;
  const Matrix gram = a.transpose() * a;
  Matrix right = a.transpose() * set.y;
  const auto r = cholesky(gram);
  if (!r) return like;
  const Vector b = solve_upper(*r, solve_upper_transposed(*r, right)).col(0);
  like.intercept = b(0);
  like.coefficients = b.tail(set.x.cols());
  return like;
}

Excess judged(const nist::Linear& set, const LinearSolution& s) {
  const MemoryRows rows = std::move(MemoryRows(set.x).response(span_of(set.y)));
  const LeastSquares fresh = scan(rows, LeastSquares(set.x.cols(), true, LeastSquares::Route::householder));
  return excess(fresh, s, scan(rows, Residuals(s.intercept, s.coefficients)));
}

class IllConditioned : public ::testing::TestWithParam<const char*> {};

TEST_P(IllConditioned, TheGapRejectsNormalEquationsAndAcceptsOrthogonalFactors) {
  const nist::Linear set = nist::linear(GetParam());
  const MemoryRows rows = std::move(MemoryRows(set.x).response(span_of(set.y)));
  const RefinedSolution ours = solve_refined(rows, scan(rows, LeastSquares(set.x.cols())));
  EXPECT_LE(judged(set, ours.solution).relative, kExcessTolerance);
  const LinearSolution wrong = by_normal_equations(set, ours.solution);
  ASSERT_NE(wrong.coefficients, ours.solution.coefficients);
  EXPECT_GT(judged(set, wrong).relative, kExcessTolerance);
}
INSTANTIATE_TEST_SUITE_P(Sets, IllConditioned, ::testing::Values("Longley"),
                         [](const auto& set) { return std::string(set.param); });

/// A polynomial of degree 7 on [1, 2]: XᵀX is still positive definite in double precision, its solution is not the best.
TEST(Residuals, TheGapRejectsNormalEquationsOnAPolynomial) {
  nist::Linear set{"polynomial", Matrix(200, 7), Vector(200), true, {}, {}};
  for (Index i = 0; i < 200; ++i) {
    const double t = 1 + static_cast<double>(i) / 200;
    set.y(i) = std::sin(7 * t);
    for (Index j = 0; j < 7; ++j) set.x(i, j) = std::pow(t, static_cast<double>(j + 1));
  }
  const MemoryRows rows = std::move(MemoryRows(set.x).response(span_of(set.y)));
  const RefinedSolution ours = solve_refined(rows, scan(rows, LeastSquares(7)));
  EXPECT_LE(judged(set, ours.solution).relative, kExcessTolerance);
  const LinearSolution wrong = by_normal_equations(set, ours.solution);
  ASSERT_NE(wrong.coefficients, ours.solution.coefficients);
  EXPECT_GT(judged(set, wrong).relative, kExcessTolerance);
}

TEST(Residuals, TheGapIsTheDifferenceOfTheObjectivesAndBoundsTheError) {
  const nist::Linear set{"random", normal_matrix(200, 4, 1), normal_matrix(200, 1, 2).col(0), true, {}, {}};
  const MemoryRows rows = std::move(MemoryRows(set.x).response(span_of(set.y)));
  const LeastSquares data = scan(rows, LeastSquares(4));
  const LinearSolution best = solve(data);
  LinearSolution moved = best;
  moved.coefficients(2) += 0.01;
  moved.intercept -= 0.02;
  const Residuals looked = scan(rows, Residuals(moved.intercept, moved.coefficients));
  const Excess e = excess(data, moved, looked);
  EXPECT_NEAR(e.gap, 0.5 * (looked.sum_of_squares() - best.residual_ss), 1e-12);
  EXPECT_GE(e.coefficient_error_bound, 0.01);
  EXPECT_GT(e.relative, kExcessTolerance);
}

TEST(Residuals, TheSumsAreExactWhereDoublesCancel) {  // residuals 1, −1 and a gradient of 2⁻⁵² beside products of 2⁵³
  const Matrix x{{0x1p53}, {-0x1p53}, {0x1p-52}};
  const Vector y{{1.0, 1.0, 1.0}};
  const MemoryRows rows = std::move(MemoryRows(x).response(span_of(y)));
  const Residuals r = scan(rows, Residuals(0, Vector::Zero(1)));
  EXPECT_EQ(r.gradient()(0) + r.gradient_rest()(0), 0x1p-52);
  EXPECT_EQ(r.sum(), 3);
  EXPECT_EQ(r.sum_of_squares(), 3);
}

TEST(Residuals, RefinementRestoresCoefficientsThatRoundingSpoilt) {  // Wampler5: exact data, true coefficients 1
  const nist::Linear set = nist::linear("Wampler5");
  const MemoryRows rows = std::move(MemoryRows(set.x).response(span_of(set.y)));
  const LeastSquares data = scan(rows, LeastSquares(set.x.cols()));
  const RefinedSolution refined = solve_refined(rows, data);
  EXPECT_GE(refined.refinements, 1);
  EXPECT_LT((refined.solution.coefficients.array() - 1).abs().maxCoeff(), 1e-9);
}

TEST(Residuals, TheSameBitsOnAnyNumberOfThreads) {
  const Matrix x = normal_matrix(5000, 7, 1);
  const Vector y = normal_matrix(5000, 1, 2).col(0), b = Vector::LinSpaced(7, -1, 1);
  const MemoryRows rows = std::move(MemoryRows(x).response(span_of(y)));
  Execution execution;
  execution.threads = 1;
  const Residuals one = scan(rows, Residuals(0.5, b), execution);
  for (const int threads : {2, 3}) {
    execution.threads = threads;
    const Residuals many = scan(rows, Residuals(0.5, b), execution);
    EXPECT_EQ(many.gradient(), one.gradient());
    EXPECT_EQ(many.gradient_rest(), one.gradient_rest());
    EXPECT_EQ(many.sum_of_squares(), one.sum_of_squares());
  }
}

}  // namespace
}  // namespace lemma
