// lemma/neighbor/lof_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/neighbor/lof.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
LofModel fitted(const Lof& spec, const Matrix& x) { return fit(Valid<Lof>(spec), MemoryRows(x), {}); }

/// 0, 1, 2, 3 and 10 on a line, k = 2, by hand:
///   d_2: 2 1 1 2 8     neighbours: {1,2} {0,2} {1,3} {2,1} {3,2}
///   mean reach: of 0: (max(1,1) + max(1,2))/2 = 1.5; of 1: (max(2,1) + max(1,1))/2 = 1.5; of 2: 1.5; of 3: 1.5;
///   of 10: (max(2,7) + max(1,8))/2 = 7.5
TEST(Lof, IsTheFactorOfBreunigAndOthers) {
  const Matrix x{{0}, {1}, {2}, {3}, {10}};
  const auto model = fitted({.k = 2}, x);
  EXPECT_EQ(model.k_distance, (Vector{{2, 1, 1, 2, 8}}));
  EXPECT_NEAR(model.density(4), 1 / 7.5, 1e-15);
  for (Index i = 0; i < 4; ++i) EXPECT_NEAR(model.scores(i), 1, 1e-15) << i;
  EXPECT_NEAR(model.scores(4), 7.5 / 1.5, 1e-14);
  EXPECT_EQ(model.n_outliers, 1);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  // A new row at 11: neighbours 10 (d 1, d_2 8) and 3 (d 8): mean reach 8; lrd of them 1/7.5 and 1/1.5.
  EXPECT_NEAR(model.score(Matrix{{11.0}})(0), (1 / 7.5 + 1 / 1.5) / 2 * 8, 1e-14);
  EXPECT_EQ(model.outlier(Matrix{{11.0}, {1.5}}), (Strings{"yes", "no"}));
}

TEST(Lof, DistancesToTheKthNeighbourHaveAFenceByTheirQuartiles) {
  const Matrix x{{0}, {1}, {2}, {3}, {10}};
  const auto model = fitted({.k = 2, .score = OutlierScore::distance}, x);
  EXPECT_EQ(model.scores, (Vector{{2, 1, 1, 2, 8}}));
  EXPECT_NEAR(*model.spec.threshold, 2 + 1.5 * (2 - 1), 1e-15);
  EXPECT_EQ(model.n_outliers, 1);
  EXPECT_EQ(fitted({.k = 2, .score = OutlierScore::distance, .threshold = 0.5}, x).n_outliers, 5);
}

TEST(Lof, DoesNotDependOnUnitsNorOnPlace) {
  const Matrix x = normal_matrix(200, 3, 5);
  const auto model = fitted({.k = 10}, x);
  const Matrix moved = (1e3 * x).array() + 1e4;
  EXPECT_LT((model.scores - fitted({.k = 10}, moved).scores).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(Lof, FindsTheThinClusterThatDistancesAloneMiss) {
  Matrix x = normal_matrix(300, 2, 7);
  x.topRows(100) *= 0.01;             // a dense cluster,
  x.bottomRows(200).array() += 40.0;  // a wide one,
  x.row(0) << 0.3, 0.3;               // and a row outside of the dense one, nearer to it than rows of the wide one are
  const auto lof = fitted({.k = 10}, x), distance = fitted({.k = 10, .score = OutlierScore::distance}, x);
  Index greatest = 0;
  lof.scores.maxCoeff(&greatest);
  EXPECT_EQ(greatest, 0);
  EXPECT_GT(distance.scores.tail(200).maxCoeff(), distance.scores(0));
}

TEST(Lof, OfEqualRowsIsOne) {
  const Matrix same = Matrix::Constant(12, 2, 3);
  const auto model = fitted({.k = 5}, same);
  EXPECT_EQ(model.scores, Vector::Ones(12));
  Matrix mixed = normal_matrix(30, 2, 3);
  mixed.topRows(10) = Matrix::Constant(10, 2, 0.5);
  const auto copies = fitted({.k = 5}, mixed);
  EXPECT_TRUE(copies.scores.allFinite());
  for (Index i = 0; i < 10; ++i) EXPECT_NEAR(copies.scores(i), 1, 1e-12);
}

TEST(Lof, IsVerifiedOnItsRowsInAnyOrderAndOnNoOthers) {
  const Matrix x = normal_matrix(80, 2, 5), reversed = x.colwise().reverse(), other = normal_matrix(80, 2, 6);
  const auto model = fitted({.k = 7}, x);
  EXPECT_TRUE(certify(model, MemoryRows(reversed), {}).holds());
  EXPECT_FALSE(certify(model, MemoryRows(other), {}).holds());
}

/// A search that counts the row among its own neighbours, which is what asking for the k nearest of a training row gives.
TEST(Lof, TheNaturalWrongRowAmongItsOwnNeighboursFails) {
  const Matrix x = normal_matrix(80, 2, 5);
  const auto right = fitted({.k = 7}, x);
  LofModel own = right;
  own.scores = right.score(x);
  EXPECT_FALSE(certify(own, MemoryRows(x), {}).holds());
  LofModel plain = right;  // distances in the place of reachabilities
  for (Index i = 0; i < 80; ++i) plain.density(i) *= 1.01;
  EXPECT_FALSE(certify(plain, MemoryRows(x), {}).holds());
}

TEST(Lof, OtherMetricsAreTaken) {
  const Matrix x = normal_matrix(60, 3, 5);
  for (const Metric& metric : {Metric(ManhattanMetric{}), Metric(MahalanobisMetric{})}) {
    const auto model = fitted({.k = 4, .metric = metric}, x);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  }
}

TEST(Lof, RefusesMoreNeighboursThanThereAre) {
  const Matrix x = normal_matrix(5, 2, 5);
  EXPECT_TRUE(contains(message_of([&] { fitted({.k = 5}, x); }), "k is 5, and there are 5 rows"));
  EXPECT_EQ(message_of([&] { fitted({.k = 4}, x); }), "no error");
  EXPECT_EQ(*fitted({}, x).spec.k, 4);
  EXPECT_EQ(*fitted({}, normal_matrix(50, 2, 5)).spec.k, 20);
}

}  // namespace
}  // namespace lemma
