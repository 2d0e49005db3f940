// lemma/validate/truth_test.cpp: rows from known truths, and what is known of models then.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/bayes/decide.hpp>
#include <lemma/catalog.hpp>
#include <lemma/core/error.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/data/stream.hpp>
#include <lemma/discriminant/lda.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/validate/bias_variance.hpp>
#include <lemma/validate/bound.hpp>
#include <lemma/validate/curve.hpp>
#include <lemma/validate/risk.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

TrainedModel trained(const std::string& method, const Table& table, const std::string& by) {
  const AnySpec spec = parse_method(method).completed();
  return train(spec.shared(), spec.params(), formula(by), MemoryTableStream(table));
}

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

TEST(Bound, HoeffdingsCoversInTwoHundredDraws) {
  const auto truth = truth_named("gaussians(distance=2, dimensions=1)");
  const TrainedModel model = trained("lda", draw_table(*truth, 60, 9), "class ~ .");
  const double exact = risk(model, *truth).error.value;
  int covered = 0;
  for (std::uint64_t seed = 100; seed < 300; ++seed) {
    const auto found = bound_risk(model, MemoryTableStream(draw_table(*truth, 100, seed)));
    covered += exact <= *found.bounds[1].value;  // the sharper one
  }
  EXPECT_GE(covered, 181);
}

TEST(Curve, OfSeveralModelsComparesTheirAreasOnTheSameRows) {
  const Table rows = dataset("pima_train"), fresh = dataset("pima_test");
  const TrainedModel lda = trained("lda", rows, "type ~ ."), small = trained("lda", rows, "type ~ npreg");
  const std::vector<NamedModel> models{{"large", &lda}, {"small", &small}};
  const CurveResult found = curve(CurveKind::roc, models, MemoryTableStream(fresh));
  ASSERT_EQ(found.pairs.size(), 1u);
  EXPECT_GT(found.pairs[0].found.difference, 0.1);
  EXPECT_LT(found.pairs[0].found.p, 0.001);
  EXPECT_NEAR(found.curves[0].measures[0].value - found.curves[1].measures[0].value, found.pairs[0].found.difference,
              1e-12);
  const Judgement judged = judge(lda, fresh);
  EXPECT_NEAR(find_measure(judged.measures, "auc")->value, found.curves[0].measures[0].value, 1e-12);
  EXPECT_EQ(table_of(found).column(Index{0}).name, "model");
}

TEST(Curve, OfMarginsWithoutProbabilitiesGoesByTheDecision) {
  const Table rows = dataset("pima_train"), fresh = dataset("pima_test");
  const TrainedModel svm = trained("linear_svm", rows, "type ~ .");
  const std::vector<NamedModel> models{{"svm", &svm}};
  const auto found = curve(CurveKind::roc, models, MemoryTableStream(fresh));
  EXPECT_GT(found.curves[0].measures[0].value, 0.8);
  EXPECT_EQ(message_of([&] { curve(CurveKind::calibration, models, MemoryTableStream(fresh)); }),
            "svm gives no probabilities that could be calibrated");
  CurveOptions other;
  other.positive = "No";
  EXPECT_NEAR(curve(CurveKind::roc, models, MemoryTableStream(fresh), other).curves[0].measures[0].value,
              found.curves[0].measures[0].value, 1e-12);  // the other side of the same border
}

TEST(Curve, OfSeveralClassesAsksWhichOneIsMeant) {
  const Table iris = dataset("iris");
  const TrainedModel lda = trained("lda", iris, "species ~ .");
  const std::vector<NamedModel> models{{"lda", &lda}};
  EXPECT_EQ(message_of([&] { curve(CurveKind::pr, models, MemoryTableStream(iris)); }),
            "lda tells 3 classes apart; --positive says which one is held against the rest: setosa, versicolor and "
            "virginica");
  CurveOptions options;
  options.positive = "virginica";
  EXPECT_GT(curve(CurveKind::pr, models, MemoryTableStream(iris), options).curves[0].measures[0].value, 0.99);
}

TEST(Judge, MeasuresAskedForAreAdded) {
  const Table boston = dataset("boston");
  const TrainedModel ols = trained("ols", boston, "medv ~ lstat");
  JudgeOptions options;
  for (const char* each : {"pinball=0.9", "deviance=gaussian", "coverage=0.95"})
    options.also.push_back(asked_measure(each));
  const Judgement found = judge(ols, boston, options);
  EXPECT_NEAR(find_measure(found.measures, "deviance_gaussian")->value, find_measure(found.measures, "mse")->value,
              1e-9);
  EXPECT_NEAR(find_measure(found.measures, "coverage_0.95")->value, 0.95, 0.03);
  EXPECT_TRUE(find_measure(found.measures, "pinball_0.9"));
  const TrainedModel lda = trained("lda", dataset("pima_train"), "type ~ .");
  JudgeOptions of_classes;
  for (const char* each : {"ece", "brier_parts"}) of_classes.also.push_back(asked_measure(each));
  const Judgement classes = judge(lda, dataset("pima_test"), of_classes);
  const auto value = [&](const char* name) { return find_measure(classes.measures, name)->value; };
  EXPECT_NEAR(value("reliability") - value("resolution") + value("uncertainty") + value("within_bins"), value("brier"),
              1e-12);
  EXPECT_EQ(message_of([&] { judge(lda, dataset("pima_test"), options); }),
            "--also pinball is for regression, and lda is for classification");
}

TEST(Decide, AFittedModelGetsARuleAndAnotherInItsPlace) {
  const TrainedModel lda = trained("lda", dataset("pima_train"), "type ~ .");
  const AnyModel careful = decided_by(lda.model, Matrix{{0, 1}, {10, 0}}, 0.5);
  EXPECT_TRUE(model_cast<DecideModel>(careful)->certificate.holds());
  const AnyModel plain = decided_by(careful, {}, {});
  EXPECT_EQ(model_cast<DecideModel>(plain)->base->method().name(), "lda");  // not a rule after a rule
  EXPECT_THROW(decided_by(lda.model, Matrix(Matrix::Zero(3, 3)), {}), Error);
  EXPECT_EQ(message_of([&] { decided_by(trained("linear_svm", dataset("pima_train"), "type ~ .").model, {}, {}); }),
            "decide: linear_svm gives no probabilities to decide by; calibrate(linear_svm) does");
}

}  // namespace
}  // namespace lemma
