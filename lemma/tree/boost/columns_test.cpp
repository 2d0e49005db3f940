// lemma/tree/boost/columns_test.cpp: categories, missing values, directions, groups; and what cannot be used.
#include <gtest/gtest.h>
#include <lemma/model/fit.hpp>
#include <lemma/tree/boost/bins.hpp>
#include <lemma/tree/boost/data_test.hpp>
#include <lemma/tree/boost/histogram.hpp>
#include <limits>
#include <numeric>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

using boost_test::Data;

BoostModel fitted(const Boost& spec, const Rows& rows) { return fit(Valid<Boost>(spec), rows, {}); }

/// The first column of the data as one of categories.
struct Categories {
  Data data;
  Index levels;
  Categories(Index n, Index count, std::uint64_t seed = 4) : data(n, 3, seed), levels(count) {
    RandomStream stream(seed + 1);
    std::vector<double> effect;
    for (Index k = 0; k < count; ++k) effect.push_back(2 * stream.normal());
    for (Index i = 0; i < n; ++i) {
      data.x(i, 0) = static_cast<double>(stream.below(count));
      data.y[at(i)] = effect[at(static_cast<Index>(data.x(i, 0)))] + 0.3 * stream.normal();
    }
  }
  MemoryRows rows() const {
    MemoryRows out = data.numbers();
    out.levels.resize(3);
    for (Index k = 0; k < levels; ++k) out.levels[0].push_back("level" + std::to_string(k));
    return out;
  }
};

/// One question, whose best answer is that of least squares.
const Boost kPlain{
    .rounds = 1, .depth = 1, .min_rows = 1, .category_smoothing = 0, .category_l2 = 0, .category_rows = 0};

TEST(BoostColumns, CategoriesArePartedAsNoOtherSetOfThemWould) {
  const Categories given(400, 7);
  const auto model = fitted(kPlain, given.rows());
  ASSERT_EQ(model.trees.size(), 3);
  ASSERT_TRUE(model.trees[0].categories);
  std::vector<double> sum(7, 0.0), weight(7, 0.0);
  const double mean = model.start(0);
  for (Index i = 0; i < 400; ++i) {
    sum[at(static_cast<Index>(given.data.x(i, 0)))] += given.data.y[at(i)] - mean;
    weight[at(static_cast<Index>(given.data.x(i, 0)))] += 1;
  }
  const auto gain = [&](unsigned set) {
    double s = 0, w = 0;
    for (unsigned k = 0; k < 7; ++k)
      if (set >> k & 1U) s += sum[k], w += weight[k];
    return w == 0 || w == 400 ? 0.0 : s * s / w + s * s / (400 - w);
  };
  double best = 0;
  for (unsigned set = 1; set < 127; ++set) best = std::max(best, gain(set));
  EXPECT_NEAR(gain(model.trees.sets[0]), best, 1e-9 * best);
}

TEST(BoostColumns, OfManyCategoriesTheFewFurthestFromTheOthersArePartedOff) {
  constexpr Index kLevels = 90;
  const Categories given(2000, kLevels);
  Boost spec = kPlain;
  spec.category_levels = 3;
  const auto model = fitted(spec, given.rows());
  ASSERT_TRUE(model.trees[0].categories);
  std::vector<double> sum(kLevels, 0.0), weight(kLevels, 0.0);
  for (Index i = 0; i < 2000; ++i) {
    sum[at(static_cast<Index>(given.data.x(i, 0)))] += given.data.y[at(i)] - model.start(0);
    weight[at(static_cast<Index>(given.data.x(i, 0)))] += 1;
  }
  std::vector<Index> order(kLevels);
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(),
            [&](Index a, Index b) { return sum[at(a)] / weight[at(a)] < sum[at(b)] / weight[at(b)]; });
  double best = 0;
  for (const bool last : {false, true}) {
    double s = 0, w = 0;
    for (Index k = 0; k < 3; ++k) {
      s += sum[at(order[at(last ? kLevels - 1 - k : k)])];
      w += weight[at(order[at(last ? kLevels - 1 - k : k)])];
      best = std::max(best, s * s / w + s * s / (2000 - w));
    }
  }
  double s = 0, w = 0;
  for (Index k = 0; k < kLevels; ++k)
    if (model.trees.in_set(static_cast<std::size_t>(model.trees[0].threshold), static_cast<int>(k)))
      s += sum[at(k)], w += weight[at(k)];
  EXPECT_NEAR(s * s / w + s * s / (2000 - w), best, 1e-9 * best);
}

