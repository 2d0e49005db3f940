// lemma/ensemble/bagging_test.cpp: what bags say together, what they refuse, and what their certificate sees.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/ensemble/bagging.hpp>
#include <lemma/ensemble/shared/inside.hpp>
#include <lemma/model/fit.hpp>
#include <set>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

AnySpec method(const char* text) { return parse_method(text).completed(); }

/// A step in one column, and noise.
struct Steps {
  Matrix x;
  Vector y;
  std::vector<std::string> side;
  explicit Steps(Index n, std::uint64_t seed = 5) : x(n, 3), y(n) {
    RandomStream stream(seed);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < 3; ++j) x(i, j) = stream.normal();
      y(i) = (x(i, 0) > 0 ? 3 : 0) + x(i, 1) + 0.5 * stream.normal();
      side.emplace_back(y(i) > 1.5 ? "up" : "down");
    }
  }
};

struct Numbers {
  std::vector<double> y;
  MemoryRows rows;
  explicit Numbers(const Steps& from) : y(from.y.begin(), from.y.end()), rows(from.x) { rows.response(y); }
};

// ---- Draws ----

TEST(Urn, DrawsRowsInProportionToTheirWeightsWhateverTheirOrder) {
  Matrix x(4, 1);
  x << 3, 1, 2, 4;
  MemoryRows rows(x);
  const std::vector<double> y{0, 0, 0, 0}, w{1, 0, 2, 5};
  rows.response(y).weights(w);
  const ensemble::TrainingRows data("test", rows, {});
  EXPECT_EQ(ensemble::own_order(data), (std::vector<Index>{2, 0, 3}));
  const ensemble::Urn urn(ensemble::own_order(data), data.weight);
  EXPECT_EQ(urn.copies(), 8);
  Vector times = Vector::Zero(4);
  for (const Index i : urn.with_replacement(8000, RandomStream(1))) ++times(i);
  EXPECT_EQ(times(1), 0);
  EXPECT_NEAR(times(0), 1000, 120);
  EXPECT_NEAR(times(2), 2000, 160);
  EXPECT_NEAR(times(3), 5000, 180);
  Vector all = Vector::Zero(4);
  for (const Index i : urn.without("test", 8, RandomStream(1))) ++all(i);
  EXPECT_EQ(all, Eigen::Map<const Vector>(w.data(), 4));
}

// ---- What it says ----

TEST(Bagging, IsTheMeanOfItsModelsAndBetterThanOneOfThem) {
  const Steps train(300), test(500, 6);
  const AnySpec tree = method("tree(min_split=2, cp=0, folds=0)");
  const auto m = fit(Bagging{.base = tree, .rounds = 40}, train.x, train.y);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  Vector mean = Vector::Zero(500);
  for (const AnyModel& each : m.models) mean += each.predict(test.x).value() / 40;
  EXPECT_LT((m.predict(test.x) - mean).cwiseAbs().maxCoeff(), 1e-12);
  const double error = (m.predict(test.x) - test.y).squaredNorm() / 500,
               alone = (m.models[0].predict(test.x).value() - test.y).squaredNorm() / 500;
  EXPECT_LT(error, 0.8 * alone);
  ASSERT_TRUE(m.oob_error);
  EXPECT_NEAR(*m.oob_error, error, 0.25 * error);
  EXPECT_NEAR(m.outside, 1, 1e-12);
}

TEST(Bagging, OfClassesAveragesProbabilitiesOrVotes) {
  const Steps train(200);
  const auto soft = fit(Bagging{.base = method("lda"), .rounds = 7}, train.x, train.side);
  EXPECT_EQ(*soft.spec.vote, BaggingVote::probability);
  const auto hard = fit(Bagging{.base = method("lda"), .rounds = 7, .vote = BaggingVote::vote}, train.x, train.side);
  const Matrix p = hard.probabilities(train.x);
  for (Index i = 0; i < 200; ++i) {
    EXPECT_NEAR(7 * p(i, 1), std::round(7 * p(i, 1)), 1e-12);
    EXPECT_NEAR(p.row(i).sum(), 1, 1e-14);
  }
  Matrix mean = Matrix::Zero(200, 2);
  for (const AnyModel& each : soft.models) mean += each.predict(train.x).probabilities() / 7;
  EXPECT_LT((soft.probabilities(train.x) - mean).cwiseAbs().maxCoeff(), 1e-14);
  for (const auto* each : {&soft, &hard}) EXPECT_TRUE(each->certificate.holds()) << each->certificate.message;
  const auto machine = fit(Bagging{.base = method("perceptron"), .rounds = 5}, train.x, train.side);
  EXPECT_EQ(*machine.spec.vote, BaggingVote::vote);  // it has no probabilities
}

TEST(Bagging, PredictionsOutOfTheBagAreOfModelsThatHaveNotSeenTheRow) {
  const Steps train(120);
  const Numbers rows(train);
  // A method that remembers its rows: in the bag it makes no mistake, so that a row that leaks is seen at once.
  const auto m = fit(Valid<Bagging>(Bagging{.base = method("kernel_neighbors(k=1)"), .rounds = 15}), rows.rows, {});
  EXPECT_LT((m.predict(train.x) - train.y).squaredNorm() / 120, 0.5 * *m.oob_error);
  BlockBuffer buffer;
  const auto told = m.diagnostics(rows.rows.read(0, 120, buffer));
  ASSERT_EQ(told.size(), 2U);
  double sum = 0, count = 0;
  for (Index i = 0; i < 120; ++i) {
    if (told[1].values(i) == 0) continue;
    EXPECT_GT(std::abs(told[0].values(i) - train.y(i)), 0) << i;
    sum += std::pow(told[0].values(i) - train.y(i), 2);
    ++count;
  }
  EXPECT_NEAR(sum / count, *m.oob_error, 1e-12);
  EXPECT_THROW(m.diagnostics(rows.rows.read(0, 60, buffer)), Error);
}

