// lemma/ensemble/adaboost_test.cpp: what boosting says, what it refuses, and what its certificate sees.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/data/stream/rows.hpp>
#include <lemma/ensemble/adaboost.hpp>
#include <lemma/ensemble/adaboost/stumps.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/model/store.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// A tree that is the stump, but for a way of writing it that the path for stumps does not know: grown by the tree's own fit.
AnySpec grown_stump() {
  return parse_method(
             "tree(depth=1, criterion=misclassification, cp=-1, min_split=1, min_leaf=1, surrogates=0, folds=0, "
             "leaves=2)")
      .completed();
}

struct Data {
  Matrix x;
  std::vector<std::string> label;
};

/// Three classes by the sides of two lines, and noise. Values are rounded: some are equal.
Data corners(Index n, Index classes, std::uint64_t seed = 3) {
  RandomStream stream(seed);
  Data out{Matrix(n, 4), {}};
  const std::vector<std::string> names{"a", "b", "c"};
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < 4; ++j) out.x(i, j) = std::round(20 * stream.normal()) / 10;
    const bool up = out.x(i, 0) + 0.7 * out.x(i, 1) + 0.4 * stream.normal() > 0.3, right = out.x(i, 2) > 0.5;
    out.label.push_back(names[classes == 2 ? (up ? 1 : 0) : up ? (right ? 2 : 1) : 0]);
  }
  return out;
}

Rows& labelled(MemoryRows& rows, const detail::Coded& coded) { return rows.labels(coded.codes, coded.classes); }

// ---- The reference ----

void agrees_with(const std::string& id, const std::string& data, const std::string& how,
                 const std::optional<AnySpec>& base) {
  const Golden golden(id);
  const Table table = dataset(data);
  const auto trained = fit(AdaBoost{.base = base, .rounds = 10}, formula(how), table);
  EXPECT_TRUE(trained.certificate.holds()) << trained.certificate.message;
  const auto& rounds = golden.value("rounds").as_list();
  const DesignData rows = trained.design.apply(table);
  double before = 1;
  for (std::size_t t = 0; t < rounds.size(); ++t) {
    const auto at = static_cast<Index>(t);
    const auto number = [&, t](const char* key) { return rounds[t].at(key).as_double(); };
    EXPECT_NEAR(trained.error(at), number("weighted_error"), 1e-8) << t;
    EXPECT_NEAR(trained.beta(at), number("alpha"), 1e-8) << t;
    EXPECT_NEAR(trained.risk(at) / before, number("normaliser"), 1e-8) << t;
    EXPECT_NEAR(trained.training_error(at), number("training_error"), 1e-14) << t;
    EXPECT_NEAR(trained.risk(at), number("exp_loss"), 1e-8 * number("exp_loss")) << t;
    before = trained.risk(at);
    if (base) continue;
    EXPECT_EQ(trained.design.features()[static_cast<std::size_t>(trained.stumps(at, 0))],
              rounds[t].at("feature").as_string());
    EXPECT_NEAR(trained.stumps(at, 1), number("threshold"), 1e-9 * std::abs(number("threshold")));
    EXPECT_EQ(trained.stumps(at, 3) - trained.stumps(at, 2), number("sign"));
  }
  const Vector score = trained.decision(rows.x).col(0).head(10);
  EXPECT_TRUE(golden.agrees("score_first10", score));
  MemoryRows memory(rows.x);
  memory.labels(rows.label, trained.design.classes());
  BlockBuffer buffer;
  const auto told = trained.diagnostics(memory.read(0, memory.count(), buffer));
  ASSERT_EQ(told[1].name, "weight");
  const Vector weights = told[1].values / told[1].values.sum();
  EXPECT_TRUE(golden.agrees("weights_first10", Vector(weights.head(10))));
}

TEST(AdaBoost, ARowWithoutAClassHasNoMargin) {
  Matrix x(6, 1);
  x << 1, 2, 3, 4, 5, 6;
  const auto m = fit(AdaBoost{.rounds = 2}, x, std::vector<std::string>{"a", "a", "b", "a", "b", "b"});
  const MemoryRows rows(x);
  BlockBuffer buffer;
  Block block = rows.read(0, 6, buffer);
  const Labels label{0, -1, 1, 0, 1, 1};
  block.label = label;
  for (const auto& column : m.diagnostics(block))
    for (Index i = 0; i < 6; ++i) EXPECT_EQ(std::isnan(column.values(i)), i == 1) << column.name << i;
}

