// lemma/validate/bias_variance_test.cpp: why methods err, from samples whose truth is known.
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/validate/bias_variance.hpp>
#include <tests/trained.hpp>

namespace lemma {
namespace {

TEST(BiasVariance, PartsAddUpToTheErrorToRounding) {
  BiasVarianceOptions options;
  options.samples = 30;
  options.rows = 40;
  options.points = 200;
  for (const char* method : {"ols", "tree"}) {
    const auto found = bias_variance(parse_method(method).completed(), *truth_named("sine"), "", options);
    EXPECT_NEAR(found.left, 0, 1e-14) << method;
    EXPECT_NEAR(found.noise->value, 0.09, 1e-12);
  }
  const auto classes = bias_variance(parse_method("lda").completed(), *truth_named("moons(noise=0.3)"), "", options);
  EXPECT_NEAR(classes.left, 0, 1e-14);
  EXPECT_GT(classes.noise->value, 0);
  const auto table = bias_variance(parse_method("ols").completed(), formula("medv ~ lstat"),
                                   MemoryTableStream(dataset("boston")), options);
  EXPECT_NEAR(table.left, 0, 1e-10);
  EXPECT_FALSE(table.noise);
}

TEST(BiasVariance, ALineIsStiffAndADeepTreeIsNot) {
  BiasVarianceOptions options;
  options.samples = 40;
  options.rows = 60;
  options.points = 300;
  const auto truth = truth_named("sine(noise=0.3)");
  const auto line = bias_variance(parse_method("ols").completed(), *truth, "", options),
             tree = bias_variance(parse_method("tree(cp=0, min_split=2)").completed(), *truth, "", options);
  EXPECT_GT(line.bias.value, 5 * line.variance.value);
  EXPECT_GT(tree.variance.value, 5 * tree.bias.value);
}

TEST(BiasVariance,
     OfLeastSquaresIsTheTextbooks) {  // variance of a fitted value: σ² (p + 1) / n on the rows themselves, no bias
  BiasVarianceOptions options;
  options.samples = 300;
  options.rows = 100;
  options.points = 400;
  const auto found =
      bias_variance(parse_method("ols").completed(), *truth_named("linear(coefficients=1,-2,0.5)"), "", options);
  EXPECT_LT(found.bias.value, 0.001);
  EXPECT_NEAR(found.variance.value, 4.0 / 96, 0.006);
}

TEST(BiasVariance, IsTheSameOnAnyNumberOfThreads) {
  BiasVarianceOptions options;
  options.samples = 8;
  options.points = 50;
  options.execution.threads = 1;
  const auto one = bias_variance(parse_method("tree").completed(), *truth_named("friedman1"), "", options);
  options.execution.threads = 4;
  const auto four = bias_variance(parse_method("tree").completed(), *truth_named("friedman1"), "", options);
  EXPECT_EQ(to_value(one), to_value(four));
}

}  // namespace
}  // namespace lemma
