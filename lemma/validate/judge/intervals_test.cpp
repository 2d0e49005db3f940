// lemma/validate/judge/intervals_test.cpp: every figure with an interval, and of the kind that is asked for.
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/validate/judge.hpp>
#include <tests/message_of.hpp>
#include <tests/trained.hpp>

namespace lemma {
namespace {

TEST(Judge, EveryFigureHasAnIntervalButTheLargestError) {
  const Table fresh = dataset("pima_test"), boston = dataset("boston");
  const auto lda = trained("lda", dataset("pima_train"), "type ~ ."), ols = trained("ols", boston, "medv ~ lstat + rm");
  JudgeOptions options;
  options.also = {asked_measure("ece")};
  const Judgement classes = judge(lda, fresh, options), numbers = judge(ols, boston);
  for (const auto* found : {&classes, &numbers})
    for (const Measure& each : found->measures) {
      EXPECT_EQ(each.bounds.has_value(), each.name != "max_error") << each.name;
      const bool biased = each.name == "ece" || each.name == "largest_calibration_error";  // upwards, in samples too
      if (!each.bounds || biased) continue;
      EXPECT_LE(each.bounds->lower, each.value) << each.name;
      EXPECT_GE(each.bounds->upper, each.value) << each.name;
    }
  EXPECT_EQ(classes.bootstrap, 1000);
  for (const ClassScore& each : classes.per_class)
    for (const auto& [value, bounds] : {std::pair{each.precision, each.precision_bounds},
                                        {each.recall, each.recall_bounds},
                                        {each.f1, each.f1_bounds},
                                        {each.auc, each.auc_bounds}}) {
      ASSERT_TRUE(bounds);
      EXPECT_LT(bounds->lower, value);
      EXPECT_GT(bounds->upper, value);
    }
  EXPECT_EQ(find_measure(numbers.measures, "max_error")->meaning.find("new rows"), std::string::npos)
      << "rows that trained the model tell nothing of new ones";
  const Judgement unseen = judge(trained("ols", boston.slice(0, 300), "medv ~ lstat + rm"), boston.slice(300, 206));
  // 206 errors: 1 - 0.05^(1/206)
  EXPECT_NE(find_measure(unseen.measures, "max_error")->meaning.find("at most 1.4 % of new rows"), std::string::npos);
  EXPECT_FALSE(find_measure(classes.measures, "f1 of class 0")) << "only while rows are drawn";
  options.execution.threads = 1;
  EXPECT_EQ(to_value(judge(lda, fresh, options)), to_value(classes)) << "on any number of threads";
}

TEST(Judge, IntervalsOfSharesAreThoseAskedFor) {
  const Table fresh = dataset("pima_test");
  const auto lda = trained("lda", dataset("pima_train"), "type ~ .");
  JudgeOptions options;
  options.bootstrap = 0;
  for (const auto kind : {RateInterval::wilson, RateInterval::exact, RateInterval::hoeffding}) {
    options.rates = kind;
    const Judgement found = judge(lda, fresh, options);
    const Measure& accuracy = *find_measure(found.measures, "accuracy");
    EXPECT_EQ(accuracy.bounds->lower, bounds_of_rate(accuracy.value, 332, kind)->lower);
    EXPECT_EQ(find_measure(found.measures, "sensitivity")->bounds->upper,
              bounds_of_rate(find_measure(found.measures, "sensitivity")->value, 109, kind)->upper);
    EXPECT_FALSE(find_measure(found.measures, "kappa")->bounds);
    EXPECT_EQ(to_value(found).at("intervals").at("rates").as_string(), name_of(kind));
  }
  options.bootstrap = 5;
  EXPECT_NE(message_of([&] { judge(lda, fresh, options); }).find("at least 10, or 0 for none"), std::string::npos);
}

TEST(Judge, WeightsAreCopiesInTheBootstrapToo) {  // not the same draws, but the same spread
  std::vector<double> x, w;
  std::vector<std::string> y;
  for (int i = 0; i < 40; ++i) {
    x.push_back(i % 10);
    y.push_back((i * 7) % 10 + i % 3 > 5 ? "b" : "a");
    w.push_back(1 + i % 3);
  }
  const Table once({numeric("x", x), categorical("y", y), numeric("w", w)});
  std::vector<Index> copies;
  for (Index i = 0; i < 40; ++i)
    for (double k = 0; k < w[static_cast<std::size_t>(i)]; ++k) copies.push_back(i);
  const auto model = trained("lda", once, "y ~ x");
  JudgeOptions weighted, plain;
  weighted.weights = "w";
  weighted.bootstrap = plain.bootstrap = 2000;
  const Judgement first = judge(model, once, weighted), second = judge(model, once.select(copies), plain);
  const auto &a = *find_measure(first.measures, "kappa"), &b = *find_measure(second.measures, "kappa");
  EXPECT_NEAR(a.value, b.value, 1e-12);
  EXPECT_NEAR(a.bounds->lower, b.bounds->lower, 0.05);
  EXPECT_NEAR(a.bounds->upper, b.bounds->upper, 0.05);
}

TEST(Judge, AgreementWithGivenClassesHasIntervalsToo) {
  const Table iris = dataset("iris");
  const auto found = trained("kmeans(k=3)", iris, "~ . - species");
  JudgeOptions options;
  options.truth = "species";
  const Judgement judged = judge(found, iris, options);
  for (const char* name : {"rand", "adjusted_rand", "mutual_information", "adjusted_mutual_information", "purity"}) {
    const Measure* each = find_measure(judged.measures, name);
    ASSERT_TRUE(each && each->bounds) << name;
    EXPECT_LT(each->bounds->lower, each->value) << name;
    EXPECT_GT(each->bounds->upper, each->value) << name;
  }
}

TEST(Judge, ClustersHaveIntervalsWithoutATruthToo) {
  const Table iris = dataset("iris");
  const Judgement judged = judge(trained("kmeans(k=3)", iris, "~ . - species"), iris);
  for (const Measure& each : judged.measures) {
    ASSERT_TRUE(each.bounds) << each.name;
    EXPECT_LT(each.bounds->lower, each.value) << each.name;
    EXPECT_GT(each.bounds->upper, each.value) << each.name;
  }
}

TEST(Judge, MarginsWithoutProbabilitiesOrderTheRows) {
  const auto svm = trained("svm", dataset("pima_train"), "type ~ .");
  const Judgement found = judge(svm, dataset("pima_test"));
  ASSERT_TRUE(find_measure(found.measures, "auc"));
  EXPECT_GT(find_measure(found.measures, "auc")->value, 0.6);
  EXPECT_FALSE(find_measure(found.measures, "log_loss"));
}

}  // namespace
}  // namespace lemma
