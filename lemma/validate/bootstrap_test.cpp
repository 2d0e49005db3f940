// lemma/validate/bootstrap_test.cpp
#include <atomic>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/validate/bootstrap.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

BootstrapResult of(const AnySpec& spec, const std::string& f, const Table& table, const ResultBootstrap& options) {
  return bootstrap(spec, formula(f), MemoryTableStream(table), options);
}

TEST(Bootstrap, AgreesWithTheoryWhereTheErrorsAreNormal) {
  RandomStream stream(3);
  std::vector<double> x, y;
  for (int i = 0; i < 300; ++i) {
    x.push_back(stream.normal());
    y.push_back(1 + 2 * x.back() + stream.normal());
  }
  const Table line({numeric("x", x), numeric("y", y)}, "line");
  const auto model = fit(Ols{}, formula("y ~ x"), line);
  ResultBootstrap options;
  options.samples = 400;
  for (const auto kind : {ResultInterval::percentile, ResultInterval::basic, ResultInterval::bca}) {
    options.interval = kind;
    const auto found = of(Ols{}, "y ~ x", line, options);
    EXPECT_EQ(found.names, (std::vector<std::string>{"(Intercept)", "x"}));
    EXPECT_EQ(found.estimate(1), model.coefficients(0));
    EXPECT_NEAR(found.std_error(1), model.std_errors(0), 0.15 * model.std_errors(0));
    EXPECT_NEAR(found.lower(1), model.lower(0), 0.5 * model.std_errors(0)) << name_of(kind);
    EXPECT_NEAR(found.upper(1), model.upper(0), 0.5 * model.std_errors(0)) << name_of(kind);
  }
}

TEST(Bootstrap, IntervalsFollowTheirFormulas) {
  std::vector<double> samples;
  for (int i = 1; i <= 99; ++i) samples.push_back(i);
  const auto percentile = interval_of_samples(ResultInterval::percentile, 50, samples, {}, 0.9);
  EXPECT_DOUBLE_EQ(percentile.lower, 5);
  EXPECT_DOUBLE_EQ(percentile.upper, 95);
  const auto basic = interval_of_samples(ResultInterval::basic, 40, samples, {}, 0.9);
  EXPECT_DOUBLE_EQ(basic.lower, -15);
  EXPECT_DOUBLE_EQ(basic.upper, 75);
  const auto plain = interval_of_samples(ResultInterval::bca, 50, samples, {1, 2, 3}, 0.9);
  EXPECT_NEAR(plain.lower, 5, 1e-9) << "no bias and no acceleration: the percentiles";
  EXPECT_NEAR(plain.upper, 95, 1e-9);
  const auto shifted = interval_of_samples(ResultInterval::bca, 60, samples, {}, 0.9);
  EXPECT_GT(shifted.lower, plain.lower) << "most samples below the estimate: the interval moves up";
  EXPECT_TRUE(std::isnan(interval_of_samples(ResultInterval::bca, 200, samples, {}, 0.9).lower));
}

/// Hears so many questions with patience.
class Patient final : public Progress {
 public:
  explicit Patient(long long questions) : left_(questions) {}
  void report(double, std::string_view) override {}
  bool cancelled() const override { return ++asked >= left_; }
  mutable std::atomic<long long> asked = 0;

 private:
  long long left_;
};

