// lemma/reduce/select_test.cpp
#include <gtest/gtest.h>

#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/reduce/select.hpp>
#include <lemma/reduce/select/parts.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

filters::Columns columns_from(const std::string& data, const std::string& text, bool codes = false,
                              Missing missing = Missing::error) {
  DesignOptions options;
  options.classify = true;
  if (codes) options.coding = Coding::codes;
  options.missing = missing;
  const Table table = dataset(data);
  const Design design(formula(text), table, options);
  const auto given = rows_for(design, MemoryTableStream(table), RowsUse{});
  return filters::columns_of(*given.rows, {});
}

Vector scores_of(const Filter& filter, const filters::Columns& c) {
  return filters::score(filter, c, c.width(), {}).scores;
}

/// By the order of the golden file's features, which may not be ours.
void expect_golden(const std::string& id, const filters::Columns& c) {
  const Golden golden(id);
  ASSERT_EQ(golden.strings("features"), c.names);
  EXPECT_TRUE(golden.agrees("pooled_t", scores_of(TFilter{}, c)));
  EXPECT_TRUE(golden.agrees("welch_t", scores_of(WelchFilter{}, c)));
  EXPECT_TRUE(golden.agrees("correlation", scores_of(CorrelationFilter{}, c)));
  EXPECT_TRUE(golden.agrees("fisher_score", scores_of(FisherFilter{}, c)));
  EXPECT_TRUE(golden.agrees("auc", scores_of(AucFilter{}, c)));
  EXPECT_TRUE(golden.agrees("pooled_t_p", filters::score(TFilter{}, c, c.width(), {}).p_values));
}

TEST(Select, FiltersOfPimaAreThoseOfScipy) {
  const auto c = columns_from("pima_train", "type ~ .");
  expect_golden("filters_pima", c);
  const Golden golden("filters_pima");  // [x > median] is two bins of equal frequency
  EXPECT_TRUE(golden.agrees("mutual_information_nats", scores_of(InformationFilter{.bins = 2}, c)));
  EXPECT_TRUE(golden.agrees("chi_square", scores_of(ChiSquaredFilter{.bins = 2}, c)));
}

