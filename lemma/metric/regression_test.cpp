// lemma/metric/regression_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/metric/regression.hpp>
#include <tests/golden.hpp>

namespace lemma {
namespace {

const Vector kY{{1.0, 2.0, 3.0, 6.0}}, kPrediction{{2.0, 2.0, 2.0, 7.0}};  // errors 1, 0, −1, 1

TEST(RegressionMeasures, MatchTheReference) {
  const Golden golden("metrics_regression");
  const auto score = score_regression(golden.vector("y"), golden.vector("prediction"));
  EXPECT_TRUE(golden.agrees("mse", score.mse));
  EXPECT_TRUE(golden.agrees("rmse", score.rmse));
  EXPECT_TRUE(golden.agrees("mae", score.mae));
  EXPECT_TRUE(golden.agrees("median_ae", score.median_absolute_error));
  EXPECT_TRUE(golden.agrees("r2", score.r_squared));
  EXPECT_TRUE(golden.agrees("explained_variance", score.explained_variance));
  EXPECT_TRUE(golden.agrees("pearson", score.pearson));
  EXPECT_TRUE(golden.agrees("spearman", score.spearman));
  EXPECT_TRUE(golden.agrees("kendall", score.kendall));
}

TEST(RegressionMeasures, MatchTheAnswerByHand) {  // ȳ = 3, Σ (y − ȳ)² = 4 + 1 + 0 + 9 = 14
  const auto score = score_regression(kY, kPrediction);
  EXPECT_EQ(score.n, 4);
  EXPECT_DOUBLE_EQ(score.mse, 0.75);
  EXPECT_DOUBLE_EQ(score.mae, 0.75);
  EXPECT_DOUBLE_EQ(score.median_absolute_error, 1);
  EXPECT_DOUBLE_EQ(score.max_error, 1);
  EXPECT_DOUBLE_EQ(score.bias, 0.25);
  EXPECT_DOUBLE_EQ(score.r_squared, 1 - 3.0 / 14);
  EXPECT_DOUBLE_EQ(score.explained_variance, 1 - 2.75 / 14);  // Σ (e − ē)² = 3 − 4/16
  EXPECT_DOUBLE_EQ(score.mape, (1.0 + 0 + 1.0 / 3 + 1.0 / 6) / 4);
  EXPECT_DOUBLE_EQ(score.kendall, 3 / std::sqrt(6.0 * 3.0));  // 3 pairs agree, 3 are tied in the prediction
}

TEST(RegressionMeasures, AWeightOfKIsKCopies) {
  const Vector w{{2.0, 0.0, 1.0, 3.0}};
  const Vector y{{1.0, 1.0, 3.0, 6.0, 6.0, 6.0}}, prediction{{2.0, 2.0, 2.0, 7.0, 7.0, 7.0}};
  const auto weighted = measures(score_regression(kY, kPrediction, w)),
             copied = measures(score_regression(y, prediction));
  for (std::size_t i = 0; i < copied.size(); ++i) {
    EXPECT_NEAR(weighted[i].value, copied[i].value, 1e-14) << copied[i].name;
    ASSERT_EQ(weighted[i].bounds.has_value(), copied[i].bounds.has_value()) << copied[i].name;
    if (!copied[i].bounds) continue;
    EXPECT_NEAR(weighted[i].bounds->upper, copied[i].bounds->upper, 1e-14) << copied[i].name;
  }
}

TEST(RegressionMeasures, RankCorrelationsCountEveryPairOnce) {  // against all pairs, with many ties
  RandomStream stream(7);
  Vector a(60), b(60);
  for (Index i = 0; i < 60; ++i) {
    a(i) = static_cast<double>(stream.below(8));
    b(i) = a(i) + static_cast<double>(stream.below(6));
  }
  double agree = 0, untied_a = 0, untied_b = 0;
  for (Index i = 0; i < 60; ++i)
    for (Index j = 0; j < i; ++j) {
      const double da = a(i) - a(j), db = b(i) - b(j);
      agree += (da * db > 0) - (da * db < 0);
      untied_a += da != 0;
      untied_b += db != 0;
    }
  EXPECT_NEAR(kendall_correlation(a, b), agree / std::sqrt(untied_a * untied_b), 1e-14);
}

TEST(RegressionMeasures, WhatIsNotDefinedIsNotANumber) {
  const auto score = score_regression(Vector::Zero(3), kPrediction.head(3));
  EXPECT_TRUE(std::isnan(score.r_squared));
  EXPECT_TRUE(std::isnan(score.mape));
  EXPECT_TRUE(std::isnan(score.pearson));
  EXPECT_NE(to_json(to_value(measures(score)), -1).find("\"mape\":null"), std::string::npos);
}

TEST(RegressionMeasures, AnErrorBarCoversTheTruthAboutNineteenTimesInTwenty) {
  int covered = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {  // errors are standard normal: their mse is 1
    const Matrix e = normal_matrix(100, 1, seed);
    const auto bounds =
        *score_regression(Vector::LinSpaced(100, 0, 1), Vector::LinSpaced(100, 0, 1) + e.col(0)).mse_bounds;
    covered += bounds.lower <= 1 && 1 <= bounds.upper;
  }
  EXPECT_GT(covered, 360);
  EXPECT_LT(covered, 396);
}

TEST(RegressionMeasures, RefuseWhatCannotBeEvaluated) {
  EXPECT_THROW(score_regression(kY, kPrediction.head(3)), Error);
  EXPECT_THROW(score_regression(Vector(), Vector()), Error);
  EXPECT_THROW(score_regression(kY, Vector{{1.0, NAN, 2.0, 3.0}}), Error);
  EXPECT_THROW(score_regression(kY, kPrediction, Vector::Zero(4)), Error);
  EXPECT_THROW(score_regression(kY, kPrediction, Vector{{1.0, -1.0, 1.0, 1.0}}), Error);
}

}  // namespace
}  // namespace lemma
