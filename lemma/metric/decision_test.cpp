// lemma/metric/decision_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/metric/decision.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

TEST(BayesRule, WithEqualLossesIsTheMostProbableClass) {
  const Matrix p{{0.2, 0.5, 0.3}, {0.6, 0.3, 0.1}, {0.4, 0.4, 0.2}};
  const auto found = bayes_decisions(p, zero_one_losses(3));
  EXPECT_EQ(found.chosen, (Labels{1, 0, 0}));  // of equals the first
  EXPECT_NEAR(found.expected(0), 0.5, 1e-15);
}

TEST(BayesRule, ADearMistakeIsAvoidedEvenWhereItIsUnlikely) {
  const Matrix losses{{0, 1}, {10, 0}};  // a missed positive costs ten false alarms
  EXPECT_NEAR(bayes_threshold(losses), 1.0 / 11, 1e-15);
  const Matrix p{{0.95, 0.05}, {0.9, 0.1}};
  EXPECT_EQ(bayes_decisions(p, losses).chosen, (Labels{0, 1}));
}

TEST(BayesRule, NoOtherRuleIsCheaperUnderTheProbabilities) {  // every other decision of every row, over random losses
  RandomStream stream(3);
  for (int round = 0; round < 50; ++round) {
    Matrix losses(3, 3), p(1, 3);
    for (Index k = 0; k < 3; ++k) {
      for (Index l = 0; l < 3; ++l) losses(k, l) = k == l ? 0 : 5 * stream.uniform();
      p(0, k) = stream.uniform();
    }
    p /= p.sum();
    const auto found = bayes_decisions(p, losses);
    for (Index l = 0; l < 3; ++l) EXPECT_LE(found.expected(0), p.row(0).dot(losses.col(l)) + 1e-15);
  }
}

TEST(BayesRule, WithholdsWhereEveryDecisionCostsMoreThanSayingNothing) {
  const Matrix p{{0.55, 0.45}, {0.95, 0.05}};
  const auto found = bayes_decisions(p, zero_one_losses(2), 0.1);
  EXPECT_EQ(found.chosen, (Labels{-1, 0}));
  EXPECT_EQ(found.expected(0), 0.1);
}

TEST(BayesRule, LossesThatMakeNoSenseAreNamed) {
  EXPECT_EQ(message_of([] {
              require_losses(Matrix{{0, 1}}, 2);
            }),
            "the losses are 1 by 2; of 2 classes there must be 2 by 2: a row for each true class, a column for each "
            "decision");
  EXPECT_EQ(message_of([] {
              require_losses(Matrix{{0, -1}, {1, 0}}, 2);
            }),
            "the loss in row 1, column 2 is -1, must be a finite number of at least 0");
  EXPECT_EQ(message_of([] {
              require_losses(Matrix{{2, 1}, {1, 0}}, 2);
            }),
            "of class 1 the decision 2 costs 1, less than the right one, which costs 2");
}

TEST(Decisions, CostByHandWithWeights) {
  const Labels truth{0, 0, 1, 1}, decided{0, 1, 0, -1};
  const Matrix losses{{0, 1}, {10, 0}};
  const auto found = score_decisions(truth, decided, losses, 0.5, Vector{{1, 2, 1, 4}});
  EXPECT_DOUBLE_EQ(found.cost, (0 + 2 * 1 + 10 + 4 * 0.5) / 8);
  EXPECT_DOUBLE_EQ(found.withheld, 0.5);
  EXPECT_DOUBLE_EQ(found.error, 0.75);
  EXPECT_EQ(found.counts, (Matrix{{1, 2, 0}, {1, 0, 4}}));
  EXPECT_EQ(message_of([&] { score_decisions(truth, decided, losses); }),
            "row 4 is withheld, and what that costs is not said");
}

TEST(Decisions, NothingDecidedHasNoError) {
  const auto found = score_decisions({0, 1}, {-1, -1}, zero_one_losses(2), 0.2);
  EXPECT_TRUE(std::isnan(found.error));
  EXPECT_DOUBLE_EQ(found.cost, 0.2);
}

TEST(BestThreshold, IsTheBestOfAllThatThereAre) {
  RandomStream stream(8);
  for (int round = 0; round < 20; ++round) {
    Labels truth;
    Vector score(40), w(40);
    for (Index i = 0; i < 40; ++i) {
      truth.push_back(static_cast<int>(stream.below(2)));
      score(i) = std::round(10 * (stream.uniform() + 0.4 * truth.back())) / 10;
      w(i) = static_cast<double>(stream.below(3));
    }
    const Matrix losses{{0, 1 + 4 * stream.uniform()}, {1 + 4 * stream.uniform(), 0}};
    const auto cost_at = [&](double t) {
      double sum = 0;
      for (Index i = 0; i < 40; ++i) sum += w(i) * losses(truth[at(i)], score(i) >= t ? 1 : 0);
      return sum / w.sum();
    };
    const auto best = best_threshold(truth, score, losses, 1, w);
    EXPECT_NEAR(best.cost, cost_at(best.threshold), 1e-12);
    for (const double t : score) EXPECT_LE(best.cost, cost_at(t) + 1e-12);
    EXPECT_LE(best.cost, cost_at(1e9) + 1e-12);
  }
}

}  // namespace
}  // namespace lemma
