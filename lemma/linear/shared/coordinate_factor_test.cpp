// lemma/linear/shared/coordinate_factor_test.cpp
#include <gtest/gtest.h>
#include <lemma/linear/lasso/data_test.hpp>
#include <lemma/linear/shared/coordinate_factor.hpp>

namespace lemma {

TEST(ActiveFactor, SolvesForItsSetHoweverItCameAbout) {
  const lasso_test::Wide data(80, 40);
  const Matrix gram = data.x.transpose() * data.x;
  ActiveFactor factor;
  std::mt19937_64 random(4);
  for (int turn = 0; turn < 50; ++turn) {
    std::vector<Index> active;
    for (Index i = 0; i < 40; ++i)
      if (random() % 5 != 0) active.push_back((i * 7) % 40);
    ASSERT_TRUE(factor.become(active, gram));
    ASSERT_EQ(factor.order().size(), active.size());
    const auto k = static_cast<Index>(active.size());
    Vector b = Vector::LinSpaced(k, -1, 1), x = b;
    factor.solve(x);
    const Matrix part = gram(factor.order(), factor.order());
    EXPECT_LT((part * x - b).cwiseAbs().maxCoeff(), 1e-9) << turn;
  }
}

TEST(ActiveFactor, RefusesAColumnThatRepeatsAnother) {
  lasso_test::Wide data(30, 4);
  data.x.col(3) = data.x.col(1);
  const Matrix gram = data.x.transpose() * data.x;
  ActiveFactor factor;
  EXPECT_TRUE(factor.become({0, 1, 2}, gram));
  EXPECT_FALSE(factor.become({0, 1, 2, 3}, gram));
  EXPECT_TRUE(factor.become({3, 0}, gram));
}

}  // namespace lemma
