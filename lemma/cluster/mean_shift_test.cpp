// lemma/cluster/mean_shift_test.cpp
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/cluster/kmeans.hpp>
#include <lemma/cluster/mean_shift.hpp>
#include <lemma/core/random.hpp>
#include <lemma/model/fit.hpp>
#include <numbers>

#include <tests/contract/patience.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

Matrix groups(Index n, std::uint64_t seed, double apart = 6) {
  Matrix x = normal_matrix(n, 2, seed);
  for (Index i = 0; i < n; ++i) x(i, i % 2) += apart * static_cast<double>(i % 3);
  return x;
}

double log_density(const Matrix& x, const Vector& h, const Vector& place) {
  double sum = 0;
  for (Index i = 0; i < x.rows(); ++i)
    sum += std::exp(-0.5 * ((x.row(i).transpose() - place).array() / h.array()).square().sum());
  return std::log(sum / static_cast<double>(x.rows())) - h.array().log().sum() -
         0.5 * static_cast<double>(x.cols()) * std::log(2 * std::numbers::pi);
}

/// A line of rows that lie ever thinner, from (0, 0) to (10, 0), and a tight group of 40 at (9, 4).
Matrix line_and_group() {
  Matrix x(240, 2);
  for (Index i = 0; i < 200; ++i) x.row(i) << 10 * std::pow(static_cast<double>(i) / 200, 2), 0.0;
  x.bottomRows(40) = 0.3 * normal_matrix(40, 2, 5);
  x.bottomRows(40).rowwise() += (Eigen::RowVector2d() << 9, 4).finished();
  return x;
}

