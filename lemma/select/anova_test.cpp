// lemma/select/anova_test.cpp: tests of nested models and of terms; the numbers are R's.
#include <cmath>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <lemma/data/csv.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/linear/glm.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/select/inflation.hpp>
#include <lemma/select/nested.hpp>
#include <lemma/select/stepwise.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

template <class Spec>
std::shared_ptr<const Method> method() {
  return {std::shared_ptr<const Method>(), &method_of<Spec>()};
}
template <class Spec>
TrainedModel trained(const std::string& text, const Table& table, const Value& params = Value::object()) {
  return train(method<Spec>(), params, formula(text), MemoryTableStream(table));
}
Vector column(const AnovaTable& table, std::string_view key, std::size_t from = 0) {
  const auto& values = table.column(key);
  return Eigen::Map<const Vector>(values.data() + from, static_cast<Index>(values.size() - from));
}
TEST(Anova, OfPimaIsThatOfR) {
  const Golden golden("anova_pima");
  const Table pima = dataset("pima_train");
  const auto full = trained<Glm>("type ~ .", pima), reduced = trained<Glm>("type ~ . - bp - skin", pima);
  const AnovaTable two = compare_models({reduced, full});
  EXPECT_TRUE(golden.agrees("reduced_deviance", two.column("deviance")[0]));
  EXPECT_TRUE(golden.agrees("full_deviance", two.column("deviance")[1]));
  EXPECT_TRUE(golden.agrees("drop_in_deviance", two.column("drop_in_deviance")[1]));
  EXPECT_TRUE(golden.agrees("df", two.column("df")[1]));
  EXPECT_TRUE(golden.agrees("p_value", two.column("p")[1]));

  const MemoryTableStream data(pima);
  const Refit refit(full, data, {});
  const AnovaTable drop = drop_terms(full, refit);
  EXPECT_EQ(std::vector<std::string>(drop.rows.begin() + 1, drop.rows.end()), golden.strings("drop1_terms"));
  EXPECT_TRUE(golden.agrees("drop1_lrt", column(drop, "drop_in_deviance", 1)));
  EXPECT_TRUE(golden.agrees("drop1_p", column(drop, "p", 1)));
  EXPECT_TRUE(golden.agrees("drop1_aic", column(drop, "aic", 1)));
  const AnovaTable sequential = sequential_anova(full, refit);
  EXPECT_TRUE(golden.agrees("sequential_deviance", column(sequential, "drop_in_deviance", 1)));
  EXPECT_TRUE(golden.agrees("sequential_p", column(sequential, "p", 1)));
}

TEST(Anova, PrintsAsInR) {
  const Table pima = dataset("pima_train");
  const auto full = trained<Glm>("type ~ .", pima);
  const MemoryTableStream data(pima);
  EXPECT_EQ(drop_terms(full, Refit(full, data, {})).str(), R"(Single term deletions

Model:
type ~ npreg + glu + bp + skin + bmi + ped + age
       Df Deviance    AIC     LRT  Pr(>Chi)
<none>      178.39 194.39
npreg   1   180.99 194.99  2.6000  0.106863
glu     1   205.79 219.79 27.4038 1.651e-07 ***
bp      1   178.46 192.46  0.0662  0.796958
skin    1   178.40 192.40  0.0072  0.932249
bmi     1   182.24 196.24  3.8475  0.049820 *
ped     1   186.40 200.40  8.0137  0.004642 **
age     1   181.95 195.95  3.5636  0.059059 .
---
Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1
)");
}

