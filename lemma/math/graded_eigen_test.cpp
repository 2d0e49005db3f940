// lemma/math/graded_eigen_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/math/graded_eigen.hpp>

namespace lemma {
namespace {

const Matrix kCorrelation{{1.0, 0.5, 0.2}, {0.5, 1.0, -0.3}, {0.2, -0.3, 1.0}};

TEST(GradedEigen, AgreesWithTheOrdinaryWayWhereUnitsAreAlike) {
  const Vector deviation{{2.0, 1.0, 0.5}};
  const Matrix s = deviation.asDiagonal() * kCorrelation * deviation.asDiagonal();
  const auto graded = graded_eigen(kCorrelation, deviation);
  const auto plain = symmetric_eigen(s);
  ASSERT_TRUE(graded);
  EXPECT_LT((graded->values - plain.values).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_LT((graded->vectors - plain.vectors).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(GradedEigen, KeepsTheDigitsOfTheSmallestValue) {
  // To first order the least value is what the large columns leave of the small one: d² (1 − R²), R² of the correlations.
  // R² = (0.2² + 0.3² + 2 · 0.5 · 0.2 · 0.3) / (1 − 0.5²)
  const double left = 1 - (0.04 + 0.09 + 0.06) / 0.75;
  for (const double unit : {1e-6, 1e-20, 1e-140}) {
    const auto found = graded_eigen(kCorrelation, Vector{{1.0, 2.0, unit}});
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->values(2) / (unit * unit), left, 1e-11) << unit;
    const Matrix products = found->vectors.transpose() * found->vectors;
    EXPECT_LT((products - Matrix::Identity(3, 3)).cwiseAbs().maxCoeff(), 1e-14);
  }
}

TEST(GradedEigen, ASingularMatrixHasNone) {
  EXPECT_FALSE(graded_eigen(Matrix{{1.0, 1.0}, {1.0, 1.0}}, Vector{{1.0, 1.0}}));
}

}  // namespace
}  // namespace lemma
