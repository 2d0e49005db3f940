// lemma/data/design/missing_test.cpp: missing values, errors, and tables at prediction.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/design.hpp>
#include <limits>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

using Names = std::vector<std::string>;
const double kNaN = std::nan("");

Table table() {
  return Table(
      {numeric("y", {1, 2, 3, 4, 5}), numeric("age", {20, kNaN, 40, 41, kNaN}), numeric("bmi", {1, kNaN, 1, 9, 8}),
       categorical("sex", {"M", "F", "", "M", "M"}, {false, false, true, false, false})},
      "people.csv");
}

std::string training_error(std::string_view text, const Table& t, const DesignOptions& options = {}) {
  return message_of([&] { Design(formula(text), t, options).train(t); });
}

void expect_says(const std::string& said, const std::string& part) {
  EXPECT_NE(said.find(part), std::string::npos) << said;
}

TEST(Missing, IsAnErrorThatCountsByDefault) {
  EXPECT_EQ(training_error("y ~ .", table()),
            "4 missing values in 3 of 5 rows: age (2), bmi (1), sex (1); use --missing drop, mean, median or mode");
  EXPECT_EQ(training_error("age ~ y", table()),
            "2 missing values in 2 of 5 rows: age (2); use --missing drop, mean, median or mode");
}

TEST(Missing, RowsCanBeDropped) {
  const Design design(formula("y ~ ."), table(), {.missing = Missing::drop});
  EXPECT_EQ(design.features(), (Names{"age", "bmi"}));  // the one F is among the dropped
  const auto data = design.train(table());
  EXPECT_EQ(data.kept, (std::vector<Index>{0, 2, 3}));
  EXPECT_EQ(data.y, (std::vector<double>{1, 3, 4}));
}

TEST(Missing, DroppedRowsTeachNothing) {
  const Design design(formula("y ~ scale(age) + bmi"), table(), {.missing = Missing::drop});
  const auto data = design.train(table());
  EXPECT_NEAR(data.x(0, 0),
              (20 - 101.0 / 3) / std::sqrt((186.77777777777777 + 40.11111111111111 + 53.777777777777786) / 2), 1e-14);
  ASSERT_EQ(data.notes.size(), 1u);
  EXPECT_EQ(data.notes[0], "3 missing values in 2 of 5 rows: age (2), bmi (1); 2 rows left out");
}

TEST(Missing, ValuesAreFilledInByMeanMedianOrMode) {
  const auto x = [](Missing missing) {
    return Design(formula("y ~ age + bmi + sex"), table(), {.missing = missing}).train(table()).x;
  };
  EXPECT_NEAR(x(Missing::mean)(1, 0), 101.0 / 3, 1e-14);
  EXPECT_EQ(x(Missing::median)(1, 0), 40);
  EXPECT_EQ(x(Missing::mode)(1, 0), 20);  // the smallest of equals
  EXPECT_EQ(x(Missing::mean)(1, 1), 4.75);
  EXPECT_EQ(x(Missing::median)(1, 1), 4.5);
  EXPECT_EQ(x(Missing::mode)(1, 1), 1);
  for (const auto missing : {Missing::mean, Missing::median, Missing::mode}) EXPECT_EQ(x(missing)(2, 2), 1);  // sexM
}

TEST(Missing, AMissingResponseIsNeverMadeUp) {
  const Design design(formula("age ~ bmi"), table(), {.missing = Missing::mean});
  const auto data = design.train(table());
  EXPECT_EQ(data.kept, (std::vector<Index>{0, 2, 3}));
  expect_says(data.notes.at(0), "2 rows without a response left out");
  expect_says(training_error("sex ~ y", table(), {.classify = true}), "1 missing value in 1 of 5 rows: sex (1)");
}

TEST(Missing, ThePolicyOfTheTrainingHoldsAtPrediction) {
  const Table incomplete({numeric("age", {kNaN, 30})}, "new.csv");
  const Design filled(formula("y ~ age"), table(), {.missing = Missing::median});
  EXPECT_EQ(filled.apply(incomplete).x, (Matrix{{40}, {30}}));
  EXPECT_EQ(filled.apply(incomplete, Missing::keep).kept, (std::vector<Index>{1}));
  EXPECT_EQ(filled.apply(incomplete, Missing::keep).x, (Matrix{{30}}));
  expect_says(message_of([&] { filled.apply(incomplete, Missing::mean); }), "trained with --missing median");
  const Design strict(formula("y ~ bmi"), table().slice(2, 3));
  expect_says(message_of([&] { strict.apply(Table({numeric("bmi", {kNaN})})); }),
              "1 missing value in 1 of 1 rows: bmi (1)");
}

TEST(Missing, KeepIsNoWayToTrain) {
  expect_says(training_error("y ~ age", table(), {.missing = Missing::keep}), "for prediction");
}