TEST(Bagging, BagsOfRowsWithoutAClassOrAWeightCannotBeDrawnAgain) {
  const Steps train(60);
  const auto m = fit(Bagging{.base = method("lda"), .rounds = 3}, train.x, train.side);
  Labels label;
  for (const auto& side : train.side) label.push_back(side == "up");
  MemoryRows rows(train.x);
  rows.labels(label, {"down", "up"});
  BlockBuffer buffer;
  Block block = rows.read(0, 60, buffer);
  EXPECT_NO_THROW(m.diagnostics(block));
  label[7] = -1;
  block.label = label;
  EXPECT_NE(message_of([&] { m.diagnostics(block); }).find("row 8 has no response"), std::string::npos);
  const std::vector<double> nothing(60, 0.0);
  block.weight = nothing;
  EXPECT_NE(message_of([&] { m.diagnostics(block); }).find("no row has a weight"), std::string::npos);
}

TEST(Bagging, DoesNotDependOnTheOrderOfTheRowsAndTakesAWeightForCopies) {
  const Steps train(100);
  const Numbers rows(train);
  std::vector<Index> turned, copies;
  std::vector<double> w;
  for (Index i = 0; i < 100; ++i) {
    turned.push_back(99 - i);
    w.push_back(static_cast<double>(i % 3));
    for (Index c = 0; c < i % 3; ++c) copies.push_back(i);
  }
  const Bagging spec{.rounds = 5};
  const auto m = fit(Valid<Bagging>(spec), rows.rows, {}),
             n = fit(Valid<Bagging>(spec), SelectedRows(rows.rows, turned), {});
  EXPECT_EQ(m.predict(train.x), n.predict(train.x));
  EXPECT_NEAR(*m.oob_error, *n.oob_error, 1e-12);
  EXPECT_TRUE(verify(m, SelectedRows(rows.rows, turned)).holds());
  MemoryRows weighted(train.x);
  weighted.response(rows.y).weights(w);
  const auto a = fit(Valid<Bagging>(spec), weighted, {}),
             b = fit(Valid<Bagging>(spec), SelectedRows(rows.rows, copies), {});
  EXPECT_EQ(a.predict(train.x), b.predict(train.x));
}

TEST(Bagging, WithoutReplacementHoldsAShareOfTheRowsOnceEach) {
  const Steps train(100);
  const auto m = fit(Bagging{.rounds = 6, .replace = false}, train.x, train.y);
  EXPECT_EQ(*m.spec.share, 0.632);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  const Vector w = Vector::Constant(100, 0.5);
  EXPECT_NE(message_of([&] { fit(Bagging{.replace = false}, train.x, train.y, {.weights = w}); }).find("whole numbers"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(Bagging{.replace = false, .share = 1}, train.x, train.y); }).find("share"),
            std::string::npos);
}

TEST(Bagging, RefusesWhatItCannotUse) {
  const Steps train(30);
  EXPECT_NE(
      message_of([&] { fit(Bagging{.base = method("kmeans")}, train.x, train.y); }).find("neither classes nor numbers"),
      std::string::npos);
  EXPECT_NE(message_of([&] { fit(Bagging{.base = method("lda")}, train.x, train.y); }).find("lda predicts classes"),
            std::string::npos);
  EXPECT_EQ(message_of([&] { fit(Bagging{}, train.x, train.y, {.weights = Vector::Zero(30)}); }),
            "bagging: the weights add up to 0; no row has a weight above 0");
  EXPECT_NE(message_of([&] { parse_method("bagging(treee)"); }).find("did you mean 'tree'?"), std::string::npos);
  EXPECT_NE(message_of([&] {
              fit(Bagging{.base = method("perceptron"), .vote = BaggingVote::probability}, train.x, train.side);
            }).find("has no probabilities"),
            std::string::npos);
}

// ---- The certificate ----

TEST(Bagging, TheNaturalWrongAlgorithmsFailItsCertificate) {
  const Steps train(120);
  const Numbers rows(train);
  const auto right = fit(Valid<Bagging>(Bagging{.rounds = 8}), rows.rows, {});
  ASSERT_TRUE(verify(right, rows.rows).holds()) << verify(right, rows.rows).message;
  BaggingModel flattered = right;  // the error of all rows, those in the bags too
  flattered.oob_error = (right.predict(train.x) - train.y).squaredNorm() / 120;
  EXPECT_FALSE(certify(flattered, rows.rows, {}).holds());
  BaggingModel same = right;  // every model fitted to all rows: no bags at all
  for (AnyModel& each : same.models) each = right.spec.base->fit(rows.rows, {});
  EXPECT_FALSE(certify(same, rows.rows, {}).holds());
  BaggingModel other = right;  // other bags than those of the seed
  other.seed = "2";
  EXPECT_FALSE(certify(other, rows.rows, {}).holds());
}

}  // namespace
}  // namespace lemma
