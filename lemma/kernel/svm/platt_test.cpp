// lemma/kernel/svm/platt_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/kernel/svm/platt.hpp>

namespace lemma {
namespace {

TEST(Platt, FindsTheSigmoidThatMadeTheRows) {
  RandomStream stream(1);
  const Index n = 20000;
  Vector f(n), target(n);
  const Sigmoid truth{-1.5, 0.4};
  for (Index i = 0; i < n; ++i) {
    f(i) = 2 * stream.normal();
    target(i) = stream.uniform() < truth(f(i)) ? 1 : -1;
  }
  const Sigmoid found = platt(f, target, Vector::Ones(n));
  EXPECT_NEAR(found.slope, truth.slope, 0.06);
  EXPECT_NEAR(found.offset, truth.offset, 0.06);
}

TEST(Platt, IsWhereTheGradientOfItsTargetsVanishes) {
  const Vector f{{-2, -1, 0.5, 1, 3}}, target{{-1, -1, 1, -1, 1}}, weight{{1, 2, 1, 1, 3}};
  const Sigmoid s = platt(f, target, weight);
  double a = 0, b = 0;  // Σ w (q − p) f and Σ w (q − p), N₊ = 4, N₋ = 4
  for (Index i = 0; i < 5; ++i) {
    const double q = target(i) > 0 ? 5.0 / 6 : 1.0 / 6;
    a += weight(i) * (q - s(f(i))) * f(i);
    b += weight(i) * (q - s(f(i)));
  }
  EXPECT_NEAR(a, 0, 2e-5);
  EXPECT_NEAR(b, 0, 2e-5);
}

TEST(Platt, DoesNotOverflowFarFromTheMargin) {
  const Sigmoid s{-3, 1};
  EXPECT_EQ(s(1e6), 1);
  EXPECT_EQ(s(-1e6), 0);
  const Sigmoid far = platt(Vector{{-1e5, 1e5}}, Vector{{-1, 1}}, Vector::Ones(2));
  EXPECT_TRUE(std::isfinite(far.slope) && std::isfinite(far.offset));
}

TEST(Couple, GivesBackTheProbabilitiesThatMadeThePairs) {
  const Vector p{{0.5, 0.2, 0.25, 0.05}};
  Matrix r = Matrix::Zero(4, 4);
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 4; ++j)
      if (i != j) r(i, j) = p(i) / (p(i) + p(j));
  const Vector found = couple(r);
  for (Index i = 0; i < 4; ++i) EXPECT_NEAR(found(i), p(i), 1e-7);
}

}  // namespace
}  // namespace lemma
