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

TEST(Expression, AMissingValueStaysMissing) { EXPECT_TRUE(std::isnan(evaluate(expression("x + z"), table()).at(2))); }

TEST(Expression, RefusesColumnsThatHoldNoNumbers) {
  EXPECT_THROW(evaluate(expression("s + 1"), table()), Error);
  EXPECT_THROW(evaluate(expression("nothing + 1"), table()), Error);
  EXPECT_THROW(expression("x +"), Error);
  EXPECT_THROW(expression("x == 1"), Error);
  EXPECT_THROW(expression("poly(x, 2)"), Error);
}

TEST(Expression, NamesItsColumnsOnce) {
  EXPECT_EQ(columns_of(expression("log(z) + x * z")), (std::vector<std::string>{"z", "x"}));
}

std::string any_expression(int depth) {
  if (depth == 0) return *rc::gen::elementOf(std::vector<std::string>{"x", "z", "2", "0.1", "1e-05", "`odd \\` name`"});
  const auto a = any_expression(depth - 1);
  switch (*rc::gen::inRange(0, 5)) {
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
