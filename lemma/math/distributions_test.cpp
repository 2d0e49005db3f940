// lemma/math/distributions_test.cpp: values by R 4.2.2 (pt, pf, pchisq, pnorm, qt, qf, qchisq), 15 digits.
#include <gtest/gtest.h>

#include <cmath>
#include <lemma/math/distributions.hpp>
#include <lemma/math/special.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void expect_close(double found, double truth, double digits = 13) {
  EXPECT_LT(std::abs(found - truth), std::abs(truth) * std::pow(10, -digits)) << found << " for " << truth;
}

TEST(Distributions, AgreeWithR) {
  expect_close(normal_cdf(1.96), 0.9750021048517796);
  EXPECT_EQ(normal_upper(kInfinity), 0);
  EXPECT_EQ(normal_cdf(kInfinity), 1);
  expect_close(normal_upper(30), 4.906713927148187e-198);
  expect_close(t_upper(2, 7), 0.04280966428148798);
  expect_close(t_two_sided(-3.5, 40), 0.001157706614757471);
  expect_close(t_upper(120, 200), 1.319871089866591e-188, 10);
  expect_close(t_quantile(0.975, 12), 2.178812829667228);
  expect_close(f_upper(4.2, 3, 50), 0.009992662210199796);
  expect_close(f_upper(3000, 5, 300), 9.944088952897316e-254, 10);
  expect_close(f_quantile(0.95, 2, 20), 3.492828476735634);
  expect_close(chi_squared_upper(12, 5), 0.03478778050624185);
  expect_close(chi_squared_upper(1400, 4), 6.911633257175722e-302, 11);
  expect_close(chi_squared_quantile(0.99, 3), 11.34486673014437);
}

TEST(Distributions, TailsComplementEachOtherAndQuantilesInvert) {
  for (const double x : {-3.0, -0.5, 0.0, 1.0, 4.0}) {
    EXPECT_NEAR(t_cdf(x, 5) + t_upper(x, 5), 1, 1e-15);
    EXPECT_NEAR(t_quantile(t_cdf(x, 5), 5), x, 1e-12);
    EXPECT_NEAR(t_upper_quantile(t_upper(x, 5), 5), x, 1e-12);
    EXPECT_NEAR(normal_cdf(x) + normal_upper(x), 1, 1e-15);
  }
  for (const double x : {0.3, 1.0, 7.0}) {
    EXPECT_NEAR(f_cdf(x, 3, 9) + f_upper(x, 3, 9), 1, 1e-15);
    EXPECT_NEAR(chi_squared_cdf(x, 3) + chi_squared_upper(x, 3), 1, 1e-15);
    EXPECT_NEAR(f_quantile(f_cdf(x, 3, 9), 3, 9), x, 1e-12);
    EXPECT_NEAR(chi_squared_quantile(chi_squared_cdf(x, 3), 3), x, 1e-12);
  }
  EXPECT_NEAR(normal_log_density(1.5), -0.5 * 2.25 - 0.5 * std::log(2 * std::acos(-1.0)), 1e-15);
}

TEST(Distributions, TheEndsHaveTheirLimitsAndNonsenseIsNaN) {
  EXPECT_EQ(t_two_sided(kInfinity, 3), 0);
  EXPECT_EQ(t_cdf(-kInfinity, 3), 0);
  EXPECT_EQ(f_upper(kInfinity, 2, 3), 0);
  EXPECT_EQ(f_upper(-1, 2, 3), 1);
  EXPECT_EQ(chi_squared_cdf(0, 3), 0);
  EXPECT_EQ(t_quantile(1, 3), kInfinity);
  EXPECT_EQ(f_quantile(0, 3, 4), 0);
  EXPECT_TRUE(std::isnan(t_upper(std::nan(""), 3)));
  EXPECT_TRUE(std::isnan(t_upper(1, 0)));
  EXPECT_TRUE(std::isnan(t_quantile(1.5, 3)));
  EXPECT_TRUE(std::isnan(f_upper(2, -1, 3)));
}

TEST(Special, SumsOfExponentialsNeitherOverflowNorVanish) {
  EXPECT_NEAR(log_sum_exp(Vector{{1000.0, 1000.0}}), 1000 + std::log(2.0), 1e-12);
  EXPECT_NEAR(log_sum_exp(Vector{{-1000.0, -1001.0}}), -1000 + std::log1p(std::exp(-1.0)), 1e-12);
  EXPECT_EQ(log_sum_exp(Vector{{-kInfinity, -kInfinity}}), -kInfinity);
  EXPECT_EQ(log_sum_exp(Vector(0)), -kInfinity);
  Matrix m{{1.0, 2.0, 3.0}, {800.0, 0.0, -800.0}};
  const Matrix before = m;
  const Vector logs = softmax_rows(m);
  EXPECT_LT((logs - log_sum_exp_rows(before)).norm(), 1e-14);
  EXPECT_NEAR(m.row(0).sum(), 1, 1e-15);
  EXPECT_NEAR(m(0, 2) / m(0, 1), std::exp(1.0), 1e-14);
  EXPECT_EQ(m(1, 0), 1);
  EXPECT_NEAR(log1p_exp(800), 800, 0);
  EXPECT_NEAR(log1p_exp(-50), std::exp(-50.0), 1e-36);
  EXPECT_EQ(logistic(-800), 0);
  EXPECT_EQ(logistic(0), 0.5);
  EXPECT_NEAR(logistic(-30) / std::exp(-30.0), 1, 1e-12);
}

}  // namespace
}  // namespace lemma
