// lemma/math/column_moments_test.cpp
#include <gtest/gtest.h>

#include <cmath>
#include <lemma/core/random.hpp>
#include <lemma/math/column_moments.hpp>

namespace lemma {
namespace {

ColumnMoments of(const Matrix& x) {
  ColumnMoments out(x.cols());
  out.accumulate(Block(x, 0));
  return out;
}

void expect_same_bits(const ColumnMoments& a, const ColumnMoments& b) {
  EXPECT_EQ(a.weight(), b.weight());
  EXPECT_EQ(a.mean(), b.mean());
  EXPECT_EQ(a.squares(), b.squares());
  EXPECT_EQ(a.least(), b.least());
  EXPECT_EQ(a.greatest(), b.greatest());
}

/// By blocks of `rows`, merged one after the other.
ColumnMoments in_blocks(const Matrix& x, Index rows) {
  ColumnMoments out(x.cols());
  for (Index first = 0; first < x.rows(); first += rows)
    out.merge(of(x.middleRows(first, std::min(rows, x.rows() - first))));
  return out;
}

/// 1 2 3 4: mean 2.5, Σ (x − 2.5)² = 5.
Matrix one_to_four(double unit) { return unit * Matrix{{1.0}, {2.0}, {3.0}, {4.0}}; }
const double kDeviation = std::sqrt(5.0 / 3);

TEST(ColumnMoments, MatchTheAnswerByHand) {
  const auto moments = of(one_to_four(1));
  EXPECT_EQ(moments.weight()(0), 4);
  EXPECT_EQ(moments.mean()(0), 2.5);
  EXPECT_EQ(moments.squares()(0), 5);
  EXPECT_EQ(moments.least()(0), 1);
  EXPECT_EQ(moments.greatest()(0), 4);
  EXPECT_DOUBLE_EQ(moments.deviation()(0), kDeviation);
}

TEST(ColumnMoments, AnEmptySideChangesNoBit) {
  for (const double unit : {1.0, 1e200, 1e-200}) {
    const auto moments = of(unit * normal_matrix(50, 3, 1));
    ColumnMoments left = moments, right(3);
    left.merge(ColumnMoments(3));
    right.merge(moments);
    expect_same_bits(left, moments);
    expect_same_bits(right, moments);
  }
}

TEST(ColumnMoments, NoRowsHaveNoMoments) {
  const auto moments = of(Matrix(0, 2));
  EXPECT_EQ(moments.weight(), Vector::Zero(2));
  EXPECT_EQ(moments.mean(), Vector::Zero(2));
  EXPECT_EQ(moments.deviation(), Vector::Zero(2));
}

TEST(ColumnMoments, AConstantColumnHasExactlyNoSpread) {
  for (const double value : {0.0, 0.1, -1e9, 1e300, -1e-300, 1.7e308, 5e-324}) {
    const Matrix x = Matrix::Constant(37, 1, value);
    for (const Index rows : {1, 5, 37}) {
      const auto moments = in_blocks(x, rows);
      EXPECT_EQ(moments.mean()(0), value);
      EXPECT_EQ(moments.deviation()(0), 0) << value;
    }
  }
}

TEST(ColumnMoments, AnOffsetOf1e9CostsNoDigits) {
  const Matrix whole = (1000 * normal_matrix(400, 2, 3)).array().round();  // so that adding the offset is exact
  const Matrix moved = whole.array() + 1e9;
  for (const Index rows : {1, 7, 400}) {
    const auto moments = in_blocks(moved, rows), plain = of(whole);
    for (Index j = 0; j < 2; ++j) {
      EXPECT_NEAR(moments.mean()(j) - 1e9, plain.mean()(j), 1e-6);
      EXPECT_NEAR(moments.deviation()(j) / plain.deviation()(j), 1, 1e-9);
    }
  }
}

TEST(ColumnMoments, BlocksOfOneGiveTheMomentsOfTheWhole) {
  for (const double unit : {1.0, 1e250, 1e-250}) {
    const Matrix x = unit * normal_matrix(300, 2, 4);
    const auto whole = of(x), ones = in_blocks(x, 1);
    for (Index j = 0; j < 2; ++j) {
      EXPECT_NEAR(ones.mean()(j) / whole.mean()(j), 1, 1e-12);
      EXPECT_NEAR(ones.deviation()(j) / whole.deviation()(j), 1, 1e-12);
    }
  }
}

TEST(ColumnMoments, HugeAndTinyNumbersHaveASpread) {
  for (const int power : {1000, 700, 420, 399, -399, -420, -700, -1000}) {
    const double unit = std::ldexp(1.0, power);
    for (const Index rows : {1, 3, 4}) {
      const auto moments = in_blocks(one_to_four(unit), rows);
      EXPECT_DOUBLE_EQ(moments.mean()(0) / unit, 2.5) << power;
      EXPECT_DOUBLE_EQ(moments.deviation()(0) / unit, kDeviation) << power;
    }
  }
}

TEST(ColumnMoments, OneHugeNumberAmongOthersHasItsSpread) {  // of n numbers, all but one 0: sd = huge / √n
  Matrix x = normal_matrix(240, 1, 5);
  x(17, 0) = 1e300;
  for (const Index rows : {1, 10, 240}) {
    const auto moments = in_blocks(x, rows);
    EXPECT_NEAR(moments.mean()(0) / (1e300 / 240), 1, 1e-12);
    EXPECT_NEAR(moments.deviation()(0) / (1e300 / std::sqrt(240)), 1, 1e-12);
  }
}

TEST(ColumnMoments, NumbersAtBothEndsOfTheRangeHaveAMean) {
  const auto moments = in_blocks(Matrix{{1.7e308}, {-1.7e308}, {1.7e308}, {-1.7e308}}, 1);
  EXPECT_LT(std::abs(moments.mean()(0)), 1e293);
}

TEST(ColumnMoments, AnInfiniteValueIsNotTakenForNoSpread) {
  EXPECT_FALSE(std::isfinite(of(Matrix{{1.0}, {INFINITY}, {2.0}}).deviation()(0)));
}

TEST(ColumnMoments, MissingValuesAndWeightsOfZeroTakeNoPart) {
  const Matrix x{{1.0, 7.0}, {std::nan(""), 1e300}, {2.0, 9.0}};
  const std::vector<double> weight{1, 0, 1};
  Block block(x, 0);
  block.weight = weight;
  ColumnMoments moments(2);
  moments.accumulate(block);
  EXPECT_EQ(moments.weight(), (Vector{{2.0, 2.0}}));
  EXPECT_EQ(moments.mean(), (Vector{{1.5, 8.0}}));
  EXPECT_EQ(moments.greatest(), (Vector{{2.0, 9.0}}));
}

}  // namespace
}  // namespace lemma