TEST(AdaBoost, OfStumpsOnIonosphereIsTheReferenceRoundByRound) {
  agrees_with("adaboost_ionosphere", "ionosphere", "Class ~ . - V1 - V2", {});
}
TEST(AdaBoost, OfStumpsOnSpamIsTheReferenceRoundByRound) { agrees_with("adaboost_spam", "spam", "type ~ .", {}); }
TEST(AdaBoost, OfStumpsThatAreTreesIsTheReferenceToo) {
  agrees_with("adaboost_ionosphere", "ionosphere", "Class ~ . - V1 - V2", grown_stump());
}

// ---- Two ways to one answer ----

TEST(AdaBoost, OfStumpsIsWhatItIsOfTreesOfDepthOne) {
  for (const Index classes : {2, 3})
    for (const std::uint64_t seed : {3U, 4U, 5U}) {
      const Data data = corners(300, classes, seed);
      Vector weights(300);
      for (Index i = 0; i < 300; ++i) weights(i) = static_cast<double>((i * 5) % 4);
      const auto fast = fit(AdaBoost{.rounds = 40}, data.x, data.label, {.weights = weights});
      const auto grown = fit(AdaBoost{.base = grown_stump(), .rounds = 40}, data.x, data.label, {.weights = weights});
      EXPECT_EQ(fast.models.size(), 0U);
      ASSERT_EQ(grown.models.size(), static_cast<std::size_t>(fast.learners()));
      EXPECT_LT((fast.error - grown.error).cwiseAbs().maxCoeff(), 1e-12);
      EXPECT_LT((fast.beta - grown.beta).cwiseAbs().maxCoeff(), 1e-11);
      Matrix fresh = corners(200, 2, 77).x;
      fresh(3, 0) = fresh(4, 1) = std::nan("");
      EXPECT_LT((fast.decision(fresh) - grown.decision(fresh)).cwiseAbs().maxCoeff(), 1e-10) << classes << " " << seed;
      EXPECT_TRUE(grown.certificate.holds()) << grown.certificate.message;
    }
}

TEST(AdaBoost, CountsTheLeastErrorOfAStumpByTwoRoutesAlike) {
  const Data data = corners(150, 3);
  const auto coded = detail::code(data.label);
  MemoryRows memory(data.x);
  labelled(memory, coded);
  const ensemble::TrainingRows rows("adaboost", memory, {});
  const ensemble::SortedColumns columns(rows, {});
  RandomStream stream(9);
  Vector weight(150);
  for (double& each : weight) each = stream.uniform();
  weight *= 150 / weight.sum();
  const ensemble::Stump best = columns.best(weight, {});
  double wrong = 0;
  for (Index i = 0; i < 150; ++i)
    if (best.of(data.x(i, best.column)) != coded.codes[static_cast<std::size_t>(i)]) wrong += weight(i);
  EXPECT_NEAR(columns.least_wrong(weight, {}), wrong, 1e-11);
}

// ---- What it says ----

TEST(AdaBoost, HasThePosteriorOfTheLogisticOfTwiceTheScore) {
  const Data data = corners(200, 2);
  const auto m = fit(AdaBoost{.rounds = 15}, data.x, data.label);
  const Matrix p = m.probabilities(data.x);
  const Vector score = m.decision(data.x).col(0);
  for (Index i = 0; i < 200; ++i) EXPECT_NEAR(p(i, 1), 1 / (1 + std::exp(-2 * score(i))), 1e-14);
}

TEST(AdaBoost, TheRiskFallsInEveryRoundAndBoundsTheTrainingError) {
  for (const Index classes : {2, 3}) {
    const Data data = corners(400, classes);
    const auto m = fit(AdaBoost{.rounds = 60}, data.x, data.label);
    for (Index t = 1; t < m.learners(); ++t) EXPECT_LT(m.risk(t), m.risk(t - 1));
    for (Index t = 0; classes == 2 && t < m.learners(); ++t) EXPECT_LE(m.training_error(t), m.risk(t) + 1e-12);
    EXPECT_LT(m.training_error(m.learners() - 1), (classes == 2 ? 0.5 : 0.9) * m.training_error(0));
  }
}

