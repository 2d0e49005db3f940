// lemma/data/expression_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/expression.hpp>
#include <rapidcheck.h>

namespace lemma {
namespace {

const Table& table() {
  static const Table t(
      {numeric("x", {1, 2, 4}), numeric("z", {3, 0.5, std::nan("")}), categorical("s", {"a", "b", "a"})});
  return t;
}

double first(std::string_view text) { return evaluate(expression(text), table()).at(0); }
double second(std::string_view text) { return evaluate(expression(text), table()).at(1); }

TEST(Expression, BindsAsInR) {
  EXPECT_EQ(first("2 + 3 * x"), 5);
  EXPECT_EQ(first("-z^2"), -9);
  EXPECT_EQ(first("2^3^2"), 512);
  EXPECT_EQ(second("x^-1"), 0.5);
  EXPECT_EQ(first("8 / 4 / 2"), 1);
  EXPECT_EQ(first("10 - 4 - 3"), 3);
  EXPECT_EQ(first("(10 - (4 - z)) * 2"), 18);
  EXPECT_EQ(first("2 ** 3"), 8);
}

TEST(Expression, KnowsTheFunctions) {
  EXPECT_DOUBLE_EQ(second("log(x)"), std::log(2.0));
  EXPECT_DOUBLE_EQ(second("log(x, 2)"), 1);
  EXPECT_DOUBLE_EQ(second("log(x, base = 4)"), 0.5);
  EXPECT_DOUBLE_EQ(second("log2(x) + log10(x) + log1p(x)"), std::log2(2.0) + std::log10(2.0) + std::log1p(2.0));
  EXPECT_DOUBLE_EQ(second("exp(x) - expm1(x)"), std::exp(2.0) - std::expm1(2.0));
  EXPECT_DOUBLE_EQ(second("sqrt(x) + abs(-x)"), std::sqrt(2.0) + 2);
  EXPECT_DOUBLE_EQ(second("sin(x) * cos(x) * tan(x)"), std::sin(2.0) * std::cos(2.0) * std::tan(2.0));
}

TEST(Expression, TruthsAreOneAndZero) {
  EXPECT_EQ(first("x == 1"), 1);
  EXPECT_EQ(second("x == 1"), 0);
  EXPECT_EQ(first("s == \"a\" & z > 2"), 1);
  EXPECT_EQ(second("!(s != \"a\") | x >= 2"), 1);
  EXPECT_EQ(second("x %in% c(2, -1)"), 1);
  EXPECT_EQ(first("(x > 0) + (z > 0) * 10"), 11);
  EXPECT_EQ(first("10 * x %in% 1"), 10);  // %in% binds closer than *
  EXPECT_EQ(first("x < Inf"), 1);
  EXPECT_EQ(first("is.na(z) == FALSE"), 1);
  EXPECT_EQ(first("TRUE"), 1);
  EXPECT_EQ(first("pmin(x, z, 0.5) + pmax(x, z)"), 3.5);
  EXPECT_EQ(first("scale(x, center = -1, scale = 4)"), 0.5);
}

TEST(Expression, WhatCannotBeToldIsMissing) {
  const auto third = [](std::string_view text) { return evaluate(expression(text), table()).at(2); };  // z is missing
  EXPECT_TRUE(std::isnan(third("z > 1")));
  EXPECT_TRUE(std::isnan(third("!(z > 1)")));
  EXPECT_TRUE(std::isnan(third("z > 1 | x < 0")));
  EXPECT_TRUE(std::isnan(third("z > 1 & x > 0")));
  EXPECT_EQ(third("z > 1 | x > 0"), 1);
  EXPECT_EQ(third("z > 1 & x < 0"), 0);
  EXPECT_EQ(third("is.na(z)"), 1);
  EXPECT_EQ(third("z %in% c(1, 2)"), 0);
  EXPECT_TRUE(std::isnan(third("pmin(x, z)")));
  EXPECT_TRUE(std::isnan(third("pmax(z, x)")));
}

TEST(Expression, AMissingValueStaysMissing) { EXPECT_TRUE(std::isnan(evaluate(expression("x + z"), table()).at(2))); }

TEST(Expression, RefusesColumnsThatHoldNoNumbers) {
  EXPECT_THROW(evaluate(expression("s + 1"), table()), Error);
  EXPECT_THROW(evaluate(expression("nothing + 1"), table()), Error);
  EXPECT_THROW(expression("x +"), Error);
  EXPECT_THROW(expression("poly(x, 2)"), Error);
  EXPECT_THROW(expression("x + \"a\""), Error);
  EXPECT_THROW(expression("c(1, 2)"), Error);
  EXPECT_THROW(evaluate(expression("x == \"a\""), table()), Error);
  EXPECT_THROW(evaluate(expression("s > x"), table()), Error);
  EXPECT_THROW(evaluate(expression("x & z"), table()), Error);
  EXPECT_THROW(evaluate(expression("scale(x)"), table()), Error);  // nothing was learned
}

TEST(Expression, NamesItsColumnsOnce) {
  EXPECT_EQ(columns_of(expression("log(z) + x * z")), (std::vector<std::string>{"z", "x"}));
}

std::string any_expression(int depth) {
  if (depth == 0) return *rc::gen::elementOf(std::vector<std::string>{"x", "z", "2", "0.1", "1e-05", "`odd \\` name`"});
  const auto a = any_expression(depth - 1);
  switch (*rc::gen::inRange(0, 10)) {
    case 5: return "(" + a + " > " + any_expression(0) + ")";
    case 6: return "I(!(" + a + ") & is.na(x))";
    case 7: return "((" + a + ") %in% c(1, -2.5, \"3\"))";
    case 8: return "pmin(" + a + ", TRUE)";
    case 9: return "scale(" + a + ", center = FALSE, scale = 2)";
    case 0: return a + " + " + any_expression(depth - 1);
    case 1: return "(" + a + ")/" + any_expression(depth - 1);
    case 2: return "log(" + a + ")";
    case 3: return "-" + a + "^2";
    default: return a + "*" + any_expression(0);
  }
}

TEST(Expression, ItsTextReadsBackToTheSame) {
  EXPECT_TRUE(rc::check([] {
    const auto e = expression(any_expression(*rc::gen::inRange(0, 5)));
    RC_ASSERT(expression(to_text(e)) == e);
  }));
}

TEST(Shortest, WritesNumbersAsShortAsTheyReadBack) {
  EXPECT_EQ(shortest(1), "1");
  EXPECT_EQ(shortest(-0.0), "0");
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(-2.5), "-2.5");
}

}  // namespace
}  // namespace lemma
