// lemma/tree/boost/certify_test.cpp: models that a natural mistake would make, and what the certificate says of them.
#include <gtest/gtest.h>
#include <lemma/tree/boost/data_test.hpp>

namespace lemma {
namespace {

using boost_test::Data;

/// The sums that a mistaken algorithm would have taken for a leaf.
struct Leaf {
  double g = 0, h = 0, weight = 0;
};

/// The same trees with the values of another rule: rule(sums of a leaf, round), slopes from scores of `lag` rounds ago. The losses
/// told are then those of the values, as the mistaken algorithm would have told them.
BoostModel with_values(BoostModel model, const Data& data, const std::vector<double>& y, int lag, const auto& rule) {
  const auto loss = model.loss();
  const Index n = data.x.rows(), rounds = model.used_rounds;
  std::vector<std::vector<double>> scores{std::vector<double>(at(n), model.start(0))};
  std::vector<double> g(at(n)), h(at(n));
  for (Index r = 0; r < rounds; ++r) {
    loss.slopes(y, scores[at(std::max<Index>(0, r - lag))], {}, g, h);
    std::vector<Leaf> leaves(at(model.values.size()));
    std::vector<std::size_t> of_row;
    for (Index i = 0; i < n; ++i) {
      of_row.push_back(model.trees[model.trees.leaf_of(&data.x(i, 0), r)].column);
      leaves[of_row.back()].g += g[at(i)];
      leaves[of_row.back()].h += h[at(i)];
      leaves[of_row.back()].weight += 1;
    }
    auto next = scores.back();
    double sum = 0;
    for (Index i = 0; i < n; ++i) {
      const Leaf& leaf = leaves[of_row[at(i)]];
      model.values(static_cast<Index>(of_row[at(i)])) = model.spec.shrinkage * rule(leaf);
      next[at(i)] += model.spec.shrinkage * rule(leaf);
      sum += loss.of(y[at(i)], next[at(i)]);
    }
    model.training_loss(r) = sum / static_cast<double>(n);
    scores.push_back(next);
  }
  return model;
}

TEST(BoostCertificate, FailsForTheNaturalWrongStep) {
  const Data data(700);
  const MemoryRows rows = data.sides();
  const std::vector<double> y(data.side.begin(), data.side.end());
  const auto right = fit(Valid<Boost>(Boost{.rounds = 10, .depth = 3}), rows, {});
  const auto holds = [&](const BoostModel& model) { return certify(model, rows, {}).holds(); };
  const auto newton = [](const Leaf& leaf) { return -leaf.g / leaf.h; };
  ASSERT_TRUE(holds(with_values(right, data, y, 0, newton)));
  EXPECT_FALSE(holds(
      with_values(right, data, y, 0, [](const Leaf& leaf) { return -leaf.g / leaf.weight; })));  // gradient, not Newton
  EXPECT_FALSE(holds(with_values(right, data, y, 0,
                                 [](const Leaf& leaf) { return -leaf.g / (leaf.h + 1); })));  // l2 that was not told
  EXPECT_FALSE(holds(with_values(right, data, y, 1, newton)));  // slopes of the round before
  EXPECT_FALSE(
      holds(with_values(right, data, y, 0, [](const Leaf& leaf) { return -0.1 * leaf.g / leaf.h; })));  // shrunk twice
  EXPECT_FALSE(holds(
      with_values(right, data, y, 0, [](const Leaf& leaf) { return -0.5 * leaf.g / leaf.h; })));  // h of half the loss
}

TEST(BoostCertificate, FailsWhenLeavesOfMediansAreMeans) {
  const Data data(700);
  const auto rows = data.numbers();
  const auto right = fit(Valid<Boost>(Boost{.loss = BoostLoss::absolute, .rounds = 5, .depth = 2}), rows, {});
  ASSERT_TRUE(certify(right, rows, {}).holds());
  const auto wrong = with_values(right, data, data.y, 0, [](const Leaf& leaf) { return -leaf.g / leaf.weight; });
  EXPECT_FALSE(certify(wrong, rows, {}).holds());
}

TEST(BoostCertificate, FailsWhenRowsHeldOutGrewTheTrees) {
  const Data data(700);
  const auto rows = data.numbers();
  auto model = fit(Valid<Boost>(Boost{.rounds = 20}), rows, {});
  ASSERT_TRUE(certify(model, rows, {}).holds());
  model.spec.validation = 0.3;
  model.seed = 7;
  model.validation_loss = model.training_loss;
  EXPECT_FALSE(certify(model, rows, {}).holds());
}

TEST(BoostCertificate, FailsWhenALossRoseOrAThresholdMoved) {
  const Data data(700);
  const auto rows = data.numbers();
  const auto right = fit(Valid<Boost>(Boost{.rounds = 10}), rows, {});
  const auto longer =
      with_values(right, data, data.y, 0, [](const Leaf& leaf) { return -2.5 / 0.1 * leaf.g / leaf.h; });
  EXPECT_FALSE(certify(longer, rows, {}).holds());
  EXPECT_NE(certify(longer, rows, {}).message.find("do not say what it says"), std::string::npos);
  auto moved = right;
  double& threshold = moved.trees.nodes[0].threshold;
  threshold = std::nextafter(threshold, 1e9) + 1e-7;
  EXPECT_FALSE(certify(moved, rows, {}).holds());
}

}  // namespace
}  // namespace lemma
