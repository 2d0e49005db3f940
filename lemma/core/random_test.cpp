// lemma/core/random_test.cpp
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <map>
#include <numeric>
#include <set>

namespace lemma {
namespace {

using Counter = std::array<std::uint64_t, 4>;

TEST(Philox, GivesThePublishedAnswers) {  // tests/kat_vectors of Random123, philox4x64 with 10 rounds
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (Counter{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}));
  constexpr std::uint64_t ones = ~std::uint64_t{0};
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Counter{0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0}));
  EXPECT_EQ(philox({0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
                   {0x452821e638d01377, 0xbe5466cf34e90c6c}),
            (Counter{0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}));
}

TEST(RandomStream, IsPhiloxOfSeedStreamAndPosition) {
  RandomStream stream(42, 7);
  for (std::uint64_t block = 0; block < 3; ++block)
    for (const std::uint64_t expected : philox({block, 0, 0, 0}, {42, 7})) EXPECT_EQ(stream.bits(), expected);
}

TEST(RandomStream, SplitsDependOnTheKeyAndTheIdOnly) {
  RandomStream parent(1);
  const std::uint64_t child = parent.split(3).bits();
  for (int i = 0; i < 9; ++i) parent.bits();
  EXPECT_EQ(parent.split(3).bits(), child);
  std::set<std::uint64_t> first;  // all different: no stream meets another
  for (std::uint64_t id = 0; id < 1000; ++id) {
    first.insert(parent.split(id).bits());
    first.insert(parent.split(id).split(id).bits());
    first.insert(RandomStream(1, id).bits());
    first.insert(RandomStream(id + 2).bits());
  }
  EXPECT_EQ(first.size(), 4000u);
}

