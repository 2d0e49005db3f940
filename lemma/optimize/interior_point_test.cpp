// lemma/optimize/interior_point_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/optimize/programme.hpp>
#include <limits>
#include <rapidcheck/gtest.h>

namespace lemma {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// Nocedal and Wright's example 16.4: minimise (x − 1)² + (y − 2.5)² over five half-planes; optimum (1.4, 1.7), where only
/// the first, x − 2y ≥ −2, holds it back, with multiplier 0.8.
QuadraticProgramme five_half_planes() {
  return {.q = Matrix{{2, 0}, {0, 2}},
          .linear = {.c = Vector{{-2, -5}},
                     .a = Matrix{{1, -2}, {-1, -2}, {-1, 2}},
                     .row_lower = Vector{{-2, -6, -2}},
                     .lower = Vector{{0, 0}}}};
}

TEST(QuadraticProgramme, NocedalAndWrightsFiveHalfPlanes) {
  const auto p = five_half_planes();
  const auto answer = solve(p);
  ASSERT_TRUE(answer.solved()) << answer.message;
  EXPECT_NEAR(answer.x[0], 1.4, 1e-7);
  EXPECT_NEAR(answer.x[1], 1.7, 1e-7);
  EXPECT_NEAR(answer.dual.rows[0], 0.8, 1e-7);
  EXPECT_NEAR(answer.dual.rows[1], 0, 1e-7);
  EXPECT_LE(check_kkt(p, answer.x, answer.dual).worst(), 1e-9);
  EXPECT_LE(answer.iterations, 20);
}

TEST(QuadraticProgramme, EquationsAloneAreSolvedInOneStep) {
  // Nocedal and Wright's example 16.2: x = (2, −1, 1), multipliers (3, −2).
  const QuadraticProgramme p{.q = Matrix{{6, 2, 1}, {2, 5, 2}, {1, 2, 4}},
                             .linear = {.c = Vector{{-8, -3, -3}},
                                        .a = Matrix{{1, 0, 1}, {0, 1, 1}},
                                        .row_lower = Vector{{3, 0}},
                                        .row_upper = Vector{{3, 0}}}};
  const auto answer = solve(p);
  ASSERT_TRUE(answer.solved()) << answer.message;
  EXPECT_LE((answer.x - Vector{{2, -1, 1}}).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LE((answer.dual.rows - Vector{{3, -2}}).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LE(answer.iterations, 1);
}

TEST(QuadraticProgramme, RedundantAndRepeatedConstraintsDoNoHarm) {
  QuadraticProgramme p = five_half_planes();
  p.linear.a = Matrix{{1, -2}, {1, -2}, {2, -4}, {1, 1}, {2, 2}, {1, 0}};
  p.linear.row_lower = Vector{{-2, -2, -4, 3.1, 6.2, -50}};
  p.linear.row_upper = Vector{{inf, inf, inf, 3.1, 6.2, 60}};
  const auto answer = solve(p);
  ASSERT_TRUE(answer.solved()) << answer.message;
  EXPECT_LE(check_kkt(p, answer.x, answer.dual).worst(), 1e-9);
  EXPECT_NEAR(answer.x.sum(), 3.1, 1e-9);
  EXPECT_NEAR(answer.x[0], 1.4, 1e-6);
}

TEST(QuadraticProgramme, AFixedColumnIsAnEquation) {
  QuadraticProgramme p = five_half_planes();
  p.linear.upper = Vector{{0, inf}};  // x = 0: y is held by x − 2y ≥ −2 at 1
  const auto answer = solve(p);
  ASSERT_TRUE(answer.solved()) << answer.message;
  EXPECT_NEAR(answer.x[0], 0, 1e-9);
  EXPECT_NEAR(answer.x[1], 1, 1e-7);
}

TEST(QuadraticProgramme, WithoutConstraintsItIsALinearSystem) {
  const QuadraticProgramme p{.q = Matrix{{2, 1}, {1, 3}}, .linear = {.c = Vector{{-3, -4}}}};
  const auto answer = solve(p);
  ASSERT_TRUE(answer.solved()) << answer.message;
  EXPECT_LE((answer.x - Vector{{1, 1}}).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_TRUE(solve(QuadraticProgramme{}).solved());
}

TEST(QuadraticProgramme, TheKktCheckFailsOnAPerturbedAnswer) {
  const auto p = five_half_planes();
  const auto answer = solve(p);
  Vector x = answer.x;
  x[0] += 1e-3;  // stays feasible, moves the gradient by 2e-3
  const KktReport report = check_kkt(p, x, answer.dual);
  EXPECT_NEAR(report.stationarity, 2e-3, 1e-6);
  EXPECT_GT(report.complementarity, 1e-4);
  EXPECT_FALSE(report.holds(1e-6));
  Multipliers wrong = answer.dual;
  wrong.rows[0] += 1e-3;
  EXPECT_FALSE(check_kkt(p, answer.x, wrong).holds(1e-6));
}

TEST(QuadraticProgramme, AnEmptySetIsNamedAndProved) {
  QuadraticProgramme p = five_half_planes();
  p.linear.row_lower[1] = 1;  // −x − 2y ≥ 1 with x, y ≥ 0
  const auto answer = solve(p);
  EXPECT_EQ(answer.status, ProgrammeStatus::infeasible) << answer.message;
  EXPECT_TRUE(check_farkas(p.linear, answer.farkas).holds(1e-9));
}

TEST(QuadraticProgramme, AnObjectiveWithoutEndIsNamedAndProved) {
  // Curved across, flat along: ½ (x − y)² − x − y over x, y ≥ 0.
  const QuadraticProgramme p{.q = Matrix{{1, -1}, {-1, 1}}, .linear = {.c = Vector{{-1, -1}}, .lower = Vector{{0, 0}}}};
  const auto answer = solve(p);
  EXPECT_EQ(answer.status, ProgrammeStatus::unbounded) << answer.message;
  EXPECT_TRUE(check_ray(p, answer.ray).holds(1e-9));
  EXPECT_FALSE(check_ray(p, Vector{{1.0, 0.0}}).holds(1e-9));  // Q·ray is not 0
}

TEST(QuadraticProgramme, AConcaveObjectiveIsRefused) {
  QuadraticProgramme p = five_half_planes();
  p.q(1, 1) = -1;
  EXPECT_THROW(solve(p), Error);
  p.q = Matrix{{1, 2}, {0, 1}};
  EXPECT_THROW(solve(p), Error);
}

TEST(QuadraticProgramme, WithQOfZerosItIsTheLinearProgramme) {
  const LinearProgramme linear{.c = Vector{{-3, -5}},
                               .a = Matrix{{1, 0}, {0, 2}, {3, 2}},
                               .row_upper = Vector{{4, 12, 18}},
                               .lower = Vector{{0, 0}}};
  const auto answer = solve(QuadraticProgramme{Matrix::Zero(2, 2), linear});
  ASSERT_TRUE(answer.solved()) << answer.message;
  EXPECT_NEAR(answer.value, -36, 1e-6);
  EXPECT_NEAR(answer.dual.rows[1], -1.5, 1e-6);
}

TEST(QuadraticProgramme, TheProjectionOnTheSimplexIsFoundWhateverTheUnits) {
  // The projection of a point on the simplex, whose closed form is a threshold: (0.9, 0.6, −0.2) → (0.65, 0.35, 0).
  for (const double unit : {1e-6, 1.0, 1e6}) {
    const Vector target = unit * Vector{{0.9, 0.6, -0.2}};
    const QuadraticProgramme p{.q = Matrix::Identity(3, 3),
                               .linear = {.c = -target,
                                          .a = Matrix{{1, 1, 1}},
                                          .row_lower = Vector{{unit}},
                                          .row_upper = Vector{{unit}},
                                          .lower = Vector::Zero(3)}};
    const auto answer = solve(p, {.tolerance = 1e-12});
    EXPECT_NEAR(answer.x[0] / unit, 0.65, 1e-4) << unit << answer.message;
    EXPECT_NEAR(answer.x[2] / unit, 0, 1e-4) << unit;
  }
}

/// A random programme with m rows, half of them equations, that x = a point in the box satisfies.
QuadraticProgramme random_programme(Index n, Index m, Index rank, std::uint64_t seed) {
  RandomStream stream(seed);
  const Matrix half = normal_matrix(rank, n, seed, 1);
  QuadraticProgramme p;
  p.q = half.transpose() * half;
  p.q = Matrix(0.5 * (p.q + p.q.transpose()));
  p.linear.a = normal_matrix(m, n, seed, 2);
  p.linear.c.resize(n);
  Vector inside(n);
  for (Index j = 0; j < n; ++j) p.linear.c[j] = stream.normal(), inside[j] = stream.uniform();
  p.linear.row_upper = std::get<Matrix>(p.linear.a) * inside;
  p.linear.row_lower = p.linear.row_upper;
  for (Index i = 0; i < m; i += 2) p.linear.row_lower[i] -= stream.uniform(), p.linear.row_upper[i] += stream.uniform();
  p.linear.lower = Vector::Zero(n), p.linear.upper = Vector::Ones(n);
  return p;
}

RC_GTEST_PROP(QuadraticProgrammeProperty, EveryRandomProgrammeIsSolvedAndMeetsTheKktConditions, ()) {
  const Index n = *rc::gen::inRange(1, 15), m = *rc::gen::inRange<Index>(0, n),
              rank = *rc::gen::inRange<Index>(0, n + 1);
  const auto p = random_programme(n, m, rank, *rc::gen::inRange<std::uint64_t>(0, 100000));
  const auto answer = solve(p);
  RC_ASSERT(answer.solved());
  RC_ASSERT(check_kkt(p, answer.x, answer.dual).holds(1e-9));
}

RC_GTEST_PROP(QuadraticProgrammeProperty, TheGapOfFeasiblePointsIsNeverNegative, ()) {
  const auto seed = *rc::gen::inRange<std::uint64_t>(0, 100000);
  const Index n = *rc::gen::inRange(1, 8);
  auto p = random_programme(n, 0, n, seed);
  RandomStream stream(seed, 9);
  Vector x(n);
  for (double& v : x) v = stream.uniform();
  const Multipliers dual{Vector(), p.q * x + p.linear.c};  // stationary at x; the box takes any sign
  const KktReport report = check_kkt(p, x, dual);
  RC_ASSERT(report.stationarity == 0.0 && report.primal == 0.0);
  RC_ASSERT(report.gap >= -1e-12 * report.value_scale);
}

TEST(QuadraticProgramme, AHundredColumnsInFewIterationsAndTheSameBits) {
  const auto p = random_programme(100, 40, 60, 3);
  const auto one = solve(p), two = solve(p);
  ASSERT_TRUE(one.solved()) << one.message;
  EXPECT_LE(one.iterations, 30);
  EXPECT_EQ(one.x, two.x);
}

}  // namespace
}  // namespace lemma
