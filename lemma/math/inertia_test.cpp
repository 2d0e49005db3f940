// lemma/math/inertia_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/inertia.hpp>

namespace lemma {
namespace {

Csr sparse_of(const Matrix& dense) {
  Csr out;
  out.width = dense.cols();
  out.start = {0};
  for (Index i = 0; i < dense.rows(); ++i) {
    for (Index j = 0; j < dense.cols(); ++j)
      if (dense(i, j) != 0) {
        out.column.push_back(static_cast<std::int32_t>(j));
        out.value.push_back(dense(i, j));
      }
    out.start.push_back(static_cast<Index>(out.value.size()));
  }
  return out;
}

TEST(Inertia, CountsTheEigenvaluesBelowANumber) {
  const Matrix half = normal_matrix(40, 40, 3);
  const Matrix a = half + half.transpose();
  const Vector values = symmetric_eigen(a).values;  // descending
  const Csr sparse = sparse_of(a);
  for (const double sigma : {-30.0, -5.0, -0.3, 0.4, 7.0, 30.0}) {
    const auto below = eigenvalues_below(sparse, sigma);
    ASSERT_TRUE(below.has_value()) << sigma;
    EXPECT_EQ(*below, (values.array() < sigma).count()) << sigma;
  }
}

TEST(Inertia, SaysNothingWhereAPivotVanishes) {
  EXPECT_FALSE(eigenvalues_below(sparse_of(Matrix::Identity(3, 3)), 1.0).has_value());
  EXPECT_EQ(eigenvalues_below(sparse_of(Matrix::Identity(3, 3)), 1.5), std::optional<Index>(3));
}

}  // namespace
}  // namespace lemma
