// lemma/math/simd/panels_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/math/simd/panels.hpp>

namespace lemma::simd {
namespace {

double written(Gap gap, const Matrix& x, Index i, const Matrix& z, Index k) {
  double sum = 0;
  for (Index j = 0; j < x.cols(); ++j) {
    const double d = x(i, j) - z(k, j);
    if (gap == Gap::squares) sum += d * d;
    else if (gap == Gap::absolute) sum += std::abs(d);
    else if (gap == Gap::maximum) sum = std::max(sum, std::abs(d));
    else sum += x(i, j) != z(k, j);
  }
  return sum;
}

std::vector<double> packed(const Matrix& z) {
  std::vector<double> out(static_cast<std::size_t>(z.size()));
  for (Index k = 0; k < z.rows(); ++k)
    for (Index j = 0; j < z.cols(); ++j)
      out[static_cast<std::size_t>((k / kPanel * z.cols() + j) * kPanel + k % kPanel)] = z(k, j);
  return out;
}

constexpr Gap kGaps[] = {Gap::squares, Gap::absolute, Gap::maximum, Gap::unequal};

TEST(Panels, are_the_textbook_loop_to_the_last_bit_for_any_number_of_rows) {
  for (const Index columns : {1, 2, 3, 16, 17, 50})
    for (const Index rows : {1, 2, 3, 4, 5, 9}) {
      Matrix x = normal_matrix(rows, columns, 1), z = normal_matrix(3 * kPanel, columns, 2);
      x.col(0) = x.col(0).array().round();
      z.col(0) = z.col(0).array().round();
      const auto panels = packed(z);
      for (const Gap gap : kGaps) {
        Matrix out(rows, z.rows());
        panel_sums(gap, x.data(), rows, columns, panels.data(), 3, out.data());
        for (Index i = 0; i < rows; ++i)
          for (Index k = 0; k < z.rows(); ++k) ASSERT_EQ(out(i, k), written(gap, x, i, z, k));
      }
    }
}

TEST(Panels, tell_the_points_within_a_limit) {
  for (const Index columns : {1, 3, 40}) {
    const Matrix x = normal_matrix(1, columns, 3), z = normal_matrix(kPanel, columns, 4);
    const auto panel = packed(z);
    for (const Gap gap : kGaps)
      for (Index k = -1; k < kPanel; ++k) {  // limits that one of the points meets exactly, and one that none does
        const double limit = k < 0 ? -1 : written(gap, x, 0, z, k);
        double out[kPanel];
        const auto bits = panel_within(gap, x.data(), columns, panel.data(), limit, out);
        for (Index l = 0; l < kPanel; ++l) {
          const double sum = written(gap, x, 0, z, l);
          ASSERT_EQ((bits >> l & 1) == 1, sum <= limit);
          if (sum <= limit) { ASSERT_EQ(out[l], sum); }
        }
      }
  }
}

TEST(Roots, mark_what_lies_outside) {
  std::vector<double> numbers = {4, 2, 0, 1e300, 9, 16, 25, INFINITY, 36, 0.25, 49};
  EXPECT_TRUE(roots_between(0.1, 1e200, numbers));
  EXPECT_EQ(numbers, (std::vector<double>{2, std::sqrt(2), -1, -1, 3, 4, 5, -1, 6, 0.5, 7}));
  std::vector<double> inside(13, 9.0);
  EXPECT_FALSE(roots_between(0.1, 1e200, inside));
  EXPECT_EQ(inside, std::vector<double>(13, 3.0));
}

TEST(Least, is_found_wherever_it_stands) {
  EXPECT_EQ(least({}), HUGE_VAL);
  for (const std::size_t size : {1, 7, 8, 33, 100})
    for (std::size_t place = 0; place < size; ++place) {
      std::vector<double> numbers(size, 3.0);
      numbers[place] = -2;
      EXPECT_EQ(least(numbers), -2);
    }
}

}  // namespace
}  // namespace lemma::simd
