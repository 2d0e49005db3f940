// lemma/linear/quantile_test.cpp: lad and quantile: golden values, what must not change them, and input at its limits.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/linear/lad.hpp>
#include <lemma/linear/ols/data_test.hpp>
#include <lemma/linear/quantile/simplex.hpp>
#include <lemma/model/fit.hpp>
#include <tests/golden.hpp>

namespace lemma {
namespace {

using ols_test::Data;
using ols_test::expect_near;
using ols_test::rows_of;

constexpr const char* kBoston = "medv ~ crim + rm + dis + ptratio + lstat";

double objective(const Matrix& x, const Vector& y, double tau, double intercept, const Vector& b) {
  double sum = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    const double r = y(i) - intercept - x.row(i).dot(b);
    sum += r * (tau - (r < 0 ? 1 : 0));
  }
  return sum;
}

TEST(Quantile, AgreesWithQuantregOnBoston) {
  const Golden golden("lad_boston");
  const Table boston = dataset("boston");
  for (const Value& expected : golden.value("fits").as_list()) {
    const double tau = expected.at("tau").as_double();
    const auto m = fit(Quantile{.tau = tau}, formula(kBoston), boston);
    Vector all(6);
    all << m.intercept, m.coefficients;
    EXPECT_TRUE(Golden::compare("coef", all, expected.at("coef"), {"mixed", 1e-6}));
    EXPECT_TRUE(Golden::compare("objective", m.objective, expected.at("objective"), {"rel", 1e-9}));
    EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
    EXPECT_EQ(m.on_plane, 6);
    if (tau == 0.5) {
      const auto lad = fit(Lad{}, formula(kBoston), boston);
      EXPECT_EQ(lad.coefficients, m.coefficients);
      EXPECT_TRUE(Golden::compare("sum", lad.objective, expected.at("sum_abs_residuals"), {"rel", 1e-9}));
    }
  }
}

TEST(Quantile, HasTheStandardErrorsOfQuantreg) {  // summary(rq(…), se = "nid" or "iid"), quantreg 5.94
  const Table boston = dataset("boston");
  const auto nid = fit(Quantile{}, formula(kBoston), boston);
  EXPECT_NEAR(nid.intercept_std_error, 3.1851045382227068, 1e-6);
  expect_near(
      nid.std_errors,
      Vector{{0.0308313809495981, 0.3519669687335143, 0.0740599102649136, 0.1009161199011884, 0.0395254698446061}},
      1e-7, "nid");
  EXPECT_NEAR(nid.t(0), -3.92810168348345, 1e-6);
  EXPECT_NEAR(nid.p(0), 9.76536493093594e-05, 1e-9);
  EXPECT_NEAR(nid.log_likelihood, -1479.04409053009, 1e-8);
  EXPECT_NEAR(nid.aic, 2970.08818106018, 1e-8);
  const auto iid = fit(Quantile{.tau = 0.9, .errors = QuantileErrors::iid}, formula(kBoston), boston);
  EXPECT_NEAR(iid.intercept_std_error, 11.2381409066906066, 1e-6);
  expect_near(
      iid.std_errors,
      Vector{{0.0843620268663467, 1.1625052411716197, 0.3525438730143949, 0.3207046288291898, 0.1332126243537513}},
      1e-8, "iid");
  const auto none = fit(Lad{.errors = QuantileErrors::none}, formula(kBoston), boston);
  EXPECT_TRUE(std::isnan(none.intercept_std_error));
}

TEST(Quantile, OfOneColumnOfOnesIsTheOrderStatistic) {
  const Vector y{{5.0, 1.0, 9.0, 3.0, 7.0}};
  EXPECT_NEAR(fit(Lad{}, Matrix(5, 0), y).intercept, 5, 1e-14);
  EXPECT_NEAR(fit(Quantile{.tau = 0.3}, Matrix(5, 0), y).intercept, 3, 1e-14);
  EXPECT_NEAR(fit(Lad{}, Matrix(5, 0), y).objective, 12, 1e-13);
}

TEST(Quantile, AShareTauLiesBelowThePlane) {
  const Data data(501, 3);
  for (const double tau : {0.05, 0.25, 0.5, 0.8, 0.99}) {
    const auto m = fit(Quantile{.tau = tau}, data.x, data.response());
    const Vector r = data.response() - m.predict(data.x);
    const auto below = static_cast<double>((r.array() < -1e-9).count());
    EXPECT_LE(below, 501 * tau + 1e-9);
    EXPECT_GE(below + 4, 501 * tau - 1e-9);
    EXPECT_TRUE(certify(m, rows_of(data.x, data.y), {}).holds()) << certify(m, rows_of(data.x, data.y), {}).message;
  }
}

TEST(Quantile, ManyRowsBySamplesGiveTheVertexOfAllRows) {  // beyond the size at which samples are drawn
  const Data data(30'000, 5);
  const auto m = fit(Quantile{.tau = 0.3, .errors = QuantileErrors::none}, data.x, data.response());
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_EQ(m.on_plane, 6);
  RandomStream stream(3);
  for (int trial = 0; trial < 20; ++trial) {
    Vector b = m.coefficients;
    for (double& each : b) each += 1e-4 * stream.normal();
    EXPECT_GT(objective(data.x, data.response(), 0.3, m.intercept + 1e-4 * stream.normal(), b), m.objective);
  }
}

TEST(Quantile, AColumnThatFewRowsHaveIsNotLostInTheSample) {
  Data data(20'000, 3);
  data.x.col(2).setZero();
  for (const Index i : {17, 4711, 9999, 15'000}) data.x(i, 2) = 1;
  const auto m = fit(Lad{.errors = QuantileErrors::none}, data.x, data.response());
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_EQ(m.rank, 4);
}

TEST(Quantile, TiesAndRepeatedRowsDoNotStopIt) {
  Matrix x(400, 2);
  Vector y(400);
  for (Index i = 0; i < 400; ++i) {
    x(i, 0) = static_cast<double>(i % 5);
    x(i, 1) = static_cast<double>((i / 5) % 4);
    y(i) = static_cast<double>((i * 7) % 3) + x(i, 0);
  }
  for (const double tau : {0.25, 0.5, 0.75}) {
    const auto m = fit(Quantile{.tau = tau}, x, y);
    EXPECT_TRUE(m.certificate.holds()) << tau << ": " << m.certificate.message;
    EXPECT_GT(m.on_plane, 100);
  }
}

TEST(Quantile, SaysWhenOtherCoefficientsAreAsGood) {
  const auto m = fit(Lad{}, Matrix(4, 0), Vector{{1.0, 2.0, 4.0, 8.0}});  // any number from 2 to 4
  EXPECT_FALSE(m.unique);
  ASSERT_FALSE(m.warnings.empty());
  EXPECT_NE(m.warnings[0].find("not unique"), std::string::npos);
  EXPECT_NEAR(m.objective, 9, 1e-13);
  EXPECT_TRUE(m.certificate.holds());
  EXPECT_TRUE(fit(Lad{}, Matrix(3, 0), Vector{{1.0, 2.0, 4.0}}).unique);
}

TEST(Quantile, IsEquivariant) {
  const Data data(80, 3);
  const Vector y = data.response();
  const auto m = fit(Quantile{.tau = 0.3}, data.x, y);
  const auto scaled = fit(Quantile{.tau = 0.3}, data.x, 5 * y), turned = fit(Quantile{.tau = 0.7}, data.x, -2 * y);
  const auto shifted = fit(Quantile{.tau = 0.3}, data.x, y + data.x * Vector{{1.0, 2.0, 3.0}});
  expect_near(scaled.coefficients, 5 * m.coefficients, 1e-12, "scaled");
  expect_near(scaled.std_errors, 5 * m.std_errors, 1e-7, "scaled errors");
  expect_near(turned.coefficients, -2 * m.coefficients, 1e-12, "turned");
  expect_near(shifted.coefficients, m.coefficients + Vector{{1.0, 2.0, 3.0}}, 1e-12, "shifted");
  Vector outlying = y;
  Index above = 0;
  (y - m.predict(data.x)).maxCoeff(&above);
  outlying(above) += 1e6;  // a row may move as it likes on its side of the plane
  expect_near(fit(Quantile{.tau = 0.3}, data.x, outlying).coefficients, m.coefficients, 1e-9, "outlier");
}

TEST(Quantile, AWeightIsSoManyCopiesOfItsRow) {
  const Data data(60, 3);
  CallOptions options;
  options.weights = Vector(60);
  std::vector<Index> copies;
  for (Index i = 0; i < 60; ++i) {
    options.weights(i) = static_cast<double>(i % 4);
    copies.insert(copies.end(), static_cast<std::size_t>(i % 4), i);
  }
  const Matrix x = data.x(copies, Eigen::all);
  const Vector y = data.response()(copies);
  for (const auto errors : {QuantileErrors::nid, QuantileErrors::iid}) {
    const Quantile spec{.tau = 0.4, .errors = errors};
    const auto weighted = fit(spec, data.x, data.response(), options), copied = fit(spec, x, y);
    expect_near(weighted.coefficients, copied.coefficients, 1e-12, "coefficients");
    expect_near(weighted.std_errors, copied.std_errors, 1e-7, "std_errors");
    EXPECT_NEAR(weighted.objective, copied.objective, 1e-10);
    EXPECT_EQ(weighted.df_residual, copied.df_residual);
  }
  options.weights(3) = 0.5;
  EXPECT_NE(message_of([&] { fit(Lad{.errors = QuantileErrors::iid}, data.x, data.response(), options); }).find("0.5"),
            std::string::npos);
  EXPECT_TRUE(fit(Lad{}, data.x, data.response(), options).certificate.holds());
}

TEST(Quantile, ThreadsGiveTheSameBits) {
  const Data data(20'000, 4);
  CallOptions options;
  options.threads = 1;
  const auto one = fit(Lad{}, data.x, data.response(), options);
  options.threads = 3;
  const auto three = fit(Lad{}, data.x, data.response(), options);
  EXPECT_EQ(one.coefficients, three.coefficients);
  EXPECT_EQ(one.std_errors, three.std_errors);
  EXPECT_EQ(one.certificate.value, three.certificate.value);
}

TEST(Quantile, TheNaturalWrongQuantileFailsTheCertificate) {
  const Data data(300, 3);
  const MemoryRows rows = rows_of(data.x, data.y);
  QuantileModel other = fit(Quantile{.tau = 0.5}, rows, {});
  ASSERT_TRUE(certify(other, rows, {}).holds()) << certify(other, rows, {}).message;
  other.spec.tau = 0.51;
  EXPECT_FALSE(certify(other, rows, {}).holds());
}

TEST(Quantile, DependentColumnsAreLeftOutAndNamed) {
  const Data data(60, 2);
  Matrix x(60, 5);
  x << data.x.col(0), data.x.col(0), data.x.col(1), data.x.rowwise().sum(), Vector::Constant(60, 7.0);
  const auto m = fit(Lad{}, x, data.response());
  EXPECT_EQ(m.kept, (Labels{0, 2}));
  EXPECT_TRUE(std::isnan(m.coefficients(1)) && std::isnan(m.std_errors(3)));
  EXPECT_NE(m.warnings.at(0).find("'x2', 'x4' and 'x5' are linear combinations"), std::string::npos) << m.warnings[0];
  EXPECT_TRUE(certify(m, rows_of(x, data.y), {}).holds()) << certify(m, rows_of(x, data.y), {}).message;
  const auto alone = fit(Lad{}, data.x, data.response());
  expect_near(m.predict(x), alone.predict(data.x), 1e-12, "predictions");
}

TEST(Quantile, MoreColumnsThanRowsAndPerfectFitsAreSaidToBe) {
  const Data data(4, 6);
  const auto m = fit(Lad{}, data.x, data.response());
  EXPECT_EQ(m.rank, 4);
  EXPECT_NEAR(m.objective, 0, 1e-12);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_FALSE(m.warnings.empty());
  const Data more(50, 2);
  const auto line = fit(Lad{}, more.x, more.x * Vector{{1.0, 2.0}});
  EXPECT_NEAR(line.coefficients(1), 2, 1e-12);
  EXPECT_TRUE(line.certificate.holds()) << line.certificate.message;
  EXPECT_TRUE(std::isnan(line.log_likelihood));
}

TEST(Quantile, StandardErrorsDoNotDependOnTheOrderOfTheRows) {
  RandomStream stream(8);
  Matrix x(60, 3);
  Vector y(60);
  for (Index i = 0; i < 60; ++i) {  // columns of 0 and 1: several planes are best at once
    for (Index j = 0; j < 3; ++j) x(i, j) = static_cast<double>(stream.below(2));
    y(i) = x.row(i).sum() + stream.normal();
  }
  for (const double tau : {0.1, 0.5, 0.8}) {
    const auto plain = fit(Quantile{.tau = tau}, x, y);
    ASSERT_TRUE(plain.std_errors.allFinite());
    for (int round = 0; round < 10; ++round) {
      const auto order = permutation(stream, 60);
      const auto shuffled = fit(Quantile{.tau = tau}, Matrix(x(order, Eigen::all)), Vector(y(order)));
      EXPECT_LT((shuffled.std_errors - plain.std_errors).cwiseAbs().maxCoeff(), 1e-9 * plain.std_errors.maxCoeff())
          << tau;
    }
  }
}

TEST(Quantile, UnitsFarFromOneGiveTheAnswerOrAClearError) {
  const Data data(60, 2);
  const auto m = fit(Lad{}, data.x, data.response());
  for (const double scale : {1e-200, 1e-100, 1e100, 1e200}) {
    Matrix x = data.x;
    x.col(0) *= scale;
    LadModel scaled;
    const std::string answer = message_of([&] { scaled = fit(Lad{}, x, data.response()); });
    if (answer != "no error") {
      EXPECT_NE(
          answer.find(scale > 1 ? "lad: the values of 'x1' are too large" : "lad: the values of 'x1' are too small"),
          std::string::npos)
          << answer;
      continue;
    }
    EXPECT_NEAR(scaled.coefficients(0) * scale, m.coefficients(0), 1e-11) << scale;
    EXPECT_TRUE(scaled.certificate.holds()) << scale << ": " << scaled.certificate.message;
  }
}

TEST(Quantile, RefusesWhatItCannotUse) {
  const Data data(30, 2);
  EXPECT_NE(message_of([&] { fit(Quantile{.tau = 1}, data.x, data.response()); }).find("tau is 1"), std::string::npos);
  CallOptions options;
  options.weights = Vector::Zero(30);
  EXPECT_EQ(message_of([&] { fit(Lad{}, data.x, data.response(), options); }),
            "lad: all weights are 0, so there are no rows to learn from");
  const auto m = fit(Lad{}, data.x, data.response());
  EXPECT_NE(message_of([&] { m.interval(data.x, IntervalKind::prediction, 0.9); }).find("two quantiles"),
            std::string::npos);
  const auto interval = m.interval(data.x, IntervalKind::confidence, 0.9);
  EXPECT_TRUE((interval.lower.array() < interval.upper.array()).all());
}

}  // namespace
}  // namespace lemma
