// lemma/density/isolation_forest_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/density/isolation_forest.hpp>
#include <lemma/model/fit.hpp>

#include <tests/message_of.hpp>

namespace lemma {
namespace {

TEST(IsolationForest, sets_far_rows_apart_and_keeps_its_false_alarms) {
  const Matrix x = normal_matrix(2000, 3, 1), fresh = normal_matrix(5000, 3, 2);
  const IsolationForestModel model = fit(IsolationForest{.false_alarm = 0.05}, x);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_NEAR(model.outlier(fresh).mean(), 0.05, 0.02);
  const Vector score = model.score(Matrix{{6.0, 6.0, -6.0}, {0.0, 0.0, 0.0}});
  EXPECT_GT(score(0), 0.7);
  EXPECT_LT(score(1), 0.5);
  EXPECT_EQ(model.outlier(Matrix{{6.0, 6.0, -6.0}, {0.0, 0.0, 0.0}}), (Vector{{1.0, 0.0}}));
}

/// Two rows in a sample are told apart by the first question: every depth is 1 = c(2), every score ½.
TEST(IsolationForest, of_samples_of_two_scores_one_half) {
  const Matrix x = normal_matrix(40, 1, 3);
  const IsolationForestModel model = fit(IsolationForest{.trees = 20, .sample = 2, .false_alarm = 0.5}, x);
  EXPECT_EQ(model.score(x), Vector::Constant(40, 0.5));
  EXPECT_EQ(model.feature.size(), 60U);
}

TEST(IsolationForest, does_not_care_about_the_order_of_the_rows_or_the_unit_of_a_column) {
  const Matrix x = normal_matrix(300, 2, 4), turned = x.colwise().reverse();
  const IsolationForestModel a = fit(IsolationForest{}, x), b = fit(IsolationForest{}, turned);
  EXPECT_EQ(a.score(x), b.score(x));
  EXPECT_EQ(a.threshold, b.threshold);
  EXPECT_TRUE(certify(a, MemoryRows(turned), {}).holds());
  Matrix wide = x;
  wide.col(1) *= 1024;  // a power of two: the same draws to the last bit
  EXPECT_EQ(fit(IsolationForest{}, wide).score(wide), a.score(x));
}

TEST(IsolationForest, a_threshold_from_trees_that_know_the_row_is_the_natural_wrong_one_and_fails_the_certificate) {
  const Matrix x = normal_matrix(200, 2, 5);
  IsolationForestModel model = fit(IsolationForest{.false_alarm = 0.1}, x);
  ASSERT_TRUE(certify(model, MemoryRows(x), {}).holds());
  Vector own = model.score(x);
  std::sort(own.begin(), own.end(), std::greater<>());
  EXPECT_LT(own(19), model.threshold);  // a row in the sample goes deeper
  model.threshold = own(19);
  model.outliers = 20;
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
}

TEST(IsolationForest, trees_of_other_rows_fail_the_certificate) {
  const Matrix x = normal_matrix(100, 2, 6);
  const IsolationForestModel model = fit(IsolationForest{.trees = 10}, x);
  Matrix other = x;
  other.col(0) *= 1.01;
  EXPECT_FALSE(certify(model, MemoryRows(other), {}).holds());
}

TEST(IsolationForest, refuses_rows_that_nothing_tells_apart) {
  EXPECT_NE(
      message_of([&] { fit(IsolationForest{}, Matrix(Matrix::Constant(30, 2, 1.0))); }).find("all rows are equal"),
      std::string::npos);
  EXPECT_NE(message_of([&] { fit(IsolationForest{}, normal_matrix(2, 2, 1)); }).find("fewer than 3"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(IsolationForest{.sample = 50}, normal_matrix(50, 2, 1)); }).find("must be fewer"),
            std::string::npos);
  EXPECT_EQ(fit(IsolationForest{.false_alarm = 0.001}, normal_matrix(50, 2, 1)).warnings.size(), 1U);
}

}  // namespace
}  // namespace lemma