TEST(Bootstrap, IsAskedInsideEachFit) {
  const Table table = dataset("boston");
  ResultBootstrap options;
  options.result = "importance";
  options.interval = ResultInterval::percentile;
  options.samples = 10;
  const AnySpec forest = parse_method("forest(trees=40)").completed();
  Patient endless(1'000'000'000);
  options.execution.threads = 1;
  options.execution.progress = &endless;
  of(forest, "medv ~ .", table, options);
  EXPECT_GT(endless.asked, 40 * 11) << "at least once for each tree";
  Patient patience(endless.asked / 2);
  options.execution.progress = &patience;
  try {
    of(forest, "medv ~ .", table, options);
  } catch (const Cancelled&) {}
  EXPECT_LT(patience.asked, endless.asked / 2 + 60);
}

TEST(Bootstrap, IsTheSameOnAnyNumberOfThreads) {
  ResultBootstrap one, three;
  one.samples = three.samples = 40;
  one.execution.threads = 1;
  three.execution.threads = 3;
  const Table pima = dataset("pima_train");
  EXPECT_EQ(to_json(to_value(of(parse_method("glm(family=binomial)"), "type ~ glu + bmi", pima, one))),
            to_json(to_value(of(parse_method("glm(family=binomial)"), "type ~ glu + bmi", pima, three))));
}

TEST(Bootstrap, GroupsDrawnWholeSayHowFewThereAre) {
  std::vector<double> x, y;
  std::vector<std::string> g;
  RandomStream stream(1);
  for (int k = 0; k < 12; ++k) {
    const double effect = stream.normal();
    for (int i = 0; i < 20; ++i) {
      g.push_back("g" + std::to_string(k));
      x.push_back(k % 2);
      y.push_back(effect + 0.1 * stream.normal());
    }
  }
  const Table table({numeric("x", x), numeric("y", y), categorical("g", g)}, "groups");
  ResultBootstrap rows;
  rows.samples = 100;
  rows.interval = ResultInterval::percentile;
  ResultBootstrap groups = rows;
  groups.group = "g";
  EXPECT_GT(of(Ols{}, "y ~ x", table, groups).std_error(1), 2.5 * of(Ols{}, "y ~ x", table, rows).std_error(1));
}

TEST(Bootstrap, ASampleIsEachRowOnceWithItsCopies) {  // the same numbers as of the rows copied
  const Table pima = dataset("pima_train");
  const auto spec = parse_method("glm(family=binomial)").completed();
  ResultBootstrap options;
  options.samples = 20;
  options.interval = ResultInterval::percentile;
  const auto found = of(spec, "type ~ glu + bmi", pima, options);
  const Experiment experiment(spec, formula("type ~ glu + bmi"), MemoryTableStream(pima), {});
  const std::vector<Index> drawn{0,  0,  0,  5,  5,  9,  17, 33, 40,  41,  42, 50,
                                 51, 52, 60, 60, 77, 80, 81, 90, 101, 120, 150};
  const auto once = experiment.fit_drawn(drawn, {}), copied = experiment.fit(drawn, {});
  const Names names{experiment.design().features(), experiment.design().classes(), experiment.design().target()};
  const Vector a = once.model->results(names).at("coefficients").as_vector(),
               b = copied.model->results(names).at("coefficients").as_vector();
  EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-8 * b.cwiseAbs().maxCoeff());
  EXPECT_GT(found.std_error(1), 0);
}

TEST(Bootstrap, ClustersHaveNoOrderAndThatIsSaid) {
  ResultBootstrap options;
  options.result = "centers";
  options.samples = 10;
  const auto found = of(parse_method("kmeans").completed(), "~ petal_length + petal_width", dataset("iris"), options);
  ASSERT_FALSE(found.notes.empty());
  EXPECT_NE(found.notes.back().find("clusters have no order"), std::string::npos);
}

TEST(Bootstrap, WhatIsNotThereIsNamed) {
  ResultBootstrap options;
  options.result = "coefficient";
  EXPECT_NE(
      message_of([&] { of(Ols{}, "medv ~ lstat", dataset("boston"), options); }).find("did you mean 'coefficients'"),
      std::string::npos);
  options.result = "coefficients";
  options.samples = 3;
  EXPECT_EQ(message_of([&] { of(Ols{}, "medv ~ lstat", dataset("boston"), options); }),
            "a bootstrap needs at least 10 samples");
}

}  // namespace
}  // namespace lemma