TEST(BoostColumns, OfFewRowsACategoryIsNotAskedForByName) {
  Categories given(600, 40);  // 15 rows each on average
  std::vector<double> rows_of(40, 0.0);
  for (Index i = 0; i < 600; ++i) {
    Index k = static_cast<Index>(given.data.x(i, 0));
    if (k < 20 && i % 2) given.data.x(i, 0) = static_cast<double>(k = 39 - k);  // some are rarer, and far off
    if (k < 20) given.data.y[at(i)] = k % 2 ? 50 : -50;
    ++rows_of[at(k)];
  }
  Boost spec = kPlain;
  spec.depth = 3;
  const auto rare_ones = [&](const Rows& rows, double least) {
    spec.category_rows = least;
    const auto model = fitted(spec, rows);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
    EXPECT_FALSE(model.trees.is_leaf(0));
    int rare = 0;
    for (const TreeNode& node : model.trees.nodes)
      for (Index k = 0; k < 40 && !node.is_leaf() && node.categories; ++k)
        rare +=
            rows_of[at(k)] < 12 && model.trees.in_set(static_cast<std::size_t>(node.threshold), static_cast<int>(k));
    return rare;
  };
  EXPECT_GT(rare_ones(given.rows(), 0), 0);
  EXPECT_EQ(rare_ones(given.rows(), 12), 0);
  MemoryRows twice = given.rows();
  const std::vector<double> weight(600, 2.0);
  twice.weights(weight);
  EXPECT_EQ(rare_ones(twice, 24), 0);  // a weight of 2 is two rows
  EXPECT_GT(rare_ones(twice, 12), 0);
}

TEST(BoostColumns, ThousandsOfCategoriesAreTakenAndEmptyOnesGoRight) {
  const Categories given(20000, 3000);
  MemoryRows rows = given.rows();
  rows.levels[0].push_back("never");
  const auto model = fitted(Boost{.rounds = 20, .category_rows = 1}, rows);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_LT(model.training_loss(19), 0.8 * model.initial_loss);
  for (const TreeNode& node : model.trees.nodes) {
    if (node.is_leaf() || !node.categories) continue;
    EXPECT_FALSE(model.trees.in_set(static_cast<std::size_t>(node.threshold), 3000));
  }
}

TEST(BoostColumns, MoreCategoriesThanCodesAreRefusedByTheNameOfTheColumn) {
  const Data data(100);
  MemoryRows rows = data.numbers();
  rows.levels.resize(4);
  rows.levels[2].resize(70000, "x");
  EXPECT_NE(message_of([&] { fitted(Boost{}, rows); }).find("'x3' has 70000 categories"), std::string::npos);
}

TEST(BoostColumns, WhatIsMissingGoesWhereItGainsMore) {
  for (const double side : {-3.0, 3.0}) {
    Data data(900);
    for (Index i = 0; i < 900; ++i) {
      data.y[at(i)] = data.x(i, 1) > 0 ? 3.0 : -3.0;
      if (i % 4 == 0) data.x(i, 1) = std::nan(""), data.y[at(i)] = side;
    }
    const Boost spec{.rounds = 1, .shrinkage = 1.0, .depth = 1, .splits = BoostSplits::exact};
    const auto model = fitted(spec, data.numbers());
    EXPECT_NEAR(model.training_loss(0), 0, 1e-20);
    EXPECT_EQ(model.trees[0].missing_left, side < 0);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  }
}

