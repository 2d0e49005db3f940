// lemma/tree/optimal_tree_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/tree/optimal_tree.hpp>
#include <lemma/tree/tree.hpp>
#include <numeric>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Whole numbers with many equal values, and classes or numbers that have little to do with them.
struct Toy {
  Matrix x;
  Labels label;
  std::vector<double> y, weight;
  std::vector<std::string> names;
  MemoryRows rows(bool classes, bool weighted) const {
    MemoryRows out(x);
    if (classes) out.labels(label, names);
    else out.response(y);
    if (weighted) out.weights(weight);
    out.target = "y";
    return out;
  }
};
Toy toy(Index n, Index p, int classes, std::uint64_t seed) {
  Toy out{Matrix(n, p), {}, {}, {}, {}};
  RandomStream random(seed);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < p; ++j) out.x(i, j) = static_cast<double>(random.below(6));
    out.label.push_back(static_cast<int>(random.below(classes)));
    out.y.push_back(random.normal());
    out.weight.push_back(static_cast<double>(random.below(4)));
  }
  for (int k = 0; k < classes; ++k) out.names.push_back(std::string(1, static_cast<char>('a' + k)));
  return out;
}

/// The least cost of all trees, by trying every one of them.
double by_trying_all(const Toy& data, bool classes, const std::vector<double>& weight, const std::vector<Index>& rows,
                     int depth, double price, bool categories) {
  double leaf = 0;
  if (classes) {
    std::vector<double> counts(data.names.size(), 0.0);
    for (const Index i : rows) counts[at(data.label[at(i)])] += weight[at(i)];
    leaf = std::accumulate(counts.begin(), counts.end(), 0.0) - *std::max_element(counts.begin(), counts.end());
  } else {
    double w = 0, sum = 0;
    for (const Index i : rows) {
      w += weight[at(i)];
      sum += weight[at(i)] * data.y[at(i)];
    }
    for (const Index i : rows) leaf += weight[at(i)] * std::pow(data.y[at(i)] - sum / w, 2);
  }
  double best = leaf + price;
  for (Index j = 0; depth > 0 && j < data.x.cols(); ++j)
    for (double cut = 0; cut < 6; ++cut) {
      std::vector<Index> left, right;
      for (const Index i : rows) {
        const bool goes = categories ? data.x(i, j) == cut : data.x(i, j) < cut;
        (goes ? left : right).push_back(i);
      }
      if (left.empty() || right.empty()) continue;
      best = std::min(best, by_trying_all(data, classes, weight, left, depth - 1, price, categories) +
                                by_trying_all(data, classes, weight, right, depth - 1, price, categories));
    }
  return best;
}

double by_trying_all(const Toy& data, bool classes, bool weighted, int depth, double cp, bool categories = false) {
  std::vector<double> weight = weighted ? data.weight : std::vector<double>(at(data.x.rows()), 1.0);
  std::vector<Index> rows;
  for (Index i = 0; i < data.x.rows(); ++i)
    if (weight[at(i)] > 0) rows.push_back(i);
  const double root = by_trying_all(data, classes, weight, rows, 0, 0, categories);
  return by_trying_all(data, classes, weight, rows, depth, cp * root, categories);
}

TEST(OptimalTree, CostsAsMuchAsTheBestOfAllTreesTriedOneByOne) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    for (const bool classes : {true, false})
      for (const bool weighted : {false, true})
        for (const int depth : {1, 2, 3})
          for (const double cp : {0.0, 0.03}) {
            const Toy data = toy(30, 2, seed % 2 == 0 ? 2 : 3, seed);
            const MemoryRows rows = data.rows(classes, weighted);
            const auto model = fit(Valid<OptimalTree>(OptimalTree{.depth = depth, .cp = cp}), rows, {});
            const double expected = by_trying_all(data, classes, weighted, depth, cp);
            EXPECT_NEAR(model.cost, expected, 1e-9 * model.loss(0)) << seed << classes << weighted << depth << cp;
            EXPECT_EQ(model.bound, model.cost);
            EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
            EXPECT_EQ(model.certificate.strength, Strength::optimal);
          }
}

