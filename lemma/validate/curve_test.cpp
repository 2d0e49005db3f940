// lemma/validate/curve_test.cpp: curves of classifiers, and what they are compared by.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/bayes/decide.hpp>
#include <lemma/catalog.hpp>
#include <lemma/core/error.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/validate/curve.hpp>
#include <lemma/validate/judge.hpp>
#include <tests/message_of.hpp>
#include <tests/trained.hpp>

namespace lemma {
namespace {

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

TEST(Curve, EveryFigureBesideItHasAnInterval) {
  const Table fresh = dataset("pima_test");
  const TrainedModel lda = trained("lda", dataset("pima_train"), "type ~ .");
  const std::vector<NamedModel> models{{"lda", &lda}};
  for (const auto kind : {CurveKind::roc, CurveKind::pr, CurveKind::lift, CurveKind::calibration}) {
    CurveOptions options;
    options.judge.bootstrap = 200;
    options.judge.execution.threads = 1;
    const CurveResult one = curve(kind, models, MemoryTableStream(fresh), options);
    options.judge.execution.threads = 3;
    EXPECT_EQ(to_json(to_value(one)), to_json(to_value(curve(kind, models, MemoryTableStream(fresh), options))));
    for (const Measure& each : one.curves[0].measures) {
      ASSERT_TRUE(each.bounds) << each.name;
      EXPECT_LT(each.bounds->lower, each.bounds->upper) << each.name;
    }
  }
  JudgeOptions judged;
  judged.bootstrap = 200;
  CurveOptions options;
  options.judge = judged;
  EXPECT_EQ(find_measure(judge(lda, fresh, judged).measures, "average_precision")->bounds->lower,
            curve(CurveKind::pr, models, MemoryTableStream(fresh), options).curves[0].measures[0].bounds->lower)
      << "the same as evaluate tells";
}

TEST(Curve, OfMarginsWithoutProbabilitiesGoesByTheDecision) {
  const Table rows = dataset("pima_train"), fresh = dataset("pima_test");
  const TrainedModel svm = trained("linear_svm", rows, "type ~ .");
  const std::vector<NamedModel> models{{"svm", &svm}};
  const auto found = curve(CurveKind::roc, models, MemoryTableStream(fresh));
  EXPECT_GT(found.curves[0].measures[0].value, 0.8);
  EXPECT_EQ(message_of([&] { curve(CurveKind::calibration, models, MemoryTableStream(fresh)); }),
            "svm gives no probabilities that could be calibrated; calibrate(linear_svm) does");
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
