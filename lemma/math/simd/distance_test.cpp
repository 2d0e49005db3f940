// lemma/math/simd/distance_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/math/simd/distance.hpp>
#include <numeric>

namespace lemma::simd {
namespace {

double plain(const Matrix& x, Index i, const Matrix& c, Index k) {
  double sum = 0;
  for (Index j = 0; j < x.cols(); ++j) sum += (x(i, j) - c(k, j)) * (x(i, j) - c(k, j));
  return sum;
}

TEST(PlainCenters, finds_the_first_nearest_to_the_last_bit_whatever_the_guess) {
  for (const Index columns : {1, 2, 3, 15, 16, 17, 40})
    for (const Index count : {1, 2, 15, 16, 17, 50}) {
      Matrix x = normal_matrix(30, columns, 1, static_cast<std::uint64_t>(columns)),
             c = normal_matrix(count, columns, 2);
      x.topRows(10) = (x.topRows(10).array().round()).matrix();  // whole numbers make ties
      if (count > 2) c.bottomRows(count / 2) = c.topRows(count / 2).eval();
      const PlainCenters centers(c);
      for (Index i = 0; i < x.rows(); ++i) {
        Index best = 0;
        for (Index k = 1; k < count; ++k)
          if (plain(x, i, c, k) < plain(x, i, c, best)) best = k;
        for (const Index guess : {Index{0}, best, count - 1}) {
          double distance = -1;
          EXPECT_EQ(centers.nearest(x.row(i).data(), static_cast<int>(guess), distance), best);
          EXPECT_EQ(distance, plain(x, i, c, best));
        }
      }
    }
}

/// Scores in float64 of rows and centres in the frame.
TEST(Filter, is_never_farther_from_the_true_scores_than_it_says) {
  for (const Index columns : {1, 5, 20, 131})
    for (const double offset : {0.0, 1e6}) {
      const Matrix x = (normal_matrix(101, columns, 3) * 7).array() + offset,
                   c = (normal_matrix(23, columns, 4) * 9).array() + offset;
      Frame frame{x.colwise().mean().transpose(), 0x1p-6};
      const FilterCenters centers(c, frame);
      ASSERT_TRUE(centers.usable());
      std::vector<int> rows(101);
      std::iota(rows.rbegin(), rows.rend(), 0);
      Scores scores;
      filter(x, rows, centers, frame, scores);
      double worst = 0;
      for (std::size_t r = 0; r < rows.size(); ++r) {
        const Vector xi = (x.row(rows[r]).transpose() - frame.origin) * frame.scale;
        std::vector<double> truth;
        for (Index k = 0; k < 23; ++k) {
          const Vector ck = (c.row(k).transpose() - frame.origin) * frame.scale;
          truth.push_back(0.5 * ck.squaredNorm() - xi.dot(ck));
        }
        const double chosen = truth[static_cast<std::size_t>(scores.which[r])];
        std::sort(truth.begin(), truth.end());
        const double error = centers.error(xi.norm());
        EXPECT_LE(std::abs(scores.best[r] - truth[0]), error);
        EXPECT_LE(std::abs(scores.second[r] - truth[1]), error);
        EXPECT_LE(chosen, truth[0] + 2 * error);
        EXPECT_NEAR(scores.squared_norm[r], xi.squaredNorm(), centers.norm_error() * xi.squaredNorm());
        worst = std::max(worst, std::abs(scores.best[r] - truth[0]) / error);
      }
      EXPECT_GT(worst, 1e-4) << "the bound is so wide that it could settle nothing";
    }
}

TEST(Filter, says_that_it_cannot_help_with_centres_beyond_float32) {
  const Frame frame{Vector::Zero(2), 1};
  EXPECT_TRUE(FilterCenters(Matrix::Ones(3, 2), frame).usable());
  EXPECT_FALSE(FilterCenters(Matrix::Constant(3, 2, 1e60), frame).usable());
}

TEST(OwnDistances, are_those_to_the_labelled_centre) {
  for (const Index columns : {1, 3, 4, 9, 20}) {
    const Matrix x = normal_matrix(50, columns, 5), c = normal_matrix(6, columns, 6);
    std::vector<int> label(50);
    for (std::size_t i = 0; i < 50; ++i) label[i] = static_cast<int>(i % 6);
    std::vector<double> distance(50);
    own_distances(x, c, label, distance);
    for (Index i = 0; i < 50; ++i)
      EXPECT_NEAR(distance[static_cast<std::size_t>(i)], plain(x, i, c, i % 6), 1e-13 * (1 + plain(x, i, c, i % 6)));
  }
}

TEST(AddRows, sums_what_is_left_of_the_origin_by_label_and_weight) {
  const Matrix x = (Matrix(4, 3) << 1, 2, 3, 4, 5, 6, 7, 8, 9, INFINITY, 0, 0).finished();
  Matrix sums = Matrix::Zero(2, 3);
  add_rows(x, Vector::Ones(3), std::vector{0, 1, 0, 1}, std::vector{1.0, 2.0, 3.0, 0.0}, sums);
  EXPECT_EQ(sums, (Matrix(2, 3) << 18, 22, 26, 6, 8, 10).finished());
}

}  // namespace
}  // namespace lemma::simd