TEST(Select, FiltersOfSpamAreThoseOfScipy) {
  auto c = columns_from("spam", "type ~ .");
  expect_golden("filters_spam", c);
  const Golden golden("filters_spam");  // [x > 0]
  c.x = (c.x.array() > 0).cast<double>();
  EXPECT_TRUE(golden.agrees("mutual_information_nats", scores_of(InformationFilter{}, c)));
  const Vector chi = scores_of(ChiSquaredFilter{}, c), theirs = golden.vector("chi_square");
  EXPECT_LT((chi.head(54) - theirs.head(54)).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_TRUE(std::isnan(theirs(54)) && chi.tail(3).isZero(0));  // capitals are always above 0: one bin tells nothing
}

TEST(Select, InformationOfCategoriesIsThatOfTheVotes) {
  const auto c = columns_from("house_votes", "Class ~ .", true, Missing::drop);
  const Golden golden("infogain_votes");
  EXPECT_EQ(c.rows(), 232);
  EXPECT_TRUE(golden.agrees("mutual_information_nats", scores_of(InformationFilter{}, c)));
  EXPECT_TRUE(golden.agrees("symmetric_uncertainty", scores_of(InformationFilter{.over = InformationOver::both}, c)));
  EXPECT_TRUE(golden.agrees("gain_ratio", scores_of(InformationFilter{.over = InformationOver::column}, c)));
}

const std::vector<Filter>& all_filters() {
  static const std::vector<Filter> all{TFilter{},
                                       WelchFilter{},
                                       FisherFilter{},
                                       ThresholdFilter{},
                                       MarginFilter{.ignore = 2},
                                       MarginFilter{.scaled = false},
                                       AucFilter{},
                                       CorrelationFilter{},
                                       AnovaFilter{},
                                       ChiSquaredFilter{},
                                       InformationFilter{},
                                       NeighborInformationFilter{},
                                       IncrementalFilter{},
                                       IncrementalFilter{.beta = 0.5}};
  return all;
}

TEST(Select, EveryFilterAgreesWithItsOtherRouteOnTiedAndContinuousColumns) {
  const auto c = columns_from("pima_train", "type ~ .");
  for (const auto& filter : all_filters()) {
    const auto once = filters::score(filter, c, 4, {});
    const auto again = filters::score_again(filter, c, 4, once.order, {});
    EXPECT_LT((once.scores - again.scores).cwiseAbs().maxCoeff(), 1e-10) << name_of(filter);
    EXPECT_LT(again.shortfall, 1e-12);
    EXPECT_LT((once.p_values - again.p_values).norm(), 1e-10) << name_of(filter);
  }
}

TEST(Select, TheThresholdAndTheMarginOfSmallColumnsAreThoseSeenByEye) {
  Matrix x(6, 2);
  x << 1, 5, 2, 9, 3, 1, 10, 2, 11, 8, 4, 4;  // the first column is torn apart by the row with 4
  const std::vector<std::string> labels{"a", "a", "a", "b", "b", "b"};
  const auto wrong = fit(Select{.filter = ThresholdFilter{}, .k = 1}, x, labels);
  EXPECT_DOUBLE_EQ(wrong.scores(0), 0);
  EXPECT_DOUBLE_EQ(wrong.scores(1), 2.0 / 6);
  EXPECT_EQ(wrong.kept_columns(), (std::vector<Index>{0}));
  const auto gap = fit(Select{.filter = MarginFilter{.scaled = false}, .k = 1}, x, labels);
  EXPECT_DOUBLE_EQ(gap.scores(0), 1);  // from 3 to 4
  const auto robust = fit(Select{.filter = MarginFilter{.ignore = 1, .scaled = false}, .k = 1}, x, labels);
  EXPECT_DOUBLE_EQ(robust.scores(0), 8);  // from 2 to 10
}

TEST(Select, IncrementalInformationLeavesACopyForLast) {
  RandomStream random(4);
  Matrix x(400, 3);
  std::vector<std::string> labels;
  for (Index i = 0; i < 400; ++i) {
    const double a = random.normal(), b = random.normal();
    x.row(i) << a, a, b;
    labels.emplace_back(1.5 * a + b > 0 ? "yes" : "no");
  }
  const auto plain = fit(Select{.filter = InformationFilter{}, .k = 2}, x, labels);
  EXPECT_EQ(plain.kept_columns(), (std::vector<Index>{0, 1}));
  const auto incremental = fit(Select{.filter = IncrementalFilter{.beta = 0.5}, .k = 2}, x, labels);
  EXPECT_EQ(incremental.kept_columns(), (std::vector<Index>{0, 2}));
}

TEST(Select, InformationFromNeighboursIsThatOfTwoNormalVariables) {
  RandomStream random(9);
  const double rho = 0.8, truth = -0.5 * std::log(1 - rho * rho);
  Matrix x(2000, 2);
  Vector y(2000);
  for (Index i = 0; i < 2000; ++i) {
    y(i) = random.normal();
    x.row(i) << rho * y(i) + std::sqrt(1 - rho * rho) * random.normal(), random.normal();
  }
  const auto model = fit(Select{.filter = NeighborInformationFilter{}, .k = 1}, x, y);
  EXPECT_NEAR(model.scores(0), truth, 0.06);
  EXPECT_NEAR(model.scores(1), 0, 0.06);
}

TEST(Select, BoundsTheShareOfFalseDiscoveries) {
  EXPECT_LT((filters::adjusted(Vector{{0.01, 0.04, 0.03, 0.5}}) - Vector{{0.04, 0.16 / 3, 0.16 / 3, 0.5}}).norm(),
            1e-15);
  double false_share = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {  // 10 columns of 50 tell something
    Matrix x = normal_matrix(100, 50, seed);
    std::vector<std::string> labels;
    for (Index i = 0; i < 100; ++i) {
      labels.emplace_back(i % 2 ? "b" : "a");
      if (i % 2) x.row(i).head(10).array() += 1;
    }
    const auto model = fit(Select{.filter = TFilter{}, .false_discoveries = 0.2}, x, labels);
    false_share += model.kept.tail(40).sum() / model.kept.sum() / 60;
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  }
  EXPECT_LT(false_share, 0.2);
  EXPECT_GT(false_share, 0.1);  // 0.16 = 0.2 · 40/50 is expected
}

TEST(Select, KeepsTheBestColumnWithAWarningWhereNonePasses) {
  const Matrix x = normal_matrix(30, 4, 3);
  std::vector<std::string> labels;
  for (Index i = 0; i < 30; ++i) labels.emplace_back(i % 2 ? "b" : "a");
  const auto model = fit(Select{.false_discoveries = 1e-6}, x, labels);
  EXPECT_EQ(model.output_width(), 1);
  ASSERT_EQ(model.warnings.size(), 1U);
  EXPECT_NE(model.warnings[0].find("no column passes"), std::string::npos);
}

// The k columns of largest difference of means, without their spread, are the natural wrong choice.
TEST(Select, TheNaturalWrongRankingByTheGapOfTheMeansFailsItsCertificate) {
  const Table pima = dataset("pima_train");
  const auto right = fit(Select{.filter = TFilter{}, .k = 3}, formula("type ~ ."), pima);
  const auto c = columns_from("pima_train", "type ~ .");
  SelectModel wrong = right;
  Vector gaps(c.width());
  for (Index j = 0; j < c.width(); ++j) {
    const auto sums = filters::class_sums(c, j);
    gaps(j) = sums.mean(1) - sums.mean(0);
  }
  const auto order = filters::order_by(TFilter{}, gaps);
  for (std::size_t r = 0; r < order.size(); ++r) {
    wrong.rank(order[r]) = static_cast<double>(r + 1);
    wrong.kept(order[r]) = r < 3 ? 1 : 0;
  }
  ASSERT_NE(wrong.kept_columns(), right.kept_columns());
  const auto given = rows_for(right.design, MemoryTableStream(pima), RowsUse{});
  EXPECT_TRUE(verify(static_cast<const SelectModel&>(right), *given.rows).holds());
  EXPECT_FALSE(verify(wrong, *given.rows).holds());
  wrong.rank = right.rank;
  wrong.kept = right.kept;
  wrong.scores = gaps;
  EXPECT_FALSE(verify(wrong, *given.rows).holds());
}

TEST(Select, SaysWhatDoesNotSuit) {
  const Matrix x = normal_matrix(30, 3, 3);
  const Vector y = x.col(0);
  std::vector<std::string> labels;
  for (Index i = 0; i < 30; ++i) labels.emplace_back(std::string(1, static_cast<char>('a' + i % 3)));
  EXPECT_NE(message_of([&] { fit(Select{.filter = TFilter{}}, x, y); }).find("use correlation"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(Select{.filter = TFilter{}}, x, labels); }).find("use anova"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(Select{.k = 4}, x, y); }).find("there are 3"), std::string::npos);
  EXPECT_NE(message_of([&] {
              fit(Select{.filter = ThresholdFilter{}, .false_discoveries = 0.1}, x, labels);
            }).find("needs p-values"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              fit(Select{.filter = MarginFilter{.ignore = 15}}, x,
                  std::vector<std::string>(labels.begin(), labels.end()));
            }).find("two classes"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
