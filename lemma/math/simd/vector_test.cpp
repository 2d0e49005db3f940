// lemma/math/simd/vector_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/math/simd/vector.hpp>
#include <vector>

namespace lemma {

TEST(SimdVector, ProductsAndMultiplesAreThoseOfPlainLoopsAtEveryLength) {
  for (std::size_t n : {0U, 1U, 3U, 7U, 8U, 15U, 31U, 32U, 33U, 64U, 100U, 1000U}) {
    std::vector<double> a(n), b(n), expected(n);
    double sum = 0;
    for (std::size_t j = 0; j < n; ++j) {
      a[j] = std::sin(static_cast<double>(j));
      b[j] = std::cos(3.0 * static_cast<double>(j));
      sum += a[j] * b[j];
      expected[j] = b[j] - 2.5 * a[j];
    }
    EXPECT_NEAR(simd::inner_product(a, b), sum, 1e-13) << n;
    simd::add_multiple(-2.5, a, b);
    for (std::size_t j = 0; j < n; ++j) EXPECT_NEAR(b[j], expected[j], 1e-15) << n << " " << j;
  }
}

TEST(SimdVector, ARotationTurnsEachPairAndKeepsItsLength) {
  for (std::size_t n : {1U, 7U, 16U, 33U}) {
    std::vector<double> x(n, 3), y(n, 4);
    simd::rotate(0.6, 0.8, x, y);
    for (std::size_t j = 0; j < n; ++j) {
      EXPECT_NEAR(x[j], 5, 1e-15) << j;
      EXPECT_NEAR(y[j], 0, 1e-15) << j;
    }
  }
}

}  // namespace lemma
