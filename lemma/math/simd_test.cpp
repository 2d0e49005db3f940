// lemma/math/simd_test.cpp
#include <gtest/gtest.h>

#include <cmath>
#include <lemma/core/random.hpp>
#include <lemma/math/simd.hpp>
#include <limits>
#include <vector>

namespace lemma {
namespace {

std::vector<double> numbers(std::size_t n, std::uint64_t seed) {
  RandomStream stream(seed);
  std::vector<double> out(n);
  for (double& v : out) v = stream.normal();
  return out;
}

TEST(Simd, SaysWhichVectorsItUses) { EXPECT_FALSE(simd::level().empty()); }

TEST(Simd, ExpAgreesWithTheLibraryAtEveryLengthAndAtTheEnds) {
  for (const std::size_t n : {0u, 1u, 7u, 8u, 9u, 100u}) {
    std::vector<double> x = numbers(n, n), y(n);
    for (double& v : x) v *= 100;
    simd::exp(x, y);
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(y[i] / std::exp(x[i]), 1, 4e-16) << x[i];
  }
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> x{inf, -inf, std::nan(""), 0.0, 1000, -1000, 709.7};
  std::vector<double> y(x.size());
  simd::exp(x, y);
  EXPECT_EQ(y[0], inf);
  EXPECT_EQ(y[1], 0);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(y[3], 1);
  EXPECT_EQ(y[4], inf);
  EXPECT_EQ(y[5], 0);
  EXPECT_NEAR(y[6] / std::exp(709.7), 1, 1e-15);
}

TEST(Simd, DotKeepsWhatDoublesLose) {  // 2⁶⁰ − 2⁶⁰ + 2⁻³⁰ and the like, at every position
  for (const std::size_t n : {3u, 8u, 17u, 40u}) {
    std::vector<double> a(n, 0.0), b(n, 1.0);
    a[0] = 0x1p60;
    a[1] = 0x1p-30;
    a[n - 1] = -0x1p60;
    EXPECT_EQ(simd::dot(a, b).rounded(), 0x1p-30) << n;
  }
  const std::vector<double> third{1.0 / 3}, three{3.0};
  EXPECT_EQ(simd::dot(third, three).value, 1);
  EXPECT_EQ(simd::dot(third, three).rest, -0x1p-54);  // 1/3 is stored 2⁻⁵⁴/3 too small
  const auto a = numbers(1000, 1), b = numbers(1000, 2);
  long double truth = 0;
  for (std::size_t i = 0; i < 1000; ++i) truth += static_cast<long double>(a[i]) * b[i];
  EXPECT_NEAR(static_cast<double>(simd::dot(a, b).rounded() - truth), 0, 1e-16);
}

TEST(Simd, AddScaledSumsInTwiceThePrecision) {
  for (const std::size_t n : {1u, 5u, 8u, 19u}) {
    const auto x = numbers(n, 3);
    std::vector<double> sum(n, 0.0), rest(n, 0.0);
    simd::add_scaled({0x1p70, 0}, x, sum, rest);
    simd::add_scaled({1.5, 0x1p-60}, x, sum, rest);
    simd::add_scaled({-0x1p70, 0}, x, sum, rest);
    for (std::size_t j = 0; j < n; ++j) EXPECT_NEAR((sum[j] + rest[j]) / (1.5 * x[j]), 1, 1e-14);
  }
}

TEST(Simd, CentreSubtractsScalesAndSums) {
  for (const std::size_t n : {1u, 8u, 21u}) {
    const auto x = numbers(n, 6), origin = numbers(n, 7);
    std::vector<double> out(n), sum(n, 1.0);
    simd::centre(x, origin, 2, out, sum);
    for (std::size_t j = 0; j < n; ++j) {
      EXPECT_EQ(out[j], 2 * (x[j] - origin[j]));
      EXPECT_NEAR(sum[j], 1 + 4 * (x[j] - origin[j]), 1e-14);
    }
    simd::centre(x, x, 3, out);
    for (const double d : out) EXPECT_EQ(d, 0);
  }
}

TEST(Simd, DistancesAreTheSumsOfSquaresAndTheNearestIsTheFirstOfEquals) {
  const Matrix x = normal_matrix(70, 5, 4), centres = normal_matrix(11, 5, 5);
  Matrix d(70, 11);
  simd::squared_distances(x, centres, d);
  std::vector<int> which(70);
  std::vector<double> distance(70);
  simd::nearest(x, centres, which, distance);
  for (Index i = 0; i < 70; ++i) {
    Index best = 0;
    for (Index k = 0; k < 11; ++k) {
      EXPECT_NEAR(d(i, k), (x.row(i) - centres.row(k)).squaredNorm(), 1e-13);
      if (d(i, k) < d(i, best)) best = k;
    }
    EXPECT_EQ(which[static_cast<std::size_t>(i)], best);
    EXPECT_EQ(distance[static_cast<std::size_t>(i)], d(i, best));
  }
  const Matrix twice = centres(std::vector<Index>{3, 3, 4}, Eigen::all);
  simd::nearest(centres.row(3), twice, std::span(which).first(1), std::span(distance).first(1));
  EXPECT_EQ(which[0], 0);
  EXPECT_EQ(distance[0], 0);
}

TEST(Twofold, HoldsTheExactSumAndProduct) {
  const Twofold s = exact_sum(1, 0x1p-60), p = exact_product(1 + 0x1p-30, 1 + 0x1p-30);
  EXPECT_EQ(s.value, 1);
  EXPECT_EQ(s.rest, 0x1p-60);
  EXPECT_EQ(p.rest, 0x1p-60);
  EXPECT_EQ((s - Twofold{1, 0}).rounded(), 0x1p-60);
  EXPECT_EQ((s * 2).rest, 0x1p-59);
}

}  // namespace
}  // namespace lemma
