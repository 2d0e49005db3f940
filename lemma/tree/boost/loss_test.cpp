// lemma/tree/boost/loss_test.cpp
#include <gtest/gtest.h>
#include <lemma/tree/boost/data_test.hpp>
#include <lemma/tree/boost/loss.hpp>

namespace lemma {
namespace {

using boost::Loss;

Loss loss_of(BoostLoss kind) { return {kind, 0.3, 0.7, 1.4, kind == BoostLoss::softmax ? 3 : 2}; }

std::vector<BoostLoss> of_one_score() {
  auto out = boost_test::all_losses();
  out.pop_back();
  return out;
}

TEST(BoostLosses, HaveTheSlopesAndCurvaturesOfTheirDifferences) {
  constexpr double kStep = 1e-4;
  for (const BoostLoss kind : of_one_score()) {
    const Loss loss = loss_of(kind);
    const bool two_classes = kind == BoostLoss::logistic || kind == BoostLoss::exponential;
    for (const double y : {1.0, two_classes ? 0.0 : 2.5})
      for (const double f : {-1.3, 0.2, 1.9}) {
        const double weight = 2;
        double g = 0, h = 0;
        loss.slopes({&y, 1}, {&f, 1}, {&weight, 1}, {&g, 1}, {&h, 1});
        const double above = loss.of(y, f + kStep), below = loss.of(y, f - kStep);
        EXPECT_NEAR(g, weight * (above - below) / (2 * kStep), 1e-6) << name_of(kind) << " " << y << " " << f;
        const double bend = weight * (above + below - 2 * loss.of(y, f)) / (kStep * kStep);
        if (loss.has_unit_curvature()) {
          EXPECT_GE(h, bend - 1e-5) << name_of(kind);
        } else {
          EXPECT_NEAR(h, bend, 1e-5) << name_of(kind);
        }
      }
  }
}

TEST(BoostLosses, AreZeroWhereTheScoreIsRightAndPositiveElsewhere) {
  for (const BoostLoss kind : {BoostLoss::squared, BoostLoss::absolute, BoostLoss::huber, BoostLoss::quantile,
                               BoostLoss::poisson, BoostLoss::gamma, BoostLoss::tweedie}) {
    const Loss loss = loss_of(kind);
    const double y = 1.7, right = loss.has_log_link() ? std::log(y) : y;
    EXPECT_NEAR(loss.of(y, right), 0, 1e-12) << name_of(kind);
    EXPECT_GT(loss.of(y, right + 0.1), 0) << name_of(kind);
    EXPECT_GT(loss.of(y, right - 0.1), 0) << name_of(kind);
    EXPECT_NEAR(loss.mean_of(loss.start_of_mean(y)), y, 1e-12);
  }
}

TEST(BoostLosses, AreLeastAfterTheStepOfALeaf) {
  const boost_test::Data data(60);
  for (const BoostLoss kind : of_one_score()) {
    const Loss loss = loss_of(kind);
    if (loss.by_quantile() || kind == BoostLoss::logistic || kind == BoostLoss::huber) continue;  // other rules
    const auto& y = loss.has_log_link() ? data.positive : data.y;
    std::vector<double> response, f, g(60), h(60);
    for (Index i = 0; i < 60; ++i) {
      response.push_back(kind == BoostLoss::exponential ? data.side[at(i)] : y[at(i)]);
      f.push_back(0.3 * data.x(i, 0));
    }
    loss.slopes(response, f, {}, g, h);
    double sum_g = 0, sum_h = 0;
    for (std::size_t i = 0; i < 60; ++i) sum_g += g[i], sum_h += h[i];
    const double step = loss.step(sum_g, sum_h, 0, 0);
    const auto total = [&](double by) {
      double sum = 0;
      for (std::size_t i = 0; i < 60; ++i) sum += loss.of(response[i], f[i] + by);
      return sum;
    };
    EXPECT_LT(total(step), total(step + 1e-4)) << name_of(kind);
    EXPECT_LT(total(step), total(step - 1e-4)) << name_of(kind);
  }
}

TEST(BoostLosses, PenaltiesShrinkAStepTowardsZero) {
  const Loss loss = loss_of(BoostLoss::logistic);
  EXPECT_DOUBLE_EQ(loss.step(-6, 4, 0, 0), 1.5);
  EXPECT_DOUBLE_EQ(loss.step(-6, 4, 0, 2), 1);
  EXPECT_DOUBLE_EQ(loss.step(-6, 4, 2, 0), 1);
  EXPECT_DOUBLE_EQ(loss.step(6, 4, 2, 4), -0.5);
  EXPECT_EQ(loss.step(-6, 4, 7, 0), 0);
  EXPECT_EQ(loss.step(0, 0, 0, 0), 0);
}

TEST(BoostLosses, OfALeafWithoutEventsTakeTheLongestStepAndNoLonger) {
  EXPECT_EQ(loss_of(BoostLoss::poisson).step(5, 5, 0, 0), -boost::kLongestStep);  // Σy = H − G = 0
  EXPECT_EQ(loss_of(BoostLoss::exponential).step(-5, 5, 0, 0), boost::kLongestStep / 2);
}

TEST(BoostLosses, AWeightedQuantileIsThatOfCopies) {
  std::vector<boost::Weighted> weighted{{3, 2}, {1, 1}, {2, 0}, {5, 3}},
      copies{{1, 1}, {3, 1}, {3, 1}, {5, 1}, {5, 1}, {5, 1}};
  for (const double level : {0.1, 1.0 / 6, 0.3, 0.5, 0.51, 0.9})
    EXPECT_EQ(boost::weighted_quantile(weighted, level), boost::weighted_quantile(copies, level)) << level;
  EXPECT_EQ(boost::weighted_quantile(copies, 0.5), 3);
}

}  // namespace
}  // namespace lemma
