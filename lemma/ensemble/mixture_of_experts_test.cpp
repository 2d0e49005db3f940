// lemma/ensemble/mixture_of_experts_test.cpp: experts found again, a likelihood that never falls, and what is no fixed point.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/ensemble/mixture_of_experts.hpp>
#include <lemma/ensemble/mixture_of_experts/rounds.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

AnySpec method(const char* text) { return parse_method(text).completed(); }

/// y = 1 + 2 x left of 0 (more or less), 4 − 3 x right of it; classes by the sign of u on the left, of −u on the right.
struct Switched {
  Matrix x;
  std::vector<double> y;
  Labels label;
  MemoryRows numbers, classes;
  explicit Switched(Index n, std::uint64_t seed = 11) : x(n, 2), numbers(x), classes(x) {
    RandomStream stream(seed);
    for (Index i = 0; i < n; ++i) {
      x(i, 0) = 2 * stream.normal();
      x(i, 1) = stream.normal();
      const bool left = x(i, 0) + 0.3 * stream.normal() < 0;
      y.push_back((left ? 1 + 2 * x(i, 0) : 4 - 3 * x(i, 0)) + 0.3 * stream.normal());
      label.push_back((x(i, 1) + 0.2 * stream.normal() > 0) == left);
    }
    numbers.response(y);
    classes.labels(label, {"no", "yes"});
  }
};

MixtureOfExpertsModel fitted(const MixtureOfExperts& spec, const Rows& rows) {
  return fit(Valid<MixtureOfExperts>(spec), rows, {});
}

TEST(MixtureOfExperts, FindsTheLinesAndWhereTheyChange) {
  const Switched data(600);
  const auto model = fitted({}, data.numbers);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_TRUE(verify(model, data.numbers).holds()) << verify(model, data.numbers).message;
  const Matrix ends{{-4, 0}, {-3, 0}, {3, 0}, {4, 0}};
  const Vector said = model.predict(ends), truth{{-7, -5, -5, -8}};
  EXPECT_LT((said - truth).cwiseAbs().maxCoeff(), 0.3);
  const Matrix shares = model.shares_at(ends);
  EXPECT_GT(shares.row(0).maxCoeff(), 0.98);
  EXPECT_LT((shares.row(0) + shares.row(3)).maxCoeff(), 1.1);  // another expert at the other end
  EXPECT_NEAR(model.deviations.minCoeff(), 0.3, 0.06);
  EXPECT_NEAR(model.shares.sum(), 1, 1e-12);
}

