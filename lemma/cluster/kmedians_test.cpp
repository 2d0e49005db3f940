// lemma/cluster/kmedians_test.cpp
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/cluster/kmeans.hpp>
#include <lemma/cluster/kmedians.hpp>
#include <lemma/core/random.hpp>
#include <lemma/model/fit.hpp>

#include <tests/message_of.hpp>

namespace lemma {
namespace {

Matrix groups(Index n, std::uint64_t seed) {
  Matrix x = normal_matrix(n, 3, seed);
  for (Index i = 0; i < n; ++i) x(i, i % 3) += 8;
  return x;
}

double total_of(const Matrix& x, const Matrix& centers) {
  double out = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    double least = HUGE_VAL;
    for (Index c = 0; c < centers.rows(); ++c) least = std::min(least, (x.row(i) - centers.row(c)).cwiseAbs().sum());
    out += least;
  }
  return out;
}

TEST(KMedians, OfOneClusterIsTheMedianOfEachColumn) {
  Matrix x(5, 2);
  x << 1, 10, 2, 20, 3, 30, 4, 40, 100, -1000;
  const auto model = fit(KMedians{.k = 1}, x);
  EXPECT_EQ(model.centers, (Matrix(1, 2) << 3, 20).finished()) << "the far row moves it no farther than a near one";
  EXPECT_EQ(model.total_within, total_of(x, model.centers));
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const auto four = fit(KMedians{.k = 1}, x.topRows(4));
  EXPECT_EQ(four.centers, (Matrix(1, 2) << 2.5, 25).finished()) << "the middle of the two middle values";
  EXPECT_TRUE(four.certificate.holds()) << four.certificate.message;
}

TEST(KMedians, FindsGroupsAndNoCentreMovedALittleIsBetter) {
  const Matrix x = groups(150, 4);
  const auto model = fit(KMedians{.k = 3}, x);
  EXPECT_EQ(model.sizes, Vector::Constant(3, 50));
  EXPECT_NEAR(model.total_within, total_of(x, model.centers), 1e-12 * model.total_within);
  for (Index c = 0; c < 3; ++c)
    for (Index j = 0; j < 3; ++j)
      for (const double step : {-0.2, -0.01, 0.01, 0.2}) {
        Matrix moved = model.centers;
        moved(c, j) += step;
        EXPECT_GE(total_of(x, moved), model.total_within * (1 - 1e-12));
      }
}

TEST(KMedians, WeightsAreCopies) {
  const Matrix x = groups(60, 6);
  Vector weight(60);
  std::vector<Index> copies;
  for (Index i = 0; i < 60; ++i) {
    weight(i) = static_cast<double>(i % 4);
    for (Index c = 0; c < i % 4; ++c) copies.push_back(i);
  }
  Matrix repeated(static_cast<Index>(copies.size()), 3);
  for (std::size_t i = 0; i < copies.size(); ++i) repeated.row(static_cast<Index>(i)) = x.row(copies[i]);
  const auto weighted = fit(KMedians{.k = 3}, x, {.weights = weight}), plain = fit(KMedians{.k = 3}, repeated);
  EXPECT_NEAR(weighted.total_within, plain.total_within, 1e-12 * plain.total_within);
  EXPECT_TRUE(weighted.certificate.holds()) << weighted.certificate.message;
}

TEST(KMedians, TheNaturalWrongCentresFailTheCertificate) {
  const Matrix x = groups(90, 3);
  const KMediansModel right = fit(KMedians{.k = 3}, x);
  ASSERT_TRUE(certify(right, MemoryRows(x), {}).holds());
  KMediansModel wrong = right;  // means, which lie as near as medians do to most eyes
  wrong.centers = fit(KMeans{.k = 3}, x).centers;
  EXPECT_FALSE(certify(wrong, MemoryRows(x), {}).holds());
  KMediansModel lower = right;  // of the two middle values the lower: as small a sum, and not the median that is told
  const Labels label = right.assign(x);
  for (Index c = 0; c < 3; ++c) {
    std::vector<double> values;
    for (Index i = 0; i < 90; ++i)
      if (label[at(i)] == c) values.push_back(x(i, 0));
    std::sort(values.begin(), values.end());
    ASSERT_EQ(values.size() % 2, 0U);
    lower.centers(c, 0) = values[values.size() / 2 - 1];
  }
  EXPECT_FALSE(certify(lower, MemoryRows(x), {}).holds());
}

TEST(KMedians, TenthsOfARowAreAsGoodAsHalvesOfTen) {
  Matrix x(6, 1);
  x << 5, 1, 2, 8, 7, 3;
  Vector tenths(6);
  tenths << 0.1, 0.3, 0.2, 0.2, 0.1, 0.3;  // 0.5 of 1.2 lie below 3, 0.4 above
  EXPECT_EQ(fit(KMedians{.k = 1}, x, {.weights = tenths}).centers(0, 0), 3);
  tenths << 0.1, 0.3, 0.2, 0.7, 0.1, 0.4;  // 0.3 + 0.2 + 0.4 and 0.1 + 0.1 + 0.7 are 0.9 each, but for their last bit
  const auto model = fit(KMedians{.k = 1}, x, {.weights = tenths});
  EXPECT_EQ(model.centers(0, 0), 4);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(KMedians, AnswersWhatItCannotDo) {
  EXPECT_NE(message_of([&] { fit(KMedians{.k = 2}, Matrix::Constant(9, 2, 1.0)); }).find("only 1 different row; k can"),
            std::string::npos);
  const Matrix few = normal_matrix(4, 2, 1);
  EXPECT_EQ(fit(KMedians{.k = 4}, few).total_within, 0);
  const Vector none = Vector::Zero(4);
  EXPECT_NE(message_of([&] { fit(KMedians{.k = 2}, few, {.weights = none}); }).find("all weights are 0"),
            std::string::npos);
  const Matrix many = normal_matrix(2000, 5, 2);
  const auto stopped = fit(KMedians{.k = 15, .restarts = 1, .max_iterations = 2}, many);
  EXPECT_FALSE(stopped.certificate.holds());
  EXPECT_EQ(stopped.certificate.stopped, "iteration limit");
}

}  // namespace
}  // namespace lemma
