// lemma/linear/ols/golden_test.cpp: the numbers and the printed lines of R's lm.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/data/datasets.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/linear/shared/golden_test.hpp>
#include <lemma/model/fit.hpp>

namespace lemma {
namespace {

/// Everything a golden file of lm holds, with `precision` as the inverse variances.
void expect_golden(const std::string& name, const std::vector<double>& precision) {
  const Golden golden(name);
  const Table boston = dataset("boston");
  CallOptions options;
  options.precision = Eigen::Map<const Vector>(precision.data(), static_cast<Index>(precision.size()));
  const auto m = fit(Ols{}, formula("medv ~ ."), boston, options);
  EXPECT_TRUE(golden.agrees("coef", with(m.intercept, m.coefficients)));
  EXPECT_TRUE(golden.agrees("se", with(m.intercept_std_error, m.std_errors)));
  EXPECT_TRUE(golden.agrees("t", with(m.intercept_t, m.t)));
  EXPECT_TRUE(golden.agrees("p_value", with(m.intercept_p, m.p)));
  EXPECT_TRUE(golden.agrees("sigma", m.sigma));
  EXPECT_TRUE(golden.agrees("df_residual", m.df_residual));
  EXPECT_TRUE(golden.agrees("r_squared", m.r_squared));
  EXPECT_TRUE(golden.agrees("adj_r_squared", m.adj_r_squared));
  EXPECT_TRUE(golden.agrees("f_statistic", m.f_statistic));
  EXPECT_TRUE(golden.agrees("f_df", m.f_df));
  EXPECT_TRUE(golden.agrees("f_p_value", m.f_p));
  EXPECT_TRUE(golden.agrees("rss", m.rss));
  EXPECT_TRUE(golden.agrees("log_likelihood", m.log_likelihood));
  EXPECT_TRUE(golden.agrees("aic", m.aic));
  EXPECT_TRUE(golden.agrees("bic", m.bic));

  const DesignData data = m.design.train(boston);
  MemoryRows rows(data.x);
  rows.response(data.y);
  Block block(data.x, 0);
  block.y = data.y;
  if (!precision.empty()) {
    block.precision = precision;
    rows.precision(precision);
  }
  const auto all = m.diagnostics(block);
  EXPECT_TRUE(golden.agrees("fitted", golden.shown(m.predict(data.x))));
  EXPECT_TRUE(golden.agrees("leverage", golden.shown(diagnostic(all, "leverage"))));
  EXPECT_TRUE(golden.agrees("max_leverage", diagnostic(all, "leverage").maxCoeff()));
  EXPECT_TRUE(golden.agrees("studentized_residuals", golden.shown(diagnostic(all, "studentised_residual"))));
  EXPECT_TRUE(golden.agrees("cooks_distance", golden.shown(diagnostic(all, "cooks_distance"))));
  EXPECT_TRUE(golden.agrees("loocv_mse", leave_one_out_mse(m, rows)));
  EXPECT_TRUE(
      golden.agrees("loocv_mse", diagnostic(all, "loo_residual").squaredNorm() / static_cast<double>(rows.count())));
  EXPECT_NEAR(diagnostic(all, "leverage").sum(), static_cast<double>(m.rank),
              1e-10);  // the trace of a projection is its rank
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_TRUE(certify(m, rows, {}).holds()) << certify(m, rows, {}).message;
}

std::vector<double> inverse_distances() {
  const Table boston = dataset("boston");
  std::vector<double> out;
  for (const double dis : boston.column("dis").numbers().values) out.push_back(1 / dis);
  return out;
}

Table boston_with_dependent_columns() {
  Table table = dataset("boston");
  const auto rm = table.column("rm").numbers().values, lstat = table.column("lstat").numbers().values;
  std::vector<double> twice, sum;
  for (std::size_t i = 0; i < rm.size(); ++i) {
    twice.push_back(2 * rm[i]);
    sum.push_back(rm[i] + lstat[i]);
  }
  table.add(numeric("twice", twice));
  table.add(numeric("sum", sum));
  table.add(numeric("one", std::vector<double>(rm.size(), 1.0)));
  return table;
}

std::string printed(const std::string& text, const Table& table, const CallOptions& options = {}) {
  const auto m = fit(Ols{}, formula(text), table, options);
  return m.summary({m.design.features(), {}, m.design.target()});
}

}  // namespace

TEST(OlsGolden, BostonHasEveryNumberOfR) { expect_golden("ols_boston", {}); }

TEST(OlsGolden, PrecisionsAreTheWeightsOfR) { expect_golden("wls_boston", inverse_distances()); }

TEST(OlsGolden, IntervalsCovarianceAndInfluenceAreThoseOfR) {  // lm(medv ~ rm + lstat): confint, predict, vcov, dffits
  const Table boston = dataset("boston");
  const auto m = fit(Ols{}, formula("medv ~ rm + lstat"), boston);
  const Matrix x{{6.0, 5.0}, {7.5, 20.0}};
  const auto mean = m.interval(x, IntervalKind::confidence, 0.95), next = m.interval(x, IntervalKind::prediction, 0.9);
  EXPECT_NEAR(mean.lower(0), 25.034854575652950, 1e-11);
  EXPECT_NEAR(mean.upper(1), 25.612145833963829, 1e-11);
  EXPECT_NEAR(next.lower(0), 16.833216342507342, 1e-11);
  EXPECT_NEAR(next.upper(1), 33.234118531817352, 1e-11);
  EXPECT_NEAR(m.intercept_lower, -7.59190028183290444, 1e-11);
  EXPECT_NEAR(m.intercept_upper, 4.8753546580839497, 1e-11);
  EXPECT_NEAR(m.lower(0), 4.22155043576518541, 1e-12);
  EXPECT_NEAR(m.upper(1), -0.5564395011791643, 1e-12);
  const Matrix covariance{{10.066836121203561305, -1.392486406747580396, -0.0991781333737951770},
                          {-1.392486406747580396, 0.197549581025541293, 0.0119306695739176093},
                          {-0.099178133373795177, 0.011930669573917609, 0.0019124410148213592}};
  EXPECT_LT((m.covariance - covariance).cwiseAbs().maxCoeff(), 1e-12);
  const DesignData data = m.design.train(boston);
  Block block(data.x, 0);
  block.y = data.y;
  const auto of = m.diagnostics(block);
  EXPECT_EQ(of[2].name, "standardised_residual");
  EXPECT_NEAR(of[2].values(0), -0.89383162597656340, 1e-12);
  EXPECT_EQ(of[6].name, "dffits");
  EXPECT_NEAR(of[6].values(2), 0.028172437376625049, 1e-12);
}

TEST(OlsGolden, AnOffsetIsTakenFromTheResponse) {  // lm(medv ~ rm + offset(0.5 * lstat))
  const auto m = fit(Ols{}, formula("medv ~ rm + offset(I(0.5 * lstat))"), dataset("boston"));
  EXPECT_NEAR(m.intercept, -60.600344256840756, 1e-10);
  EXPECT_NEAR(m.coefficients(0), 12.221334484465192, 1e-11);
  EXPECT_NEAR(m.rss, 36384.124729828931, 1e-7);
}

TEST(OlsGolden, TheSummaryReadsAsRs) {
  EXPECT_EQ(printed("medv ~ .", dataset("boston")), R"(Residuals:
    Min      1Q  Median      3Q     Max
-15.595  -2.730  -0.518   1.777  26.199

Coefficients:
              Estimate Std. Error t value Pr(>|t|)
(Intercept)  3.646e+01  5.103e+00   7.144 3.28e-12 ***
crim        -1.080e-01  3.286e-02  -3.287 0.001087 **
zn           4.642e-02  1.373e-02   3.382 0.000778 ***
indus        2.056e-02  6.150e-02   0.334 0.738288
chas         2.687e+00  8.616e-01   3.118 0.001925 **
nox         -1.777e+01  3.820e+00  -4.651 4.25e-06 ***
rm           3.810e+00  4.179e-01   9.116  < 2e-16 ***
age          6.922e-04  1.321e-02   0.052 0.958229
dis         -1.476e+00  1.995e-01  -7.398 6.01e-13 ***
rad          3.060e-01  6.635e-02   4.613 5.07e-06 ***
tax         -1.233e-02  3.760e-03  -3.280 0.001112 **
ptratio     -9.527e-01  1.308e-01  -7.283 1.31e-12 ***
black        9.312e-03  2.686e-03   3.467 0.000573 ***
lstat       -5.248e-01  5.072e-02 -10.347  < 2e-16 ***
---
Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1

Residual standard error: 4.745 on 492 degrees of freedom
Multiple R-squared:  0.7406,  Adjusted R-squared:  0.7338
F-statistic: 108.1 on 13 and 492 DF,  p-value: < 2.2e-16
)");
}

TEST(OlsGolden, WeightedResidualsAreCalledSoAndFixedPointIsUsedWhereItIsNarrower) {
  CallOptions options;
  const auto precision = inverse_distances();
  options.precision = Eigen::Map<const Vector>(precision.data(), static_cast<Index>(precision.size()));
  const std::string text = printed("medv ~ .", dataset("boston"), options);
  EXPECT_NE(text.find(R"(Weighted Residuals:
    Min      1Q  Median      3Q     Max
-9.4726 -1.6701 -0.2844  1.0497 20.8715

Coefficients:
              Estimate Std. Error t value Pr(>|t|)
(Intercept)  61.909537   5.618503  11.019  < 2e-16 ***
crim         -0.135571   0.028788  -4.709 3.24e-06 ***
)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Residual standard error: 3.24 on 492 degrees of freedom\n"), std::string::npos) << text;
}

TEST(OlsGolden, DependentColumnsArePrintedNaAsInR) {
  EXPECT_EQ(printed("medv ~ rm + twice + lstat + sum + one + nox", boston_with_dependent_columns()), R"(Residuals:
     Min       1Q   Median       3Q      Max
-17.7048  -3.4950  -0.9992   1.9397  28.4939

Coefficients: (3 not defined because of singularities)
            Estimate Std. Error t value Pr(>|t|)
(Intercept) -0.76669    3.28617  -0.233    0.816
rm           5.12433    0.44671  11.471   <2e-16 ***
twice             NA         NA      NA       NA
lstat       -0.62288    0.05193 -11.994   <2e-16 ***
sum               NA         NA      NA       NA
one               NA         NA      NA       NA
nox         -1.84563    2.65052  -0.696    0.487
---
Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1

Residual standard error: 5.543 on 502 degrees of freedom
Multiple R-squared:  0.6389,  Adjusted R-squared:  0.6368
F-statistic: 296.1 on 3 and 502 DF,  p-value: < 2.2e-16
)");
}

TEST(OlsGolden, WithoutSlopesThereIsNoRSquaredAndWithoutAnInterceptItIsNotCentred) {
  EXPECT_EQ(printed("medv ~ 1", dataset("boston")), R"(Residuals:
    Min      1Q  Median      3Q     Max
-17.533  -5.508  -1.333   2.467  27.467

Coefficients:
            Estimate Std. Error t value Pr(>|t|)
(Intercept)  22.5328     0.4089   55.11   <2e-16 ***
---
Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1

Residual standard error: 9.197 on 505 degrees of freedom
)");
  const std::string text = printed("medv ~ rm + lstat - 1", dataset("boston"));
  EXPECT_NE(text.find("rm     4.90691    0.07019   69.91   <2e-16 ***\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Multiple R-squared:  0.9485,  Adjusted R-squared:  0.9482\n"), std::string::npos) << text;
}

}  // namespace lemma