TEST(Missing, WithoutAnyCompleteRowThereIsNothingToLearn) {
  const Table t({numeric("y", {1, 2}), numeric("x", {kNaN, kNaN})});
  expect_says(training_error("y ~ x", t, {.missing = Missing::drop}), "none of the 2 rows is complete");
  expect_says(training_error("y ~ x", t, {.missing = Missing::mean}), "column 'x' has no values");
  expect_says(training_error("y ~ x", t.slice(0, 0)), "no rows");
}

TEST(DesignErrors, NonFiniteValuesAreNamedWithColumnRowAndValue) {
  const Table t({numeric("y", {1, 2, 3}), numeric("x", {1, 0, -1}),
                 numeric("v", {1, std::numeric_limits<double>::infinity(), 3})});
  EXPECT_EQ(training_error("y ~ log(x)", t),
            "the term log(x) is minus infinity in row 2, where x is 0; leave such rows out with --where, or change the "
            "formula");
  expect_says(training_error("y ~ sqrt(x)", t), "sqrt(x) is NaN in row 3, where x is -1");
  expect_says(training_error("y ~ v", t), "column v is infinity in row 2");
  expect_says(training_error("v ~ x", t), "column v is infinity in row 2");
  expect_says(training_error("log(x) ~ y", t), "log(x) is minus infinity in row 2");
}

TEST(DesignErrors, PointAtTheFormula) {
  expect_says(training_error("y ~ aeg", table()),
              "there is no column 'aeg' in people.csv (did you mean 'age'?)\n  y ~ aeg\n      ^");
  expect_says(training_error("y ~ bmi + log(sex)", table()),
              "a number is needed here, but 'sex' is categorical (F, M)\n  y ~ bmi + log(sex)\n                ^");
  expect_says(training_error("y ~ offset(bmi)", table()), "does not take an offset()");
  expect_says(training_error("cbind(y, bmi) ~ age", table()),
              "this method takes one response, and cbind(y, bmi) are 2");
  expect_says(training_error("y ~ factor(sex, ref = \"m\")", table(), {.missing = Missing::mode}),
              "'m' is not a level of sex (did you mean 'M'?)");
}

TEST(DesignErrors, TheKindOfResponseMustSuitTheMethod) {
  expect_says(training_error("sex ~ y", table()),
              "the response 'sex' is categorical (F, M), but this method predicts a number");
  expect_says(training_error("factor(y) ~ bmi", table()), "predicts a number");
  expect_says(training_error("sex:y ~ bmi", table()), "joint class");
  const Table t({numeric("y", {1.5, 2, 3}), numeric("x", {1, 2, 3})});
  expect_says(training_error("y ~ x", t, {.classify = true}),
              "the response 'y' is numeric (1.5 is not a whole number), but this method predicts a class; use a "
              "regression method, or factor(y)");
  EXPECT_EQ(Design(formula("factor(y) ~ x"), t, {.classify = true}).classes(), (Names{"1.5", "2", "3"}));
  const DesignOptions either{.classify_categories = true};
  EXPECT_TRUE(Design(formula("y ~ x"), t, either).classes().empty());
  EXPECT_TRUE(Design(formula("x ~ y"), t, either).classes().empty());  // numbers are numbers, whole or not
  EXPECT_EQ(Design(formula("x ~ y"), t, either).notes(),
            (Names{"the response x is numeric, and numbers are predicted; it has 3 values, all whole: if they are "
                   "classes, write factor(x)"}));
  EXPECT_EQ(Design(formula("factor(x) ~ y"), t, either).classes(), (Names{"1", "2", "3"}));
  std::vector<double> many(2000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i);
  expect_says(training_error("y ~ x", Table({numeric("y", many), numeric("x", many)}), {.classify = true}),
              "more than 1000 values");
}

TEST(DesignErrors, TextMustBeMadeCategorical) {
  const Table t({numeric("y", {1, 2, 3}), Column{"memo", Texts{{"k", "l", "k"}, {false, false, false}}}});
  expect_says(training_error("y ~ memo", t), "'memo' is a text column; to use its values as levels write factor(memo)");
  EXPECT_EQ(Design(formula("y ~ factor(memo)"), t).features(), (Names{"factor(memo)l"}));
}

TEST(DesignErrors, AFactorWithOneLevelIsRefusedWhenNamed) {
  const Table t({numeric("y", {1, 2}), categorical("s", {"k", "k"})});
  expect_says(training_error("y ~ s", t), "s has only one level in these rows ('k')");
  expect_says(training_error("y ~ factor(s) - 1", t), "only one level");
}

TEST(DesignErrors, ConstantsNeedEnoughDifferentValues) {
  const Table t({numeric("y", {1, 2, 3}), numeric("x", {4, 4, 4}), numeric("v", {1, 2, 1})});
  expect_says(training_error("y ~ scale(x)", t), "its spread is 0");
  expect_says(training_error("y ~ poly(v, 2)", t), "needs more than 2 different values, but there are 2");
}

