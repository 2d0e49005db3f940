// lemma/linear/shared/wide_test.cpp: ols and ridge with more columns than rows, which work in the smaller dimension.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/linear/ols/data_test.hpp>
#include <lemma/linear/ridge.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/model/fit.hpp>

namespace lemma {

using namespace ols_test;

namespace {

Vector response_of(const Matrix& x) {
  return x.col(0) - 2 * x.col(1) + Vector(normal_matrix(x.rows(), 1, 77).col(0)) + Vector::Constant(x.rows(), 3.0);
}

/// The columns about their means, divided by `scale`.
Matrix centred(const Matrix& x, const Vector& scale) {
  return (x.rowwise() - x.colwise().mean()) * scale.cwiseInverse().asDiagonal();
}

/// Minimises ½ ‖z − A c‖² + ½ λ Σ f c² through the n × n system (A F⁻¹ Aᵀ + λ I) α = z, c = F⁻¹ Aᵀ α.
Vector dual(const Matrix& a, const Vector& z, double lambda, const Vector& factors) {
  const Matrix weighted = a * factors.cwiseInverse().asDiagonal();
  Matrix k = weighted * a.transpose();
  k.diagonal().array() += lambda;
  const auto r = cholesky(k);
  return weighted.transpose() * Vector(solve_upper(*r, solve_upper_transposed(*r, z)));
}

}  // namespace

TEST(WideOls, TakesTheFirstColumnsThatAreIndependentAsRDoes) {
  const Matrix x = normal_matrix(30, 200, 1);
  const Vector y = response_of(x);
  const auto m = fit(Ols{}, x, y);
  EXPECT_EQ(m.rank, 30);
  ASSERT_EQ(m.kept.size(), 29U);
  for (int j = 0; j < 29; ++j) EXPECT_EQ(m.kept[static_cast<std::size_t>(j)], j);
  for (Index j = 29; j < 200; ++j) EXPECT_TRUE(std::isnan(m.coefficients(j)));
  EXPECT_LT((m.predict(x) - y).norm(), 1e-9 * y.norm());
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  ASSERT_FALSE(m.warnings.empty());
  EXPECT_NE(m.warnings[0].find("'x30'"), std::string::npos) << m.warnings[0];
  EXPECT_NE(m.warnings[0].find("more"), std::string::npos) << m.warnings[0];
}

TEST(WideOls, ColumnsLeftOutInBetweenChangeNothingForTheOthers) {
  const Matrix base = normal_matrix(40, 12, 2);
  Matrix x(40, 100);  // 0 0 0 1 1 2 0 2 3 …: copies and sums of the 12
  std::vector<Index> first;
  for (Index j = 0, used = 0; j < 100; ++j) {
    const bool fresh = used < 12 && (j % 3 == 2 || j == 0);
    if (fresh) first.push_back(j);
    x.col(j) = fresh ? Vector(base.col(used++)) : Vector(base.col(j % used) + (j % 2 ? 1.0 : 0.0) * base.col(0));
  }
  const Vector y = response_of(base);
  const auto wide = fit(Ols{}, x, y), narrow = fit(Ols{}, base, y);
  ASSERT_EQ(wide.kept.size(), 12U);
  for (Index k = 0; k < 12; ++k) {
    const Index j = first[static_cast<std::size_t>(k)];
    EXPECT_EQ(wide.kept[static_cast<std::size_t>(k)], j);
    EXPECT_NEAR(wide.coefficients(j), narrow.coefficients(k), 1e-10);
    EXPECT_NEAR(wide.std_errors(j), narrow.std_errors(k), 1e-10);
    EXPECT_NEAR(wide.p(j), narrow.p(k), 1e-9);
  }
  EXPECT_NEAR(wide.rss, narrow.rss, 1e-10 * narrow.rss);
  EXPECT_TRUE(wide.certificate.holds()) << wide.certificate.message;
}

TEST(WideOls, BeyondAThousandCoefficientsTheCovarianceIsNotKeptAndTheErrorsStand) {
  const Matrix base = normal_matrix(60, 10, 3), mix = normal_matrix(10, 1090, 4);
  Matrix x(60, 1100);
  x << base, base * mix;
  const Vector y = response_of(base);
  const auto m = fit(Ols{}, x, y), narrow = fit(Ols{}, base, y);
  EXPECT_EQ(m.covariance.size(), 0);
  EXPECT_EQ(m.rank, 11);
  expect_near(m.std_errors.head(10), narrow.std_errors, 1e-10, "std_errors");
  EXPECT_NEAR(m.intercept_std_error, narrow.intercept_std_error, 1e-10);
  EXPECT_NO_THROW(m.check());
  const std::vector<double> values(y.begin(), y.end());
  const auto verified = certify(m, rows_of(x, values), {});
  EXPECT_TRUE(verified.holds()) << verified.message;
  OlsModel damaged = m;
  damaged.std_errors(3) *= 1.001;
  EXPECT_FALSE(certify(damaged, rows_of(x, values), {}).holds());
  EXPECT_LT(to_cbor(write_fields(m, false)).size(), 150'000U);  // 1100² numbers would be 9.7 MB
}

TEST(WideRidge, IsTheAnswerOfTheDualWithAndWithoutFactors) {
  const Matrix x = normal_matrix(25, 120, 5);
  const Vector y = response_of(x), z = y.array() - y.mean();
  Vector factors = Vector::LinSpaced(120, 0.5, 3);
  for (const bool standardize : {false, true})
    for (const bool with_factors : {false, true}) {
      Ridge spec{.lambda = {0.01, 1, 100}, .standardize = standardize};
      if (with_factors) spec.penalty_factors.assign(factors.begin(), factors.end());
      const auto m = fit(spec, x, y);
      const Matrix a = centred(x, m.scale);
      for (Index k = 0; k < 3; ++k) {
        const Vector c = dual(a, z, m.lambda.of(k), with_factors ? factors : Vector(Vector::Ones(120)));
        expect_near(Vector(m.coefficients.of.row(k)), c.cwiseQuotient(m.scale), 1e-10, "coefficients");
        EXPECT_NEAR(m.rss.of(k), (z - a * c).squaredNorm(), 1e-10 * z.squaredNorm());
      }
      EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
    }
}

TEST(WideRidge, WithoutPenaltyItIsTheShortestOfAllSolutions) {
  const Matrix x = normal_matrix(25, 120, 6);
  const Vector y = response_of(x), z = y.array() - y.mean();
  const auto m = fit(Ridge{.lambda = {0}, .standardize = false}, x, y);
  const Matrix a = centred(x, Vector::Ones(120));
  const Vector shortest = dual(a, z, 1e-9, Vector::Ones(120));
  expect_near(Vector(m.coefficients.of.row(0)), shortest, 1e-8, "coefficients");
  EXPECT_NEAR(m.rss.of(0), 0, 1e-18 * z.squaredNorm());
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
}

TEST(WideRidge, ColumnsWithoutPenaltyAreFittedFirst) {  // 3 free ones: project them out of the others and of y
  const Matrix x = normal_matrix(25, 120, 7);
  const Vector y = response_of(x), z = y.array() - y.mean();
  Ridge spec{.lambda = {2}, .standardize = false};
  spec.penalty_factors.assign(120, 1);
  for (const int j : {4, 50, 119}) spec.penalty_factors[static_cast<std::size_t>(j)] = 0;
  const auto m = fit(spec, x, y);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  const Matrix a = centred(x, Vector::Ones(120));
  const Vector c = m.coefficients.of.row(0), r = z - a * c, gradient = a.transpose() * r;
  for (Index j = 0; j < 120; ++j)  // λ c = Aᵀr, and 0 = Aᵀr where there is no penalty
    EXPECT_NEAR(gradient(j), 2 * spec.penalty_factors[static_cast<std::size_t>(j)] * c(j), 1e-10);
  EXPECT_NEAR(m.df.of(0), fit(spec, x, Vector(y.array() + 5)).df.of(0), 1e-9);
  EXPECT_GT(m.df.of(0), 4);  // the intercept and three free columns
}

TEST(WideRidge, LeaveOneOutIsThatOfRefitting) {
  const Matrix x = normal_matrix(12, 40, 8);
  const Vector y = response_of(x);
  const Ridge spec{.lambda = {3}, .standardize = false};
  double sum = 0;
  for (Index left = 0; left < 12; ++left) {
    std::vector<Index> others;
    for (Index i = 0; i < 12; ++i)
      if (i != left) others.push_back(i);
    const auto m = fit(spec, Matrix(x(others, Eigen::all)), Vector(y(others)));
    sum += std::pow(y(left) - m.predict(x.row(left))(0), 2);
  }
  EXPECT_NEAR(fit(spec, x, y).loo_mse.of(0), sum / 12, 1e-10);
}

TEST(WideRidge, TheCertificateSeesWhatNoRowSees) {
  const Matrix x = normal_matrix(20, 90, 9);
  const Vector y = response_of(x);
  const std::vector<double> values(y.begin(), y.end());
  const auto rows = rows_of(x, values);
  // A direction orthogonal to every centred row: predictions and residuals stay the same.
  const Matrix a = centred(x, Vector::Ones(90));
  const Vector any = normal_matrix(90, 1, 10).col(0);
  const Vector unseen = any - Vector(a.transpose() * least_squares(Matrix(a.transpose()), any).w);
  ASSERT_LT((a * unseen).norm(), 1e-10);
  for (const double lambda : {0.0, 1.0}) {
    auto m = fit(Ridge{.lambda = {lambda}, .standardize = false}, x, y);
    EXPECT_TRUE(certify(m, rows, {}).holds());
    auto damaged = m;
    damaged.coefficients.of.row(0) += 1e-5 * unseen.transpose();
    EXPECT_FALSE(certify(damaged, rows, {}).holds()) << lambda;
    auto scaled = m;
    scaled.coefficients.of.row(0) *= 1 + 1e-6;
    EXPECT_FALSE(certify(scaled, rows, {}).holds()) << lambda;
    auto wrong_df = m;
    wrong_df.df.of(0) += 0.01;
    EXPECT_FALSE(certify(wrong_df, rows, {}).holds()) << lambda;
  }
}

TEST(Wide, AnyNumberOfThreadsGivesTheSameBits) {
  const Matrix x = normal_matrix(260, 2100, 11);  // large enough for panels and tiles
  const Vector y = response_of(x);
  CallOptions one, three;
  one.threads = 1;
  three.threads = 3;
  EXPECT_EQ(to_cbor(write_fields(fit(Ridge{}, x, y, one), false)),
            to_cbor(write_fields(fit(Ridge{}, x, y, three), false)));
  EXPECT_TRUE(same(fit(Ols{}, x, y, one), fit(Ols{}, x, y, three)));
}

}  // namespace lemma
