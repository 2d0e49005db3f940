// lemma/optimize/linear_programme_test.cpp
#include <atomic>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/optimize/programme.hpp>
#include <limits>
#include <rapidcheck/gtest.h>
#include <tests/sparse_of.hpp>

namespace lemma {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// maximise 3x + 5y with x ≤ 4, 2y ≤ 12, 3x + 2y ≤ 18, x, y ≥ 0: Hillier and Lieberman's Wyndor Glass Co.
/// Optimum 36 at (2, 6), prices 0, 3/2, 1.
LinearProgramme wyndor() {
  return {.c = Vector{{-3, -5}},
          .a = Matrix{{1, 0}, {0, 2}, {3, 2}},
          .row_upper = Vector{{4, 12, 18}},
          .lower = Vector{{0, 0}}};
}

TEST(LinearProgramme, WyndorsPlanAndPrices) {
  for (const Simplex simplex : {Simplex::dual, Simplex::primal}) {
    const auto answer = solve(wyndor(), {.simplex = simplex});
    ASSERT_TRUE(answer.solved()) << answer.message;
    EXPECT_NEAR(answer.x[0], 2, 1e-12);
    EXPECT_NEAR(answer.x[1], 6, 1e-12);
    EXPECT_NEAR(answer.value, -36, 1e-12);
    EXPECT_NEAR(answer.dual.rows[0], 0, 1e-12);
    EXPECT_NEAR(answer.dual.rows[1], -1.5, 1e-12);  // upper bounds: the prices of a minimum are not positive
    EXPECT_NEAR(answer.dual.rows[2], -1, 1e-12);
    EXPECT_NEAR(answer.dual.columns.cwiseAbs().maxCoeff(), 0, 1e-12);
    EXPECT_LE(check_kkt(wyndor(), answer.x, answer.dual).worst(), 1e-12);
  }
}

TEST(LinearProgramme, SparseAndDenseRowsGiveTheSameBits) {
  LinearProgramme p = wyndor();
  const auto dense = solve(p);
  p.a = sparse_of(std::get<Matrix>(p.a));
  const auto from_sparse = solve(p);
  EXPECT_EQ(dense.x, from_sparse.x);
  EXPECT_EQ(dense.dual.rows, from_sparse.dual.rows);
}

TEST(LinearProgramme, APriceIsTheChangeOfTheValueWithItsBound) {
  const auto before = solve(wyndor());
  for (Index i = 0; i < 3; ++i) {
    LinearProgramme p = wyndor();
    p.row_upper[i] += 0.25;
    EXPECT_NEAR(solve(p).value - before.value, 0.25 * before.dual.rows[i], 1e-12) << i;
  }
}

TEST(LinearProgramme, EquationsRangesAndUpperBoundsOfColumns) {
  // minimise x + 2y + 3z with x + y + z = 1, 0.2 ≤ y − z ≤ 0.5, x ≤ 0.4: x = 0.4, then y + z = 0.6 and y as large as
  // y − z ≤ 0.5 lets it: y = 0.55, z = 0.05. Value 0.4 + 1.1 + 0.15.
  const LinearProgramme p{.c = Vector{{1, 2, 3}},
                          .a = Matrix{{1, 1, 1}, {0, 1, -1}},
                          .row_lower = Vector{{1, 0.2}},
                          .row_upper = Vector{{1, 0.5}},
                          .upper = Vector{{0.4, inf, inf}}};
  const auto answer = solve(p);
  ASSERT_TRUE(answer.solved()) << answer.message;
  EXPECT_NEAR(answer.value, 1.65, 1e-12);
  EXPECT_NEAR(answer.dual.rows[0], 2.5, 1e-12);  // by hand: y₁ + y₂ = 2, y₁ − y₂ = 3
  EXPECT_NEAR(answer.dual.rows[1], -0.5, 1e-12);
  EXPECT_NEAR(answer.dual.columns[0], -1.5, 1e-12);  // 1 − 2.5
  EXPECT_LE(check_kkt(p, answer.x, answer.dual).worst(), 1e-12);
}

TEST(LinearProgramme, TheKktCheckFailsOnAPerturbedAnswer) {
  const auto answer = solve(wyndor());
  Vector x = answer.x;
  x[0] -= 1e-3;  // feasible, not optimal: the gap sees it, and so does complementary slackness
  const KktReport inside = check_kkt(wyndor(), x, answer.dual);
  EXPECT_EQ(inside.primal, 0);
  EXPECT_NEAR(inside.gap, 3e-3, 1e-12);
  EXPECT_NEAR(inside.complementarity, 3e-3, 1e-12);
  x[0] += 2e-3;
  EXPECT_NEAR(check_kkt(wyndor(), x, answer.dual).primal, 3e-3, 1e-12);
  Multipliers wrong = answer.dual;
  wrong.rows[1] = -1.4;  // 2 × 0.1 of the second column's cost is left over
  EXPECT_NEAR(check_kkt(wyndor(), answer.x, wrong).stationarity, 0.2, 1e-12);
  wrong = answer.dual;
  wrong.rows[0] = 1;  // no lower bound there
  EXPECT_EQ(check_kkt(wyndor(), answer.x, wrong).dual_sign, 1);
  wrong.rows[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(check_kkt(wyndor(), answer.x, wrong).holds(1e9));
}

TEST(LinearProgramme, ADegenerateVertexIsSolved) {
  // Beale's example, on which the plain simplex method with its first rule runs in a circle: optimum −1/20.
  const LinearProgramme p{.c = Vector{{-0.75, 150, -0.02, 6}},
                          .a = Matrix{{0.25, -60, -0.04, 9}, {0.5, -90, -0.02, 3}, {0, 0, 1, 0}},
                          .row_upper = Vector{{0, 0, 1}},
                          .lower = Vector::Zero(4)};
  for (const Simplex simplex : {Simplex::dual, Simplex::primal}) {
    const auto answer = solve(p, {.simplex = simplex});
    ASSERT_TRUE(answer.solved()) << answer.message;
    EXPECT_NEAR(answer.value, -0.05, 1e-12);
    EXPECT_LE(check_kkt(p, answer.x, answer.dual).worst(), 1e-9);
  }
}

TEST(LinearProgramme, AnEmptySetIsNamedAndProved) {
  // x + y ≥ 3 and x + 2y ≤ 2 with x, y ≥ 0 leaves nothing? x = 3, y = 0 fails the second: x ≤ 2 − 2y.
  const LinearProgramme p{.c = Vector{{1, 1}},
                          .a = Matrix{{1, 1}, {1, 2}},
                          .row_lower = Vector{{3, -inf}},
                          .row_upper = Vector{{inf, 2}},
                          .lower = Vector::Zero(2)};
  for (const Simplex simplex : {Simplex::dual, Simplex::primal}) {
    const auto answer = solve(p, {.simplex = simplex});
    EXPECT_EQ(answer.status, ProgrammeStatus::infeasible) << answer.message;
    EXPECT_TRUE(check_farkas(p, answer.farkas).holds(1e-9));
    EXPECT_EQ(answer.ray.size(), 0);
  }
  Multipliers wrong{Vector{{1, 1}}, Vector{{-2, -3}}};
  EXPECT_FALSE(check_farkas(p, wrong).holds(1e-9));
}

TEST(LinearProgramme, AnObjectiveWithoutEndIsNamedAndProved) {
  const LinearProgramme p{
      .c = Vector{{-1, 0}}, .a = Matrix{{1, -1}}, .row_upper = Vector{{1}}, .lower = Vector::Zero(2)};
  for (const Simplex simplex : {Simplex::dual, Simplex::primal}) {
    const auto answer = solve(p, {.simplex = simplex});
    EXPECT_EQ(answer.status, ProgrammeStatus::unbounded) << answer.message;
    EXPECT_TRUE(check_ray(p, answer.ray).holds(1e-9));
    EXPECT_EQ(answer.farkas.rows.size(), 0);
  }
  EXPECT_FALSE(check_ray(p, Vector{{1.0, 0.0}}).holds(1e-9));
}

TEST(LinearProgramme, BothInfeasibleAndWithoutEndIsInfeasible) {
  // The dual has no point either: x − y = 0 and x − y = 1, minimise −x.
  const LinearProgramme p{
      .c = Vector{{-1, 0}}, .a = Matrix{{1, -1}, {1, -1}}, .row_lower = Vector{{0, 1}}, .row_upper = Vector{{0, 1}}};
  const auto answer = solve(p);
  EXPECT_EQ(answer.status, ProgrammeStatus::infeasible) << answer.message;
  EXPECT_TRUE(check_farkas(p, answer.farkas).holds(1e-9));
}

TEST(LinearProgramme, WithoutRowsEachColumnGoesToItsBound) {
  const auto answer =
      solve(LinearProgramme{.c = Vector{{1, -2, 0}}, .lower = Vector{{-1, -1, 0}}, .upper = Vector{{5, 3, 0}}});
  ASSERT_TRUE(answer.solved()) << answer.message;
  EXPECT_EQ(answer.x[0], -1);
  EXPECT_EQ(answer.x[1], 3);
  EXPECT_EQ(answer.value, -7);
  EXPECT_EQ(answer.dual.columns[1], -2);
  EXPECT_EQ(solve(LinearProgramme{.c = Vector{{1.0}}}).status, ProgrammeStatus::unbounded);
}

TEST(LinearProgramme, WithoutColumnsTheRowsMustHoldAtZero) {
  LinearProgramme p{.a = Matrix(1, 0), .row_upper = Vector{{0.0}}};
  EXPECT_TRUE(solve(p).solved());
  EXPECT_TRUE(solve(LinearProgramme{}).solved());
  p.row_upper[0] = -1;
  const auto answer = solve(p);
  EXPECT_EQ(answer.status, ProgrammeStatus::infeasible) << answer.message;
  EXPECT_TRUE(check_farkas(p, answer.farkas).holds(1e-9));
}

TEST(LinearProgramme, NothingIsEverPrinted) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  solve(wyndor());
  solve(wyndor(), {.simplex = Simplex::primal});
  solve(LinearProgramme{});
  solve(LinearProgramme{.c = Vector{{1.0}}});
  solve(LinearProgramme{.a = Matrix(1, 0), .row_upper = Vector{{-1.0}}});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(LinearProgramme, WhatMakesNoSenseIsSaid) {
  const auto message = [](const LinearProgramme& p) {
    try {
      solve(p);
    } catch (const Error& error) { return std::string(error.what()); }
    return std::string();
  };
  LinearProgramme p = wyndor();
  p.upper = Vector{{-1, 1}};
  EXPECT_EQ(message(p), "the bounds of column 0 cross: 0 is above -1");
  p = wyndor();
  p.row_upper = Vector{{1, 2}};
  EXPECT_EQ(message(p), "the programme has 3 rows but 2 bounds for them");
  p = wyndor();
  p.c = Vector{{1, 2, 3}};
  EXPECT_EQ(message(p), "the matrix of the programme has 2 columns, its costs are 3");
  p = wyndor();
  std::get<Matrix>(p.a)(1, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message(p), "entry (1, 1) of the programme's matrix is nan");
  p = wyndor();
  p.row_upper[0] = 1e40;
  EXPECT_NE(message(p).find("1e+40"), std::string::npos);
}

/// Cancels when it has been asked more than `patience` times.
struct Stopper : Progress {
  explicit Stopper(int asked) : patience(asked) {}
  void report(double, std::string_view) override {}
  bool cancelled() const override { return patience-- <= 0; }
  mutable std::atomic<int> patience;
};

/// Random costs and rows, a point inside: solvable, since every column is bounded.
LinearProgramme random_programme(Index rows, Index columns, std::uint64_t seed) {
  RandomStream stream(seed);
  LinearProgramme p;
  p.a = normal_matrix(rows, columns, seed, 1);
  Vector inside(columns);
  p.c.resize(columns);
  for (Index j = 0; j < columns; ++j) inside[j] = stream.uniform(), p.c[j] = stream.normal();
  p.row_upper = std::get<Matrix>(p.a) * inside;
  for (double& b : p.row_upper) b += stream.uniform();
  p.lower = Vector::Zero(columns), p.upper = Vector::Ones(columns);
  return p;
}

TEST(LinearProgramme, ACancelEndsTheWorkWithWhatThereIs) {
  const LinearProgramme p = random_programme(600, 600, 1);  // seconds of work
  for (const int patience : {0, 1}) {                       // at once; from the thread that watches
    Stopper stopper(patience);
    LinearProgrammeOptions options;
    options.execution.progress = &stopper;
    const auto answer = solve(p, options);
    EXPECT_EQ(answer.status, ProgrammeStatus::stopped);
    EXPECT_EQ(answer.message, "stopped: cancelled");
    EXPECT_EQ(answer.x.size(), 600);
  }
  EXPECT_EQ(solve(p, {.most_iterations = 3}).message, "stopped: iteration limit");
}

TEST(LinearProgramme, TheSameProgrammeGivesTheSameBits) {
  const LinearProgramme p = random_programme(60, 40, 5);
  const auto one = solve(p), two = solve(p);
  ASSERT_TRUE(one.solved());
  EXPECT_EQ(one.x, two.x);
  EXPECT_EQ(one.dual.rows, two.dual.rows);
}

RC_GTEST_PROP(LinearProgrammeProperty, EverySolvedProgrammeMeetsTheKktConditions, ()) {
  const LinearProgramme p =
      random_programme(*rc::gen::inRange(0, 12), *rc::gen::inRange(1, 12), *rc::gen::inRange<std::uint64_t>(0, 100000));
  const auto answer = solve(p);
  RC_ASSERT(answer.solved());
  RC_ASSERT(check_kkt(p, answer.x, answer.dual).holds(1e-8));
}

RC_GTEST_PROP(LinearProgrammeProperty, TheGapOfFeasiblePointsIsNeverNegative, ()) {
  const auto seed = *rc::gen::inRange<std::uint64_t>(0, 100000);
  const Index n = *rc::gen::inRange(1, 8), m = *rc::gen::inRange(0, 8);
  LinearProgramme p = random_programme(m, n, seed);
  RandomStream stream(seed, 9);
  Vector x(n);
  for (double& v : x) v = stream.uniform();
  const Vector ax = std::get<Matrix>(p.a) * x;  // any x in the box, with rows moved so that it is feasible
  for (Index i = 0; i < m; ++i) p.row_upper[i] = ax[i] + stream.uniform();
  Multipliers dual{Vector(m), Vector(n)};
  for (double& y : dual.rows) y = -stream.uniform();
  dual.columns = p.c - std::get<Matrix>(p.a).transpose() * dual.rows;
  const KktReport report = check_kkt(p, x, dual);
  RC_ASSERT(report.primal == 0.0 && report.dual_sign == 0.0);
  RC_ASSERT(report.gap >= -1e-12 * report.value_scale);
}

}  // namespace
}  // namespace lemma