TEST(Anova, OfLeastSquaresIsByF) {
  const Table boston = dataset("boston");
  const auto small = trained<Ols>("medv ~ crim", boston), large = trained<Ols>("medv ~ crim + rm + lstat", boston);
  EXPECT_EQ(compare_models({small, large}).str(), R"(Analysis of Variance Table

Model 1: medv ~ crim
Model 2: medv ~ crim + rm + lstat
  Res.Df   RSS Df Sum of Sq      F    Pr(>F)
1    504 36276
2    502 15128  2     21148 350.88 < 2.2e-16 ***
---
Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1
)");
  const MemoryTableStream data(boston);
  const Refit refit(large, data, {});
  EXPECT_EQ(sequential_anova(large, refit).str(), R"(Analysis of Variance Table

Response: medv
           Df  Sum Sq Mean Sq F value    Pr(>F)
crim        1  6440.8  6440.8  213.73 < 2.2e-16 ***
rm          1 16709.7 16709.7  554.49 < 2.2e-16 ***
lstat       1  4437.9  4437.9  147.27 < 2.2e-16 ***
Residuals 502 15127.9    30.1
---
Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1
)");
  const AnovaTable wald = wald_tests(large), drop = drop_terms(large, refit);
  for (std::size_t i = 0; i < 3; ++i)  // of one column Wald's F is that of leaving it out
    EXPECT_NEAR(wald.column("f")[i], drop.column("f")[i + 1], 1e-8 * drop.column("f")[i + 1]);
}

TEST(Anova, OfGammaUsesTheDispersionsOfR) {
  const Table boston = dataset("boston");
  const auto m = trained<Glm>("medv ~ crim + rm + lstat", boston, Value::Object{{"family", "gamma"}, {"link", "log"}});
  const MemoryTableStream data(boston);
  const Refit refit(m, data, {});
  EXPECT_NEAR(sequential_anova(m, refit).column("f")[1], 304.31, 5e-3);
  EXPECT_NEAR(drop_terms(m, refit).column("f")[1], 51.383, 5e-4);
}

TEST(Anova, AFactorIsTestedWithAllItsColumns) {
  const Table iris = dataset("iris");
  const auto large = trained<Ols>("sepal_length ~ petal_length + species", iris),
             small = trained<Ols>("sepal_length ~ petal_length", iris);
  const AnovaTable wald = wald_tests(large), two = compare_models({small, large});
  EXPECT_EQ(wald.rows, (std::vector<std::string>{"petal_length", "species"}));
  EXPECT_EQ(wald.column("df")[1], 2);
  EXPECT_NEAR(wald.column("f")[1], two.column("f")[1], 1e-8 * two.column("f")[1]);
  EXPECT_NEAR(wald.column("p")[1], two.column("p")[1], 1e-12);
}

TEST(Anova, RefusesWhatCannotBeCompared) {
  const Table pima = dataset("pima_train"), other = dataset("pima_test");
  const auto a = trained<Glm>("type ~ glu + bmi", pima), b = trained<Glm>("type ~ age", pima),
             c = trained<Glm>("type ~ glu", pima.slice(0, 150)),
             d = trained<Glm>("type ~ glu", pima, Value::Object{{"link", "probit"}}),
             e = trained<Glm>("npreg ~ glu", pima);
  EXPECT_NE(message_of([&] {
              compare_models({b, a});
            }).find("not nested: 'age' of the smaller one is no combination"),
            std::string::npos);
  EXPECT_NE(message_of([&] { compare_models({c, a}); }).find("different rows"), std::string::npos);
  EXPECT_NE(message_of([&] { compare_models({d, a}); }).find("one family and link"), std::string::npos);
  EXPECT_NE(message_of([&] { compare_models({e, a}); }), "no error");
  EXPECT_NE(message_of([&] { compare_models({a}); }).find("two or more"), std::string::npos);
  EXPECT_NE(message_of([&] {
              compare_models({b, trained<Glm>("type ~ glu + age", pima)}, TermTest::f);
            }).find("--test lrt"),
            std::string::npos);
  EXPECT_EQ(message_of([&] {
              compare_models({trained<Ols>("glu ~ poly(age, 2)", pima), trained<Ols>("glu ~ poly(age, 3)", pima)});
            }),
            "no error");
}

