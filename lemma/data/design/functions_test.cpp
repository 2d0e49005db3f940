// lemma/data/design/functions_test.cpp: conditions, cut(), splines and what stands inside I(), as R's model.matrix has them.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/data/design.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

using Names = std::vector<std::string>;
const double kNaN = std::nan("");

const Table& table() {  // the table of the R sessions from which the expected values come
  static const Table t({numeric("y", {1, 2, 3, 4, 5, 6}), categorical("a", {"p", "q", "r", "p", "q", "r"}),
                        categorical("b", {"u", "v", "u", "v", "u", "v"}), numeric("x", {1, 2, 4, 8, 16, 3}),
                        numeric("z", {3, 1, 2, 5, 4, 9})},
                       "six.csv");
  return t;
}

Design made(std::string_view text, const DesignOptions& options = {}) {
  return Design(formula(text), table(), options);
}
Names features(std::string_view text) { return made(text).features(); }
Matrix x_of(std::string_view text) { return made(text).train(table()).x; }

/// The one column that the formula makes.
std::vector<double> column(std::string_view text) {
  const Matrix x = x_of(text);
  EXPECT_EQ(x.cols(), 1) << text;
  return {x.data(), x.data() + x.size()};
}

std::string message(std::string_view text, const DesignOptions& options = {}) {
  return message_of([&] { made(text, options).train(table()); });
}

using Numbers6 = std::vector<double>;

