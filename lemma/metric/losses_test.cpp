// lemma/metric/losses_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/metric/losses.hpp>
#include <lemma/metric/regression.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

TEST(Pinball, IsLeastAtTheQuantile) {
  RandomStream stream(1);
  Vector y(999);
  for (double& each : y) each = stream.normal();
  std::vector<double> sorted(y.begin(), y.end());
  std::sort(sorted.begin(), sorted.end());
  const auto mean = [&](double q, double level) { return pinball_losses(y, Vector::Constant(999, q), level).mean(); };
  for (const double level : {0.1, 0.5, 0.9}) {
    const double quantile = sorted[static_cast<std::size_t>(level * 999)];
    for (const double other : {-2.0, -0.5, 0.3, 1.7}) EXPECT_LT(mean(quantile, level), mean(other, level));
  }
}

TEST(Pinball, OfTheMedianIsHalfTheAbsoluteError) {
  const Vector y{{1, 2, 3}}, q{{2, 2, 0}};
  EXPECT_DOUBLE_EQ(pinball_losses(y, q, 0.5).mean(), score_regression(y, q).mae / 2);
}

TEST(Deviances, OfTheGaussianFamilyAreSquaredErrors) {
  const Vector y{{1, 2, 3}}, m{{2, 2, 0}};
  EXPECT_EQ(unit_deviances(y, m, GlmFamily::gaussian), (Vector{{1, 0, 9}}));
}

TEST(Deviances, AreTheTextbooksFormulas) {
  const Vector y{{0, 1, 4}}, m{{0.5, 2, 3}};
  const auto poisson = unit_deviances(y, m, GlmFamily::poisson);
  EXPECT_NEAR(poisson(0), 2 * 0.5, 1e-14);
  EXPECT_NEAR(poisson(2), 2 * (4 * std::log(4.0 / 3) - 1), 1e-14);
  const auto gamma = unit_deviances(Vector{{1, 4}}, Vector{{2, 3}}, GlmFamily::gamma);
  EXPECT_NEAR(gamma(0), 2 * ((1 - 2) / 2.0 - std::log(0.5)), 1e-14);
  const auto inverse = unit_deviances(Vector{{1, 4}}, Vector{{2, 3}}, GlmFamily::inverse_gaussian);
  EXPECT_NEAR(inverse(1), 1.0 / (4 * 9), 1e-14);
  const auto binomial = unit_deviances(Vector{{0, 1}}, Vector{{0.2, 0.2}}, GlmFamily::binomial);
  EXPECT_NEAR(binomial(0), -2 * std::log(0.8), 1e-14);
  EXPECT_NEAR(binomial(1), -2 * std::log(0.2), 1e-14);
  const auto negative = unit_deviances(Vector{{4}}, Vector{{3}}, GlmFamily::negative_binomial, 2);
  EXPECT_NEAR(negative(0), 2 * (4 * std::log(4.0 / 3) - 6 * std::log(6.0 / 5)), 1e-13);
}

TEST(Deviances, RefuseWhatTheFamilyCannotHave) {
  EXPECT_EQ(message_of([] {
              unit_deviances(Vector{{1, -1}}, Vector{{1, 1}}, GlmFamily::poisson);
            }),
            "poisson has no response -1, as in row 2");
  EXPECT_EQ(message_of([] {
              unit_deviances(Vector{{1, 1}}, Vector{{1, -2}}, GlmFamily::poisson);
            }),
            "poisson has no mean -2, as is predicted for row 2");
}

TEST(Coverage, CountsWhatLiesInsideAndChargesForWhatDoesNot) {
  const Vector y{{0, 1, 5}}, lower{{-1, 1, 0}}, upper{{1, 3, 4}};
  const auto found = coverage(y, lower, upper, 0.9, Vector{{1, 1, 2}});
  EXPECT_DOUBLE_EQ(found.share, 0.5);
  EXPECT_DOUBLE_EQ(found.mean_width, (2 + 2 + 8) / 4.0);
  EXPECT_NEAR(found.interval_score, 3 + 20 * 2.0 / 4, 1e-12);
  EXPECT_EQ(message_of([&] { coverage(y, upper, lower, 0.9); }),
            "the interval of row 1 ends at -1 before it begins at 1");
}

