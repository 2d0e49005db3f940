// lemma/metric/classification_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/metric/classification.hpp>
#include <tests/golden.hpp>

namespace lemma {
namespace {

double value_of(const ClassificationScore& score, std::string_view name) {
  const Measure* measure = find_measure(score.measures, name);
  return measure ? measure->value : std::nan("");
}

/// Two columns, the second being the score.
Matrix two_columns(const Vector& score) {
  Matrix p(score.size(), 2);
  p << Vector::Ones(score.size()) - score, score;
  return p;
}

class Binary : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Reference, Binary, testing::Values("metrics_binary", "metrics_binary_ties"));

TEST_P(Binary, MeasuresMatchTheReference) {
  const Golden golden(GetParam());
  const Vector score = golden.vector("score");
  Labels predicted;
  for (const double s : score) predicted.push_back(s > golden.number("threshold"));
  const auto result = score_classification(golden.labels("y"), {predicted, two_columns(score), {}}, 2);

  Value table = Value::object();
  table.set("tn", result.confusion.counts(0, 0)).set("fp", result.confusion.counts(0, 1));
  table.set("fn", result.confusion.counts(1, 0)).set("tp", result.confusion.counts(1, 1));
  EXPECT_TRUE(golden.agrees("confusion", table));
  EXPECT_TRUE(golden.agrees("accuracy", value_of(result, "accuracy")));
  EXPECT_TRUE(golden.agrees("precision", value_of(result, "precision")));
  EXPECT_TRUE(golden.agrees("recall", value_of(result, "sensitivity")));
  EXPECT_TRUE(golden.agrees("specificity", value_of(result, "specificity")));
  EXPECT_TRUE(golden.agrees("f1", value_of(result, "f1")));
  EXPECT_TRUE(golden.agrees("balanced_accuracy", value_of(result, "balanced_accuracy")));
  EXPECT_TRUE(golden.agrees("matthews", value_of(result, "matthews")));
  EXPECT_TRUE(golden.agrees("cohen_kappa", value_of(result, "kappa")));
  EXPECT_TRUE(golden.agrees("auc", value_of(result, "auc")));
  EXPECT_TRUE(golden.agrees("average_precision", value_of(result, "average_precision")));
  EXPECT_TRUE(golden.agrees("log_loss", value_of(result, "log_loss")));
  EXPECT_TRUE(golden.agrees("brier", value_of(result, "brier")));
  EXPECT_TRUE(golden.agrees("roc_fpr", result.roc->false_positive_rate));
  EXPECT_TRUE(golden.agrees("roc_tpr", result.roc->true_positive_rate));
}

TEST(ClassMeasures, OfSeveralClassesMatchTheReference) {
  const Golden golden("metrics_multiclass");
  const Matrix p = golden.matrix("probabilities");
  const auto result = score_classification(golden.labels("y"), {most_probable(p), p, {}}, 3);
  EXPECT_TRUE(golden.agrees("confusion", result.confusion.counts));
  EXPECT_TRUE(golden.agrees("accuracy", value_of(result, "accuracy")));
  EXPECT_TRUE(golden.agrees("macro_f1", value_of(result, "macro_f1")));
  EXPECT_TRUE(golden.agrees("weighted_f1", value_of(result, "weighted_f1")));
  EXPECT_TRUE(golden.agrees("macro_precision", value_of(result, "macro_precision")));
  EXPECT_TRUE(golden.agrees("macro_recall", value_of(result, "macro_recall")));
  EXPECT_TRUE(golden.agrees("log_loss", value_of(result, "log_loss")));
  EXPECT_TRUE(golden.agrees("brier_sum", value_of(result, "brier")));
  EXPECT_TRUE(golden.agrees("kappa", value_of(result, "kappa")));
  EXPECT_TRUE(golden.agrees("macro_auc_ovr", value_of(result, "macro_auc")));
}

TEST(ClassMeasures, OfTwoClassesAgreeWithTheFormForSeveral) {  // MCC by its two-class formula
  const Labels truth{0, 0, 1, 1, 1, 0, 1}, predicted{0, 1, 1, 0, 1, 0, 1};
  const auto table = confusion(truth, predicted, 2);
  const double tp = 3, tn = 2, fp = 1, fn = 1;
  EXPECT_NEAR(table.matthews(), (tp * tn - fp * fn) / std::sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)), 1e-15);
}

TEST(ClassMeasures, AWeightOfKIsKCopies) {
  const Labels truth{0, 1, 1, 0}, copied_truth{0, 0, 1, 0, 0, 0};
  const Vector score{{0.2, 0.4, 0.9, 0.4}}, copied_score{{0.2, 0.2, 0.4, 0.4, 0.4, 0.4}}, w{{2.0, 1.0, 0.0, 3.0}};
  const auto weighted = score_classification(truth, {most_probable(two_columns(score)), two_columns(score), {}}, 2, w);
  const auto copied =
      score_classification(copied_truth, {most_probable(two_columns(copied_score)), two_columns(copied_score), {}}, 2);
  ASSERT_EQ(weighted.measures.size(), copied.measures.size());
  for (std::size_t i = 0; i < copied.measures.size(); ++i) {
    const Measure &a = weighted.measures[i], &b = copied.measures[i];
    EXPECT_TRUE(std::isnan(b.value) ? std::isnan(a.value) : std::abs(a.value - b.value) < 1e-14) << b.name;
  }
  EXPECT_EQ(weighted.roc->true_positive_rate.size(), copied.roc->true_positive_rate.size());
}

