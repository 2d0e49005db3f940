// lemma/validate/truth_test.cpp: rows from known truths.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <lemma/core/error.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/validate/truth.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

TEST(Truth, EveryNameDrawsFiniteRowsAndTheFirstOnesDoNotDependOnHowMany) {
  for (const auto& info : truths()) {
    const auto truth = truth_named(info.name);
    const Table many = draw_table(*truth, 50, 7), few = draw_table(*truth, 20, 7), rest = draw_table(*truth, 30, 7, 20);
    EXPECT_EQ(many.slice(0, 20), few) << info.name;
    EXPECT_EQ(many.slice(20, 30), rest) << info.name;
    EXPECT_NE(draw_table(*truth, 20, 8), few) << info.name;
    EXPECT_EQ(many.columns(), std::ssize(truth->features) + 1) << info.name;
    for (const Column& column : many.all()) EXPECT_EQ(column.missing(), 0) << info.name << ": " << column.name;
  }
}

TEST(Truth, ParametersAreReadAndMistakesNamed) {
  EXPECT_EQ(truth_named("linear(coefficients=1,-2,3,4, noise=0.5)")->features.size(), 4u);
  EXPECT_EQ(message_of([] { truth_named("moon"); }).substr(0, 51),
            "there is no truth 'moon' (did you mean 'moons'?); t");
  EXPECT_EQ(message_of([] { truth_named("moons(nois=1)"); }),
            "moons has no parameter 'nois' (did you mean 'noise'?); it has noise");
  EXPECT_EQ(message_of([] { truth_named("moons(noise=-1)"); }),
            "'moons(noise=-1)': noise is -1, must be between 0 and 100");
  EXPECT_EQ(message_of([] { truth_named("moons(noise=x)"); }), "'moons(noise=x)': 'x' of noise must be a number");
}

TEST(Truth, DrawsHaveTheMomentsThatItStates) {
  const auto truth = truth_named("poisson");
  double z = 0;
  constexpr Index n = 20000;
  const Table drawn = draw_table(*truth, n, 3);
  for (Index i = 0; i < n; ++i) {
    const double x[2] = {drawn.column(0).numbers().values[at(i)], drawn.column(1).numbers().values[at(i)]};
    double mean = 0, variance = 0;
    ASSERT_TRUE(truth->moments(x, mean, variance));
    z += (drawn.column(2).numbers().values[at(i)] - mean) / std::sqrt(variance);
  }
  EXPECT_LT(std::abs(z) / std::sqrt(double{n}), 4);
}

TEST(Truth, ProbabilitiesAreThoseOfTheDraws) {  // Σ (y − p) / √Σ p (1 − p) is standard normal
  for (const char* name : {"moons(noise=0.4)", "circles(noise=0.3)", "spirals(noise=0.3)", "checkerboard(flip=0.2)",
                           "ripley", "logistic"}) {
    const auto truth = truth_named(name);
    const Table drawn = draw_table(*truth, 2000, 5);
    double sum = 0, variance = 0, information = 0;
    std::vector<double> x(truth->features.size()), p(2);
    for (Index i = 0; i < 2000; ++i) {
      for (std::size_t j = 0; j < x.size(); ++j) x[j] = drawn.column(static_cast<Index>(j)).numbers().values[at(i)];
      ASSERT_TRUE(truth->probabilities(x.data(), p.data()));
      ASSERT_NEAR(p[0] + p[1], 1, 1e-12);
      const double y = drawn.column(std::ssize(x)).categories().codes[at(i)];
      sum += (y - p[1]) * (p[1] - 0.5);  // against the probabilities themselves: their slope is right too
      variance += p[1] * (1 - p[1]) * (p[1] - 0.5) * (p[1] - 0.5);
      information += std::abs(p[1] - 0.5);
    }
    EXPECT_LT(std::abs(sum) / std::sqrt(variance), 4) << name;
    EXPECT_GT(information, 100) << name;
  }
}

TEST(Truth, AMixtureFromADocumentIsCheckedPartByPart) {
  const auto from = [](const char* json) { return mixture_truth(from_json(json)); };
  const auto good = from(R"({"classes": [{"name": "A", "mean": [0, 0], "covariance": 1},
      {"name": "B", "prior": 3, "components": [{"weight": 1, "mean": [2, 0], "covariance": [1, 2]},
                                               {"weight": 3, "mean": [4, 0], "covariance": [[2, 1], [1, 2]]}]}]})");
  EXPECT_EQ(good->features, (std::vector<std::string>{"x1", "x2"}));
  EXPECT_NE(message_of([&] { from(R"({"classes": [{"mean": 0, "covariance": 1}]})"); }).find("two classes or more"),
            std::string::npos);
  EXPECT_EQ(
      message_of([&] {
        from(R"({"classes": [{"mean": [0, 0], "covariance": [[1, 2], [2, 1]]}, {"mean": [0, 0], "covariance": 1}]})");
      }),
      "class 'A': the covariance is not positive definite");
  EXPECT_EQ(
      message_of([&] { from(R"({"classes": [{"mean": 0, "covariance": 1}, {"mean": [0, 1], "covariance": 1}]})"); }),
      "class 'B': a mean has 2 numbers, and others have 1");
}

}  // namespace
}  // namespace lemma
