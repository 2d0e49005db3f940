// lemma/math/simd/rough_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/math/simd/rough.hpp>

namespace lemma::simd {
namespace {

double squares(const Matrix& x, Index i, const Matrix& z, Index k) {
  double sum = 0;
  for (Index j = 0; j < x.cols(); ++j) sum += (x(i, j) - z(k, j)) * (x(i, j) - z(k, j));
  return sum;
}

/// How many points pass that need not, over all limits that some point meets exactly. Leaves none out.
Index needless(const Matrix& x, const Matrix& z) {
  const RoughPoints points(z);
  const auto queries = points.queries(x.data(), x.rows());
  const Index rows = x.rows(), units = points.units();
  Index out = 0;
  for (Index k = 0; k < z.rows(); k += 3) {
    std::vector<float> thresholds;
    for (Index i = 0; i < rows; ++i) thresholds.push_back(points.threshold(queries, i, squares(x, i, z, k)));
    std::vector<std::uint32_t> bits(static_cast<std::size_t>(rows * units));
    points.within(queries, thresholds, 0, units, bits.data());
    for (Index i = 0; i < rows; ++i)
      for (Index l = 0; l < units * RoughPoints::kUnit; ++l) {
        const bool passes = bits[static_cast<std::size_t>(i * units + l / 32)] >> (l % 32) & 1;
        const bool near = l < z.rows() && squares(x, i, z, l) <= squares(x, i, z, k);
        EXPECT_TRUE(passes || !near) << "point " << l << " is left out";
        EXPECT_TRUE(l < z.rows() || !passes) << "there is no point " << l;
        out += passes && !near;
      }
  }
  return out;
}

TEST(Rough, LeavesNoPointOutAndLetsFewOthersPass) {
  for (const Index columns : {1, 3, 20, 77})
    for (const double offset : {0.0, 1e6})
      for (const double scale : {1e-140, 1.0, 1e140}) {
        const Matrix z = (normal_matrix(75, columns, 1).array() + offset) * scale,
                     x = (normal_matrix(11, columns, 2).array() + offset) * scale;
        EXPECT_LT(needless(x, z), 11 * 75 * 25 / 200) << columns << " columns, " << offset << ", " << scale;
      }
}

TEST(Rough, LeavesNoPointOutWhereManyAreEquallyFar) {
  const Matrix z = normal_matrix(100, 5, 3).array().round(), x = normal_matrix(9, 5, 4).array().round();
  needless(x, z);
  needless(z.topRows(8), z);
}

TEST(Rough, LetsAllPassWhereItCanSayNothing) {
  const Matrix z = normal_matrix(40, 3, 5), far = Matrix::Constant(1, 3, 1e30);
  const RoughPoints points(z);
  const auto queries = points.queries(far.data(), 1);
  const std::vector<float> thresholds = {points.threshold(queries, 0, 1.0)};
  std::vector<std::uint32_t> bits(2);
  points.within(queries, thresholds, 0, 2, bits.data());
  EXPECT_EQ(bits, (std::vector<std::uint32_t>{0xffffffffu, 0xffu}));
}

TEST(Rough, TellsEqualPointsFromOthers) {
  const Matrix z = Matrix::Constant(33, 2, 7.5);
  EXPECT_EQ(needless(z.topRows(2), z), 0);
}

}  // namespace
}  // namespace lemma::simd