TEST(ClassMeasures, ACertainMistakeCostsALargeButFiniteLoss) {
  const Matrix p{{1.0, 0.0}, {0.0, 1.0}};
  EXPECT_DOUBLE_EQ(log_losses({1, 1}, p)(0), -std::log(kSmallestProbability));
  EXPECT_EQ(log_losses({1, 1}, p)(1), 0);
}

TEST(ClassMeasures, AClassThatIsNeverPredictedHasNoPrecision) {
  const auto result = score_classification({0, 1, 2}, {{0, 0, 0}, {}, {}}, 4);
  EXPECT_TRUE(std::isnan(result.per_class[1].precision));
  EXPECT_TRUE(std::isnan(result.per_class[3].recall));             // class 3 does not occur
  EXPECT_DOUBLE_EQ(value_of(result, "macro_precision"), 1.0 / 9);  // (1/3 + 0 + 0) / 3
  EXPECT_DOUBLE_EQ(value_of(result, "balanced_accuracy"), 1.0 / 3);
  EXPECT_EQ(find_measure(result.measures, "log_loss"), nullptr);  // there are no probabilities
}

TEST(ClassMeasures, AreDefinedWhereOneClassIsMissing) {
  const auto result = score_classification({1, 1}, {{1, 0}, {}, Vector{{2.0, -1.0}}}, 2);
  EXPECT_TRUE(std::isnan(value_of(result, "auc")));
  EXPECT_TRUE(std::isnan(value_of(result, "specificity")));
  EXPECT_DOUBLE_EQ(value_of(result, "sensitivity"), 0.5);
}

TEST(Auc, IsAHalfForAConstantScoreAndOneForAPerfectOne) {
  EXPECT_DOUBLE_EQ(auc({0, 1, 0, 1}, Vector::Constant(4, 0.3)).value, 0.5);
  EXPECT_DOUBLE_EQ(auc({0, 1, 0, 1}, Vector{{-1.0, 3.0, 0.0, 2.0}}).value, 1);
}

TEST(Auc, ItsErrorBarCoversTheTruthAboutNineteenTimesInTwenty) {
  const double truth = 0.5 * std::erfc(-0.5);  // P(N(1, 1) > N(0, 1)) = Φ(1/√2)
  int covered = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Vector score = normal_matrix(120, 1, seed).col(0);
    Labels label(120, 0);
    for (std::size_t i = 0; i < 50; ++i) {
      label[i] = 1;
      score(static_cast<Index>(i)) += 1;
    }
    const auto bounds = *auc(label, score).bounds;
    covered += bounds.lower <= truth && truth <= bounds.upper;
  }
  EXPECT_GT(covered, 360);
  EXPECT_LT(covered, 397);
}

TEST(Wilson, MatchesTheFormulaAndStaysInside) {  // 19 of 20: R's prop.test(19, 20, correct = FALSE)
  const auto bounds = *wilson(0.95, 20);
  EXPECT_NEAR(bounds.lower, 0.7638688, 1e-7);
  EXPECT_NEAR(bounds.upper, 0.9911186, 1e-7);
  EXPECT_EQ(wilson(1, 5)->upper, 1);
  EXPECT_LT(wilson(1, 5)->lower, 0.6);
  EXPECT_FALSE(wilson(0.5, 0));
}

TEST(Measures, AreShownWithTheirErrorBar) {
  EXPECT_EQ(text_of({"accuracy", 0.95, "", true, Bounds{0.8699, 0.98}}), "accuracy 0.95 [0.8699, 0.98]");
  EXPECT_EQ(text_of({"auc", std::nan(""), "", true, {}}), "auc NA");
}

TEST(ClassMeasures, RefuseWhatCannotBeEvaluated) {
  EXPECT_THROW(confusion({0, 1}, {0}, 2), Error);
  EXPECT_THROW(confusion({0, -1}, {0, 1}, 2), Error);
  EXPECT_THROW(confusion({0, 2}, {0, 1}, 2), Error);
  EXPECT_THROW(log_losses({0}, Matrix{{1.5, -0.5}}), Error);
  EXPECT_THROW(auc({0, 1}, Vector{{0.0, NAN}}), Error);
  EXPECT_THROW(score_classification({0, 1}, {{0, 1}, Matrix::Constant(2, 3, 1.0 / 3), {}}, 2), Error);
}

}  // namespace
}  // namespace lemma