TEST(Conditions, AreFactorsOfFalseAndTrueAsInR) {
  EXPECT_EQ(features("~ I(x > 3)"), (Names{"I(x > 3)TRUE"}));
  EXPECT_EQ(features("~ x > 3"), (Names{"x > 3TRUE"}));
  EXPECT_EQ(features("~ I(x > 3) - 1"), (Names{"I(x > 3)FALSE", "I(x > 3)TRUE"}));
  EXPECT_EQ(features("~ I(x > 3):z"), (Names{"I(x > 3)FALSE:z", "I(x > 3)TRUE:z"}));
  EXPECT_EQ(features("~ (x > 3)*a"), (Names{"x > 3TRUE", "aq", "ar", "x > 3TRUE:aq", "x > 3TRUE:ar"}));
  EXPECT_EQ(features("~ a + I(a %in% c(\"p\", \"r\"))"), (Names{"aq", "ar", "I(a %in% c(\"p\", \"r\"))TRUE"}));
  EXPECT_EQ(column("~ I(x > 3)"), (Numbers6{0, 0, 1, 1, 1, 0}));
  EXPECT_EQ(column("~ 3 <= x"), (Numbers6{0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(column("~ I(a %in% c(\"p\", \"r\"))"), (Numbers6{1, 0, 1, 1, 0, 1}));
  EXPECT_EQ(column("~ a %in% c(\"p\", \"r\")"), (Numbers6{1, 0, 1, 1, 0, 1}));
  EXPECT_EQ(column("~ x %in% 8"), (Numbers6{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(column("~ I(b == \"u\" & x > 2)"), (Numbers6{0, 0, 1, 0, 1, 0}));
  EXPECT_EQ(column("~ !(b == \"u\") | x == 1"), (Numbers6{1, 1, 0, 1, 0, 1}));
  EXPECT_EQ(column("~ a != b"), (Numbers6{1, 1, 1, 1, 1, 1}));
}

TEST(Conditions, AreNumbersInArithmetic) {
  EXPECT_EQ(features("~ I((x > 3) * z)"), (Names{"I((x > 3) * z)"}));
  EXPECT_EQ(column("~ I((x > 3) * z)"), (Numbers6{0, 0, 2, 5, 4, 0}));
  EXPECT_EQ(column("~ I(z * a %in% c(\"p\"))"), (Numbers6{3, 0, 0, 5, 0, 0}));
  EXPECT_EQ(column("~ as.numeric(b == \"u\")"), (Numbers6{1, 0, 1, 0, 1, 0}));
}

TEST(Conditions, HaveBothLevelsWhateverTheRows) {
  const Design design = made("y ~ I(x > 100)");
  EXPECT_EQ(design.features(), (Names{"I(x > 100)TRUE"}));
  EXPECT_EQ(design.train(table()).x, Matrix::Zero(6, 1));
  EXPECT_EQ(design.apply(Table({numeric("x", {200, 3})})).x, (Matrix{{1}, {0}}));
}

TEST(Conditions, AreClassesAsAResponse) {
  const Design design = made("a == \"p\" ~ x + z", {.classify = true});
  EXPECT_EQ(design.classes(), (Names{"FALSE", "TRUE"}));
  EXPECT_EQ(design.target(), "a == \"p\"");
  EXPECT_EQ(design.response_columns(), (Names{"a"}));
  EXPECT_EQ(design.train(table()).label, (std::vector<int>{1, 0, 0, 1, 0, 0}));
  EXPECT_EQ(made("a == \"p\" ~ .", {.classify = true}).columns(), (Names{"y", "b", "x", "z"}));
  EXPECT_EQ(made("I(x > 3) ~ z", {.classify_categories = true}).classes(), (Names{"FALSE", "TRUE"}));
  EXPECT_EQ(made("x > 3 ~ z", {.classify_categories = true}).classes(), (Names{"FALSE", "TRUE"}));
  EXPECT_EQ(made("factor(x > 3, ref = TRUE) ~ z", {.classify = true}).classes(), (Names{"TRUE", "FALSE"}));
  EXPECT_EQ(made("x > 100 ~ z", {.classify = true}).classes(), (Names{"FALSE"}));  // classes that occur
  EXPECT_EQ(made("x > 3 ~ z").train(table()).y, (Numbers6{0, 0, 1, 1, 1, 0}));     // a method that predicts numbers
  const auto predicted = design.apply(Table({numeric("x", {1, 2}), numeric("z", {1, 2})}));
  EXPECT_FALSE(predicted.has_response);
  const auto with = design.apply(Table({numeric("x", {1, 2}), numeric("z", {1, 2}), categorical("a", {"new", "p"})}));
  EXPECT_EQ(with.label, (std::vector<int>{0, 1}));  // 'new' is not "p"
}

TEST(Conditions, AreMissingOnlyWhereTheyCannotBeTold) {  // as model.frame of R has it
  const Table t({numeric("y", {1, 2, 3, 4}), numeric("x", {1, kNaN, 5, kNaN}), numeric("v", {9, 9, 1, 1}),
                 categorical("s", {"k", "", "l", "k"}, {false, true, false, false})});
  const auto kept = [&](std::string_view text) {
    return Design(formula(text), t, {.missing = Missing::drop}).train(t).kept;
  };
  EXPECT_EQ(kept("y ~ I(x > 3)"), (std::vector<Index>{0, 2}));
  EXPECT_EQ(kept("y ~ I(x > 3 | v > 3)"), (std::vector<Index>{0, 1, 2}));
  EXPECT_EQ(kept("y ~ I(is.na(x))"), (std::vector<Index>{0, 1, 2, 3}));
  EXPECT_EQ(kept("y ~ s %in% c(\"k\")"), (std::vector<Index>{0, 1, 2, 3}));
  EXPECT_EQ(kept("y ~ s == \"k\""), (std::vector<Index>{0, 2, 3}));
  EXPECT_EQ(message_of([&] { Design(formula("y ~ I(x > 3 | v > 3) + (s == \"k\")"), t); }),
            "2 missing values in 2 of 4 rows: x (1), s (1); use --missing drop, mean, median or mode");
  EXPECT_EQ(message_of([&] { Design(formula("x > 3 ~ v"), t, {.classify = true}); }),
            "2 missing values in 2 of 4 rows: x (2); use --missing drop, mean, median or mode");
  const Design design(formula("y ~ I(x > 2) + is.na(x) + (s == \"k\")"), t,
                      {.missing = Missing::mean});  // mean of x: 3
  EXPECT_EQ(design.train(t).x, (Matrix{{0, 0, 1}, {1, 1, 1}, {1, 0, 0}, {1, 1, 1}}));
  const Design native(formula("y ~ I(x > 2)"), t, {.coding = Coding::codes, .missing = Missing::native});
  const Matrix x = native.train(t).x;
  EXPECT_TRUE(std::isnan(x(1, 0)));
  EXPECT_EQ(x(2, 0), 1);
  EXPECT_EQ(native.levels(), (std::vector<Names>{{"FALSE", "TRUE"}}));
}

TEST(Conditions, TakeLevelsAsTheyAreWrittenAtPrediction) {
  const Table t({numeric("y", {1, 2, 3}), categorical("grade", {"1", "2", "1"})});
  const Design design(formula("y ~ grade == 1"), t);
  EXPECT_EQ(design.train(t).x, (Matrix{{1}, {0}, {1}}));
  EXPECT_EQ(design.apply(Table({numeric("grade", {2, 1})})).x, (Matrix{{0}, {1}}));  // read as numbers this time
}

TEST(Conditions, AreCheckedAgainstTheColumns) {
  EXPECT_EQ(message("y ~ I(a > 3 + x)"),
            "formula: 'a' is categorical; compare it with a text in quotes\n  y ~ I(a > 3 + x)\n              ^");
  EXPECT_EQ(message("y ~ I(x == \"p\")"),
            "formula: a number cannot be compared with \"p\"\n  y ~ I(x == \"p\")\n             ^");
  EXPECT_EQ(message("y ~ I(x & b == \"u\")").substr(0, 42), "formula: x is not a condition; compare it:");
  EXPECT_NE(message("y ~ x + (1 | b)").find("random effects of groups"), std::string::npos);
  EXPECT_EQ(message("y ~ I(agee > 3)"), "formula: there is no column 'agee' in six.csv\n  y ~ I(agee > 3)\n        ^");
  EXPECT_EQ(message("a:b ~ x", {}).substr(0, 42), "formula: u:v is a joint class, but this me");
  EXPECT_EQ(message("y ~ I(a)").substr(0, 60), "formula: a number is needed here, but 'a' is categorical (p,");
  EXPECT_EQ(message("log(x) ~ z", {.classify = true}).substr(0, 28), "formula: log(x) is a number,");
}

// ---- cut()

TEST(Cut, NamesItsIntervalsAsR) {
  EXPECT_EQ(features("~ cut(x, 3)"), (Names{"cut(x, 3)(6,11]", "cut(x, 3)(11,16]"}));
  EXPECT_EQ(features("~ cut(x, 3) - 1").at(0), "cut(x, 3)(0.985,6]");
  EXPECT_EQ(features("~ cut(x, c(0, 2, 8, 16))"),
            (Names{"cut(x, c(0, 2, 8, 16))(2,8]", "cut(x, c(0, 2, 8, 16))(8,16]"}));
  EXPECT_EQ(features("~ cut(x, breaks = c(-Inf, 3, Inf), right = FALSE)"),
            (Names{"cut(x, breaks = c(-Inf, 3, Inf), right = FALSE)[3, Inf)"}));
  EXPECT_EQ(
      features("~ cut(x, c(1, 4, 16), include.lowest = TRUE) - 1"),
      (Names{"cut(x, c(1, 4, 16), include.lowest = TRUE)[1,4]", "cut(x, c(1, 4, 16), include.lowest = TRUE)(4,16]"}));
  EXPECT_EQ(features("~ cut(x, 2, labels = c(\"low\", \"high\"))"),
            (Names{"cut(x, 2, labels = c(\"low\", \"high\"))high"}));
  const Table close({numeric("v", {1234.5, 1235.5, 1236})});
  EXPECT_EQ(Design(formula("~ cut(v, 3) - 1"), close).features(),  // as many digits as tell the breaks apart
            (Names{"cut(v, 3)(1234.5,1235]", "cut(v, 3)(1235,1235.5]", "cut(v, 3)(1235.5,1236]"}));
}

TEST(Cut, CutsAsR) {
  EXPECT_EQ(x_of("~ cut(x, 3)"), (Matrix{{0, 0}, {0, 0}, {0, 0}, {1, 0}, {0, 1}, {0, 0}}));
  EXPECT_EQ(x_of("~ cut(x, c(0, 2, 8, 16))"), (Matrix{{0, 0}, {0, 0}, {1, 0}, {1, 0}, {0, 1}, {1, 0}}));
  EXPECT_EQ(column("~ cut(x, c(16, 0, 3), right = FALSE, include.lowest = T)"), (Numbers6{0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(column("~ cut(log(x), c(-1, 1, 3))"), (Numbers6{0, 0, 1, 1, 1, 1}));
}

TEST(Cut, PiecesAreLearnedOnceAndClassesToo) {
  const Design design = made("y ~ cut(x, 3)");
  EXPECT_EQ(design.apply(Table({numeric("x", {7, 1, 12})})).x, (Matrix{{1, 0}, {0, 0}, {0, 1}}));
  const Design classes = made("cut(y, c(0, 2, 6)) ~ x", {.classify = true});
  EXPECT_EQ(classes.classes(), (Names{"(0,2]", "(2,6]"}));
  EXPECT_EQ(classes.train(table()).label, (std::vector<int>{0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(made("cut(z, 2):a ~ x", {.classify = true}).classes().size(), 4u);
  EXPECT_EQ(message("cut(y, 2) ~ x").substr(0, 58), "formula: the response 'cut(y, 2)' is categorical, but this");
}

TEST(Cut, OutsideTheBreaksIsMissing) {
  EXPECT_EQ(message("y ~ cut(x, c(1, 4, 10))"),
            "2 missing values in 2 of 6 rows: cut(x, c(1, 4, 10)), outside its breaks (2); use --missing drop, mean, "
            "median or mode");
  const Design dropped = made("y ~ cut(x, c(1, 4, 10))", {.missing = Missing::drop});
  EXPECT_EQ(dropped.train(table()).kept, (std::vector<Index>{1, 2, 3, 5}));
  const Design filled = made("y ~ cut(x, c(1, 4, 10))", {.missing = Missing::mode});
  EXPECT_EQ(filled.train(table()).x, (Matrix{{0}, {0}, {0}, {1}, {0}, {0}}));  // (1,4] is the most frequent
  EXPECT_EQ(made("cut(x, c(1, 4, 10)) ~ z", {.missing = Missing::drop, .classify = true}).train(table()).kept,
            (std::vector<Index>{1, 2, 3, 5}));
  const Design design = made("y ~ cut(x, 3)");
  EXPECT_EQ(message_of([&] {
              design.apply(Table({numeric("x", {7, 100})}));
            }),
            "1 missing value in 1 of 2 rows: cut(x, 3), outside its breaks (1); use --missing drop or keep");
  const Design sparse = made("y ~ cut(x, c(0, 3, 12, 14, 20))");
  EXPECT_EQ(message_of([&] {
              sparse.apply(Table({numeric("x", {1, 13})}));
            }),
            "level '(12,14]' of 'cut(x, c(0, 3, 12, 14, 20))' in row 2 was not seen in training; known: (0,3], (3,12], "
            "(14,20]; --missing keep leaves such rows empty");
}

TEST(Cut, AConstantIsCutToo) {
  const Table t({numeric("v", {5, 5, 5}), numeric("y", {1, 2, 3})});
  EXPECT_EQ(Design(formula("cut(v, 3) ~ y"), t, {.classify = true}).classes(), (Names{"(4.998,5.002]"}));
}

// ---- factor() of numbers, pmin and pmax, scale() inside

TEST(Factor, NumbersAreOrderedByTheirValues) {
  EXPECT_EQ(features("~ factor(x)"), (Names{"factor(x)2", "factor(x)3", "factor(x)4", "factor(x)8", "factor(x)16"}));
  EXPECT_EQ(features("~ as.factor(z)").front(), "as.factor(z)2");
  EXPECT_EQ(features("~ factor(x, ref = 16)").front(), "factor(x, ref = 16)1");
  EXPECT_EQ(features("~ factor(2 * x - 10)"),
            (Names{"factor(2 * x - 10)-6", "factor(2 * x - 10)-4", "factor(2 * x - 10)-2", "factor(2 * x - 10)6",
                   "factor(2 * x - 10)22"}));
  EXPECT_EQ(made("x ~ z", {.classify = true}).classes(), (Names{"1", "2", "3", "4", "8", "16"}));
  const Table t({numeric("u", {10, 9, 10, 9}), numeric("v", {-1, 2, 2, -1}), numeric("x", {1, 2, 3, 4}),
                 categorical("s", {"10", "9", "10", "9"})});
  EXPECT_EQ(Design(formula("u:v ~ x"), t, {.classify = true}).classes(), (Names{"9:-1", "9:2", "10:-1", "10:2"}));
  EXPECT_EQ(Design(formula("s ~ x"), t, {.classify = true}).classes(), (Names{"10", "9"}));  // texts: by their bytes
}

TEST(Factor, AColumnMayHaveTheNameOfAFunction) {
  const Table t({numeric("y", {1, 2, 3}), categorical("factor", {"a", "b", "a"}), categorical("cut", {"c", "d", "d"}),
                 numeric("scale", {1, 2, 3}), numeric("TRUE", {1, 0, 1})});
  EXPECT_EQ(Design(formula("y ~ factor + cut + scale + `TRUE` + I(`TRUE` > 0)"), t).features(),
            (Names{"factorb", "cutd", "scale", "TRUE", "I(`TRUE` > 0)TRUE"}));
  EXPECT_EQ(Design(formula("factor ~ y"), t, {.classify = true}).classes(), (Names{"a", "b"}));
}

TEST(Inside, PminAndPmaxTakeTheLeastAndTheLargest) {
  EXPECT_EQ(column("~ pmin(x, z)"), (Numbers6{1, 1, 2, 5, 4, 3}));
  EXPECT_EQ(column("~ pmax(x, 4)"), (Numbers6{4, 4, 4, 8, 16, 4}));
  EXPECT_EQ(column("~ I(pmax(0, x - 3, z - 8)^2)"), (Numbers6{0, 0, 1, 25, 169, 1}));
}

TEST(Inside, ScaleIsLearnedWhereverItStands) {  // I(scale(x)^2) and log(scale(x) + 2) of R
  const Numbers6 squares = {0.692090395480226217, 0.427259887005649874, 0.088276836158192123,
                            0.173022598870056471, 3.393361581920903980, 0.225988700564971834};
  const Numbers6 logs = {0.15536162780713067, 0.29739633825720274, 0.53232435284536184,
                         0.88209666258095454, 1.34602115299363012, 0.42174343526191477};
  const auto found = column("~ I(scale(x)^2)"), other = column("~ log(scale(x) + 2)");
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(found[i], squares[i], 1e-15);
    EXPECT_NEAR(other[i], logs[i], 1e-14);
  }
  EXPECT_EQ(features("~ I(scale(x)^2)"), (Names{"I(scale(x)^2)"}));
  EXPECT_EQ(column("~ scale(x, center = 2, scale = 4)"), (Numbers6{-0.25, 0, 0.5, 1.5, 3.5, 0.25}));
  const auto twice = column("~ I(scale(scale(x) + 5, scale = FALSE))"), once = column("~ scale(x)");
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(twice[i], once[i], 1e-15);
  EXPECT_EQ(column("~ I(scale(x) > 0)"), (Numbers6{0, 0, 0, 1, 1, 0}));
  const auto response = made("scale(x) ~ z").train(table()).y;
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(response[i], once[i], 1e-15);
}

TEST(Inside, WhatWasLearnedHoldsAtPrediction) {
  const Table one({numeric("x", {9}), numeric("z", {1})});
  for (const char* text :
       {"y ~ I(scale(x)^2) + z", "y ~ bs(x, df = 5)", "y ~ ns(log(x), df = 3)*z", "y ~ poly(scale(x), 2)"}) {
    const Design design = made(text);
    std::vector<double> x(table().column("x").numbers().values), z(table().column("z").numbers().values);
    x.push_back(9);
    z.push_back(1);
    const Matrix all = design.apply(Table({numeric("x", x), numeric("z", z)})).x;
    EXPECT_EQ(design.apply(one).x, all.bottomRows(1)) << text;
    EXPECT_EQ(all.topRows(6), design.train(table()).x) << text;
  }
}

// ---- bs() and ns()

TEST(SplineTerms, HaveTheNamesAndKnotsOfR) {
  EXPECT_EQ(features("~ bs(x, df = 4)"),
            (Names{"bs(x, df = 4)1", "bs(x, df = 4)2", "bs(x, df = 4)3", "bs(x, df = 4)4"}));
  EXPECT_EQ(features("~ bs(x, 5)").size(), 5u);
  EXPECT_EQ(features("~ bs(x)").size(), 3u);
  EXPECT_EQ(features("~ bs(x, knots = c(3, 5), degree = 2)").size(), 4u);
  EXPECT_EQ(features("~ bs(x, degree = 1, df = 3, intercept = TRUE)").size(), 3u);
  EXPECT_EQ(features("~ ns(x, df = 3)"), (Names{"ns(x, df = 3)1", "ns(x, df = 3)2", "ns(x, df = 3)3"}));
  EXPECT_EQ(features("~ ns(x)").size(), 1u);
  EXPECT_EQ(features("~ ns(x, 2):b").front(), "ns(x, 2)1:bu");
}

TEST(SplineTerms, HaveTheValuesOfR) {
  const Table boston = dataset("boston");
  const auto first = [&](std::string_view text) {
    return Matrix(Design(formula(text), boston).train(boston).x.row(0));
  };
  const Matrix bs{{0.5176210282437359, 0.383774430621797, 0.044853464267132687, 0, 0, 0}},
      ns{{0.044853464267132687, -0.19184901120521283, 0.43477559641438313, -0.24292658520917029}};
  EXPECT_LT((first("medv ~ bs(lstat, df = 6)") - bs).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_LT((first("medv ~ ns(lstat, df = 4)") - ns).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(SplineTerms, SayWhatIsWrong) {
  EXPECT_EQ(message("y ~ bs(x, df = 2)"),
            "formula: the df of bs() is a whole number from 3 to 1000\n  y ~ bs(x, df = 2)\n                 ^");
  EXPECT_EQ(message("y ~ bs(x, knots = c(3, 20))"),
            "bs(x, knots = c(3, 20)): the knot 20 does not lie between the ends of the values, 1 and 16");
  EXPECT_EQ(message("y ~ ns(x, degree = 2)").substr(0, 42), "formula: ns() knows no argument 'degree'; ");
  EXPECT_EQ(message("y ~ bs(a, df = 4)").substr(0, 60), "formula: a number is needed here, but 'a' is categorical (p,");
  const Table flat({numeric("y", {1, 2}), numeric("v", {3, 3})});
  EXPECT_EQ(message_of([&] { Design(formula("y ~ bs(v)"), flat); }), "bs(v) needs at least two different values");
}

}  // namespace
}  // namespace lemma