TEST(Anova, NestingIsDecidedByWhatTheColumnsAreAndNotByTheirNames) {
  const Table boston = dataset("boston"), iris = dataset("iris");
  const auto outside = [](const std::string& small, const std::string& large, const Table& table) {
    const auto names = outside_of(trained<Ols>(large, table), trained<Ols>(small, table));
    std::string out;
    for (const auto& name : names) out += (out.empty() ? "" : " ") + name;
    return out;
  };
  EXPECT_EQ(outside("medv ~ lstat", "medv ~ poly(lstat, 2)", boston), "");
  EXPECT_EQ(outside("medv ~ poly(lstat, 2)", "medv ~ poly(lstat, 5)", boston), "");
  EXPECT_EQ(outside("medv ~ poly(lstat, 3, raw = TRUE)", "medv ~ poly(lstat, 3)", boston), "");
  EXPECT_EQ(outside("medv ~ I(lstat^2)", "medv ~ lstat + poly(lstat, 2) + rm", boston), "");
  EXPECT_EQ(outside("medv ~ scale(tax) + rm", "medv ~ tax * rm", boston), "");
  EXPECT_EQ(outside("medv ~ I(lstat + rm)", "medv ~ lstat + rm", boston), "");
  EXPECT_EQ(outside("medv ~ rad", "medv ~ factor(rad)", boston), "");
  EXPECT_EQ(outside("medv ~ log(I(rm^2))", "medv ~ log(rm)", boston), "");
  EXPECT_EQ(outside("sepal_length ~ species", "sepal_length ~ species - 1", iris), "");
  EXPECT_EQ(outside("sepal_length ~ petal_width", "sepal_length ~ species:petal_width", iris), "");
  EXPECT_EQ(outside("medv ~ log(lstat)", "medv ~ poly(lstat, 5)", boston), "'log(lstat)'");
  EXPECT_EQ(outside("medv ~ poly(lstat, 3)", "medv ~ poly(lstat, 2) + crim", boston), "'poly(lstat, 3)3'");
  EXPECT_EQ(outside("medv ~ factor(rad)", "medv ~ rad + crim + zn + tax + rm + age + dis + nox + chas + lstat", boston)
                .find("'factor(rad)2'"),
            0U);
  EXPECT_EQ(outside("medv ~ lstat", "medv ~ poly(lstat, 2) - 1", boston),
            "'lstat'");  // with it the intercept is inside
  const AnovaTable two =
      compare_models({trained<Ols>("medv ~ lstat", boston), trained<Ols>("medv ~ poly(lstat, 2)", boston)});
  EXPECT_NEAR(two.column("f")[1], 135.2, 5e-2);  // R: anova(lm(medv ~ lstat), lm(medv ~ poly(lstat, 2)))
}

TEST(Anova, FitsWithoutATermTakeTheRowsOfTheModel) {
  const Table table = parse_csv("x,z,y\n1,2,1\n2,,3\n3,1,2\n4,5,5\n5,3,4\n6,2,7\n7,4,6\n", {}, "gaps");
  TrainOptions drop;
  drop.design.missing = Missing::drop;
  const MemoryTableStream data(table);
  const auto m = train(method<Ols>(), Value::object(), formula("y ~ x + z"), data, drop);
  const auto without = Refit(m, data, {}).fit({formula("y ~ x").terms});
  EXPECT_EQ(without.origin.rows.rows(), 6);
  const Table complete = table.select(std::vector<Index>{0, 2, 3, 4, 5, 6});
  EXPECT_EQ(fitness_of(without).deviance, fitness_of(trained<Ols>("y ~ x", complete)).deviance);
  EXPECT_TRUE(without.verify(data).same_rows);  // the model knows which rows it left out
}

TEST(Inflation, IsThatOfCar) {
  const Golden golden("robust_boston");
  const auto m = trained<Ols>("medv ~ .", dataset("boston"));
  const AnovaTable plain = inflation_of(m);
  EXPECT_TRUE(golden.agrees("vif", column(plain, "vif")));
  EXPECT_EQ(plain.columns.size(), 1U);
  const AnovaTable of_glm = inflation_of(trained<Glm>("type ~ .", dataset("pima_train")));
  EXPECT_TRUE(Golden("robust_pima").agrees("vif", column(of_glm, "vif")));
  const AnovaTable wide =
      inflation_of(trained<Ols>("sepal_length ~ sepal_width + petal_length + species", dataset("iris")));
  EXPECT_EQ(wide.str(), R"(Variance inflation

Model:
sepal_length ~ sepal_width + petal_length + species
                GVIF Df GVIF^(1/(2*Df))
sepal_width   1.9469  1          1.3953
petal_length 19.8985  1          4.4608
species      27.1119  2          2.2819
)");
  const AnovaTable crossed = inflation_of(trained<Ols>("medv ~ poly(lstat, 2) + rm * age", dataset("boston")));
  EXPECT_NEAR(crossed.column("gvif")[0], 3.412864, 1e-6);
  EXPECT_NEAR(crossed.column("gvif")[3], 111.128042, 1e-6);
}