TEST(OptimalTree, AsksForOneCategoryAgainstTheRest) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    for (const bool classes : {true, false}) {
      const Toy data = toy(40, 2, 3, seed);
      MemoryRows rows = data.rows(classes, false);
      rows.levels = {{"a", "b", "c", "d", "e", "f"}, {"a", "b", "c", "d", "e", "f"}};
      const auto model = fit(Valid<OptimalTree>(OptimalTree{.depth = 2}), rows, {});
      EXPECT_NEAR(model.cost, by_trying_all(data, classes, false, 2, 0, true), 1e-9 * model.loss(0)) << seed;
      EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
      EXPECT_TRUE(model.nodes[0].categories);
      const Names names{{"u", "v"}, classes ? data.names : std::vector<std::string>{}, "y"};
      EXPECT_NE(model.summary(names).find("!="), std::string::npos) << model.summary(names);
    }
}

/// Classes like a chess board of two by two fields, not quite even: no single split tells much.
Toy board() {
  Toy out{Matrix(200, 3), {}, {}, {}, {"black", "white"}};
  RandomStream random(5);
  for (Index i = 0; i < 200; ++i) {
    for (Index j = 0; j < 3; ++j) out.x(i, j) = random.uniform();
    const bool white = (out.x(i, 0) > 0.5) != (out.x(i, 1) > 0.45);
    out.label.push_back(white ? 1 : 0);
    out.y.push_back(white ? 1 : 0);
    out.weight.push_back(1);
  }
  return out;
}

/// The model that a greedy tree of the same depth would be, with all numbers of its own rows.
OptimalTreeModel greedy(const Toy& data, const MemoryRows& rows, bool classes) {
  const TreeModel tree =
      fit(Valid<Tree>(Tree{.min_split = 2, .min_leaf = 1, .cp = -1, .depth = 2, .folds = 0}), rows, {});
  OptimalTreeModel out;
  out.spec.depth = 2;
  out.nodes = tree.nodes;
  for (TreeNode& node : out.nodes.nodes) node.missing_left = 0;
  out.weight = tree.weight;
  out.counts = tree.counts;
  out.estimates = tree.estimates;
  out.loss = tree.loss;
  if (classes) out.label = tree.label;
  for (Index i = 0; i < out.nodes.size(); ++i)
    if (out.nodes.is_leaf(i)) out.cost += out.loss(i);
  out.bound = out.cost;
  EXPECT_EQ(data.x.cols(), out.width());
  return out;
}

TEST(OptimalTree, TheNaturalWrongGreedyTreeFailsTheCertificate) {
  const Toy data = board();
  for (const bool classes : {true, false}) {
    const MemoryRows rows = data.rows(classes, false);
    const OptimalTreeModel best = fit(Valid<OptimalTree>(OptimalTree{.depth = 2}), rows, {});
    EXPECT_NEAR(best.cost, 0, 1e-9);
    const OptimalTreeModel wrong = greedy(data, rows, classes);
    EXPECT_GT(wrong.cost, 0.1 * wrong.loss(0));
    const Certificate found = certify(wrong, rows, {});
    EXPECT_EQ(found.strength, Strength::optimal);
    EXPECT_TRUE(found.fails()) << found.message;
    EXPECT_NE(found.message.find("it is not the best"), std::string::npos) << found.message;
    EXPECT_NEAR(found.value, (wrong.cost - best.cost) / wrong.loss(0), 1e-9);
  }
}

