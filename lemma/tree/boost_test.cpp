// lemma/tree/boost_test.cpp
#include <gtest/gtest.h>
#include <lemma/data/datasets.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/tree/boost.hpp>
#include <lemma/tree/boost/data_test.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

using boost_test::Data;

void agrees_with(const std::string& id, int depth) {
  const Golden golden(id);
  const auto trained =
      fit(Boost{.rounds = 200, .depth = depth, .splits = BoostSplits::exact, .min_rows = 5, .min_hessian = 0},
          formula("medv ~ ."), dataset("boston"));
  const BoostModel& model = trained;
  const Labels rounds = golden.labels("rounds");
  Vector mse(std::ssize(rounds));
  for (std::size_t k = 0; k < rounds.size(); ++k) mse(static_cast<Index>(k)) = 2 * model.training_loss(rounds[k] - 1);
  EXPECT_TRUE(golden.agrees("training_mse", mse));
  EXPECT_TRUE(golden.agrees("initial_mse", 2 * model.initial_loss));
  const Vector fitted = trained.predict(dataset("boston")).head(5);
  EXPECT_TRUE(golden.agrees("fitted_first5_after_last_listed", fitted));
}

TEST(Boost, OfStumpsOnBostonIsTheReferenceRoundByRound) { agrees_with("l2boost_boston_stumps", 1); }
TEST(Boost, OfTreesOfDepthTwoOnBostonIsTheReferenceRoundByRound) { agrees_with("l2boost_boston_depth2", 2); }

TEST(Boost, LowersEveryLossAndItsCertificateHolds) {
  const Data data(600);
  for (const BoostLoss loss : boost_test::all_losses()) {
    const auto model = fit(Valid<Boost>(Boost{.loss = loss, .rounds = 40, .depth = 3}), data.of(loss), {});
    EXPECT_TRUE(model.certificate.holds()) << name_of(loss) << ": " << model.certificate.message;
    EXPECT_LT(model.training_loss(39), 0.8 * model.initial_loss) << name_of(loss);
  }
}

TEST(Boost, ThatHasOneLeafPredictsTheBestConstant) {
  const Data data(50);
  const auto constant = [&](BoostLoss loss) {
    const auto model = fit(Valid<Boost>(Boost{.loss = loss, .rounds = 5, .min_rows = 1000}), data.of(loss), {});
    EXPECT_EQ(model.used_rounds, 1) << name_of(loss);
    return model.predict(data.x)(7);
  };
  const auto mean = [](const std::vector<double>& v) {
    double sum = 0;
    for (const double each : v) sum += each;
    return sum / static_cast<double>(v.size());
  };
  EXPECT_NEAR(constant(BoostLoss::squared), mean(data.y), 1e-12);
  EXPECT_NEAR(constant(BoostLoss::poisson), mean(data.count), 1e-12);
  EXPECT_NEAR(constant(BoostLoss::gamma), mean(data.positive), 1e-12);
  std::vector<double> sorted = data.y;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(constant(BoostLoss::absolute), sorted[24]);
}

/// The best split of all rows by squared error, counted by hand.
std::pair<Index, double> best_by_hand(const Matrix& x, const std::vector<double>& y, Index least) {
  std::pair<Index, double> out{-1, 0};
  double best = 0, total = 0;
  const Index n = x.rows();
  for (const double each : y) total += each;
  const double mean = total / static_cast<double>(n);
  for (Index j = 0; j < x.cols(); ++j) {
    std::vector<Index> order(at(n));
    for (Index i = 0; i < n; ++i) order[at(i)] = i;
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return x(a, j) < x(b, j); });
    double sum = 0;
    for (Index k = 0; k + 1 < n; ++k) {
      sum += y[at(order[at(k)])] - mean;
      const double gain = sum * sum / static_cast<double>(k + 1) + sum * sum / static_cast<double>(n - k - 1);
      if (k + 1 < least || n - k - 1 < least || !(gain > best)) continue;
      best = gain;
      out = {j, 0.5 * (x(order[at(k)], j) + x(order[at(k + 1)], j))};
    }
  }
  return out;
}

TEST(Boost, SplitsExactlyWhereSquaredErrorFallsMost) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    const Data data(700, 5, seed);
    const auto model =
        fit(Valid<Boost>(Boost{.rounds = 1, .depth = 1, .splits = BoostSplits::exact}), data.numbers(), {});
    const auto [column, threshold] = best_by_hand(data.x, data.y, 20);
    ASSERT_EQ(model.trees.size(), 3);
    EXPECT_EQ(static_cast<Index>(model.trees[0].column), column);
    EXPECT_NEAR(model.trees[0].threshold, threshold, 1e-12);
  }
}