TEST(Inflation, DoesNotDependOnTheKindOfErrorsNorOnUnits) {
  const Table boston = dataset("boston");
  const auto plain = inflation_of(trained<Ols>("medv ~ crim + nox + tax", boston));
  const auto robust = inflation_of(trained<Ols>("medv ~ crim + nox + tax", boston, Value::Object{{"errors", "HC3"}}));
  const auto scaled = inflation_of(trained<Ols>("medv ~ I(1e9 * crim) + nox + I(tax + 1e6)", boston));
  EXPECT_EQ(plain.column("vif"), robust.column("vif"));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(plain.column("vif")[i], scaled.column("vif")[i], 1e-8);
}

TEST(Stepwise, BackwardTakesTheStepsOfR) {
  const auto found = stepwise(method<Glm>(), Value::object(), formula("type ~ ."),
                              MemoryTableStream(dataset("pima_train")), {}, {.direction = StepwiseDirection::backward});
  ASSERT_EQ(found.steps.size(), 3U);
  EXPECT_EQ(found.steps[0].taken, "- skin");
  EXPECT_EQ(found.steps[1].taken, "- bp");
  EXPECT_EQ(found.steps[2].taken, "");
  EXPECT_EQ(found.model.design.formula_text(), "type ~ npreg + glu + bmi + ped + age");
  EXPECT_NE(found.model.notes.back().find("- skin, - bp"), std::string::npos);
  const std::string trace = found.trace();
  EXPECT_NE(trace.find(R"(Step:  AIC=192.4
type ~ npreg + glu + bp + bmi + ped + age

        Df Deviance    AIC
- bp     1   178.47 190.47
<none>       178.40 192.40
- npreg  1   181.00 193.00
- age    1   181.97 193.97
- bmi    1   184.69 196.69
- ped    1   186.41 198.41
- glu    1   205.79 217.79
)"),
            std::string::npos)
      << trace;
}

TEST(Stepwise, ForwardJoinsTermsAsR) {
  const auto found = stepwise(method<Ols>(), Value::object(), formula("medv ~ crim + rm + lstat + age"),
                              MemoryTableStream(dataset("boston")), {}, {.direction = StepwiseDirection::forward});
  ASSERT_EQ(found.steps.size(), 4U);
  EXPECT_EQ(found.steps[0].formula, "medv ~ 1");
  EXPECT_EQ(found.steps[0].taken, "+ lstat");
  EXPECT_EQ(found.steps[1].taken, "+ rm");
  EXPECT_EQ(found.steps[2].taken, "+ crim");
  EXPECT_NEAR(found.steps[0].criterion, 2246.51, 5e-3);
  EXPECT_NEAR(found.steps[3].criterion, 1727.27, 5e-3);
}

TEST(Stepwise, AMainEffectStaysWhileItsInteractionIsThere) {
  // y depends on the product alone, so that by AIC alone the main effects would go first
  std::string text = "a,b,y\n";
  for (int i = 0; i < 40; ++i) {
    const double a = i % 7 - 3, b = i % 5 - 2;
    text += std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(a * b + 0.01 * std::sin(i)) + "\n";
  }
  const Table table = parse_csv(text, {}, "product");
  for (const auto direction : {StepwiseDirection::backward, StepwiseDirection::forward, StepwiseDirection::both}) {
    const auto found = stepwise(method<Ols>(), Value::object(), formula("y ~ a * b"), MemoryTableStream(table), {},
                                {.direction = direction});
    const auto terms = found.model.design.terms();
    bool product = false, a = false, b = false;
    for (const auto& term : terms) {
      product = product || term.name == "a:b";
      a = a || term.name == "a";
      b = b || term.name == "b";
    }
    EXPECT_TRUE(!product || (a && b)) << found.model.design.formula_text();
    if (direction != StepwiseDirection::forward) { EXPECT_TRUE(product); }
  }
}