TEST(MixtureOfExperts, TheLikelihoodNeverFallsWhereItIsWhatIsMaximised) {
  const Switched data(200);
  const auto model =
      fitted({.expert = method("ols"), .gate = method("multinomial(lambda=0)"), .tolerance = 1e-9}, data.numbers);
  ASSERT_GT(model.trace.size(), 3);
  for (Index t = 1; t < model.trace.size(); ++t) EXPECT_GE(model.trace(t), model.trace(t - 1) - 1e-10) << t;
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(MixtureOfExperts, OfClassesFollowsABorderThatTurns) {
  const Switched train(500), test(500, 12);
  const auto model = fitted({}, train.classes);
  EXPECT_TRUE(verify(model, train.classes).holds()) << verify(model, train.classes).message;
  EXPECT_LT((model.probabilities(test.x).rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
  const Labels said = model.classify(test.x);
  Index wrong = 0;
  for (std::size_t i = 0; i < said.size(); ++i) wrong += said[i] != test.label[i];
  EXPECT_LT(wrong, 75);  // one plane errs on about half
}

TEST(MixtureOfExperts, TakesAnyMethodWithWeights) {
  const Switched data(200);
  const auto model =
      fitted({.expert = method("ridge(lambda=0.1)"), .gate = method("lda"), .tolerance = 1e-6}, data.numbers);
  EXPECT_TRUE(verify(model, data.numbers).holds()) << verify(model, data.numbers).message;
}

TEST(MixtureOfExperts, DoesNotDependOnTheOrderOfTheRowsAndTakesAWeightForCopies) {
  const Switched data(150);
  std::vector<Index> turned, copies;
  std::vector<double> w;
  for (Index i = 0; i < 150; ++i) {
    turned.push_back(149 - i);
    w.push_back(static_cast<double>(1 + i % 2));
    for (Index c = 0; c <= i % 2; ++c) copies.push_back(i);
  }
  const MixtureOfExperts spec{.tolerance = 1e-12};
  const auto m = fitted(spec, data.numbers), n = fitted(spec, SelectedRows(data.numbers, turned));
  EXPECT_LT((m.predict(data.x) - n.predict(data.x)).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_TRUE(verify(m, SelectedRows(data.numbers, turned)).holds());
  MemoryRows weighted(data.x);
  weighted.response(data.y).weights(w);
  const auto a = fitted(spec, weighted), b = fitted(spec, SelectedRows(data.numbers, copies));
  EXPECT_LT((a.predict(data.x) - b.predict(data.x)).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(MixtureOfExperts, RefusesWhatItCannotUse) {
  const Switched data(30);
  const auto refused = [&](const MixtureOfExperts& spec, const Rows& rows) {
    return message_of([&] { fitted(spec, rows); });
  };
  EXPECT_NE(refused({.experts = 31}, data.numbers).find("31 experts need as many rows"), std::string::npos);
  EXPECT_NE(refused({.expert = method("pca")}, data.numbers).find("neither classes nor numbers"), std::string::npos);
  EXPECT_NE(refused({.gate = method("ols")}, data.numbers).find("predicts no classes"), std::string::npos);
  const std::vector<double> none(30, 0.0);
  MemoryRows weighted(data.x);
  weighted.response(data.y).weights(none);
  EXPECT_NE(refused({}, weighted).find("weights add up to 0"), std::string::npos);
}

TEST(MixtureOfExperts, AFitThatStopsEarlySaysSo) {
  const Switched data(200);
  const auto model = fitted({.restarts = 1, .max_iterations = 2}, data.numbers);
  EXPECT_FALSE(model.certificate.holds());
  EXPECT_EQ(model.certificate.stopped, "iteration limit");
  EXPECT_NE(model.certificate.message.find("try more max_iterations"), std::string::npos);
}

TEST(MixtureOfExperts, TheNaturalWrongHardAssignmentFailsItsCertificate) {
  const Switched data(300);
  const auto right = fitted({}, data.numbers);
  ASSERT_TRUE(certify(right, data.numbers, {}).holds());
  const ensemble::TrainingRows rows("test", data.numbers, {});
  const ensemble::Assembly assembly(right.spec, rows);
  Matrix hard = right.responsibilities;  // every row to its likeliest expert alone, until none changes
  MixtureOfExpertsModel wrong = right;
  for (int round = 0; round < 50; ++round) {
    for (Index r = 0; r < hard.rows(); ++r) {
      Index best;
      hard.row(r).maxCoeff(&best);
      hard.row(r).setZero();
      hard(r, best) = 1;
    }
    auto panel = assembly.fit(hard, {});
    wrong.responsibilities = hard;
    wrong.log_likelihood = assembly.share(panel, {}).log_likelihood;
    hard = assembly.share(panel, {}).responsibilities;
    wrong.experts = panel.experts;
    wrong.gate = panel.gate;
    wrong.deviations = panel.deviations;
  }
  wrong.shares = assembly.shares(wrong.responsibilities);
  wrong.trace = Vector::Constant(1, wrong.log_likelihood);
  const Certificate found = certify(wrong, data.numbers, {});
  EXPECT_FALSE(found.holds());
  EXPECT_NE(found.message.find("EM has not come to rest"), std::string::npos) << found.message;
}

}  // namespace
}  // namespace lemma
