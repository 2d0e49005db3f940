// lemma/kernel/nadaraya_watson_test.cpp: the reference, refitting without a row, and places far from all rows.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/kernel/nadaraya_watson.hpp>
#include <lemma/kernel/nadaraya_watson/smoother.hpp>
#include <lemma/model/fit.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

struct Mcycle {
  Matrix x;
  Vector y;
  Mcycle() {
    const Table table = dataset("mcycle");
    x = Eigen::Map<const Vector>(table.column("times").numbers().values.data(), table.rows());
    y = Eigen::Map<const Vector>(table.column("accel").numbers().values.data(), table.rows());
  }
};

TEST(NadarayaWatson, AgreesWithTheReference) {
  const Golden golden("nw_mcycle");
  const Mcycle data;
  const Matrix grid = golden.vector("grid");
  const auto mean = fit(NadarayaWatson{.bandwidth = {1.5}}, data.x, data.y);
  EXPECT_TRUE(golden.agrees("nadaraya_watson", mean.predict(grid)));
  EXPECT_TRUE(golden.agrees("nw_loocv_mse", mean.loocv_mse));
  EXPECT_TRUE(golden.agrees("nw_effective_df", mean.effective_df));
  EXPECT_TRUE(mean.certificate.holds()) << mean.certificate.message;
  const auto line = fit(NadarayaWatson{.bandwidth = {1.5}, .degree = 1}, data.x, data.y);
  EXPECT_TRUE(golden.agrees("local_linear", line.predict(grid)));
}

TEST(NadarayaWatson, LeavingARowOutIsRefittingWithoutIt) {
  const Matrix x = normal_matrix(20, 2, 3);
  const Vector y = x.col(0).array().sin() + x.col(1).array();
  for (const int degree : {0, 1}) {
    const NadarayaWatson spec{.bandwidth = {0.7}, .degree = degree};
    double sum = 0;
    for (Index left = 0; left < 20; ++left) {
      Vector w = Vector::Ones(20);
      w(left) = 0;
      sum += std::pow(y(left) - fit(spec, x, y, {.weights = w}).predict(x.row(left))(0), 2);
    }
    EXPECT_NEAR(fit(spec, x, y).loocv_mse, sum / 20, 1e-12) << degree;
  }
}

TEST(NadarayaWatson, TheTraceIsTheSumOfHowFittedValuesFollowTheirResponses) {
  const Matrix x = normal_matrix(15, 2, 3);
  const Vector y = x.col(0).array().sin();
  for (const int degree : {0, 1}) {
    const NadarayaWatson spec{.bandwidth = {0.7}, .degree = degree};
    const auto m = fit(spec, x, y);
    double trace = 0;
    for (Index i = 0; i < 15; ++i) {
      Vector moved = y;
      moved(i) += 1;
      trace += fit(spec, x, moved).predict(x)(i) - m.predict(x)(i);
    }
    EXPECT_NEAR(m.effective_df, trace, 1e-10) << degree;
  }
}

TEST(NadarayaWatson, ALineIsFollowedExactlyByLines) {
  const Matrix x = normal_matrix(40, 3, 5);
  const Vector y = (2 + x.col(0).array() - 3 * x.col(2).array()).matrix();
  const auto m = fit(NadarayaWatson{.bandwidth = {2}, .degree = 1}, x, y);
  const Matrix far = 3 * normal_matrix(10, 3, 6);
  EXPECT_LT((m.predict(far).array() - (2 + far.col(0).array() - 3 * far.col(2).array())).abs().maxCoeff(), 1e-8);
  EXPECT_NEAR(m.rss, 0, 1e-20);
}

TEST(NadarayaWatson, FarFromAllRowsTheNearestAnswers) {
  const Matrix x{{0.0}, {1.0}, {2.0}};
  const Vector y{{5.0, 6.0, 9.0}};
  const Matrix far{{1e4}, {-1e4}, {1e300}};
  const auto mean = fit(NadarayaWatson{.bandwidth = {0.5}}, x, y).predict(far);
  EXPECT_EQ(mean(0), 9);
  EXPECT_EQ(mean(1), 5);
  EXPECT_TRUE(std::isfinite(mean(2)));
  const auto line = fit(NadarayaWatson{.bandwidth = {0.5}, .degree = 1}, x, y).predict(far);
  EXPECT_EQ(line(0), 9);  // nearby there is one row, and no slope
}

TEST(NadarayaWatson, TheChosenBandwidthLeavesTheLeastError) {
  const Mcycle data;
  const auto m = fit(NadarayaWatson{}, data.x, data.y);
  for (const double factor : {0.5, 0.8, 1.25, 2.0}) {
    const auto other = fit(NadarayaWatson{.bandwidth = {factor * m.bandwidth(0)}}, data.x, data.y);
    EXPECT_GT(other.loocv_mse, m.loocv_mse) << factor;
  }
}

TEST(NadarayaWatson, ResponsesFarFromZeroAreAnsweredAsNearIt) {
  const Mcycle data;
  const auto plain = fit(NadarayaWatson{}, data.x, Vector(data.y.array().round()));
  for (const double offset : {1.7e9, 1e12}) {
    const Vector y = data.y.array().round() + offset;  // whole numbers: exact there too
    for (const int degree : {0, 1}) {
      const auto m = fit(NadarayaWatson{.degree = degree}, data.x, y);
      EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
      const double unlike = degree == 0 ? std::abs(m.loocv_mse / plain.loocv_mse - 1) : 0;
      EXPECT_LT(unlike, 1e-9);
    }
  }
}