TEST(AdaBoost, EndsAtALearnerWithoutError) {
  Matrix x(6, 1);
  x << 1, 2, 3, 10, 11, 12;
  const auto m = fit(AdaBoost{}, x, std::vector<std::string>{"a", "a", "a", "b", "b", "b"});
  EXPECT_EQ(m.learners(), 1);
  EXPECT_EQ(m.error(0), 0);
  EXPECT_EQ(m.certificate.stopped, "a learner without error");
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_EQ(m.stumps(0, 1), 6.5);
  EXPECT_EQ(m.predict(x), (Labels{0, 0, 0, 1, 1, 1}));
  const auto deep = fit(AdaBoost{.base = parse_method("tree(depth=3, min_split=2, cp=-1)").completed()},
                        corners(60, 2).x, corners(60, 2).label);
  EXPECT_TRUE(deep.certificate.holds()) << deep.certificate.message;
}

TEST(AdaBoost, EndsAtALearnerThatIsNoBetterThanChance) {
  Matrix x(8, 1);  // after the first round no stump is better than chance: x tells nothing but its sides
  x << 0, 0, 0, 0, 1, 1, 1, 1;
  const auto m = fit(AdaBoost{}, x, std::vector<std::string>{"a", "a", "a", "b", "b", "b", "b", "a"});
  EXPECT_EQ(m.learners(), 1);
  EXPECT_NEAR(m.error(0), 0.25, 1e-15);
  EXPECT_EQ(m.certificate.stopped, "a learner no better than chance");
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
}

TEST(AdaBoost, TakesCategoriesAndMissingValuesThroughTheTree) {
  RandomStream stream(2);
  std::vector<std::string> colour, size, side;
  std::vector<double> x;
  const std::vector<std::string> colours{"blue", "green", "red", "white"};
  for (Index i = 0; i < 200; ++i) {
    const auto k = static_cast<std::size_t>(stream.below(4));
    colour.push_back(colours[k]);
    size.emplace_back(i % 2 == 0 ? "large" : "small");
    x.push_back(i % 9 == 0 ? std::nan("") : stream.normal());
    side.emplace_back((k % 2 == 0 ? 1.0 : -1.0) + stream.normal() + (i % 2 == 0 ? 0.7 : 0) > 0 ? "up" : "down");
  }
  const Table table(
      {categorical("colour", colour), categorical("size", size), numeric("x", x), categorical("side", side)}, "mixed");
  for (const char* how : {"side ~ colour + size", "side ~ size + x"}) {
    const auto m = fit(AdaBoost{.rounds = 8}, formula(how), table);
    EXPECT_EQ(m.models.size(), static_cast<std::size_t>(m.learners())) << how;
    EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  }
  const auto two = fit(AdaBoost{.rounds = 8}, formula("side ~ size"), table);  // two levels are a threshold
  const auto grown = fit(AdaBoost{.base = grown_stump(), .rounds = 8}, formula("side ~ size"), table);
  EXPECT_EQ(two.models.size(), 0U);
  EXPECT_EQ(two.predict(table), grown.predict(table));
}

// ---- Learners of all kinds ----

TEST(AdaBoost, OfAWeightedLearnerLooksAgainAtEachWithTheWeightsOfItsRound) {
  const Data data = corners(200, 3);
  const auto coded = detail::code(data.label);
  MemoryRows rows(data.x);
  labelled(rows, coded);
  for (const char* base : {"lda", "scale | multinomial", "tree(depth=2)"}) {
    const auto m = fit(Valid<AdaBoost>(AdaBoost{.base = parse_method(base).completed(), .rounds = 6}), rows, {});
    EXPECT_TRUE(m.certificate.holds()) << base << ": " << m.certificate.message;
    EXPECT_FALSE(*m.spec.resample);
    EXPECT_TRUE(verify(m, rows).holds()) << base << ": " << verify(m, rows).message;
  }
}

