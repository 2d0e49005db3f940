// lemma/density/anomaly_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/density/anomaly.hpp>
#include <lemma/density/density_classifier.hpp>
#include <lemma/density/histogram.hpp>
#include <lemma/density/kde.hpp>
#include <lemma/density/shared/inside.hpp>
#include <lemma/model/fit.hpp>

#include <tests/message_of.hpp>

namespace lemma {
namespace {

TEST(Anomaly, calls_as_many_new_rows_outliers_as_it_says) {
  const Matrix x = normal_matrix(800, 2, 1), fresh = normal_matrix(20000, 2, 2);
  for (const double alarm : {0.02, 0.1}) {
    const AnomalyModel model = fit(Anomaly{.base = Kde{}, .false_alarm = alarm}, x);
    EXPECT_NEAR(model.outlier(fresh).mean(), alarm, 3 * std::sqrt(alarm / 800)) << alarm;
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
    EXPECT_EQ(model.outlier(Matrix{{9.0, -9.0}, {0.0, 0.0}}), (Vector{{1.0, 0.0}}));
  }
}

TEST(Anomaly, works_with_any_density_of_the_room) {
  const Matrix x = normal_matrix(300, 1, 5);
  const AnomalyModel model = fit(Anomaly{.base = Histogram{.bins = std::vector{8.0}}, .false_alarm = 0.1}, x);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_EQ(model.outlier(Matrix{{50.0}, {0.0}}), (Vector{{1.0, 0.0}}));
  EXPECT_EQ(model.outliers, model.outlier(x).sum());
}

TEST(Anomaly, a_threshold_from_the_rows_it_was_learned_from_is_the_natural_wrong_one_and_fails_the_certificate) {
  const Matrix x = normal_matrix(200, 2, 3);
  AnomalyModel model = fit(Anomaly{.base = Kde{.bandwidth = std::vector{0.2}}, .false_alarm = 0.1}, x);
  ASSERT_TRUE(certify(model, MemoryRows(x), {}).holds());
  Vector own = model.log_density(x);
  std::sort(own.begin(), own.end());
  EXPECT_GT(own(19), model.threshold);  // rows are likelier to those who know them
  model.threshold = own(19);
  model.outliers = 20;
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
}

TEST(Anomaly, refuses_what_is_no_density_and_tells_of_too_few_rows) {
  const Matrix x = normal_matrix(40, 1, 5);
  const AnySpec classifier = DensityClassifier{.base = Kde{}};
  EXPECT_NE(message_of([&] { fit(Anomaly{.base = classifier}, x); }).find("learns no density"), std::string::npos);
  const AnomalyModel few = fit(Anomaly{.base = Kde{}, .false_alarm = 0.01}, x);
  ASSERT_EQ(few.warnings.size(), 1U);
  EXPECT_NE(few.warnings[0].find("probability of 0.024"), std::string::npos) << few.warnings[0];
  EXPECT_NE(message_of([&] { fit(Anomaly{}, Matrix(Matrix::Constant(30, 1, 2.0))); }).find("same value"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
