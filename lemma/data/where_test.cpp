// lemma/data/where_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/where.hpp>
#include <rapidcheck.h>

namespace lemma {
namespace {

using Found = std::vector<Index>;

const Table& people() {
  static const Table t(
      {numeric("age", {25, 31, std::nan(""), 60}), categorical("sex", {"M", "F", "M", ""}, {false, false, false, true}),
       Column{"name", Texts{{"Ann", "Bo", "", "Di"}, {false, false, true, false}}},
       categorical("member", {"TRUE", "FALSE", "TRUE", "TRUE"}), categorical("grade", {"1", "2", "1", "3"})},
      "people.csv");
  return t;
}

Found rows(std::string_view condition) { return where(condition, people()); }

std::string message(std::string_view condition) {
  try {
    rows(condition);
  } catch (const Error& e) { return e.what(); }
  return "no error";
}

TEST(Where, ComparesNumbersAndTexts) {
  EXPECT_EQ(rows("age > 30"), (Found{1, 3}));
  EXPECT_EQ(rows("30 < age"), (Found{1, 3}));
  EXPECT_EQ(rows("age >= 25 & age <= 31"), (Found{0, 1}));
  EXPECT_EQ(rows("sex == \"M\""), (Found{0, 2}));
  EXPECT_EQ(rows("'M' != sex"), (Found{1}));
  EXPECT_EQ(rows("name < \"C\""), (Found{0, 1}));
  EXPECT_EQ(rows("log(age) * 2 > 7"), (Found{3}));
  EXPECT_EQ(rows("grade == 1"), (Found{0, 2}));
  EXPECT_EQ(rows("member == TRUE & age < 30"), (Found{0}));
  EXPECT_EQ(rows("member"), (Found{0, 2, 3}));
  EXPECT_EQ(rows("TRUE"), (Found{0, 1, 2, 3}));
  EXPECT_EQ(rows("(age == 25) + (sex == \"M\") > 1"), (Found{0}));
  EXPECT_EQ(rows("pmax(age, 40) == 40"), (Found{0, 1}));
  EXPECT_EQ(rows("age < Inf & !member"), (Found{1}));
  EXPECT_EQ(rows("name == sex | name == \"Di\""), (Found{3}));
}

TEST(Where, LeavesOutRowsThatCannotBeTold) {
  EXPECT_EQ(rows("!(age > 30)"), (Found{0}));
  EXPECT_EQ(rows("age > 30 | sex == \"M\""), (Found{0, 1, 2, 3}));  // unknown | yes is yes
  EXPECT_EQ(rows("!(age > 30 & sex == \"F\")"), (Found{0, 2}));     // unknown & no is no
  EXPECT_EQ(rows("sex == \"M\" | sex != \"M\""), (Found{0, 1, 2}));
}

TEST(Where, FindsMissingValues) {
  EXPECT_EQ(rows("is.na(age)"), (Found{2}));
  EXPECT_EQ(rows("!is.na(sex) & !is.na(name)"), (Found{0, 1}));
  EXPECT_EQ(rows("is.na(log(age))"), (Found{2}));
}

TEST(Where, KnowsLists) {
  EXPECT_EQ(rows("sex %in% c(\"F\", \"X\")"), (Found{1}));
  EXPECT_EQ(rows("!sex %in% c(\"F\")"), (Found{0, 2, 3}));  // as in R, a missing value is in no list
  EXPECT_EQ(rows("age %in% c(25, 60, -1)"), (Found{0, 3}));
  EXPECT_EQ(rows("grade %in% 3"), (Found{3}));
}

TEST(Where, AnErrorPointsAtThePlace) {
  EXPECT_EQ(message("agee > 30"),
            "condition: there is no column 'agee' in people.csv (did you mean 'age'?)\n  agee > 30\n  ^");
  EXPECT_NE(message("age = 30").find("write '==' to compare\n  age = 30\n      ^"), std::string::npos);
  EXPECT_NE(message("sex == F").find("'F' is a level of 'sex': write it in quotes, \"F\"\n  sex == F\n         ^"),
            std::string::npos);
  EXPECT_NE(message("age == NA").find("is.na"), std::string::npos);
  EXPECT_NE(message("age > \"x\"").find("cannot be compared with \"x\""), std::string::npos);
  EXPECT_NE(message("sex == age").find("compare it with a text"), std::string::npos);
  EXPECT_NE(message("sex + 1 > 2").find("'sex' is categorical"), std::string::npos);
  EXPECT_NE(message("age + 1").find("not a condition"), std::string::npos);
  EXPECT_NE(message("sex").find("not a condition"), std::string::npos);
  EXPECT_NE(message("age %in% 3:5").find("expected"), std::string::npos);
  EXPECT_NE(message("scale(age) > 1").find("scale() is learned from the rows of a fit"), std::string::npos);
  EXPECT_NE(message("age + 1 %in% c(26)").find("not a condition"), std::string::npos);  // age + (1 %in% c(26)), as in R
  EXPECT_NE(message("").find("expected"), std::string::npos);
  EXPECT_NE(message("age > 1 and age < 2").find("found 'and'; write & for and"), std::string::npos);
  EXPECT_NE(message("(age > 1 OR age < 2)").find("found 'OR'; write | for or"), std::string::npos);
  EXPECT_NE(message("sex in (\"F\", \"X\")").find("found 'in'; write %in% c("), std::string::npos);
  EXPECT_NE(message("not age > 1").find("found 'age'; write ! for not"), std::string::npos);
  EXPECT_NE(message(std::string(100000, '!') + "member").find("nested more than"), std::string::npos);
}

TEST(Where, DatesAreComparedWithDates) {
  const Table t({Column{"day", Numbers{{0, 10, 19782, std::nan("")}, Quantity::date}}, numeric("x", {1, 2, 3, 4})});
  EXPECT_EQ(where("day >= \"1970-01-11\"", t), (Found{1, 2}));
  EXPECT_EQ(where("\"1970-01-01T12:00\" > day", t), (Found{0}));
  EXPECT_EQ(where("day - 1 < \"1970-01-01\"", t), (Found{0}));
  EXPECT_EQ(where("day %in% c(\"2024-02-29\", 0)", t), (Found{0, 2}));
  EXPECT_THROW(where("day > \"soon\"", t), Error);
  EXPECT_THROW(where("x > \"2024-02-29\"", t), Error);
}

TEST(Where, AConditionAndItsNegationShareOutTheCompleteRows) {
  EXPECT_TRUE(rc::check([](std::vector<double> values, double limit) {
    const Table t({numeric("v", values)});
    const std::string condition = "v < " + std::to_string(limit);
    auto both = where(condition, t);
    const auto others = where("!(" + condition + ")", t);
    both.insert(both.end(), others.begin(), others.end());
    std::sort(both.begin(), both.end());
    RC_ASSERT(both == where("!is.na(v)", t));
  }));
}

TEST(Where, ALongListOfAlternativesIsNoDeepTree) {
  std::string condition = "age == 25";
  for (int i = 0; i < 20000; ++i) condition += " | age == 60";
  EXPECT_EQ(rows(condition), (Found{0, 3}));
}

}  // namespace
}  // namespace lemma