TEST(AdaBoost, OfALearnerWithoutWeightsDrawsItsRows) {
  const Data data = corners(200, 2);
  const auto coded = detail::code(data.label);
  MemoryRows rows(data.x);
  labelled(rows, coded);
  const AnySpec base = parse_method("bayes_logistic").completed();
  const bool weighted = base.method().about().takes_weights;
  const auto m = fit(Valid<AdaBoost>(AdaBoost{.base = base, .rounds = 5, .resample = true}), rows, {});
  EXPECT_TRUE(verify(m, rows).holds()) << verify(m, rows).message;
  EXPECT_LT(m.training_error(m.learners() - 1), 0.2);
  std::vector<Index> turned(200);
  for (Index i = 0; i < 200; ++i) turned[static_cast<std::size_t>(i)] = 199 - i;
  const auto other = fit(Valid<AdaBoost>(m.spec), SelectedRows(rows, turned), {});
  EXPECT_LT((m.decision(data.x) - other.decision(data.x)).cwiseAbs().maxCoeff(), 1e-9);
  const auto automatic = fit(Valid<AdaBoost>(AdaBoost{.base = base, .rounds = 2}), rows, {});
  EXPECT_EQ(*automatic.spec.resample, !weighted);
}

// ---- What is refused ----

TEST(AdaBoost, RefusesWhatItCannotUse) {
  const Data data = corners(40, 2);
  EXPECT_EQ(message_of([&] { fit(AdaBoost{}, data.x, data.label, {.weights = Vector::Zero(40)}); }),
            "adaboost: the weights add up to 0; no row has a weight above 0");
  EXPECT_NE(message_of([&] {
              fit(AdaBoost{.base = parse_method("ridge").completed()}, data.x, data.label);
            }).find("does not predict classes"),
            std::string::npos);
  EXPECT_NE(message_of([&] { parse_method("adaboost(stumpy)"); }).find("there is no method 'stumpy'"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(AdaBoost{}, data.x, std::vector<std::string>(40, "a")); }).find("two classes"),
            std::string::npos);
  std::string without;
  for (const Method* each : catalog())
    if (!each->about().takes_weights && each->about().task == Task::classification && each->about().uses_response)
      without = each->name();
  if (!without.empty()) {
    EXPECT_NE(message_of([&] {
                fit(AdaBoost{.base = parse_method(without).completed(), .resample = false}, data.x, data.label);
              }).find("takes no weights"),
              std::string::npos);
  }
  const Matrix constant = Matrix::Constant(4, 1, 2.0);
  EXPECT_NE(message_of([&] {
              fit(AdaBoost{}, constant, std::vector<std::string>{"a", "b", "a", "b"});
            }).find("no better than chance"),
            std::string::npos);
}

// ---- The certificate ----

TEST(AdaBoost, TheNaturalWrongAlgorithmsFailItsCertificate) {
  const Data data = corners(200, 2);
  const auto coded = detail::code(data.label);
  MemoryRows rows(data.x);
  labelled(rows, coded);
  const auto right = fit(Valid<AdaBoost>(AdaBoost{.rounds = 12}), rows, {});
  ASSERT_TRUE(verify(right, rows).holds()) << verify(right, rows).message;
  AdaBoostModel forgot = right;  // every learner on the weights of the first round: always the same stump
  for (Index t = 1; t < 12; ++t) {
    forgot.stumps.row(t) = right.stumps.row(0);
    forgot.error(t) = right.error(0);
    forgot.beta(t) = right.beta(0);
  }
  EXPECT_FALSE(certify(forgot, rows, {}).holds());
  AdaBoostModel samme = right;  // β without its half, as SAMME counts
  samme.beta *= 2;
  EXPECT_FALSE(certify(samme, rows, {}).holds());
  AdaBoostModel weak = right;  // a stump that is not the best, with all numbers its own
  weak.stumps(11, 0) = right.stumps(11, 0) == 3 ? 2 : 3;
  EXPECT_FALSE(certify(weak, rows, {}).holds());
  AdaBoostModel short_of = right;  // fewer rounds than were asked for, without a reason
  short_of.spec.rounds = 13;
  const Certificate found = certify(short_of, rows, {});
  EXPECT_FALSE(found.holds());
  EXPECT_NE(found.message.find("ended after 12 of 13 rounds"), std::string::npos) << found.message;
}

}  // namespace
}  // namespace lemma