TEST(OptimalTree, SaysHowFarItMayBeOffWhereTheSearchEndsEarly) {
  const Toy data = toy(120, 4, 3, 9);
  const MemoryRows rows = data.rows(true, false);
  const auto best = fit(Valid<OptimalTree>(OptimalTree{.depth = 3}), rows, {});
  EXPECT_TRUE(best.certificate.holds()) << best.certificate.message;
  for (const int limit : {1, 3, 10, 40}) {
    const auto early = fit(Valid<OptimalTree>(OptimalTree{.depth = 3, .max_iterations = limit}), rows, {});
    EXPECT_LE(early.bound, best.cost * (1 + 1e-12)) << limit;
    EXPECT_GE(early.cost, best.cost * (1 - 1e-12)) << limit;
    EXPECT_TRUE(early.certificate.fails()) << early.certificate.message;
    EXPECT_EQ(early.certificate.stopped, "iteration limit");
    EXPECT_GE(early.certificate.value, (early.cost - best.cost) / best.loss(0) - 1e-12);
    EXPECT_NE(early.certificate.message.find("none of depth 3 costs less than"), std::string::npos);
    ASSERT_EQ(early.warnings.size(), 1U);
    EXPECT_NE(early.warnings[0].find("--max_iterations"), std::string::npos);
  }
}

TEST(OptimalTree, ABoundThatIsTooHighIsRefuted) {
  const Toy data = toy(60, 3, 2, 4);
  const MemoryRows rows = data.rows(true, false);
  OptimalTreeModel model = fit(Valid<OptimalTree>(OptimalTree{.depth = 1}), rows, {});
  EXPECT_TRUE(model.certificate.holds());
  model.spec.depth = 2;  // of that depth there are better ones
  const Certificate found = certify(model, rows, {});
  EXPECT_TRUE(found.fails()) << found.message;
}

TEST(OptimalTree, OfDepthTwoMakesSixMistakesOnIris) {
  const Table iris = dataset("iris");
  const auto trained = train(std::shared_ptr<const Method>(std::shared_ptr<const Method>(), &method_of<OptimalTree>()),
                             Value::object(), formula("species ~ ."), MemoryTableStream(iris));
  const auto* model = model_cast<OptimalTreeModel>(trained.model);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->cost, 6);
  EXPECT_TRUE(model->certificate.holds());
}

TEST(OptimalTree, IsALeafWhereNothingIsToBeGained) {
  Matrix x(4, 1);
  x << 1, 1, 1, 1;
  const Labels label{0, 1, 0, 1};
  const std::vector<std::string> names{"a", "b"};
  MemoryRows same(x);
  same.labels(label, names);
  const auto model = fit(Valid<OptimalTree>(OptimalTree{}), same, {});
  EXPECT_EQ(model.nodes.size(), 1);
  EXPECT_EQ(model.cost, 2);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  x << 1, 2, 3, 4;
  MemoryRows dear(x);
  dear.labels(label, names);
  EXPECT_EQ(fit(Valid<OptimalTree>(OptimalTree{.cp = 2}), dear, {}).nodes.size(), 1);
  EXPECT_EQ(fit(Valid<OptimalTree>(OptimalTree{}), dear, {}).cost, 0);
}

TEST(OptimalTree, RefusesWhatItCannotUse) {
  Matrix x(3, 1);
  x << 1, NAN, 3;
  const std::vector<double> y{1, 2, 3}, large{1e300, -1e300, 1}, none{0, 0, 0};
  MemoryRows missing(x);
  missing.response(y);
  EXPECT_NE(message_of([&] { fit(Valid<OptimalTree>(OptimalTree{}), missing, {}); }).find("x1"), std::string::npos);
  x(1, 0) = 2;
  MemoryRows huge(x);
  huge.response(large);
  huge.target = "income";
  EXPECT_NE(message_of([&] { fit(Valid<OptimalTree>(OptimalTree{}), huge, {}); }).find("'income'"), std::string::npos);
  MemoryRows weightless(x);
  weightless.response(y).weights(none);
  EXPECT_NE(message_of([&] { fit(Valid<OptimalTree>(OptimalTree{}), weightless, {}); }).find("weight"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
