// lemma/optimize/line_search_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/optimize/line_search.hpp>
#include <limits>
#include <rapidcheck/gtest.h>

namespace lemma {
namespace {

TEST(Backtrack, TakesTheFirstStepThatDescendsEnough) {
  // φ(t) = (t − 1)² from 1 with slope −2: t = 8, 4 climb, t = 2 gives φ = 1 > 1 − 4e-4, t = 1 gives 0.
  const auto found = backtrack([](double t) { return (t - 1) * (t - 1); }, {1, -2}, {.first = 8});
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.t, 1);
  EXPECT_EQ(found.evaluations, 4);
}

TEST(Backtrack, GivesUpWhereThereIsNoDescent) {
  const auto found = backtrack([](double t) { return t; }, {0, -1});
  EXPECT_FALSE(found.converged);
  EXPECT_EQ(found.t, 0);
  EXPECT_THROW(backtrack([](double t) { return t; }, {0, 1}), Error);
}

Slope quartic(double t) { return {std::pow(t - 3, 4) - 2 * t, 4 * std::pow(t - 3, 3) - 2}; }

RC_GTEST_PROP(StrongWolfe, BothConditionsHoldFromAnyFirstStep, ()) {
  const double first = std::pow(10.0, *rc::gen::inRange(-6, 7));
  const double c2 = *rc::gen::element(0.9, 0.1, 0.01);
  const auto found = strong_wolfe(quartic, quartic(0), {.first = first, .curvature = c2});
  RC_ASSERT(found.converged);
  const Slope at = quartic(found.t), zero = quartic(0);
  RC_ASSERT(at.value == found.value);
  RC_ASSERT(at.value <= zero.value + 1e-4 * found.t * zero.slope);
  RC_ASSERT(std::abs(at.slope) <= c2 * std::abs(zero.slope));
}

TEST(StrongWolfe, ComesBackFromWhereTheFunctionIsNotDefined) {
  const auto phi = [](double t) -> Slope {
    if (t >= 1) return {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()};
    return {-std::log(1 - t) - 2 * t, 1 / (1 - t) - 2};
  };
  const auto found = strong_wolfe(phi, phi(0), {.first = 100, .curvature = 0.1});
  EXPECT_TRUE(found.converged);
  EXPECT_NEAR(found.t, 0.5, 0.05);  // |φ′| ≤ 0.1
}

TEST(StrongWolfe, WhereValuesOnlyRoundTheSlopesDecide) {
  const auto phi = [](double t) -> Slope { return {1e8 + 1e-12 * (t - 1) * (t - 1), 2e-12 * (t - 1)}; };
  const auto found = strong_wolfe(phi, phi(0), {.first = 50, .curvature = 0.1});
  EXPECT_TRUE(found.converged);
  EXPECT_NEAR(found.t, 1, 0.11);
}

TEST(StrongWolfe, ALineThatFallsForeverEndsWithTheFurthestPoint) {
  const auto found = strong_wolfe([](double t) -> Slope { return {-t, -1}; }, {0, -1});
  EXPECT_FALSE(found.converged);
  EXPECT_GT(found.t, 1e6);
}

TEST(Secant, FindsTheRootOfTwo) {
  const auto found = secant([](double t) { return t * t - 2; }, 1, 2);
  EXPECT_TRUE(found.converged);
  EXPECT_NEAR(found.t, std::sqrt(2.0), 1e-12);
  EXPECT_LE(found.evaluations, 10);
  EXPECT_FALSE(secant([](double) { return 1.0; }, 0, 1).converged);
}

TEST(NewtonRaphson, FindsTheRootOfTwoAndHalvesStepsThatLeadAway) {
  const auto found = newton_raphson([](double t) -> Slope { return {t * t - 2, 2 * t}; }, 1);
  EXPECT_TRUE(found.converged);
  EXPECT_NEAR(found.t, std::sqrt(2.0), 1e-12);
  EXPECT_LE(found.evaluations, 7);
  // Undamped steps on the arctangent run away from any |start| above 1.39.
  const auto far = newton_raphson([](double t) -> Slope { return {std::atan(t), 1 / (1 + t * t)}; }, 20);
  EXPECT_TRUE(far.converged);
  EXPECT_NEAR(far.t, 0, 1e-12);
  EXPECT_FALSE(newton_raphson([](double t) -> Slope { return {t * t + 1, 2 * t}; }, 3).converged);
}

TEST(GoldenSection, FindsTheValleyToHalfTheDigits) {
  const auto found = golden_section([](double t) { return std::cosh(t - 0.3); }, -4, 9);
  EXPECT_TRUE(found.converged);
  EXPECT_NEAR(found.t, 0.3, 1e-6);
  EXPECT_LE(found.evaluations, 50);
  EXPECT_THROW(golden_section([](double t) { return t; }, 1, 1), Error);
}

TEST(StrongWolfe, ValuesOfFewDigitsAreJudgedBySlopes) {  // 1000 + 10⁻⁹ (t − 1)², seen through an error of 10⁻⁸
  const auto phi = [](double t) { return Slope{1000 + 1e-9 * (t - 1) * (t - 1) + (t > 0 ? 1e-8 : 0), 2e-9 * (t - 1)}; };
  const LineResult blind = strong_wolfe(phi, phi(0)), aware = strong_wolfe(phi, phi(0), {.rounding = 1e-10});
  EXPECT_FALSE(blind.converged);
  EXPECT_EQ(blind.evaluations, WolfeOptions{}.most_evaluations);
  EXPECT_TRUE(aware.converged);
  EXPECT_EQ(aware.evaluations, 1);
  EXPECT_EQ(aware.t, 1);
}

}  // namespace
}  // namespace lemma