TEST(Boost, OfFewValuesIsTheSameBinnedAndExact) {
  Data data(900);
  for (double& v : data.x.reshaped()) v = std::round(8 * v);
  const auto binned = fit(Valid<Boost>(Boost{.rounds = 30}), data.numbers(), {});
  const auto exact = fit(Valid<Boost>(Boost{.rounds = 30, .splits = BoostSplits::exact}), data.numbers(), {});
  EXPECT_EQ(binned.predict(data.x), exact.predict(data.x));
}

TEST(Boost, HasTheSameBitsOnAnyNumberOfThreadsAlsoWithPackedSums) {
  const Data data(40000, 6);
  const auto with = [&](int threads, BoostLoss loss) {
    FitOptions options;
    options.threads = threads;
    return fit(Valid<Boost>(Boost{.loss = loss, .rounds = 8}), data.of(loss), options).scores(data.x);
  };
  for (const BoostLoss loss : {BoostLoss::logistic, BoostLoss::squared, BoostLoss::softmax}) {
    const Matrix one = with(1, loss);
    EXPECT_EQ(with(2, loss), one) << name_of(loss);
    EXPECT_EQ(with(5, loss), one) << name_of(loss);
  }
}

TEST(Boost, OfShuffledRowsIsTheSameModelAlsoWhereItDraws) {
  const Data data(70000, 3);  // more rows than cuts are made from
  RandomStream stream(9);
  const auto order = permutation(stream, data.x.rows());
  Data shuffled = data;
  for (Index i = 0; i < data.x.rows(); ++i) {
    shuffled.x.row(i) = data.x.row(order[at(i)]);
    shuffled.y[at(i)] = data.y[at(order[at(i)])];
  }
  const Boost drawing{.rounds = 6, .share = 0.5, .columns = 0.7, .validation = 0.2};
  for (const Boost& spec : {Boost{.rounds = 6}, drawing}) {
    const auto a = fit(Valid<Boost>(spec), data.numbers(), {}), b = fit(Valid<Boost>(spec), shuffled.numbers(), {});
    EXPECT_LE((a.scores(data.x) - b.scores(data.x)).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_TRUE(certify(a, shuffled.numbers(), {}).holds()) << certify(a, shuffled.numbers(), {}).message;
  }
}

TEST(Boost, StopsWhereRowsHeldOutSayAndKeepsTheBestRound) {
  const Data data(400);
  const auto model =
      fit(Valid<Boost>(Boost{.rounds = 1000, .shrinkage = 0.3, .min_rows = 2, .validation = 0.3, .patience = 5}),
          data.numbers(), {});
  EXPECT_LT(model.used_rounds, 200);
  EXPECT_EQ(model.validation_loss.size(), model.used_rounds + 5);
  EXPECT_EQ(model.validation_loss.minCoeff(), model.validation_loss(model.used_rounds - 1));
  EXPECT_EQ(model.trees.trees(), model.used_rounds);
  EXPECT_EQ(model.certificate.stopped, "no lower loss of the rows held out");
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(Boost, OfAShareOfTheRowsOrColumnsOrByTheirSlopesStillLearns) {
  const Data data(3000, 6);
  const auto all = fit(Valid<Boost>(Boost{.rounds = 60, .depth = 4}), data.sides(), {});
  for (const Boost& spec :
       {Boost{.rounds = 60, .depth = 4, .share = 0.5}, Boost{.rounds = 60, .depth = 4, .columns = 0.5},
        Boost{.rounds = 60, .depth = 4, .top = 0.2, .other = 0.2}}) {
    const auto model = fit(Valid<Boost>(spec), data.sides(), {});
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
    EXPECT_LT(model.training_loss(59), 1.3 * all.training_loss(59));
    EXPECT_NE(model.scores(data.x), all.scores(data.x));
  }
}

TEST(Boost, GrowsNoMoreLeavesThanItMay) {
  const Data data(2000);
  for (const BoostGrowth growth : {BoostGrowth::best, BoostGrowth::level}) {
    const auto model =
        fit(Valid<Boost>(Boost{.rounds = 10, .depth = 12, .leaves = 7, .growth = growth}), data.numbers(), {});
    EXPECT_EQ(model.trees.leaves(), 70);
  }
  const auto best = fit(Valid<Boost>(Boost{.rounds = 1, .depth = 12, .leaves = 7}), data.numbers(), {});
  const auto level =
      fit(Valid<Boost>(Boost{.rounds = 1, .depth = 12, .leaves = 7, .growth = BoostGrowth::level}), data.numbers(), {});
  EXPECT_LT(best.training_loss(0), level.training_loss(0));
  const auto full = fit(Valid<Boost>(Boost{.rounds = 3, .depth = 3, .leaves = 8}), data.numbers(), {});
  const auto open = fit(Valid<Boost>(Boost{.rounds = 3, .depth = 3}), data.numbers(), {});
  EXPECT_EQ(full.predict(data.x), open.predict(data.x));
}

TEST(Boost, OfLinesComesToLeastSquares) {
  Data data(300);
  for (Index i = 0; i < 300; ++i) data.y[at(i)] = 3 + 2 * data.x(i, 0) - data.x(i, 2) + 0.1 * data.y[at(i)];
  const auto model =
      fit(Valid<Boost>(Boost{.rounds = 3000, .shrinkage = 0.3, .base = BoostBase::linear}), data.numbers(), {});
  Matrix design(300, 5);
  design << Vector::Ones(300), data.x;
  const Eigen::Map<const Vector> y(data.y.data(), 300);
  const Vector residuals = y - model.predict(data.x);
  EXPECT_LE((design.transpose() * residuals).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const Vector by_coefficients =
      (data.x * model.coefficients.transpose()).rowwise().sum() + Vector::Constant(300, model.intercepts(0));
  EXPECT_LE((by_coefficients - model.predict(data.x)).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Boost, OfFewLinesUsesFewColumns) {
  Data data(500, 8);
  for (Index i = 0; i < 500; ++i) data.y[at(i)] = data.x(i, 5) + 0.1 * data.y[at(i)];
  const auto model = fit(Valid<Boost>(Boost{.rounds = 20, .base = BoostBase::linear}), data.numbers(), {});
  EXPECT_NEAR(model.coefficients(0, 5), 1, 0.2);
  EXPECT_EQ((model.coefficients.array() != 0).count(), 1);
}

TEST(Boost, SaysAfterEachRoundWhatAModelOfSoManyRoundsSays) {
  const Data data(400);
  for (const BoostLoss loss : {BoostLoss::squared, BoostLoss::poisson, BoostLoss::logistic, BoostLoss::softmax}) {
    const auto rows = data.of(loss);
    const auto long_one = fit(Valid<Boost>(Boost{.loss = loss, .rounds = 9}), rows, {});
    const auto short_one = fit(Valid<Boost>(Boost{.loss = loss, .rounds = 4}), rows, {});
    const Matrix staged = long_one.staged(data.x).values;
    const Index each = loss == BoostLoss::softmax ? 3 : 1;
    ASSERT_EQ(staged.cols(), 9 * each);
    const Matrix said = loss == BoostLoss::softmax    ? short_one.probabilities(data.x)
                        : loss == BoostLoss::logistic ? Matrix(short_one.probabilities(data.x).col(1))
                                                      : Matrix(short_one.predict(data.x));
    EXPECT_EQ(staged.middleCols(3 * each, each), said) << name_of(loss);
  }
}

TEST(Boost, OfTreesWithARowOfNoCoefficientsIsRefused) {
  const auto model = train({std::shared_ptr<const Method>(), &method_of<Boost>()}, Value::Object{{"rounds", 2}},
                           formula("medv ~ rm + lstat"), MemoryTableStream(dataset("boston")))
                         .model;
  Value state = model->save();
  state.set("coefficients", Value::Array{{1, 0}, {}});
  EXPECT_EQ(message_of([&] { method_of<Boost>().load(model->params(), state, {}); }),
            "boost: there are lines and trees");
}

TEST(Boost, HasShapValuesThatAddUpToTheScore) {
  Data data(400);
  data.x(3, 1) = std::nan("");
  for (const BoostLoss loss : {BoostLoss::squared, BoostLoss::logistic, BoostLoss::softmax}) {
    const auto model = fit(Valid<Boost>(Boost{.loss = loss, .rounds = 30}), data.of(loss), {});
    const Matrix phi = model.shap(data.x), base = model.shap_base(data.x), score = model.scores(data.x);
    for (Index k = 0; k < model.outputs(); ++k)
      EXPECT_LE((phi.middleCols(4 * k, 4).rowwise().sum() + base.col(k) - score.col(k)).cwiseAbs().maxCoeff(), 1e-10);
  }
  const auto lines = fit(Valid<Boost>(Boost{.rounds = 30, .base = BoostBase::linear}), Data(200).numbers(), {});
  const Matrix x = Data(200).x;
  EXPECT_LE((lines.shap(x).rowwise().sum() + lines.shap_base(x) - lines.scores(x)).cwiseAbs().maxCoeff(), 1e-10);
}

}  // namespace
}  // namespace lemma
