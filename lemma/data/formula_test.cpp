// lemma/data/formula_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/formula.hpp>
#include <rapidcheck.h>

namespace lemma {
namespace {

std::vector<std::string> names(const Formula& f) {
  std::vector<std::string> out;
  for (const auto& term : f.terms) out.push_back(term.name());
  return out;
}

std::vector<std::string> terms(std::string_view text) { return names(formula(text)); }

std::vector<std::string> terms(std::string_view text, const std::vector<std::string>& columns) {
  return names(formula(text).expand(columns));
}

std::string message(std::string_view text) {
  try {
    formula(text);
  } catch (const Error& e) { return e.what(); }
  return "no error";
}

using Names = std::vector<std::string>;
const Names kColumns = {"y", "a", "b", "x", "z"};

TEST(Formula, ExpandsAsTermsInR) {  // each line as printed by attr(terms(formula), "term.labels") of R 4.2
  EXPECT_EQ(terms("y ~ b:a + a"), (Names{"a", "b:a"}));
  EXPECT_EQ(terms("y ~ a + b:a"), (Names{"a", "a:b"}));
  EXPECT_EQ(terms("y ~ a*b - a"), (Names{"b", "a:b"}));
  EXPECT_EQ(terms("y ~ (a+b+x)^2"), (Names{"a", "b", "x", "a:b", "a:x", "b:x"}));
  EXPECT_EQ(terms("y ~ a/b"), (Names{"a", "a:b"}));
  EXPECT_EQ(terms("y ~ (a + b)/x"), (Names{"a", "b", "a:b:x"}));
  EXPECT_EQ(terms("y ~ b %in% a"), (Names{"b:a"}));
  EXPECT_EQ(terms("y ~ a^2"), (Names{"a"}));
  EXPECT_EQ(terms("y ~ a:a"), (Names{"a"}));
  EXPECT_EQ(terms("y ~ a:(b + x)"), (Names{"a:b", "a:x"}));
  EXPECT_EQ(terms("y ~ -a + b"), (Names{"b"}));
  EXPECT_EQ(terms("y ~ a + b*x:z"), (Names{"a", "b", "x:z", "b:x:z"}));
  EXPECT_EQ(terms("y ~ a*(1 + b)"), (Names{"a", "b", "a:b"}));
  EXPECT_EQ(terms("y ~ I((x+1)*2/3-z^2) + log(x)"), (Names{"I((x + 1) * 2/3 - z^2)", "log(x)"}));
  EXPECT_EQ(terms("y ~ poly(x,2,raw=TRUE)+I(-x)+I(x/-2)"), (Names{"poly(x, 2, raw = TRUE)", "I(-x)", "I(x/-2)"}));
}

TEST(Formula, ComparisonsBindLooserThanSumsAsInR) {
  EXPECT_EQ(terms("y ~ x > 10"), (Names{"(x > 10)"}));
  EXPECT_EQ(terms("y ~ a + x > 10"), (Names{"(a + x > 10)"}));
  EXPECT_EQ(terms("y ~ (x > 10) + a"), (Names{"(x > 10)", "a"}));
  EXPECT_EQ(terms("y ~ a*(x > 10 & z != \"k\")"), (Names{"a", "(x > 10 & z != \"k\")", "a:(x > 10 & z != \"k\")"}));
  EXPECT_EQ(terms("y ~ !a"), (Names{"(!a)"}));
  EXPECT_EQ(terms("y ~ a + x %in% c(1, 2) + b %in% z"), (Names{"a", "(x %in% c(1, 2))", "b:z"}));
  EXPECT_EQ(terms("y ~ I(x>10)+I(is.na(z))"), (Names{"I(x > 10)", "I(is.na(z))"}));
  EXPECT_EQ(terms("y ~ `TRUE` + x"), (Names{"`TRUE`", "x"}));
  EXPECT_EQ(terms("y ~ . + (x > 10)", kColumns), (Names{"a", "b", "x", "z", "(x > 10)"}));
}

TEST(Formula, ADotStandsForTheColumnsThatTheResponseDoesNotUse) {
  EXPECT_EQ(terms("y ~ .", kColumns), (Names{"a", "b", "x", "z"}));
  EXPECT_EQ(terms("log(y) ~ .", kColumns), (Names{"a", "b", "x", "z"}));
  EXPECT_EQ(terms("y ~ . - x", kColumns), (Names{"a", "b", "z"}));
  EXPECT_EQ(terms("y ~ . - y", kColumns), (Names{"a", "b", "x", "z"}));
  EXPECT_EQ(terms("y ~ z + .", kColumns), (Names{"z", "a", "b", "x"}));
  EXPECT_EQ(terms("y ~ .*x", kColumns), (Names{"a", "b", "x", "z", "a:x", "b:x", "x:z"}));
  EXPECT_EQ(terms("y ~ .^2", kColumns), (Names{"a", "b", "x", "z", "a:b", "a:x", "a:z", "b:x", "b:z", "x:z"}));
  EXPECT_EQ(terms("a:b ~ .", kColumns), (Names{"y", "x", "z"}));
  EXPECT_EQ(terms("y ~ . + offset(log(z))", kColumns), (Names{"a", "b", "x"}));
  EXPECT_EQ(terms("~ .", kColumns), kColumns);
}

TEST(Formula, OnesAndZerosSwitchTheIntercept) {
  EXPECT_TRUE(formula("y ~ a").intercept);
  EXPECT_TRUE(formula("y ~ 1").intercept);
  for (const char* without : {"y ~ a - 1", "y ~ a + 0", "y ~ 0 + a", "y ~ 0", "y ~ -1 + a", "y ~ x - (a + 1)"})
    EXPECT_FALSE(formula(without).intercept) << without;
  for (const char* with : {"y ~ 0 + 1 + a", "y ~ a - 1 + 1", "y ~ a - 0"}) EXPECT_TRUE(formula(with).intercept) << with;
  EXPECT_TRUE(terms("y ~ 1").empty());
}

TEST(Formula, ReadsTheResponse) {
  EXPECT_TRUE(formula("~ a + b").response.empty());
  EXPECT_EQ(formula("sp:sex ~ .").response.size(), 2u);
  EXPECT_EQ(to_text(formula("log(y + 1) ~ a").response.at(0)), "log(y + 1)");
  EXPECT_EQ(to_text(formula("y1 + y2 ~ a").response.at(0)), "y1 + y2");
  EXPECT_EQ(to_text(formula("cbind(s, n - s) ~ a").response.at(0)), "cbind(s, n - s)");
  EXPECT_EQ(to_text(formula("factor(y, ref = \"b\") ~ a").response.at(0)), "factor(y, ref = \"b\")");
  EXPECT_EQ(to_text(formula("type == \"Yes\" ~ a").response.at(0)), "type == \"Yes\"");
  EXPECT_EQ(to_text(formula("x > 3 & z %in% c(1, 2) ~ a").response.at(0)), "x > 3 & z %in% c(1, 2)");
  EXPECT_EQ(to_text(formula("cut(y, c(0, 5, Inf)) ~ a").response.at(0)), "cut(y, c(0, 5, Inf))");
  EXPECT_EQ(to_text(formula("y ~ a + offset(log(z))").offsets.at(0)), "log(z)");
}

TEST(Formula, TakesNamesAsFilesHaveThem) {
  EXPECT_EQ(terms("y ~ Sepal.Length + x_1 + Größe"), (Names{"Sepal.Length", "x_1", "Größe"}));
  EXPECT_EQ(terms("y ~ `my column` + log(`2nd`)"), (Names{"`my column`", "log(`2nd`)"}));
  EXPECT_EQ(terms("`y y` ~ .", {"y y", "p q"}), (Names{"`p q`"}));
  EXPECT_EQ(formula("y ~ `a\\`b`").terms.at(0).factors.at(0).text, "a`b");
}

TEST(Formula, FunctionsOfElsewhereAreMetWithWhatToWriteHere) {
  for (const auto& [typed, instead] : std::vector<std::pair<std::string, std::string>>{
           {"C(g)", "; write factor(x)"},
           {"relevel(factor(g), ref = \"b\")", "; write factor(x, ref = \"b\")"},
           {"interaction(a, b)", "; write a:b"},
           {"s(x)", "; write bs(x, df = 5) or ns(x, df = 5)"},
           {"ifelse(x > 10, 1, 0)", "; write the condition itself, I(x > 10)"},
           {"I(max(x, 0))", "; write pmax(x, z)"},
           {"np.log(x)", "; write log(x)"},
           {"np.where(x > 1)", "; write the condition itself"},
           {"lgo(x)", " (did you mean 'log'?)"}})
    EXPECT_NE(message("y ~ " + typed).find("'" + instead), std::string::npos) << message("y ~ " + typed);
  EXPECT_NE(message("y ~ x + round(x)").find("; write cut(x, 3)"), std::string::npos);
}

TEST(Formula, AnErrorPointsAtThePlace) {
  EXPECT_EQ(message("y ~ a + "),
            "formula: expected a column, a function or '(', found the end\n  y ~ a + \n          ^");
  EXPECT_EQ(message("y ~ lgo(x)").substr(0, 58), "formula: unknown function 'lgo' (did you mean 'log'?); kno");
  EXPECT_NE(message("y ~ lgo(x)").find("\n  y ~ lgo(x)\n      ^"), std::string::npos);
  EXPECT_EQ(message("y ~ (a + b"),
            "formula: expected ')' to close the parenthesis, found the end\n  y ~ (a + b\n            ^");
  EXPECT_EQ(message("Größe ~ a ) b"),
            "formula: expected the end: no '(' is open here, found ')'\n  Größe ~ a ) b\n            ^");
  EXPECT_NE(message("y ~ a^b").find("a whole number of at least 1 after '^'"), std::string::npos);
  EXPECT_NE(message("y ~ 2").find("only 0 and 1 can be a term"), std::string::npos);
  EXPECT_NE(message("y ~ a ~ b").find("a second '~'"), std::string::npos);
  EXPECT_NE(message("y").find("expected '~' after the response"), std::string::npos);
  EXPECT_NE(message("").find("found the end"), std::string::npos);
  EXPECT_NE(message("y ~ \"a").find("never closed"), std::string::npos);
  EXPECT_NE(message("y ~ 2nd").find("back-quotes"), std::string::npos);
  EXPECT_NE(message("y ~ y + a").find("the response y cannot also be a term"), std::string::npos);
  EXPECT_NE(message("y ~ log(poly(x, 2))").find("poly() must be a term of its own"), std::string::npos);
  EXPECT_NE(message("y ~ I(bs(x) > 1)").find("bs() must be a term of its own"), std::string::npos);
  EXPECT_NE(message("y ~ factor(scale(x))").find("scale() is learned from the rows"), std::string::npos);
  EXPECT_NE(message("y ~ scale(x, center = 2, center = 3)").find("center twice"), std::string::npos);
  EXPECT_NE(message("y ~ scale(x, scale = 0)").find("a number above 0"), std::string::npos);
  EXPECT_NE(message("y ~ poly(x)").find("poly(x, 2)"), std::string::npos);
  EXPECT_NE(message("y ~ poly(x, 0)").find("whole number from 1 to 100"), std::string::npos);
  EXPECT_NE(message("y ~ poly(x, 2, row = TRUE)").find("raw = TRUE"), std::string::npos);
  EXPECT_NE(message("y ~ factor()").find("factor() takes a column"), std::string::npos);
  EXPECT_NE(message("y ~ as.factor(x, ref = 1)").find("as.factor() takes a column and nothing else"),
            std::string::npos);
  EXPECT_NE(message("y ~ a:x %in% c(1, 2)").find("write a:(x %in% c(\"k\", \"l\"))"), std::string::npos);
  EXPECT_NE(message("y ~ I(x %in% z)").find("after %in% a list is expected"), std::string::npos);
  EXPECT_NE(message("y ~ I(x = 3)").find("knows no argument 'x'"), std::string::npos);
  EXPECT_NE(message("y ~ x == NA").find("nothing equals NA"), std::string::npos);
  EXPECT_NE(message("y ~ 1 < 2").find("names no column"), std::string::npos);
  EXPECT_EQ(message("y ~ cut(x)"),
            "formula: cut() takes a value and its pieces: cut(x, 3) or cut(x, c(0, 10, 20))\n"
            "  y ~ cut(x)\n      ^");
  EXPECT_NE(message("y ~ cut(x, 1)").find("whole number from 2 to 1000"), std::string::npos);
  EXPECT_NE(message("y ~ cut(x, c(1, 2, 1))").find("1 is twice among the breaks"), std::string::npos);
  EXPECT_NE(message("y ~ cut(x, 3, labels = c(\"a\", \"b\"))").find("makes 3 pieces, but there are 2 labels"),
            std::string::npos);
  EXPECT_NE(message("y ~ cut(x, 2, rigth = FALSE)").find("knows no argument 'rigth' (did you mean 'right'?)"),
            std::string::npos);
  EXPECT_NE(message("y ~ cut(x, z)").find("the breaks of cut() are numbers"), std::string::npos);
  EXPECT_NE(message("y ~ bs(x, 5, 3, 3, TRUE, c(0, 1), 9)").find("takes no further argument"), std::string::npos);
  EXPECT_NE(message("y ~ bs(x, Boundary.knots = 3)").find("are two numbers"), std::string::npos);
  EXPECT_NE(message("y ~ ns(x, knots = c(1, Inf))").find("does not lie between the ends"), std::string::npos);
  EXPECT_NE(message("y ~ a:offset(z)").find("offset() can only be added"), std::string::npos);
  EXPECT_NE(message("y ~ cbind(a, b)").find("left of '~'"), std::string::npos);
  EXPECT_NE(message("y ~ log(2)").find("names no column"), std::string::npos);
  EXPECT_NE(message("1 ~ x").find("the response names no column"), std::string::npos);
  EXPECT_NE(message("log(u):v ~ x").find("joint class"), std::string::npos);
  EXPECT_NE(message("y ~ log(.)").find("name the column"), std::string::npos);
  EXPECT_NE(message("y ~ a ; b").find("';' cannot stand here"), std::string::npos);
  EXPECT_NE(message("y ~ log(x, bse = 2)").find("knows no argument 'bse'"), std::string::npos);
}

TEST(Formula, ALongOneIsShownAroundThePlace) {
  std::string text = "y ~ x0";
  for (int i = 1; i < 100; ++i) text += " + x" + std::to_string(i);
  const auto shown = message(text + " + + z");
  EXPECT_LT(shown.size(), 300u);
  EXPECT_NE(shown.find("…"), std::string::npos);
  EXPECT_EQ(terms(text).size(), 100u);
}

TEST(Formula, HostileInputGetsAnErrorInReasonableTime) {
  EXPECT_NE(message("y ~ " + std::string(100000, '(') + "a").find("nested more than"), std::string::npos);
  EXPECT_NE(message("y ~ I(" + std::string(100000, '-') + "a)").find("nested more than"), std::string::npos);
  std::string chain = "y ~ I(a", power = "y ~ (x0";
  for (int i = 0; i < 100000; ++i) chain += "+a";
  EXPECT_NE(message(chain + ")").find("more than 1000 operations"), std::string::npos);
  for (int i = 1; i < 200; ++i) power += "+x" + std::to_string(i);
  EXPECT_NE(message(power + ")^9").find("more than 100000 terms"), std::string::npos);
  EXPECT_EQ(terms("y ~ (a + b)^1000000000"), (Names{"a", "b", "a:b"}));
}

std::string any_formula() {
  static const std::vector<std::string> kAtoms = {"a",
                                                  "b",
                                                  "x",
                                                  "z",
                                                  ".",
                                                  "log(x)",
                                                  "I(x^2)",
                                                  "(a + b)",
                                                  "1",
                                                  "factor(a)",
                                                  "(x > 3)",
                                                  "I(a == \"k\")",
                                                  "(z %in% c(1, 2))",
                                                  "cut(x, 3)",
                                                  "ns(z, 2)"};
  static const std::vector<std::string> kMarks = {" + ", " - ", ":", "*", "/"};
  std::string text = "y ~ x";
  for (int i = *rc::gen::inRange(0, 6); i > 0; --i) text += *rc::gen::elementOf(kMarks) + *rc::gen::elementOf(kAtoms);
  return text;
}

TEST(Formula, ExpansionIsIdempotent) {
  EXPECT_TRUE(rc::check([] {
    const Formula once = formula(any_formula()).expand(kColumns), twice = once.expand(kColumns);
    RC_ASSERT(!once.has_dot());
    RC_ASSERT(names(once) == names(twice));
    RC_ASSERT(once.intercept == twice.intercept);
  }));
}

TEST(Formula, ItsTermsWrittenAsASumMeanTheSame) {
  EXPECT_TRUE(rc::check([] {
    const Formula f = formula(any_formula()).expand(kColumns);
    std::string sum = f.intercept ? "y ~ 1" : "y ~ 0";
    for (const auto& term : f.terms) sum += " + " + term.name();
    const auto again = formula(sum);
    RC_ASSERT(again.intercept == f.intercept);
    RC_ASSERT(again.terms.size() == f.terms.size());
    for (std::size_t i = 0; i < f.terms.size(); ++i)
      RC_ASSERT(again.terms[i].factors.size() == f.terms[i].factors.size());
  }));
}

TEST(Formula, DegreesRiseAndNoTermComesTwice) {
  EXPECT_TRUE(rc::check([] {
    const auto all = formula(any_formula()).expand(kColumns).terms;
    for (std::size_t i = 1; i < all.size(); ++i) RC_ASSERT(all[i - 1].factors.size() <= all[i].factors.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) RC_ASSERT(all[i].name() != all[j].name());
  }));
}

}  // namespace
}  // namespace lemma
