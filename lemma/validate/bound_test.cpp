// lemma/validate/bound_test.cpp: what is promised of an error, by which argument, and what says nothing.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/validate/bound.hpp>
#include <tests/trained.hpp>

namespace lemma {
namespace {

TEST(Bound, NewRowsHaveHoeffdingAndTrainingRowsTheOthers) {
  const Table train_rows = dataset("pima_train"), test_rows = dataset("pima_test");
  const TrainedModel model = trained("lda", train_rows, "type ~ .");
  const auto fresh = bound_risk(model, MemoryTableStream(test_rows));
  const double n = 332, error = fresh.error;
  EXPECT_NEAR(*fresh.bounds[0].value, error + std::sqrt(std::log(2 / 0.05) / (2 * n)), 1e-12);
  EXPECT_LT(*fresh.bounds[1].value, *fresh.bounds[0].value);  // the exact one is sharper
  EXPECT_GT(*fresh.bounds[1].value, error);
  EXPECT_FALSE(fresh.bounds[2].value);
  EXPECT_FALSE(fresh.bounds[3].value);
  BoundOptions options;
  options.draws = 5;
  const auto seen = bound_risk(model, MemoryTableStream(train_rows), options);
  EXPECT_FALSE(seen.bounds[0].value);
  EXPECT_NE(seen.bounds[0].says.find("has learned from these rows"), std::string::npos);
  EXPECT_TRUE(seen.bounds[2].value);
  EXPECT_TRUE(seen.bounds[2].says_nothing());  // 8 dimensions and 200 rows
  EXPECT_TRUE(seen.bounds[3].value);
  EXPECT_GT(*seen.bounds[3].value, seen.error);
}

TEST(Bound, OfSeveralClassesCountsTheWaysInWhichLinearRulesCanLabel) {
  const Table iris = dataset("iris");
  const auto seen = bound_risk(trained("lda", iris, "species ~ petal_length"), MemoryTableStream(iris));
  const double n = 150, growth = 3 * log_growth(300, 2);  // a half space of two dimensions for each of three pairs
  EXPECT_NEAR(*seen.bounds[2].value, seen.error + std::sqrt(8 / n * (std::log(4 / 0.05) + growth)), 1e-12);
  EXPECT_NE(seen.bounds[2].assumes.find("largest of 3 linear functions of 1 columns"), std::string::npos);
  const auto tree = bound_risk(trained("tree", iris, "species ~ ."), MemoryTableStream(iris));
  EXPECT_FALSE(tree.bounds[2].value);
  EXPECT_NE(tree.bounds[2].says.find("may be infinite"), std::string::npos);
}

TEST(Bound, RandomSignsAreFollowedByRulesOfSeveralClassesToo) {
  std::vector<double> x;
  std::vector<std::string> y;
  for (int i = 0; i < 90; ++i) {
    x.push_back(i);
    y.push_back(i < 30 ? "a" : i < 60 ? "b" : "c");
  }
  Table table({numeric("x", x), categorical("y", y)});
  const MemoryTableStream rows(table);
  BoundOptions options;
  options.draws = 8;
  const double n = 90, chance = 3 * std::sqrt(std::log(2 / 0.05) / (2 * n));
  const auto learned = bound_risk(trained("knn(k=1)", table, "y ~ x"), rows, options);
  const auto nearest = bound_risk(trained("centroid", table, "y ~ x"), rows, options);
  ASSERT_TRUE(learned.bounds[3].value);
  EXPECT_NEAR(*learned.bounds[3].value, 1 + chance, 1e-12);  // learned by heart: all signs are followed
  ASSERT_TRUE(nearest.bounds[3].value);
  const double complexity = *nearest.bounds[3].value - nearest.error - chance;
  EXPECT_GT(complexity, 0);
  EXPECT_LT(complexity, 0.5);  // two thresholds follow few of 90 signs
}

TEST(Bound, LooksWidenWhatIsPromised) {
  const TrainedModel model = trained("lda", dataset("pima_train"), "type ~ .");
  BoundOptions many;
  many.looks = 100;
  const Table fresh = dataset("pima_test");
  const MemoryTableStream rows(fresh);
  EXPECT_GT(*bound_risk(model, rows, many).bounds[0].value, *bound_risk(model, rows).bounds[0].value);
}

TEST(Bound, TheBinomialOneIsClopperAndPearsons) {  // P(X ≤ k | p) = δ at the bound: 0 of n mistakes give 1 − δ^(1/n)
  Table table({numeric("x", {0, 1, 2, 10, 11, 12}), categorical("y", {"a", "a", "a", "b", "b", "b"})});
  const TrainedModel model = trained("lda", table, "y ~ x");
  Table fresh({numeric("x", {0.5, 1.5, 10.5, 11.5}), categorical("y", {"a", "a", "b", "b"})});
  const auto found = bound_risk(model, MemoryTableStream(fresh));
  EXPECT_EQ(found.error, 0);
  EXPECT_NEAR(*found.bounds[1].value, 1 - std::pow(0.05, 0.25), 1e-10);
}

TEST(Bound, GrowthIsSauersSum) {
  EXPECT_NEAR(log_growth(5, 2), std::log(1 + 5 + 10), 1e-12);
  EXPECT_NEAR(log_growth(3, 7), 3 * std::log(2), 1e-12);
}

}  // namespace
}  // namespace lemma
