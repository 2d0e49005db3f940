// lemma/linear/ols_test.cpp: answers by hand, and what must not change them.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/linear/ols.hpp>
#include <lemma/linear/ols/data_test.hpp>
#include <lemma/model/fit.hpp>
#include <tests/copied_rows.hpp>

namespace lemma {

using namespace ols_test;

TEST(Ols, MatchesTheAnswerByHand) {  // Sxx = 2, Sxy = 3, so b = 1.5 and b₀ = 3 − 1.5 = 1.5; residuals 0.5, −1, 0.5
  const auto m = fit(Ols{}, Matrix{{0.0}, {1.0}, {2.0}}, Vector{{2.0, 2.0, 5.0}});
  EXPECT_NEAR(m.coefficients(0), 1.5, 1e-15);
  EXPECT_NEAR(m.intercept, 1.5, 1e-15);
  EXPECT_NEAR(m.rss, 1.5, 1e-15);
  EXPECT_EQ(m.df_residual, 1);
  EXPECT_NEAR(m.sigma, std::sqrt(1.5), 1e-15);
  EXPECT_NEAR(m.std_errors(0), std::sqrt(1.5 / 2), 1e-15);
  EXPECT_NEAR(m.r_squared, 4.5 / 6, 1e-15);
  EXPECT_NEAR(m.f_statistic, 3, 1e-14);  // 4.5 / 1.5
  EXPECT_NEAR(m.p(0), 1.0 / 3, 1e-14);   // t = √3 on one degree of freedom: 1 − 2 atan(√3) / π
  EXPECT_NEAR(m.f_p, 1.0 / 3, 1e-14);
  EXPECT_EQ(m.rank, 2);
  EXPECT_TRUE(m.certificate.holds());
  EXPECT_TRUE(m.warnings.empty());
}

TEST(Ols, AWeightIsSoManyCopiesOfItsRow) {
  const Data data(40, 3);
  CallOptions options;
  options.weights = Vector(40);
  std::vector<Index> copies;
  for (Index i = 0; i < 40; ++i) {
    options.weights(i) = static_cast<double>(i % 4);
    copies.insert(copies.end(), static_cast<std::size_t>(i % 4), i);
  }
  const auto weighted = fit(Ols{}, data.x, data.response(), options);
  const Matrix x = data.x(copies, Eigen::all);
  const Vector y = data.response()(copies);
  const auto copied = fit(Ols{}, x, y);
  EXPECT_EQ(weighted.df_residual, copied.df_residual);
  EXPECT_NEAR(weighted.intercept, copied.intercept, 1e-13);
  expect_near(weighted.coefficients, copied.coefficients, 1e-13, "coefficients");
  expect_near(weighted.std_errors, copied.std_errors, 1e-13, "std_errors");
  expect_near(weighted.p, copied.p, 1e-12, "p");
  expect_near(weighted.residual_quantiles, copied.residual_quantiles, 1e-13, "residual_quantiles");
  for (const auto member : {&OlsModel::sigma, &OlsModel::r_squared, &OlsModel::adj_r_squared, &OlsModel::f_statistic,
                            &OlsModel::log_likelihood, &OlsModel::aic, &OlsModel::bic})
    EXPECT_NEAR(weighted.*member, copied.*member, 1e-12 * std::abs(copied.*member));

  MemoryRows rows = rows_of(data.x, data.y);
  rows.weights({options.weights.data(), 40});
  const std::vector<double> copied_y(y.begin(), y.end());
  EXPECT_NEAR(leave_one_out_mse(weighted, rows), leave_one_out_mse(copied, rows_of(x, copied_y)), 1e-12);
  EXPECT_TRUE(certify(weighted, rows, {}).holds());
  EXPECT_FALSE(certify(weighted, rows_of(data.x, data.y), {}).holds());  // without the weights it is another problem
}

TEST(Ols, MultiplyingEveryPrecisionChangesOnlyTheScaleOfSigma) {
  const Data data(50, 3);
  CallOptions once, often;
  once.precision = Vector::LinSpaced(50, 0.5, 2);
  often.precision = 4 * once.precision;
  const auto a = fit(Ols{}, data.x, data.response(), once), b = fit(Ols{}, data.x, data.response(), often);
  EXPECT_EQ(a.df_residual, 46);
  expect_near(b.coefficients, a.coefficients, 1e-14, "coefficients");
  expect_near(b.std_errors, a.std_errors, 1e-14, "std_errors");
  EXPECT_NEAR(b.sigma, 2 * a.sigma, 1e-13);
  EXPECT_NEAR(b.log_likelihood, a.log_likelihood, 1e-11);  // the density is that of the same observations
}

TEST(Ols, MovesWithTheColumnsAndTheResponse) {
  const Data data(60, 4);
  const auto m = fit(Ols{}, data.x, data.response());
  const Vector scale{{2.0, 1e-6, -3.0, 1e6}}, shift{{0.0, 5.0, -1e4, 7.0}};
  const Matrix x = (data.x * scale.asDiagonal()).rowwise() + shift.transpose();
  const auto moved = fit(Ols{}, x, 3 * data.response().array() + 11);
  expect_near(moved.coefficients.cwiseProduct(scale) / 3, m.coefficients, 1e-9, "coefficients");
  EXPECT_NEAR(moved.intercept, 3 * m.intercept + 11 - moved.coefficients.dot(shift), 1e-7);
  EXPECT_NEAR(moved.r_squared, m.r_squared, 1e-11);
  expect_near(moved.t.cwiseProduct(scale.cwiseSign()), m.t, 1e-8, "t");
  EXPECT_TRUE(moved.certificate.holds()) << moved.certificate.message;
}

TEST(Ols, ThreadsAndSourcesGiveTheSameBits) {
  const Data data(20'000, 7);
  const MemoryRows rows = rows_of(data.x, data.y);
  CallOptions options;
  options.threads = 1;
  const auto one = fit(Ols{}, rows, options);
  for (const int threads : {2, 3}) {
    options.threads = threads;
    EXPECT_TRUE(same(fit(Ols{}, rows, options), one)) << threads << " threads";
  }
  EXPECT_TRUE(same(fit(Ols{}, CopiedRows(rows), options), one));
}

TEST(Ols, PartsOfTheRowsMergeToTheWhole) {
  const Data data(500, 4);
  const auto whole = fit(Ols{}, data.x, data.response());
  for (const Index size : {1, 7, 100, 499}) {
    LeastSquares merged(4);
    for (Index from = 0; from < 500; from += size) {
      const Index count = std::min(size, 500 - from);
      Block block(data.x.middleRows(from, count), from);
      block.y = std::span(data.y).subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(count));
      LeastSquares part(4);
      part.accumulate(block);
      merged.merge(part);
    }
    expect_near(solve(merged).coefficients, whole.coefficients, 1e-13, "coefficients");
  }
}

TEST(Ols, DependentColumnsAreLeftOutAndNamedAsInR) {
  const Data data(30, 2);
  Matrix x(30, 6);
  x << data.x.col(0), data.x.col(0), data.x.col(1), data.x.rowwise().sum(), Vector::Constant(30, 7.0),
      Vector::LinSpaced(30, 0, 1);
  const auto m = fit(Ols{}, x, data.response());
  EXPECT_EQ(m.kept, (Labels{0, 2, 5}));
  EXPECT_TRUE(std::isnan(m.coefficients(1)) && std::isnan(m.std_errors(3)) && std::isnan(m.covariance(5, 5)));
  ASSERT_EQ(m.warnings.size(), 1U);
  EXPECT_EQ(m.warnings[0],
            "'x2', 'x4' and 'x5' are linear combinations of the intercept and the columns before them; "
            "they take no part and their coefficients are NA");
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_TRUE(certify(m, rows_of(x, data.y), {}).holds());

  Matrix alone(30, 3);
  alone << data.x, Vector::LinSpaced(30, 0, 1);
  const auto without = fit(Ols{}, alone, data.response());
  expect_near(m.predict(x), without.predict(alone), 1e-13, "predictions");
  EXPECT_NEAR(m.sigma, without.sigma, 1e-13);
  EXPECT_EQ(to_json(to_value(m.certificate)).find("NaN"), std::string::npos);
}

TEST(Ols, WithoutAnInterceptAConstantColumnIsOne) {
  const Data data(30, 2);
  Matrix x(30, 3);
  x << Vector::Ones(30), data.x;
  const auto with = fit(Ols{}, data.x, data.response()), without = fit(Ols{.intercept = false}, x, data.response());
  EXPECT_NEAR(without.coefficients(0), with.intercept, 1e-13);
  EXPECT_NEAR(without.std_errors(0), with.intercept_std_error, 1e-13);
  EXPECT_EQ(without.intercept, 0);
  EXPECT_TRUE(std::isnan(without.intercept_p));
  EXPECT_NEAR(without.r_squared, 1 - without.rss / data.response().squaredNorm(),
              1e-14);  // about 0, not about the mean
  EXPECT_EQ(without.covariance.rows(), 3);
}

TEST(Ols, MoreColumnsThanRowsDetermineTheFirstOnes) {  // lm: 6.5, −0.5, −2.5, NA
  const Matrix x{{1.0, 2.0, 5.0}, {2.0, 1.0, 4.0}, {4.0, 1.0, 1.0}};
  const auto m = fit(Ols{}, x, Vector{{1.0, 3.0, 2.0}});
  EXPECT_NEAR(m.intercept, 6.5, 1e-13);
  EXPECT_NEAR(m.coefficients(0), -0.5, 1e-13);
  EXPECT_NEAR(m.coefficients(1), -2.5, 1e-13);
  EXPECT_TRUE(std::isnan(m.coefficients(2)));
  EXPECT_EQ(m.df_residual, 0);
  EXPECT_TRUE(std::isnan(m.sigma) && std::isnan(m.std_errors(0)) && std::isnan(m.f_statistic) &&
              std::isnan(m.aic) == (m.rss == 0));
  ASSERT_EQ(m.warnings.size(), 2U);
  EXPECT_EQ(m.warnings[1], "no residual degrees of freedom: 3 coefficients for 3 rows; there are no standard errors");
  EXPECT_NE(m.summary({{"a", "b", "c"}, {}, "y"}).find("on 0 degrees of freedom"), std::string::npos);
  EXPECT_EQ(message_of([&] { m.interval(x, IntervalKind::confidence, 0.95); }),
            "ols: the fit has no residual degrees of freedom, so there is no interval");
}

TEST(Ols, LeaveOneOutIsARefitWithoutEachRow) {
  const Data data(25, 3);
  const auto m = fit(Ols{}, data.x, data.response());
  Block block(data.x, 0);
  block.y = data.y;
  const auto columns = m.diagnostics(block);
  EXPECT_EQ(columns[5].name, "loo_residual");
  for (const Index out : {0, 11, 24}) {
    std::vector<Index> others;
    for (Index i = 0; i < 25; ++i)
      if (i != out) others.push_back(i);
    const Matrix x = data.x(others, Eigen::all);
    const auto without = fit(Ols{}, x, data.response()(others));
    const double predicted = without.predict(data.x.row(out))(0), fitted = m.predict(data.x.row(out))(0);
    EXPECT_NEAR(columns[5].values(out), data.response()(out) - predicted, 1e-12);
    const double h = columns[0].values(out);
    EXPECT_NEAR(columns[3].values(out), (data.response()(out) - fitted) / (without.sigma * std::sqrt(1 - h)), 1e-11);
    EXPECT_NEAR(columns[6].values(out), (fitted - predicted) / (without.sigma * std::sqrt(h)), 1e-11);
    const Vector moved = m.predict(data.x) - without.predict(data.x);  // Cook: how far all fitted values move
    EXPECT_NEAR(columns[4].values(out), moved.squaredNorm() / (4 * m.sigma * m.sigma), 1e-12);
  }
}

TEST(Ols, ARowThatAloneDeterminesItsFitHasNoLeaveOneOut) {
  const Matrix x{{0.0}, {0.0}, {0.0}, {1.0}};
  const std::vector<double> y{1, 2, 4, 9};
  const auto m = fit(Ols{}, rows_of(x, y), CallOptions{});
  Block block(x, 0);
  block.y = y;
  const auto columns = m.diagnostics(block);
  EXPECT_EQ(columns[0].values(3), 1);
  EXPECT_TRUE(std::isnan(columns[5].values(3)));
  EXPECT_TRUE(std::isfinite(columns[5].values(0)));
  EXPECT_TRUE(std::isnan(leave_one_out_mse(m, rows_of(x, y))));
}

TEST(Ols, IntervalsCoverAsOftenAsTheySay) {  // 400 samples; the binomial sd of 0.8 is 0.02
  int confidence = 0, prediction = 0;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    const Data data(13, 2, seed);
    const auto m = fit(Ols{}, data.x.topRows(12), data.response().head(12));
    const Matrix last = data.x.bottomRows(1);
    const double mean = 1 + last(0, 0) - 2 * last(0, 1);
    const auto narrow = m.interval(last, IntervalKind::confidence, 0.8),
               wide = m.interval(last, IntervalKind::prediction, 0.8);
    confidence += narrow.lower(0) < mean && mean < narrow.upper(0);
    prediction += wide.lower(0) < data.y.back() && data.y.back() < wide.upper(0);
  }
  EXPECT_NEAR(confidence / 400.0, 0.8, 0.07);
  EXPECT_NEAR(prediction / 400.0, 0.8, 0.07);
}

TEST(Ols, ItsMapTracesCoefficientsThroughAPipeline) {
  const Data data(50, 3);
  const auto m = fit(Ols{}, data.x, data.response());
  const AffineMap map = m.affine();
  EXPECT_EQ(map.a.rows(), 1);
  expect_near(Vector((data.x * map.a.transpose()).array() + map.b(0)), m.predict(data.x), 1e-13, "predictions");
}

}  // namespace lemma