TEST(DesignErrors, WeightsAreFiniteAndNotNegative) {
  const Table t({numeric("y", {1, 2}), numeric("w", {1, -1}), categorical("s", {"a", "b"})});
  expect_says(training_error("y ~ 1", t, {.weights = "w"}), "'w' is -1 in row 2");
  expect_says(training_error("y ~ 1", t, {.precision = "s"}), "column 's' cannot weigh the rows");
  expect_says(training_error("y ~ 1", t, {.weights = "ww"}), "ww");
}

const Table& training() {
  static const Table t({numeric("y", {1, 2, 3, 4}), categorical("sp", {"B", "O", "B", "O"}),
                        numeric("RW", {1, 2, 3, 4}), numeric("k", {1, 2, 1, 3})});
  return t;
}

TEST(Prediction, TakesColumnsInAnyOrderAndWithoutTheResponse) {
  const Design design(formula("y ~ sp + RW"), training());
  const Table other({numeric("extra", {0}), numeric("RW", {7}), categorical("sp", {"O"})});
  const auto data = design.apply(other);
  EXPECT_EQ(data.x, (Matrix{{1, 7}}));
  EXPECT_FALSE(data.has_response);
  EXPECT_TRUE(data.y.empty());
}

TEST(Prediction, NamesMissingColumnsWrongTypesAndUnknownLevels) {
  const Design design(formula("y ~ sp + RW"), training());
  EXPECT_EQ(message_of([&] {
              design.apply(Table({numeric("Rw", {1}), categorical("sp", {"B"})}, "new.csv"));
            }),
            "column 'RW' is missing from new.csv (did you mean 'Rw'?); it has: Rw, sp");
  EXPECT_EQ(
      message_of([&] {
        design.apply(Table({categorical("RW", {"1", "2", "abc"}), categorical("sp", {"B", "B", "B"})}, "new.csv"));
      }),
      "column 'RW' of new.csv must be numeric, but it is categorical: 'abc' stands in row 3");
  EXPECT_EQ(message_of([&] {
              design.apply(Table({numeric("RW", {1, 1}), categorical("sp", {"B", "X"})}));
            }),
            "level 'X' of 'sp' in row 2 was not seen in training; known: B, O; --missing keep leaves such rows empty");
}

TEST(Prediction, NumbersAreLevelsAsTheyAreWritten) {
  const Table words({numeric("y", {1, 2, 3}), categorical("zip", {"1", "2", "10"})});
  const Design design(formula("y ~ zip"), words);
  EXPECT_EQ(design.apply(Table({numeric("zip", {10, 2})})).x, (Matrix{{1, 0}, {0, 1}}));
}

TEST(Prediction, AnUnseenClassHasNoCode) {
  const Design design(formula("sp ~ RW"), training(), {.classify = true});
  const Table t({numeric("RW", {1, 2, 3}), categorical("sp", {"O", "Z", ""}, {false, false, true})});
  const auto data = design.apply(t);
  EXPECT_TRUE(data.has_response);
  EXPECT_EQ(data.label, (std::vector<int>{1, -1, -1}));
  ASSERT_EQ(data.notes.size(), 1u);
  EXPECT_EQ(data.notes[0], "1 row with a class that was not seen in training (Z)");
}

TEST(Prediction, AMissingResponseDoesNotTakeARowAway) {
  const Design design(formula("log(y) ~ RW"), training());
  const auto data = design.apply(Table({numeric("RW", {1, 2}), numeric("y", {1, kNaN})}));
  EXPECT_EQ(data.kept.size(), 2u);
  EXPECT_EQ(data.y.at(0), 0);
  EXPECT_TRUE(std::isnan(data.y.at(1)));
  EXPECT_FALSE(design.apply(Table({numeric("RW", {1}), numeric("y", {kNaN})})).has_response);
}

TEST(Missing, NativePassesGapsOnAsNaNAndStillRefusesWhatIsWrong) {
  const Table t(
      {numeric("a", {1, kNaN, 3}), categorical("g", {"u", "v", ""}, {false, false, true}), numeric("y", {1, 2, 3})});
  const Design design(formula("y ~ log(a) + g"), t, {.missing = Missing::native});
  const auto data = design.train(t);
  ASSERT_EQ(data.x.rows(), 3);
  EXPECT_EQ(data.x(0, 0), 0);
  EXPECT_TRUE(std::isnan(data.x(1, 0)));
  EXPECT_EQ(data.x(1, 1), 1);
  EXPECT_TRUE(std::isnan(data.x(2, 1)));
  EXPECT_THROW(design.apply(Table({numeric("a", {-1}), categorical("g", {"u"})})), Error);
}

}  // namespace
}  // namespace lemma
