// lemma/math/simd/ranks_test.cpp
#include <gtest/gtest.h>

#include <algorithm>
#include <lemma/core/random.hpp>
#include <lemma/math/simd/ranks.hpp>
#include <numeric>

namespace lemma {
namespace {

TEST(Ranks, AreThoseOfAStableSortWithTiesAndWithout) {
  for (const Index levels : {Index{1}, Index{3}, Index{1} << 40})
    for (const Index n : {1, 2, 7, 8, 9, 31, 100, 257}) {
      RandomStream stream(5, static_cast<std::uint64_t>(n));
      std::vector<double> x(at(n));
      for (double& each : x) each = static_cast<double>(stream.below(levels));
      std::vector<Index> order(at(n));
      std::iota(order.begin(), order.end(), Index{0});
      std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return x[at(a)] < x[at(b)]; });
      for (Index k = 0; k < n; ++k) EXPECT_EQ(simd::rank_of(x, order[at(k)]), k);
      for (const Index k : {Index{0}, Index{1}, Index{5}, n}) {
        std::vector<Index> first(at(std::min(k, n)));
        simd::smallest(x, first);
        EXPECT_TRUE(std::equal(first.begin(), first.end(), order.begin())) << n << ' ' << k;
      }
    }
}

}  // namespace
}  // namespace lemma