TEST(NadarayaWatson, TheNaturalWrongErrorsFailTheCertificate) {
  const Mcycle data;
  const auto m = fit(NadarayaWatson{.bandwidth = {1.5}}, data.x, data.y);
  MemoryRows rows(data.x);
  rows.response({data.y.data(), static_cast<std::size_t>(data.y.size())});
  EXPECT_TRUE(certify(m, rows, {}).holds());
  auto own = m, divisor = m;
  own.loocv_mse =
      (m.predict(data.x) - data.y).squaredNorm() / static_cast<double>(data.y.size());  // each row with itself
  divisor.loocv_mse *= static_cast<double>(data.y.size()) / (static_cast<double>(data.y.size()) - 1);
  for (const auto& wrong : {own, divisor}) EXPECT_FALSE(certify(wrong, rows, {}).holds());
}

TEST(NadarayaWatson, BadInputIsRefusedByWhatIsWrong) {
  const Mcycle data;
  const auto refusal = [&](const NadarayaWatson& spec) { return message_of([&] { fit(spec, data.x, data.y); }); };
  EXPECT_NE(refusal({.bandwidth = {0}}).find("bandwidth"), std::string::npos);
  EXPECT_NE(refusal({.bandwidth = {1, 2}}).find("2 bandwidths for 1 column"), std::string::npos);
  EXPECT_NE(refusal({.degree = 2}).find("degree"), std::string::npos);
  const auto equal = fit(NadarayaWatson{}, Matrix::Constant(9, 2, 3.0), Vector::LinSpaced(9, 0, 8));
  EXPECT_NEAR(equal.predict(Matrix::Constant(1, 2, 3.0))(0), 4, 1e-14);
}

/// The definition, with every row looked at.
double plain(const Matrix& x, const Vector& y, double h, const Vector& at, Index without = -1) {
  double sum = 0, total = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    if (i == without) continue;
    const double k = std::exp(-0.5 * (x.row(i).transpose() - at).squaredNorm() / (h * h));
    sum += k * y(i);
    total += k;
  }
  return sum / total;
}

TEST(NadarayaWatson, RowsThatAreLeftOutWouldChangeNoDigit) {
  const Matrix x = 10 * normal_matrix(4000, 2, 5);
  const Vector y = x.col(0).array().sin() + 3;
  const auto m = fit(NadarayaWatson{.bandwidth = {0.25}}, x, y);
  const nadaraya::Smoother smoother(x, y, Vector::Ones(4000), 0, Vector::Constant(2, 0.25), 0);
  EXPECT_LT(smoother.looked_at(Eigen::RowVectorXd::Zero(2)), 1500);
  Matrix places = 10 * normal_matrix(50, 2, 6);
  places.row(0) << 500, 0;  // far from all rows
  const Vector found = m.predict(places);
  for (Index i = 1; i < places.rows(); ++i) {
    const double expected = plain(x, y, 0.25, places.row(i));
    if (std::isfinite(expected)) { EXPECT_NEAR(found(i), expected, 1e-13 * std::abs(expected)) << i; }
  }
  EXPECT_TRUE(std::isfinite(found(0)));
  Index known = 0;
  for (Index i = 0; i < 4000; i += 40) {
    const double expected = plain(x, y, 0.25, x.row(i), i);
    if (!std::isfinite(expected)) continue;
    const Index which[] = {i};
    EXPECT_NEAR(smoother.own(which, {}).left_out(0, 0) + smoother.centre(), expected, 1e-12) << i;
    ++known;
  }
  EXPECT_GT(known, 90);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  const nadaraya::Smoother wide(x, y, Vector::Ones(4000), 0, Vector::Constant(2, 5.0), 0);
  EXPECT_EQ(wide.looked_at(Eigen::RowVectorXd::Zero(2)), 4000);
}

TEST(NadarayaWatson, OfClassesItGivesTheSharesOfTheRowsNearby) {
  const Matrix x = normal_matrix(300, 2, 8);
  std::vector<std::string> labels;
  Vector red(300);
  for (Index i = 0; i < 300; ++i) {
    red(i) = x(i, 0) + 0.3 * std::sin(50.0 * static_cast<double>(i)) > 0;
    labels.push_back(red(i) == 1 ? "red" : i % 2 ? "blue" : "green");
  }
  const auto m = fit(NadarayaWatson{.bandwidth = {0.4}}, x, labels);
  EXPECT_EQ(m.task(), Task::classification);
  EXPECT_EQ(m.class_count(), 3);
  const Matrix p = m.probabilities(x);
  EXPECT_LT((p.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-14);
  for (Index i = 0; i < 300; i += 30) EXPECT_NEAR(p(i, 2), plain(x, red, 0.4, x.row(i)), 1e-13);
  const Labels found = m.classify(x);
  Index right = 0;
  for (Index i = 0; i < 300; ++i) right += (found[static_cast<std::size_t>(i)] == 2) == (red(i) == 1);
  EXPECT_GT(right, 260);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  const auto chosen = fit(NadarayaWatson{}, x, labels);
  EXPECT_LE(chosen.loocv_mse, m.loocv_mse);
  EXPECT_NE(message_of([&] { fit(NadarayaWatson{.degree = 1}, x, labels); }).find("of classes the degree is 0"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