/// Σ (observed − expected)²/expected for equally likely cells.
double chi_square(const std::vector<int>& counts) {
  const double expected = std::accumulate(counts.begin(), counts.end(), 0.0) / static_cast<double>(counts.size());
  double sum = 0;
  for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

/// Within five standard deviations of its mean k−1 (its variance is 2(k−1)); the seeds are fixed, so this never
/// flickers.
bool plausible(const std::vector<int>& counts) {
  const double k = static_cast<double>(counts.size()) - 1;
  return std::abs(chi_square(counts) - k) < 5 * std::sqrt(2 * k);
}

TEST(RandomStream, UniformsFillTheirIntervalEvenlyAndPairsTheSquare) {
  RandomStream stream(2024);
  std::vector<int> cells(100), squares(400);
  double least = 1, most = 0;
  for (int i = 0; i < 100000; ++i) {
    const double u = stream.uniform(), v = stream.uniform();
    least = std::min({least, u, v});
    most = std::max({most, u, v});
    ++cells[static_cast<std::size_t>(100 * u)];
    ++squares[static_cast<std::size_t>(20 * u) * 20 + static_cast<std::size_t>(20 * v)];
  }
  EXPECT_GE(least, 0);
  EXPECT_LT(most, 1);
  EXPECT_TRUE(plausible(cells)) << chi_square(cells);
  EXPECT_TRUE(plausible(squares)) << chi_square(squares);
}

TEST(RandomStream, NeighbouringStreamsAndSeedsAreUncorrelated) {
  const auto correlation = [](RandomStream a, RandomStream b) {
    double sum = 0;
    for (int i = 0; i < 100000; ++i) sum += a.normal() * b.normal();
    return sum / 100000;
  };
  const double five_deviations = 5 / std::sqrt(100000.0);
  EXPECT_LT(std::abs(correlation(RandomStream(1, 0), RandomStream(1, 1))), five_deviations);
  EXPECT_LT(std::abs(correlation(RandomStream(1), RandomStream(2))), five_deviations);
  EXPECT_LT(std::abs(correlation(RandomStream(1), RandomStream(1).split(0))), five_deviations);
}

TEST(RandomStream, NumbersBelowNAreEquallyLikely) {
  RandomStream stream(5);
  for (const Index n : {1, 2, 3, 10, 97}) {
    std::vector<int> counts(static_cast<std::size_t>(n));
    for (int i = 0; i < 20000; ++i) ++counts.at(static_cast<std::size_t>(stream.below(n)));
    EXPECT_TRUE(n == 1 || plausible(counts)) << n;
  }
  // ¾ of 2⁶³: a remainder would give the lower third of the range half of all draws instead of a third.
  const Index large = Index{3} << 61;
  int low = 0;
  for (int i = 0; i < 30000; ++i) low += stream.below(large) < large / 3;
  EXPECT_NEAR(low / 30000.0, 1.0 / 3, 0.014);
  EXPECT_THROW(stream.below(0), Error);
  EXPECT_THROW(stream.below(-3), Error);
}

TEST(NormalQuantile, MatchesR) {  // sprintf("%.17g", qnorm(p))
  EXPECT_DOUBLE_EQ(normal_quantile(0.5), 0);
  EXPECT_NEAR(normal_quantile(0.975), 1.9599639845400536, 5e-16);
  EXPECT_NEAR(normal_quantile(0.3), -0.52440051270804067, 5e-16);
  EXPECT_NEAR(normal_quantile(1e-5), -4.2648907939228256, 3e-15);
  EXPECT_NEAR(normal_quantile(1e-10), -6.3613409024040557, 4e-15);
  EXPECT_NEAR(normal_quantile(1e-300), -37.047096299361201, 3e-14);
  EXPECT_EQ(normal_quantile(0.125), -normal_quantile(0.875));
}

TEST(RandomStream, NormalsHaveTheMomentsOfTheNormalDistribution) {
  RandomStream stream(11);
  double moments[5] = {};
  constexpr int n = 400000;
  for (int i = 0; i < n; ++i) {
    const double z = stream.normal();
    for (int k = 1; k <= 4; ++k) moments[k] += std::pow(z, k) / n;
  }
  const double unit = 5 / std::sqrt(double{n});
  EXPECT_NEAR(moments[1], 0, unit);
  EXPECT_NEAR(moments[2], 1, unit * std::sqrt(2));
  EXPECT_NEAR(moments[3], 0, unit * std::sqrt(15));
  EXPECT_NEAR(moments[4], 3, unit * std::sqrt(96));
}

TEST(RandomStream, AllOrdersOfAShuffleAreEquallyLikely) {
  RandomStream stream(3);
  std::map<std::vector<Index>, int> orders;
  for (int i = 0; i < 24000; ++i) ++orders[permutation(stream, 4)];
  std::vector<int> counts;
  counts.reserve(orders.size());
  for (const auto& [order, count] : orders) counts.push_back(count);
  EXPECT_EQ(counts.size(), 24u);
  EXPECT_TRUE(plausible(counts)) << chi_square(counts);
}

TEST(SampleWithoutReplacement, DrawsDifferentNumbersEachEquallyOften) {
  RandomStream stream(8);
  std::vector<int> drawn(10), first(10);
  for (int i = 0; i < 20000; ++i) {
    const auto sample = sample_without_replacement(stream, 10, 4);
    ASSERT_EQ(std::set<Index>(sample.begin(), sample.end()).size(), 4u);
    for (const Index s : sample) ++drawn.at(static_cast<std::size_t>(s));
    ++first[static_cast<std::size_t>(sample[0])];
  }
  for (const int count : drawn) EXPECT_NEAR(count, 8000, 5 * std::sqrt(20000 * 0.4 * 0.6));
  EXPECT_TRUE(plausible(first)) << "the order is random too";
}

TEST(SampleWithoutReplacement, GoesFromNothingToAll) {
  RandomStream stream(8);
  EXPECT_TRUE(sample_without_replacement(stream, 5, 0).empty());
  auto all = sample_without_replacement(stream, 1000, 1000);
  std::sort(all.begin(), all.end());
  for (Index i = 0; i < 1000; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
  EXPECT_THROW(sample_without_replacement(stream, 3, 4), Error);
  EXPECT_EQ(sample_without_replacement(stream, Index{1} << 60, 3).size(), 3u) << "memory grows with k, not with n";
}

TEST(NormalMatrix, IsTheStreamRowByRowWhateverTheThreads) {
  Execution threads;
  threads.threads = 1;
  const Matrix alone = normal_matrix(211, 157, 9, 4, threads);
  RandomStream stream(9, 4);
  for (Index i = 0; i < alone.rows(); ++i)
    for (Index j = 0; j < alone.cols(); ++j) ASSERT_EQ(alone(i, j), stream.normal());
  for (const int count : {2, 3, 8}) {
    threads.threads = count;
    EXPECT_EQ(normal_matrix(211, 157, 9, 4, threads), alone);
  }
  EXPECT_EQ(normal_matrix(0, 5, 1).size(), 0);
}

}  // namespace
}  // namespace lemma
