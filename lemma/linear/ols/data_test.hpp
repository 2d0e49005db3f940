// lemma/linear/ols/data_test.hpp: what the tests of ols share.
#pragma once
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/linear/ols.hpp>
#include <random>
#include <tests/message_of.hpp>

namespace lemma::ols_test {

/// y = 1 + x·(1, −2, 3, …) + noise, with columns that are correlated.
struct Data {
  Matrix x;
  std::vector<double> y;
  Data(Index rows, Index columns, unsigned seed = 1) : x(rows, columns) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    for (Index i = 0; i < rows; ++i) {
      double value = 1 + normal(random);
      const double shared = normal(random);
      for (Index j = 0; j < columns; ++j) {
        x(i, j) = shared + normal(random);
        value += (j % 2 ? -1.0 : 1.0) * static_cast<double>(j + 1) * x(i, j);
      }
      y.push_back(value);
    }
  }
  VectorView response() const { return Eigen::Map<const Vector>(y.data(), static_cast<Index>(y.size())); }
};

inline MemoryRows rows_of(const Matrix& x, const std::vector<double>& y) {
  MemoryRows rows(x);
  rows.response(y);
  return rows;
}

/// Bit for bit, with NaN equal to itself.
inline bool same(const OlsModel& a, const OlsModel& b) {
  return to_cbor(write_fields(a, false)) == to_cbor(write_fields(b, false));
}

inline void expect_near(const Vector& a, const Vector& b, double relative, const char* what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (Index i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a(i), b(i), relative * std::max(1.0, std::abs(b(i)))) << what << " " << i;
}

}  // namespace lemma::ols_test
