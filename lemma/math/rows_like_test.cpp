// lemma/math/rows_like_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/rows.hpp>
#include <lemma/math/moments.hpp>
#include <lemma/math/rows_like.hpp>
#include <random>

namespace lemma {
namespace {

Moments moments_of(const WeightedRows& rows) {
  MemoryRows source(rows.x);
  source.weights(rows.weight);
  return scan(source, Moments(rows.x.cols()));
}

TEST(RowsLike, HaveTheWeightTheMeanAndTheScatterOfTheRowsTheyStandFor) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  Matrix x(500, 4);
  for (double& each : x.reshaped()) each = normal(random);
  x.col(1) = 1e6 * x.col(1) + 1e7 * Vector::Ones(500);
  x.col(3) = x.col(0) + 1e-3 * x.col(2);
  for (const bool dependent : {false, true}) {
    if (dependent) x.col(3) = x.col(0) + x.col(2);
    MemoryRows source(x);
    const Moments all = scan(source, Moments(4));
    const Moments few = moments_of(rows_like(all.weight(), all.mean(), root_of_scatter(all.scatter())));
    EXPECT_NEAR(few.weight(), 500, 1e-10);
    const Vector size = all.scatter().diagonal().cwiseSqrt();
    for (Index i = 0; i < 4; ++i) {
      EXPECT_NEAR(few.mean()(i), all.mean()(i), 1e-14 * (std::abs(all.mean()(i)) + size(i)));
      for (Index j = 0; j < 4; ++j)
        EXPECT_NEAR(few.scatter()(i, j), all.scatter()(i, j), 1e-12 * size(i) * size(j)) << i << j << dependent;
    }
  }
}

TEST(RowsLike, WithoutScatterThereIsOneRow) {
  const Vector mean{{1, 2}};
  const WeightedRows one = rows_like(7, mean, root_of_scatter(Matrix::Zero(2, 2)));
  EXPECT_EQ(one.x, Matrix(mean.transpose()));
  EXPECT_EQ(one.weight, std::vector<double>{7});
}

}  // namespace
}  // namespace lemma
