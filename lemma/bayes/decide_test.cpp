// lemma/bayes/decide_test.cpp
#include <gtest/gtest.h>
#include <lemma/bayes/decide.hpp>
#include <tests/message_of.hpp>

namespace lemma {

/// P(1 | x) = x₁: probabilities that are given.
struct GivenOdds {
  bool probabilities = true;

  static constexpr std::string_view name = "given_odds";
  static constexpr MethodAbout about{.family = "bayes",
                                     .task = Task::classification,
                                     .summary = "the first column is the probability of the second class",
                                     .objective = "p = x1",
                                     .example = "lemma fit given_odds iris",
                                     .most_classes = 2};
  static constexpr auto params() { return Listing{param("probabilities", &GivenOdds::probabilities, "say them")}; }
};
static_assert(Described<GivenOdds>);

struct GivenOddsModel : Evidence {
  GivenOdds spec;
  Vector mean;
  static constexpr auto fields() { return Listing{state("mean", &GivenOddsModel::mean, "of the columns")}; }
  Index width() const { return mean.size(); }
  Index class_count() const { return 2; }
  bool has_probabilities() const { return spec.probabilities; }
  void check() const {}
  Matrix probabilities(const MatrixView& x) const {
    Matrix out(x.rows(), 2);
    out << (1 - x.col(0).array()).matrix(), x.col(0);
    return out;
  }
  Labels predict(const MatrixView& x) const {
    Labels out;
    for (Index i = 0; i < x.rows(); ++i) out.push_back(x(i, 0) > 0.5);
    return out;
  }
  std::string summary(const Names&) const { return "given\n"; }
};
Certificate certify(const GivenOddsModel& model, const Rows& rows, const Execution&) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "distance from the mean";
  out.value = (model.mean - Vector(gather(rows).colwise().mean())).norm();
  out.tolerance = 1e-9;
  return out;
}
GivenOddsModel fit(const Valid<GivenOdds>& spec, const Rows& rows, const FitOptions& options) {
  GivenOddsModel out;
  out.spec = *spec;
  out.mean = gather(rows).colwise().mean();
  out.certificate = certify(out, rows, options.execution());
  return out;
}

namespace {

struct Data {
  Matrix x{{0.05}, {0.2}, {0.45}, {0.55}, {0.97}};
  Labels label{0, 0, 1, 0, 1};
  MemoryRows rows{x};
  Data() { rows.labels(label, {"no", "yes"}); }
};

DecideModel fitted(const Decide& spec, const Rows& rows) { return fit(Valid<Decide>(spec), rows, {}); }

TEST(Decide, FollowsTheLossesAndNotTheOdds) {
  const Data data;
  const DecideModel plain = fitted({.base = GivenOdds{}}, data.rows);
  EXPECT_EQ(plain.predict(data.x), (Labels{0, 0, 0, 1, 1}));
  const DecideModel careful = fitted({.base = GivenOdds{}, .losses = Matrix{{0, 1}, {9, 0}}}, data.rows);
  EXPECT_EQ(careful.predict(data.x), (Labels{0, 1, 1, 1, 1}));  // from a probability of 0.1 on
  EXPECT_EQ(careful.probabilities(data.x), plain.probabilities(data.x));
}

TEST(Decide, WithholdsWhatCostsMoreThanNothing) {
  const Data data;
  const DecideModel model = fitted({.base = GivenOdds{}, .reject = 0.1}, data.rows);
  EXPECT_EQ(model.decided(data.x), (Labels{0, -1, -1, -1, 1}));
  EXPECT_EQ(model.predict(data.x), (Labels{0, 0, 0, 1, 1}));  // the better class all the same
  EXPECT_DOUBLE_EQ(model.expected_loss(data.x)(1), 0.1);
  EXPECT_TRUE(model.gives("decided"));
  EXPECT_FALSE(fitted({.base = GivenOdds{}}, data.rows).gives("decided"));
}

TEST(Decide, NeedsProbabilities) {
  const Data data;
  EXPECT_EQ(message_of([&] { fitted({.base = GivenOdds{.probabilities = false}}, data.rows); }),
            "decide: given_odds gives no probabilities to decide by; calibrate(given_odds) does");
}

TEST(Decide, RefusesLossesOfOtherClasses) {
  const Data data;
  EXPECT_EQ(message_of([&] { fitted({.base = GivenOdds{}, .losses = Matrix(Matrix::Zero(3, 3))}, data.rows); }),
            "the losses are 3 by 3; of 2 classes there must be 2 by 2: a row for each true class, a column for each "
            "decision");
}

TEST(Decide, ItsCertificateIsThatOfTheModelInsideWhichANaturalWrongOneFails) {
  const Data data;
  DecideModel model = fitted({.base = GivenOdds{}}, data.rows);
  EXPECT_TRUE(verify(model, data.rows).holds());
  GivenOddsModel wrong;
  wrong.mean = Vector{{0.7}};
  model.base = AnyModel(std::make_shared<SpecModel<GivenOdds, GivenOddsModel>>(wrong));
  EXPECT_TRUE(certify(model, data.rows, {}).fails());
}

}  // namespace
}  // namespace lemma