TEST(BoostColumns, AValueMayBeToldByBeingMissingAlone) {
  Data data(600);
  for (Index i = 0; i < 600; ++i) {
    data.y[at(i)] = i % 3 == 0 ? 5.0 : 0.0;
    if (i % 3 == 0) data.x(i, 2) = std::nan("");
  }
  const auto model = fitted(Boost{.rounds = 1, .shrinkage = 1.0, .depth = 1}, data.numbers());
  EXPECT_NEAR(model.training_loss(0), 0, 1e-20);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(BoostColumns, WhereNoneWasMissingAMissingValueGoesWithMostRows) {
  const Data data(900);
  const auto model = fitted(Boost{.rounds = 20}, data.numbers());
  Matrix x = data.x.topRows(30);
  x.setConstant(std::nan(""));
  EXPECT_TRUE(model.predict(x).allFinite());
  for (Index i = 0; i < model.trees.size(); ++i) {
    if (model.trees.is_leaf(i) || !model.trees.is_leaf(model.trees.left(i)) ||
        !model.trees.is_leaf(model.trees.right(i)))
      continue;
    const double left = model.cover(model.trees[model.trees.left(i)].column),
                 right = model.cover(model.trees[model.trees.right(i)].column);
    EXPECT_EQ(model.trees[i].missing_left, left >= right);
  }
}

TEST(BoostColumns, PredictionsKeepTheDirectionsAskedFor) {
  const Data data(1500);
  for (const BoostLoss loss : {BoostLoss::squared, BoostLoss::absolute, BoostLoss::logistic}) {
    const auto model =
        fitted(Boost{.loss = loss, .rounds = 40, .increasing = {"x1"}, .decreasing = {"x3"}}, data.of(loss));
    EXPECT_TRUE(model.certificate.holds()) << name_of(loss) << ": " << model.certificate.message;
    for (const Index column : {Index{0}, Index{2}}) {
      Matrix x = data.x.topRows(50);
      Vector before = Vector::Constant(50, column == 0 ? -1e300 : 1e300);
      for (double v = -3; v <= 3; v += 0.25) {
        x.col(column).setConstant(v);
        const Vector now = model.scores(x).col(0);
        EXPECT_GE((column == 0 ? now - before : before - now).minCoeff(), -1e-12) << name_of(loss);
        before = now;
      }
    }
  }
}

TEST(BoostColumns, OnOnePathOnlyColumnsOfOneGroupAreAsked) {
  const Data data(1500);
  const auto model =
      fitted(Boost{.rounds = 30, .interactions = {"x1:x2"}}, data.numbers());  // x3 and x4 are the other group
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  std::vector<unsigned> asked(at(model.trees.size()), 0);
  for (Index i = 0; i < model.trees.size(); ++i) {
    EXPECT_FALSE((asked[at(i)] & 3U) && (asked[at(i)] & 12U));
    if (model.trees.is_leaf(i)) continue;
    asked[at(model.trees.left(i))] = asked[at(model.trees.right(i))] = asked[at(i)] | 1U << model.trees[i].column;
  }
  BoostModel free = fitted(Boost{.rounds = 30}, data.numbers());
  free.spec.interactions = {"x1:x2"};
  EXPECT_FALSE(certify(free, data.numbers(), {}).holds());
}

TEST(BoostColumns, ColumnsOfOneValueOrNoneTakeNoPartAndAreNamed) {
  Data data(300);
  data.x.col(1).setConstant(std::nan(""));
  data.x.col(3).setConstant(2);
  const auto model = fitted(Boost{.rounds = 5}, data.numbers());
  ASSERT_EQ(model.warnings.size(), 2U);
  EXPECT_EQ(model.warnings[0], "'x2' has no value and takes no part");
  EXPECT_EQ(model.warnings[1], "'x4' has one value only and takes no part");
  EXPECT_EQ(model.importance(1) + model.importance(3), 0);
}

TEST(BoostColumns, WhatCannotBeUsedIsRefusedByItsName) {
  const Data data(100);
  const auto refused = [&](const Boost& spec, const Rows& rows) { return message_of([&] { fitted(spec, rows); }); };
  EXPECT_NE(refused(Boost{.increasing = {"x9"}}, data.numbers()).find("'x9'"), std::string::npos);
  EXPECT_NE(refused(Boost{.interactions = {"x1:y"}}, data.numbers()).find("'y'"), std::string::npos);
  EXPECT_NE(refused(Boost{.increasing = {"x1"}, .decreasing = {"x1"}}, data.numbers()).find("named twice"),
            std::string::npos);
  EXPECT_NE(refused(Boost{.loss = BoostLoss::gamma}, data.with(data.y)).find("above 0"), std::string::npos);
  EXPECT_NE(refused(Boost{.loss = BoostLoss::poisson}, data.with(data.y)).find("at least 0"), std::string::npos);
  EXPECT_NE(refused(Boost{.loss = BoostLoss::poisson}, data.with(std::vector<double>(100, 0.0))).find("0 in all rows"),
            std::string::npos);
  EXPECT_NE(refused(Boost{.loss = BoostLoss::logistic}, data.numbers()).find("factor(y)"), std::string::npos);
  EXPECT_NE(refused(Boost{.loss = BoostLoss::logistic}, data.groups()).find("softmax"), std::string::npos);
  EXPECT_NE(refused(Boost{.loss = BoostLoss::squared}, data.sides()).find("classes"), std::string::npos);
  EXPECT_NE(refused(Boost{.loss = BoostLoss::absolute, .l2 = 1}, data.numbers()).find("l1 and l2"), std::string::npos);
  EXPECT_NE(refused(Boost{.share = 0.5, .top = 0.1}, data.numbers()).find("top and share"), std::string::npos);
  EXPECT_NE(refused(Boost{.validation = 0.0001}, data.numbers()).find("no row is held out"), std::string::npos);
  const std::vector<double> none(100, 0.0);
  MemoryRows weightless = data.numbers();
  weightless.weights(none);
  EXPECT_NE(refused(Boost{}, weightless).find("weights of all rows are 0"), std::string::npos);
  Data infinite = data;
  infinite.x(17, 2) = std::numeric_limits<double>::infinity();
  EXPECT_NE(refused(Boost{}, infinite.numbers()).find("'x3' is infinity in row 18"), std::string::npos);
  const Labels same(100, 0);
  MemoryRows only(data.x);
  only.labels(same, {"a"});
  EXPECT_NE(refused(Boost{}, only).find("class 'a'"), std::string::npos);
}

TEST(BoostColumns, AClassOfOneRowIsLearnedWithTheOthers) {
  Data data(300);
  for (int& each : data.group) each = std::min(each, 1);
  data.group[5] = 2;
  const auto model = fitted(Boost{.rounds = 10}, data.groups());
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_TRUE(model.probabilities(data.x).allFinite());
}

TEST(BoostColumns, OfAConstantResponseNothingIsToBeGained) {
  const Data data(200);
  const auto model = fitted(Boost{}, data.with(std::vector<double>(200, 4.5)));
  EXPECT_EQ(model.used_rounds, 1);
  EXPECT_EQ(model.predict(data.x), Vector::Constant(200, 4.5));
  EXPECT_EQ(model.certificate.stopped, "nothing left to gain");
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(BoostColumns, SlopesAreRoundedToTheNearestWholeNumberOfTwoToTheEvenOne) {
  for (const double x : {0.0, 0.5, -0.5, 1.5, -1.5, 2.5, 0.49999999999999994, -1e-300, 123456.5, 0x1p50 + 0.5,
                         0x1p51 - 0.5, -0x1p51 + 1, 0x1p51, 0x1p52 + 1, -0x1p60})
    EXPECT_EQ(boost::nearest(x), std::llrint(x)) << x;
}

TEST(BoostColumns, BinsHoldAboutTheSameWeightAndCutsLieMidway) {
  const Data data(90000, 2);  // more rows than cuts are made from
  const auto binned = boost::bin(data.numbers(), {100, false}, {});
  for (Index j = 0; j < 2; ++j) {
    const auto& column = binned.columns[at(j)];
    ASSERT_EQ(column.bins(), 100);
    std::vector<Index> count(100, 0);
    for (Index i = 0; i < 90000; ++i) {
      ASSERT_EQ(binned.code(i, j), column.code(data.x(i, j)));
      ++count[static_cast<std::size_t>(binned.code(i, j))];
    }
    for (const Index each : count) EXPECT_NEAR(static_cast<double>(each), 900, 270);
    for (const double cut : column.cuts) {
      double below = -1e300, above = 1e300;
      for (const double v : data.x.col(j)) v < cut ? below = std::max(below, v) : above = std::min(above, v);
      EXPECT_EQ(cut, below + (above - below) / 2);
    }
  }
}

}  // namespace
}  // namespace lemma
