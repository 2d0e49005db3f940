// lemma/validate/risk_test.cpp: errors of models and of the best rule where the truth is known.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/validate/risk.hpp>
#include <tests/message_of.hpp>
#include <tests/trained.hpp>

namespace lemma {
namespace {

TEST(Risk, OfTwoGaussiansIsTheTextbooks) {  // Φ(−Δ/2), by quadrature in one and two dimensions
  for (const char* name : {"gaussians(distance=2, dimensions=1)", "gaussians(distance=2, dimensions=2)"}) {
    const auto truth = truth_named(name);
    const TrainedModel model = trained("lda", draw_table(*truth, 200, 1), "class ~ .");
    const Risk found = risk(model, *truth);
    EXPECT_TRUE(found.quadrature);
    EXPECT_NEAR(found.bayes->value, normal_cdf(-1), 5e-5) << name;
    EXPECT_GE(found.error.value, found.bayes->value - 1e-6);
    EXPECT_LT(found.error.value, found.bayes->value + 0.03);
    EXPECT_NEAR(found.excess->value, found.error.value - found.bayes->value, 1e-12);
    EXPECT_GE(found.nearest->value, found.cover_hart->lower);
    EXPECT_LE(found.nearest->value, found.cover_hart->upper);
  }
}

TEST(Risk, OfAGivenPlaneIsExact) {  // x₁ > c: ½ (Φ(−c) + Φ(c − 2)) for classes 2 apart
  const auto truth = truth_named("gaussians(distance=2, dimensions=1)");
  Matrix x{{-1.0}, {0.0}, {1.0}, {2.0}};
  Table table({numeric("x1", {-1, 0, 1.5, 2.5}), categorical("class", {"A", "A", "B", "B"})});
  const TrainedModel model =
      trained("lda", table, "class ~ x1");  // equal variances and priors: the border is the midpoint
  const double c = 0.75;
  const double expected = 0.5 * (normal_upper(c) + normal_cdf(c - 2));
  EXPECT_NEAR(risk(model, *truth).error.value, expected, 1e-4);
  RiskOptions simulated;
  simulated.simulate = true;
  simulated.draws = 40000;
  const Risk drawn = risk(model, *truth, simulated);
  EXPECT_FALSE(drawn.quadrature);
  EXPECT_NEAR(drawn.error.value, expected, 2 * drawn.error.error);
  EXPECT_GT(drawn.error.error, 0);
}

TEST(Risk, TheStatedErrorOfSimulationCoversInTwoHundredRuns) {
  const auto truth = truth_named("gaussians(distance=2, dimensions=1)");
  const TrainedModel model = trained("lda", draw_table(*truth, 100, 2), "class ~ .");
  const double exact = risk(model, *truth).error.value;
  int covered = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    RiskOptions options;
    options.simulate = true;
    options.draws = 300;
    options.seed = seed;
    const Risk found = risk(model, *truth, options);
    covered += std::abs(found.error.value - exact) <= found.error.error;
  }
  EXPECT_GE(covered, 181);  // 95 % less 3 standard errors
}

TEST(Risk, OfNumbersIsNoiseAndWhatTheModelAdds) {
  const auto truth = truth_named("linear(coefficients=1,-2, noise=0.5)");
  const TrainedModel model = trained("ols", draw_table(*truth, 100, 3), "y ~ .");
  const Risk found = risk(model, *truth);
  EXPECT_NEAR(found.bayes->value, 0.25, 1e-12);
  EXPECT_GT(found.excess->value, 0);
  EXPECT_LT(found.excess->value, 0.05);
}

TEST(Risk, SaysWhatDoesNotFit) {
  const auto truth = truth_named("moons");
  EXPECT_EQ(message_of([&] { risk(trained("ols", dataset("boston"), "medv ~ lstat"), *truth); }),
            "moons has a response for classification, and ols is for regression");
  EXPECT_EQ(message_of([&] { risk(trained("lda", dataset("iris"), "species ~ ."), *truth); }),
            "the model knows a class 'setosa', and moons has A and B");
}

TEST(CoverHart, TheTwoBoundsAreInverses) {
  for (const Index classes : {2, 3, 10})
    for (const double bayes : {0.0, 0.05, 0.3})
      EXPECT_NEAR(cover_hart_lower(cover_hart_upper(bayes, classes), classes), bayes, 1e-12);
}

}  // namespace
}  // namespace lemma
