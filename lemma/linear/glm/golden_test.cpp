// lemma/linear/glm/golden_test.cpp: the numbers and the printed lines of R's glm.
#include <gtest/gtest.h>
#include <lemma/data/datasets.hpp>
#include <lemma/data/stream.hpp>
#include <lemma/linear/glm.hpp>
#include <lemma/linear/shared/golden_test.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/model/train.hpp>

namespace lemma {
namespace {

/// Everything that a golden file of glm holds.
Fitted<GlmModel> expect_golden(const std::string& id, const Glm& spec, const std::string& text, const Table& table) {
  const Golden golden(id);
  auto m = fit(spec, formula(text), table);
  EXPECT_TRUE(golden.agrees("coef", with(m.intercept, m.coefficients)));
  EXPECT_TRUE(golden.agrees("se", with(m.intercept_std_error, m.std_errors)));
  EXPECT_TRUE(golden.agrees("z_or_t", with(m.intercept_z, m.z)));
  EXPECT_TRUE(golden.agrees("p_value", with(m.intercept_p, m.p)));
  EXPECT_TRUE(golden.agrees("null_deviance", m.null_deviance));
  EXPECT_TRUE(golden.agrees("residual_deviance", m.residual_deviance));
  EXPECT_TRUE(golden.agrees("df_null", m.df_null));
  EXPECT_TRUE(golden.agrees("df_residual", m.df_residual));
  EXPECT_TRUE(golden.agrees("aic", m.aic));
  EXPECT_TRUE(golden.agrees("log_likelihood", m.log_likelihood));
  EXPECT_TRUE(golden.agrees("dispersion", m.dispersion));
  EXPECT_TRUE(golden.agrees("pearson_chi2", m.pearson_chi2));
  EXPECT_EQ(m.iterations, static_cast<int>(golden.value("default_control").at("iterations").as_double()));
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;

  const DesignData data = m.design.train(table);
  Block block(data.x, 0);
  block.y = data.y;
  block.label = data.label;
  const auto all = m.diagnostics(block);
  EXPECT_TRUE(golden.agrees("fitted", golden.shown(m.mean_of(data.x))));
  EXPECT_TRUE(golden.agrees("linear_predictor", golden.shown(m.decision(data.x).col(0))));
  EXPECT_TRUE(golden.agrees("deviance_residuals", golden.shown(diagnostic(all, "deviance_residual"))));
  EXPECT_TRUE(golden.agrees("leverage", golden.shown(diagnostic(all, "leverage"))));
  return m;
}

void expect_golden_of_classes(const std::string& id, const Glm& spec, const std::string& text, const Table& table) {
  const Golden golden(id);
  const auto m = expect_golden(id, spec, text, table);
  EXPECT_TRUE(golden.agrees("odds_ratios", with(std::exp(m.intercept), m.odds_ratios)));
  Matrix limits(m.width() + 1, 2);
  limits << with(m.intercept_lower, m.lower), with(m.intercept_upper, m.upper);
  EXPECT_TRUE(golden.agrees("wald_ci_95", limits));
  const DesignData data = m.design.train(table);
  const Labels said = m.classify(data.x);
  Matrix confusion = Matrix::Zero(2, 2);
  for (std::size_t i = 0; i < said.size(); ++i) confusion(data.label[i], said[i]) += 1;
  EXPECT_TRUE(golden.agrees("confusion_at_half", confusion));
}

TEST(GlmGolden, LogisticRegressionOfPima) {
  expect_golden_of_classes("glm_pima_logit", {}, "type ~ .", dataset("pima_train"));
  const auto m = fit(Glm{}, formula("type ~ ."), dataset("pima_train"));
  const Matrix p = m.probabilities(dataset("pima_test"));
  EXPECT_TRUE(Golden("glm_pima_logit").agrees("test_probabilities", Vector(p.col(1).head(10))));
}

TEST(GlmGolden, ProbitOfPima) {
  expect_golden_of_classes("glm_pima_probit", {.link = GlmLink::probit}, "type ~ .", dataset("pima_train"));
}

TEST(GlmGolden, TheSpamTableOfTheNotes) { expect_golden_of_classes("glm_spam", {}, "type ~ .", dataset("spam")); }

TEST(GlmGolden, PoissonOfPima) {
  expect_golden("glm_pima_poisson", {.family = GlmFamily::poisson}, "npreg ~ . - type", dataset("pima_train"));
}

TEST(GlmGolden, GammaOfBoston) {
  expect_golden("glm_boston_gamma_log", {.family = GlmFamily::gamma, .link = GlmLink::log}, "medv ~ .",
                dataset("boston"));
}

std::string summary_of(const Glm& spec, const std::string& text, const std::string& data) {
  const auto m = fit(spec, formula(text), dataset(data));
  return m.summary({m.design.features(), m.design.classes(), m.design.target()});
}

TEST(GlmGolden, TheSummaryOfClassesPrintsAsInR) {
  EXPECT_EQ(summary_of({}, "type ~ .", "pima_train"), R"(Deviance Residuals:
    Min       1Q   Median       3Q      Max
-1.9830  -0.6773  -0.3681   0.6439   2.3154

Coefficients:
             Estimate Std. Error z value Pr(>|z|)
(Intercept) -9.773062   1.770387  -5.520 3.38e-08 ***
npreg        0.103183   0.064694   1.595  0.11073
glu          0.032117   0.006787   4.732 2.22e-06 ***
bp          -0.004768   0.018541  -0.257  0.79707
skin        -0.001917   0.022500  -0.085  0.93211
bmi          0.083624   0.042827   1.953  0.05087 .
ped          1.820410   0.665514   2.735  0.00623 **
age          0.041184   0.022091   1.864  0.06228 .
---
Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1

(Dispersion parameter for binomial family taken to be 1)

    Null deviance: 256.41  on 199  degrees of freedom
Residual deviance: 178.39  on 192  degrees of freedom
AIC: 194.39

Number of Fisher Scoring iterations: 5
)");
}

TEST(GlmGolden, TheSummaryWithAnEstimatedDispersionPrintsAsInR) {
  EXPECT_EQ(summary_of({.family = GlmFamily::inverse_gaussian}, "medv ~ crim + rm + lstat", "boston"),
            R"(Deviance Residuals:
      Min         1Q     Median         3Q        Max
-0.229096  -0.027821  -0.007438   0.020446   0.238019

Coefficients:
              Estimate Std. Error t value Pr(>|t|)
(Intercept)  2.262e-03  4.665e-04   4.849 1.66e-06 ***
crim         1.063e-04  1.496e-05   7.102 4.24e-12 ***
rm          -2.997e-04  5.869e-05  -5.106 4.68e-07 ***
lstat        1.573e-04  1.169e-05  13.453  < 2e-16 ***
---
Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1

(Dispersion parameter for inverse.gaussian family taken to be 0.002984034)

    Null deviance: 4.1217  on 505  degrees of freedom
Residual deviance: 1.3642  on 502  degrees of freedom
AIC: 3058.9

Number of Fisher Scoring iterations: 6
)");
}

}  // namespace
}  // namespace lemma