TEST(MeanShift, FindsTheTopsOfTheDensityThatASearchOnALineFinds) {
  Matrix x(60, 1);
  const Matrix noise = normal_matrix(60, 1, 3);
  for (Index i = 0; i < 60; ++i) x(i, 0) = noise(i, 0) + (i % 3 == 0 ? 7 : 0);
  const auto model = fit(MeanShift{.bandwidth = {{1.0}}}, x);
  std::vector<double> tops;
  const Vector h = Vector::Constant(1, 1.0);
  const auto f = [&](double at) { return log_density(x, h, Vector::Constant(1, at)); };
  for (double at = -6; at < 14; at += 1e-3)
    if (f(at) > f(at - 1e-3) && f(at) > f(at + 1e-3)) tops.push_back(at);
  ASSERT_EQ(model.k(), static_cast<Index>(tops.size()));
  std::vector<double> modes(model.modes.data(), model.modes.data() + model.k());
  std::sort(modes.begin(), modes.end());
  for (std::size_t t = 0; t < tops.size(); ++t) EXPECT_NEAR(modes[t], tops[t], 1.1e-3);
  for (Index c = 0; c < model.k(); ++c)
    EXPECT_NEAR(model.log_densities(c), log_density(x, h, model.modes.row(c).transpose()), 1e-12);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(MeanShift, FindsGroupsAndTheNumberOfThem) {
  const Matrix x = groups(240, 4);
  const auto model = fit(MeanShift{}, x);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const Labels label = model.assign(x);
  for (Index c = 0; c < model.k(); ++c) {
    const auto count = std::count(label.begin(), label.end(), static_cast<int>(c));
    EXPECT_EQ(model.sizes(c), static_cast<double>(count)) << "as new rows the rows climb to where they climbed";
    EXPECT_GE(model.sizes(std::max<Index>(c, 1) - 1), model.sizes(c));
  }
  EXPECT_GT(model.sizes.head(std::min<Index>(5, model.k())).sum(), 200);
}

TEST(MeanShift, AWideBumpLeavesOneHillAndANarrowOneAHillForEachRow) {
  const Matrix x = groups(60, 8);
  EXPECT_EQ(fit(MeanShift{.bandwidth = {{50.0}}}, x).k(), 1);
  const auto each = fit(MeanShift{.bandwidth = {{1e-6}}}, x);
  EXPECT_EQ(each.k(), 60);
  EXPECT_TRUE(each.certificate.holds()) << each.certificate.message;
}

TEST(MeanShift, TheBandwidthLeftOutIsTheNormalRuleForAGradient) {
  const Matrix x = groups(90, 2);
  const auto model = fit(MeanShift{}, x);
  for (Index j = 0; j < 2; ++j) {
    const double mean = x.col(j).mean();
    const double deviation = std::sqrt((x.col(j).array() - mean).square().sum() / 89);
    EXPECT_NEAR(model.bandwidth(j), deviation * std::pow(4.0 / (6 * 90), 1.0 / 8), 1e-12);
  }
}

TEST(MeanShift, NeitherOrderNorUnitsNorOffsetsMatter) {
  const Matrix x = groups(120, 6);
  const auto model = fit(MeanShift{}, x);
  const Matrix backwards = x.colwise().reverse();
  EXPECT_EQ(fit(MeanShift{}, backwards).modes, model.modes);
  Matrix other = x;
  other.col(1) *= 1024;
  const auto scaled = fit(MeanShift{}, other);
  EXPECT_EQ(scaled.sizes, model.sizes);
  EXPECT_NEAR((scaled.modes.col(1) / 1024 - model.modes.col(1)).cwiseAbs().maxCoeff(), 0, 1e-8);
  const Matrix far = (x.array() + 1e6).matrix();
  const auto offset = fit(MeanShift{}, far);
  EXPECT_EQ(offset.sizes, model.sizes);
  EXPECT_TRUE(offset.certificate.holds()) << offset.certificate.message;
}

TEST(MeanShift, WeightsAreCopies) {
  const Matrix x = groups(60, 6);
  Vector weight(60);
  std::vector<Index> copies;
  for (Index i = 0; i < 60; ++i) {
    weight(i) = static_cast<double>(i % 4);
    for (Index c = 0; c < i % 4; ++c) copies.push_back(i);
  }
  Matrix repeated(static_cast<Index>(copies.size()), 2);
  for (std::size_t i = 0; i < copies.size(); ++i) repeated.row(static_cast<Index>(i)) = x.row(copies[i]);
  const auto weighted = fit(MeanShift{}, x, {.weights = weight}), plain = fit(MeanShift{}, repeated);
  EXPECT_EQ(weighted.modes, plain.modes);
  EXPECT_EQ(weighted.sizes, plain.sizes);
}

TEST(MeanShift, ARowOnASaddleGoesOnToOneSide) {
  Matrix x(5, 1);
  x << -1, -1, 0, 1, 1;
  const auto model = fit(MeanShift{.bandwidth = {{0.5}}}, x);
  const auto two = fit(MeanShift{.bandwidth = {{0.45}}}, (Matrix(4, 1) << -1, -1, 1, 1).finished());
  EXPECT_EQ(two.assign(Matrix::Zero(1, 1)), two.assign(Matrix::Ones(1, 1))) << "midway: to the positive side";
  EXPECT_EQ(two.k(), 2);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  Matrix saddle(9, 1);  // in the middle there is a row, and the density is least
  saddle << -1, -1, -1, -1, 0, 1, 1, 1, 1;
  const auto split = fit(MeanShift{.bandwidth = {{0.6}}}, saddle);
  EXPECT_EQ(split.k(), 2);
  EXPECT_EQ(split.sizes, (Vector(2) << 5, 4).finished());
  EXPECT_TRUE(split.certificate.holds()) << split.certificate.message;
}

TEST(MeanShift, ARowClimbsToItsModeThoughAnotherIsNearer) {
  const Matrix x = line_and_group();
  const auto model = fit(MeanShift{.bandwidth = {{0.8}}}, x);
  ASSERT_EQ(model.k(), 2);
  EXPECT_EQ(model.sizes, (Vector(2) << 200, 40).finished());
  const Matrix last = x.row(199);
  EXPECT_EQ(model.assign(last), Labels{0});
  EXPECT_GT((model.modes.row(0) - last).norm(), (model.modes.row(1) - last).norm());
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(MeanShift, TheNaturalWrongModelsFailTheCertificate) {
  const Matrix x = line_and_group();
  const MemoryRows rows(x);
  const MeanShiftModel right = fit(MeanShift{.bandwidth = {{0.8}}}, x);
  const auto message = [&](const MeanShiftModel& model) {
    const Certificate found = certify(model, rows, {});
    return found.holds() ? "holds" : found.message;
  };
  ASSERT_EQ(message(right), "holds");

  MeanShiftModel means = right;  // means of the clusters
  means.modes = fit(KMeans{.k = 2}, x).centers;
  EXPECT_NE(message(means), "holds");
  MeanShiftModel tired = right;  // a climb that was ended too early
  tired.modes(0, 0) += 1e-6;
  EXPECT_NE(message(tired).find("away from where the shift would end"), std::string::npos) << message(tired);

  MeanShiftModel nearest = right;  // rows given to the nearest mode
  for (Index i = 0; i < nearest.points.rows(); ++i) {
    Index c = 0;
    (nearest.modes.rowwise() - nearest.points.row(i)).rowwise().squaredNorm().minCoeff(&c);
    nearest.clusters(i) = static_cast<double>(c + 1);
  }
  nearest.sizes.setZero();
  for (Index i = 0; i < nearest.points.rows(); ++i)
    nearest.sizes(static_cast<Index>(nearest.clusters(i)) - 1) += nearest.weights(i);
  ASSERT_NE(nearest.sizes, right.sizes);
  EXPECT_NE(message(nearest).find("not climb to the mode"), std::string::npos) << message(nearest);

  MeanShiftModel twice = right;  // climbs that were not merged
  twice.modes.resize(3, 2);
  twice.modes << right.modes, right.modes.row(1);
  twice.sizes = (Vector(3) << 200, 20, 20).finished();
  twice.log_densities = (Vector(3) << right.log_densities, right.log_densities(1)).finished();
  EXPECT_NE(message(twice).find("are one"), std::string::npos) << message(twice);

  MeanShiftModel wide = right;  // of another bandwidth
  wide.bandwidth *= 1.01;
  wide.spec.bandwidth = {0.808};
  EXPECT_FALSE(certify(wide, rows, {}).holds());
  const Matrix other = groups(240, 1);
  EXPECT_FALSE(certify(right, MemoryRows(other), {}).holds()) << "other rows";
}

TEST(MeanShift, ASaddleWhereTheShiftStaysIsNoMode) {
  Matrix x(8, 1);
  x << -1, -1, -1, -1, 1, 1, 1, 1;
  MeanShiftModel saddle = fit(MeanShift{.bandwidth = {{0.6}}}, x);
  ASSERT_EQ(saddle.k(), 2);
  saddle.modes.resize(1, 1);
  saddle.modes(0, 0) = 0;
  saddle.sizes = Vector::Constant(1, 8);
  saddle.clusters.setOnes();
  saddle.log_densities = Vector::Constant(1, log_density(x, saddle.bandwidth, Vector::Zero(1)));
  const Certificate found = certify(saddle, MemoryRows(x), {});
  EXPECT_FALSE(found.holds());
  EXPECT_NE(found.message.find("no top of a hill"), std::string::npos) << found.message;
}

TEST(MeanShift, ACancelIsHeardWithinOneClimb) {
  const Matrix x = normal_matrix(120, 2, 9);
  contract::Patience endless(contract::kEndless);
  fit(MeanShift{}, x, {.threads = 1, .progress = &endless});
  EXPECT_GE(endless.asked(), 10 * 120) << "a climb takes tens of steps, each a look at all rows";
}

TEST(MeanShift, AnswersWhatItCannotDo) {
  const Matrix x = groups(60, 3);
  EXPECT_NE(message_of([&] {
              fit(MeanShift{.bandwidth = {{1.0, 2.0, 3.0}}}, x);
            }).find("has 3 numbers"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(MeanShift{.bandwidth = {{0.0}}}, x); }).find("bandwidth"), std::string::npos);
  const Vector none = Vector::Zero(60);
  EXPECT_NE(message_of([&] { fit(MeanShift{}, x, {.weights = none}); }).find("all weights are 0"), std::string::npos);
  const auto equal = fit(MeanShift{}, Matrix::Constant(9, 2, 3.0));
  EXPECT_EQ(equal.k(), 1);
  EXPECT_EQ(equal.modes, Matrix::Constant(1, 2, 3.0));
  EXPECT_TRUE(equal.certificate.holds()) << equal.certificate.message;
  const auto stopped = fit(MeanShift{.max_iterations = 1}, x);
  EXPECT_FALSE(stopped.certificate.holds());
  EXPECT_FALSE(stopped.warnings.empty());
  EXPECT_NE(message_of([&] { fit(MeanShift{.bandwidth = {{1e-200}}}, x); }).find("bandwidths apart"),
            std::string::npos);
  EXPECT_EQ(fit(MeanShift{}, x).assign(Matrix::Constant(1, 2, 1e300)), Labels{-1});
  Matrix far(1, 2);
  far << 1e5, 1e5;
  EXPECT_GE(fit(MeanShift{}, x).assign(far)[0], 0) << "however far, it climbs to a row and on from there";
}

}  // namespace
}  // namespace lemma
