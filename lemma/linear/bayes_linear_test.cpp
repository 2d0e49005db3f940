// lemma/linear/bayes_linear_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/linear/bayes_linear.hpp>
#include <lemma/linear/ols/data_test.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/model/fit.hpp>
#include <numbers>

namespace lemma {
namespace {

using ols_test::Data;
using ols_test::expect_near;
using ols_test::rows_of;

/// log N(y; 0, C) of the contrasts of y that the intercept leaves: C = I/β + X Xᵀ/α, taken literally.
double evidence_by_hand(const Matrix& x, const Vector& y, double alpha, double beta) {
  const Index n = x.rows();
  Matrix contrasts(n - 1, n);  // Helmert's
  contrasts.setZero();
  for (Index i = 1; i < n; ++i) {
    contrasts.row(i - 1).head(i).setConstant(1 / std::sqrt(static_cast<double>(i * (i + 1))));
    contrasts(i - 1, i) = -static_cast<double>(i) / std::sqrt(static_cast<double>(i * (i + 1)));
  }
  const Matrix cx = contrasts * x;
  const Vector cy = contrasts * y;
  const Matrix c = Matrix::Identity(n - 1, n - 1) / beta + cx * cx.transpose() / alpha;
  const auto r = cholesky(c);
  const Vector white = solve_upper_transposed(*r, Matrix(cy));
  return -0.5 * (white.squaredNorm() + log_determinant(*r) +
                 static_cast<double>(n - 1) * std::log(2 * std::numbers::pi) + std::log(static_cast<double>(n)));
}

TEST(BayesLinear, ItsEvidenceIsTheDensityOfTheResponse) {
  const Data data(25, 3);
  const auto m = fit(BayesLinear{.standardize = false}, data.x, data.response());
  EXPECT_NEAR(m.log_evidence, evidence_by_hand(data.x, data.response(), m.alpha, m.beta), 1e-9);
  for (const auto& [a, b] : {std::pair{1.01, 1.0}, {0.99, 1.0}, {1.0, 1.01}, {1.0, 0.99}})
    EXPECT_LT(evidence_by_hand(data.x, data.response(), a * m.alpha, b * m.beta), m.log_evidence);
}

TEST(BayesLinear, MeetsMacKaysEquations) {
  const Data data(60, 4);
  const auto m = fit(BayesLinear{}, data.x, data.response());
  const Vector c = m.coefficients.cwiseProduct(m.scale);
  const Vector r = data.response() - m.predict(data.x);
  EXPECT_NEAR(m.gamma, m.alpha * c.squaredNorm(), 1e-8);
  EXPECT_NEAR(59 - m.gamma, m.beta * r.squaredNorm(), 1e-7);
  EXPECT_NEAR(m.rss, r.squaredNorm(), 1e-9);
  EXPECT_GT(m.gamma, 3);
  EXPECT_LT(m.gamma, 4);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
}

TEST(BayesLinear, WithGivenPrecisionsIsRidgeRegression) {  // λ = α/β; the mean solves (XᵀX + λ I) b = Xᵀy, centred
  const Data data(50, 3);
  const auto m = fit(BayesLinear{.alpha = 6.0, .beta = 2.0, .standardize = false}, data.x, data.response());
  const Matrix x = data.x.rowwise() - data.x.colwise().mean();
  const Matrix h = x.transpose() * x + 3 * Matrix::Identity(3, 3);
  const auto r = cholesky(h);
  const Matrix pull = x.transpose() * data.response();
  expect_near(m.coefficients, solve_upper(*r, solve_upper_transposed(*r, pull)), 1e-12, "coefficients");
  const Matrix inverse = solve_upper(*r, solve_upper_transposed(*r, Matrix::Identity(3, 3)));
  expect_near(m.std_errors, (inverse.diagonal() / 2).cwiseSqrt(), 1e-12, "std_errors");
  EXPECT_EQ(m.alpha, 6);
  EXPECT_TRUE(m.certificate.holds());
  const auto flat = fit(BayesLinear{.alpha = 1e-9, .beta = 1.0}, data.x, data.response());
  expect_near(flat.coefficients, solve(scan(rows_of(data.x, data.y), LeastSquares(3))).coefficients, 1e-8,
              "flat prior");
}

TEST(BayesLinear, OneOfTheTwoPrecisionsCanBeGiven) {
  const Data data(40, 3);
  const auto both = fit(BayesLinear{}, data.x, data.response());
  const auto by_alpha = fit(BayesLinear{.alpha = both.alpha}, data.x, data.response());
  const auto by_beta = fit(BayesLinear{.beta = both.beta}, data.x, data.response());
  EXPECT_NEAR(by_alpha.beta, both.beta, 1e-8 * both.beta);
  EXPECT_NEAR(by_beta.alpha, both.alpha, 1e-6 * both.alpha);
}

TEST(BayesLinear, IntervalsCoverAsOftenAsTheySay) {
  int covered = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    const Data data(41, 2, seed);
    const auto m = fit(BayesLinear{}, data.x.topRows(40), data.response().head(40));
    const auto interval = m.interval(data.x.bottomRows(1), IntervalKind::prediction, 0.8);
    covered += interval.lower(0) < data.y.back() && data.y.back() < interval.upper(0);
  }
  EXPECT_NEAR(covered / 300.0, 0.8, 0.07);
}

TEST(BayesLinear, AWeightIsSoManyCopiesOfItsRow) {
  const Data data(50, 3);
  CallOptions options;
  options.weights = Vector(50);
  std::vector<Index> copies;
  for (Index i = 0; i < 50; ++i) {
    options.weights(i) = static_cast<double>(i % 3);
    copies.insert(copies.end(), static_cast<std::size_t>(i % 3), i);
  }
  const Matrix x = data.x(copies, Eigen::all);
  const auto weighted = fit(BayesLinear{}, data.x, data.response(), options),
             copied = fit(BayesLinear{}, x, data.response()(copies));
  expect_near(weighted.coefficients, copied.coefficients, 1e-11, "coefficients");
  EXPECT_NEAR(weighted.log_evidence, copied.log_evidence, 1e-9);
}

TEST(BayesLinear, ColumnsWithoutUseAreShrunkAndSaidToBeSo) {
  const Data data(40, 1);
  const Data other(40, 3, 77);
  const auto m = fit(BayesLinear{}, other.x, Vector(data.x.col(0)));
  EXPECT_TRUE(m.gamma < 1.5);
  const auto exact = fit(BayesLinear{}, data.x, Vector(3 * data.x.col(0)));
  ASSERT_EQ(exact.warnings.size(), 1U);
  EXPECT_NE(exact.warnings[0].find("noise vanishes"), std::string::npos) << exact.warnings[0];
  EXPECT_NEAR(exact.coefficients(0), 3, 1e-9);
}

TEST(BayesLinear, TheNaturalWrongAnswersFailTheCertificate) {
  const Data data(80, 3);
  const MemoryRows rows = rows_of(data.x, data.y);
  const auto right = fit(BayesLinear{}, rows, {});
  ASSERT_TRUE(certify(right, rows, {}).holds()) << certify(right, rows, {}).message;
  auto squares = right, early = right, divisor = right, evidence = right;
  squares.coefficients = solve(scan(rows, LeastSquares(3))).coefficients;
  early.alpha *= 1.0001;                          // the fixed point not iterated to its end
  divisor.beta *= 80.0 / 79;                      // n in the place of n − 1
  evidence.log_evidence += 0.5 * std::log(80.0);  // without the intercept's share
  for (const auto& wrong : {squares, early, divisor, evidence}) EXPECT_FALSE(certify(wrong, rows, {}).holds());
}

TEST(BayesLinear, HardColumnsGetAnAnswerOrAClearError) {
  const Data data(30, 2);
  Matrix x(30, 4);
  x << data.x, data.x.col(0), Vector::Constant(30, 9.0);
  const auto m = fit(BayesLinear{}, x, data.response());
  EXPECT_NEAR(m.coefficients(0), m.coefficients(2), 1e-9);  // copies share
  EXPECT_NEAR(m.coefficients(3), 0, 1e-12);
  EXPECT_TRUE(certify(m, rows_of(x, data.y), {}).holds()) << certify(m, rows_of(x, data.y), {}).message;
  const Data wide(10, 30);
  const auto w = fit(BayesLinear{}, wide.x, wide.response());
  EXPECT_TRUE(w.covariance.allFinite());
  EXPECT_NE(message_of([&] { fit(BayesLinear{}, data.x, Vector::Constant(30, 2.0)); }).find("constant"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(BayesLinear{}, data.x.topRows(1), data.response().head(1)); }).find("at least two"),
            std::string::npos);
  for (const double scale : {1e-200, 1e-90, 1e90, 1e200}) {
    Matrix scaled = data.x;
    scaled.col(0) *= scale;
    BayesLinearModel other;
    const std::string answer = message_of([&] { other = fit(BayesLinear{}, scaled, data.response()); });
    if (answer != "no error")
      EXPECT_NE(answer.find("bayes_linear: the values of 'x1' are too"), std::string::npos) << answer;
    else EXPECT_NEAR(other.log_evidence, fit(BayesLinear{}, data.x, data.response()).log_evidence, 1e-8) << scale;
  }
  CallOptions options;
  options.weights = Vector::Zero(30);
  EXPECT_NE(message_of([&] { fit(BayesLinear{}, data.x, data.response(), options); }).find("all weights are 0"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