TEST(Stepwise, BothCanTakeAStepBack) {
  const auto found = stepwise(method<Glm>(), Value::object(), formula("type ~ ."),
                              MemoryTableStream(dataset("pima_train")), {}, {.direction = StepwiseDirection::both});
  EXPECT_EQ(found.model.design.formula_text(), "type ~ npreg + glu + bmi + ped + age");
  const auto& last = found.steps.back().moves.rows;
  EXPECT_NE(std::find(last.begin(), last.end(), "+ skin"), last.end());
}

TEST(Stepwise, TheScopeAndBicAreThoseOfR) {
  const Table boston = dataset("boston");
  const auto forward =
      stepwise(method<Ols>(), Value::object(), formula("medv ~ 1"), MemoryTableStream(boston), {},
               {.direction = StepwiseDirection::forward, .k = {}, .upper = "~ crim + rm * lstat", .lower = ""});
  ASSERT_EQ(forward.steps.size(), 5U);
  EXPECT_EQ(forward.steps[2].taken, "+ rm:lstat");
  EXPECT_EQ(forward.steps[3].taken, "+ crim");
  EXPECT_NEAR(forward.steps[0].criterion, 2250.74, 5e-3);
  EXPECT_NEAR(forward.steps[4].criterion, 1574.40, 5e-3);
  EXPECT_NE(forward.trace().find("Start:  BIC=2250.74"), std::string::npos);

  const auto both =
      stepwise(method<Glm>(), Value::object(), formula("type ~ ."), MemoryTableStream(dataset("pima_train")), {},
               {.direction = StepwiseDirection::both, .k = {}, .upper = "~ . + glu:age", .lower = "~ bp"});
  ASSERT_EQ(both.steps.size(), 3U);
  EXPECT_EQ(both.steps[0].taken, "- skin");
  EXPECT_EQ(both.steps[1].taken, "- npreg");
  EXPECT_NEAR(both.steps[2].criterion, 212.791, 5e-4);
  EXPECT_EQ(both.steps[2].moves.rows,
            (std::vector<std::string>{"<none>", "- bmi", "- ped", "+ npreg", "+ glu:age", "+ skin", "- age", "- glu"}));
  EXPECT_EQ(both.model.design.formula_text(), "type ~ glu + bp + bmi + ped + age");
}

TEST(Stepwise, AScopeThatCannotBeIsNamed) {
  const Table boston = dataset("boston");
  const MemoryTableStream data(boston);
  const auto message = [&](const std::string& upper, const std::string& lower) {
    return message_of([&] {
      stepwise(method<Ols>(), Value::object(), formula("medv ~ rm + lstat"), data, {},
               {.direction = StepwiseDirection::both, .k = 2, .upper = upper, .lower = lower});
    });
  };
  EXPECT_NE(message("~ rm + crim", "").find("leaves out 'lstat'"), std::string::npos);
  EXPECT_NE(message("medv ~ .", "").find("a scope has no response"), std::string::npos);
  EXPECT_NE(message("~ .", "~ crim").find("'crim' is no term"), std::string::npos);
  EXPECT_NE(message("~ . + crm", "").find("crm"), std::string::npos);
}

TEST(Stepwise, EveryStepTakesTheRowsThatAreCompleteInTheScope) {
  std::string text = "a,b,c,y\n";
  for (int i = 0; i < 60; ++i)
    text += fmt::format("{},{},{},{}\n", i % 7, i % 5, i % 10 == 3 ? std::string() : std::to_string(i % 3),
                        2.0 * (i % 7) + 0.1 * std::sin(i));
  const Table table = parse_csv(text, {}, "gaps");
  TrainOptions drop;
  drop.design.missing = Missing::drop;
  const MemoryTableStream data(table);
  const auto found = stepwise(method<Ols>(), Value::object(), formula("y ~ a + b + c"), data, drop,
                              {.direction = StepwiseDirection::backward});
  EXPECT_EQ(found.model.design.formula_text(), "y ~ a");
  EXPECT_EQ(found.model.origin.rows.rows(), 54);
  const auto& notes = found.model.notes;
  EXPECT_NE(notes[notes.size() - 2].find("54 rows that are complete in all columns of the scope"), std::string::npos);
  EXPECT_TRUE(found.model.verify(data).same_rows);
}

}  // namespace
}  // namespace lemma
