// lemma/linear/lasso/data_test.hpp: what the tests of lasso and elastic_net share.
#pragma once
#include <lemma/linear/lasso.hpp>
#include <lemma/linear/ols/data_test.hpp>
#include <lemma/model/fit.hpp>
#include <tests/sparse_of.hpp>

namespace lemma::lasso_test {

using ols_test::Data;
using ols_test::expect_near;
using ols_test::rows_of;

/// Correlated columns of which the first five matter.
struct Wide {
  Matrix x;
  std::vector<double> y;
  Wide(Index rows, Index columns, unsigned seed = 3) : x(rows, columns) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    for (Index i = 0; i < rows; ++i) {
      double value = 2 + 0.5 * normal(random), before = normal(random);
      for (Index j = 0; j < columns; ++j) {
        before = 0.6 * before + 0.8 * normal(random);
        x(i, j) = before + 0.1 * static_cast<double>(j);
        if (j < 5) value += (j % 2 ? -1.0 : 1.0) * x(i, j);
      }
      y.push_back(value);
    }
  }
  VectorView response() const { return Eigen::Map<const Vector>(y.data(), static_cast<Index>(y.size())); }
};

double largest_difference(const auto& a, const auto& b) {
  return (a.coefficients.of - b.coefficients.of).cwiseAbs().maxCoeff();
}

}  // namespace lemma::lasso_test