TEST(AskedMeasures, AreReadFromWordsAndMistakesNamed) {
  EXPECT_EQ(asked_measure("pinball=0.9").number, 0.9);
  EXPECT_EQ(asked_measure("deviance=negative_binomial(2)").number, 2);
  EXPECT_EQ(asked_measure("deviance=poisson").family, GlmFamily::poisson);
  EXPECT_EQ(asked_measure("ece").number, 10);
  EXPECT_EQ(message_of([] { asked_measure("pinball=1.5"); }),
            "the level of pinball is 1.5, must be above 0 and below 1");
  EXPECT_NE(message_of([] { asked_measure("pinbal=0.5"); }).find("pinball"), std::string::npos);
  EXPECT_EQ(message_of([] { asked_measure("coverage=x"); }), "'coverage=x': 'x' must be a number");
}

TEST(Wilson, EndsExactlyAtZeroAndOne) {
  for (const double n : {1.0, 3.0, 45.0, 150.0, 1e6}) {
    EXPECT_EQ(wilson(0, n)->lower, 0);
    EXPECT_EQ(wilson(1, n)->upper, 1);
    EXPECT_GT(wilson(0, n)->upper, 0);
  }
}

TEST(ClopperPearson, IsThatOfR) {  // binom.test(8, 10), binom.test(0, 20): its upper end is 1 − 0.025^(1/20)
  const auto found = *clopper_pearson(0.8, 10);
  EXPECT_NEAR(found.lower, 0.4439045, 1e-7);
  EXPECT_NEAR(found.upper, 0.9747893, 1e-7);
  EXPECT_EQ(clopper_pearson(0, 20)->lower, 0);
  EXPECT_NEAR(clopper_pearson(0, 20)->upper, 1 - std::pow(0.025, 0.05), 1e-10);
  EXPECT_NEAR(clopper_pearson(1, 20)->lower, std::pow(0.025, 0.05), 1e-10);
  EXPECT_EQ(clopper_pearson(1, 20)->upper, 1);
  EXPECT_FALSE(clopper_pearson(0.5, 0));
}

TEST(Hoeffding, IsItsFormulaInsideZeroAndOne) {
  const double half = std::sqrt(std::log(40.0) / 200);
  EXPECT_NEAR(hoeffding(0.5, 100)->lower, 0.5 - half, 1e-15);
  EXPECT_NEAR(hoeffding(0.5, 100)->upper, 0.5 + half, 1e-15);
  EXPECT_EQ(hoeffding(0.99, 100)->upper, 1);
  EXPECT_EQ(hoeffding(0.01, 100)->lower, 0);
}

TEST(Intervals, CoverWhatTheyShouldInTwoHundredDraws) {  // nominal 95 %: at least 0.95 − 3 √(0.95 · 0.05 / 200) = 0.904
  int of_share = 0, of_mean = 0;
  for (std::uint64_t draw = 0; draw < 200; ++draw) {
    RandomStream stream(2026, draw);
    double found = 0;
    Vector values(80);
    for (Index i = 0; i < 80; ++i) {
      found += stream.uniform() < 0.1;
      values(i) = -std::log(1 - stream.uniform());  // mean 1, skew
    }
    const auto share = *wilson(found / 80, 80), mean = *bounds_of_mean(values);
    of_share += share.lower <= 0.1 && 0.1 <= share.upper;
    of_mean += mean.lower <= 1 && 1 <= mean.upper;
  }
  EXPECT_GE(of_share, 181);
  EXPECT_GE(of_mean, 178);  // skewness costs it a little: about 93 %
}

}  // namespace
}  // namespace lemma
