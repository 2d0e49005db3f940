// lemma/validate/stability_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <lemma/cluster/dbscan.hpp>
#include <lemma/cluster/kmeans.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/validate/stability.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

Table three_groups(Index n, double apart) {
  RandomStream stream(4);
  std::vector<double> x, y;
  for (Index i = 0; i < n; ++i) {
    x.push_back(stream.normal() + apart * static_cast<double>(i % 3));
    y.push_back(stream.normal() + (i % 3 == 1 ? apart : 0));
  }
  return Table({numeric("x", x), numeric("y", y)}, "groups");
}

ClusterStability of(const AnySpec& spec, const Table& table, int samples = 40, std::optional<int> threads = {}) {
  StabilityOptions options;
  options.samples = samples;
  options.execution.threads = threads;
  return stability(spec, formula("~ x + y"), MemoryTableStream(table), options);
}

TEST(MatchedJaccard, IsOneOfTheSameClustersWhateverTheirNumbers) {
  EXPECT_EQ(matched_jaccard({0, 0, 1, 2, 2}, {2, 2, 0, 1, 1}, 3), Vector::Ones(3));
}

TEST(MatchedJaccard, FollowsItsFormulaWithWeightsAndNoise) {
  // {1, 2, 3} and {1, 2}: 2 of 3; {4, 5} and {3, 4, 5}: 2 of 3.
  EXPECT_NEAR((matched_jaccard({0, 0, 0, 1, 1}, {0, 0, 1, 1, 1}, 2) - Vector::Constant(2, 2.0 / 3)).norm(), 0, 1e-15);
  const Vector w = (Vector(5) << 1, 1, 4, 1, 1).finished();
  EXPECT_NEAR(
      (matched_jaccard({0, 0, 0, 1, 1}, {0, 0, 1, 1, 1}, 2, w) - (Vector(2) << 1.0 / 3, 1.0 / 3).finished()).norm(), 0,
      1e-15);
  const Vector noise = matched_jaccard({0, 0, 0, -1, -1}, {0, 0, -1, 0, -1}, 2);
  EXPECT_DOUBLE_EQ(noise(0), 2.0 / 4);
  EXPECT_TRUE(std::isnan(noise(1))) << "a cluster of which no row is here";
  EXPECT_EQ(matched_jaccard({0, 1}, {-1, -1}, 2), Vector::Zero(2));
}

TEST(MatchedJaccard, NoTwoClustersAreFoundAgainInTheSameOne) {
  const Vector found = matched_jaccard({0, 0, 0, 1, 1}, {0, 0, 0, 0, 0}, 2);
  EXPECT_EQ(found, (Vector(2) << 0.6, 0).finished()) << "by the best of each it would be 0.6 and 0.4";
}

TEST(Stability, GroupsThatAreApartAreFoundAgainInEverySample) {
  const auto found = of(KMeans{.k = 3}, three_groups(150, 10));
  EXPECT_EQ(found.samples, 40);
  EXPECT_EQ(found.jaccard, Vector::Ones(3));
  EXPECT_EQ(found.recovered, Vector::Ones(3));
  EXPECT_EQ(found.dissolved, Vector::Zero(3));
  EXPECT_NEAR(found.adjusted_rand, 1, 1e-12);
  EXPECT_EQ(found.sizes, Vector::Constant(3, 50));
}

TEST(Stability, ClustersThatCutAGroupAreNot) {
  const auto right = of(KMeans{.k = 3}, three_groups(150, 10)), many = of(KMeans{.k = 5}, three_groups(150, 10));
  EXPECT_LT(many.jaccard.minCoeff(), 0.75);
  EXPECT_LT(many.adjusted_rand, right.adjusted_rand);
  const auto one = of(KMeans{.k = 4}, three_groups(150, 0));
  EXPECT_LT(one.jaccard.maxCoeff(), 0.9) << "of no groups at all";
}

TEST(Stability, NoiseIsNoCluster) {
  Table table = three_groups(150, 12);
  const auto found = of(Dbscan{.radius = 1.5}, table);
  EXPECT_EQ(found.sizes.size(), 3);
  EXPECT_GT(found.jaccard.minCoeff(), 0.75);
}

TEST(Stability, HasTheSameBitsOnAnyNumberOfThreads) {
  const Table table = three_groups(90, 3);
  const auto one = of(KMeans{.k = 4}, table, 20, 1), two = of(KMeans{.k = 4}, table, 20, 2);
  EXPECT_EQ(one.jaccard, two.jaccard);
  EXPECT_EQ(one.adjusted_rand, two.adjusted_rand);
}

TEST(Stability, AnswersWhatItCannotDo) {
  const Table table = three_groups(30, 5);
  EXPECT_NE(message_of([&] { of(KMeans{}, table, 3); }).find("at least 10 samples"), std::string::npos);
  EXPECT_NE(
      message_of([&] { stability(Ols{}, formula("y ~ x"), MemoryTableStream(table), {}); }).find("makes no clusters"),
      std::string::npos);
}

}  // namespace
}  // namespace lemma
