// lemma/mixture/factor_analysis_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/mixture/factor_analysis/rotate.hpp>
#include <lemma/model/fit.hpp>

#include <tests/message_of.hpp>

namespace lemma {
namespace {

const Matrix kTrue{{0.9, 0.0}, {0.8, 0.1}, {0.7, 0.0}, {0.0, 0.85}, {0.1, 0.75}, {0.0, 0.6}};

/// Two factors in six columns, in units of their own.
Matrix two_factors(Index n, double correlation = 0) {
  Matrix f = normal_matrix(n, 2, 3);
  f.col(1) = correlation * f.col(0) + std::sqrt(1 - correlation * correlation) * f.col(1);
  Matrix x = f * kTrue.transpose();
  const Matrix e = normal_matrix(n, 6, 4);
  for (Index j = 0; j < 6; ++j) {
    const double own = 1 - kTrue.row(j).squaredNorm() - 2 * correlation * kTrue(j, 0) * kTrue(j, 1);
    x.col(j) = (std::pow(10.0, static_cast<double>(j) - 2) * (x.col(j) + std::sqrt(own) * e.col(j))).array() + 7;
  }
  return x;
}

/// With one factor and three columns the correlations are fitted exactly: l₁² = r₁₂ r₁₃ / r₂₃.
TEST(FactorAnalysis, of_three_columns_is_the_closed_form) {
  const Matrix x = two_factors(500).leftCols(3);
  const FactorAnalysisModel model = fit(FactorAnalysis{}, x);
  const Matrix centred = x.rowwise() - x.colwise().mean();
  const auto r = [&](Index a, Index b) {
    return centred.col(a).dot(centred.col(b)) / (centred.col(a).norm() * centred.col(b).norm());
  };
  EXPECT_NEAR(model.loadings(0, 0), std::sqrt(r(0, 1) * r(0, 2) / r(1, 2)), 1e-6);
  EXPECT_NEAR(model.loadings(1, 0), std::sqrt(r(0, 1) * r(1, 2) / r(0, 2)), 1e-6);
  EXPECT_NEAR(model.uniquenesses(2), 1 - r(0, 2) * r(1, 2) / r(0, 1), 1e-6);
  EXPECT_NEAR(model.discrepancy, 0, 1e-10);
  EXPECT_EQ(model.df, 0);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(FactorAnalysis, finds_the_factors_that_rows_are_made_of) {
  const Matrix x = two_factors(5000);
  const FactorAnalysisModel model = fit(FactorAnalysis{.factors = 2}, x);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_LE((model.loadings - kTrue).cwiseAbs().maxCoeff(), 0.05) << model.loadings;
  for (Index j = 0; j < 6; ++j) EXPECT_NEAR(model.uniquenesses(j), 1 - kTrue.row(j).squaredNorm(), 0.05);
  EXPECT_EQ(model.df, 4);
  EXPECT_GT(model.p_value, 0.001);
  EXPECT_LT(fit(FactorAnalysis{}, x).p_value, 1e-6);  // one is not enough
  EXPECT_EQ(model.factor_correlations, Matrix::Identity(2, 2));
  EXPECT_NEAR(model.log_density(x).sum(), model.log_likelihood, 1e-8 * std::abs(model.log_likelihood));
}

TEST(FactorAnalysis, promax_finds_correlated_factors) {
  const Matrix x = two_factors(5000, 0.5);
  const FactorAnalysisModel model = fit(FactorAnalysis{.factors = 2, .rotation = Rotation::promax}, x);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_NEAR(model.factor_correlations(0, 1), 0.5, 0.12);
  EXPECT_LE((model.loadings - kTrue).cwiseAbs().maxCoeff(), 0.12) << model.loadings;
  const FactorAnalysisModel plain = fit(FactorAnalysis{.factors = 2, .rotation = Rotation::none}, x);
  EXPECT_LE((model.correlation() - plain.correlation()).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_NEAR(model.log_density(x.topRows(5)).sum(), plain.log_density(x.topRows(5)).sum(), 1e-8);
}

TEST(FactorAnalysis, does_not_care_about_units) {
  const Matrix x = two_factors(300);
  Matrix other = x;
  other.col(2) *= -1e5;
  other.col(0).array() += 1e6;
  const FactorAnalysisModel a = fit(FactorAnalysis{.factors = 2}, x), b = fit(FactorAnalysis{.factors = 2}, other);
  EXPECT_LE((a.uniquenesses - b.uniquenesses).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_TRUE(b.certificate.holds()) << b.certificate.message;
}

TEST(FactorAnalysis, varimax_is_no_worse_than_any_other_turn) {
  const Matrix l = fit(FactorAnalysis{.factors = 2, .rotation = Rotation::none}, two_factors(400)).loadings;
  const auto criterion = [](const Matrix& m) {
    const Matrix unit = m.rowwise().norm().cwiseInverse().asDiagonal() * m;
    double sum = 0;
    for (Index k = 0; k < unit.cols(); ++k) {
      const Vector s = unit.col(k).array().square();
      sum += (s.array() - s.mean()).square().sum();
    }
    return sum;
  };
  const Matrix best = rotation::rotated(l, Rotation::varimax).loadings;
  EXPECT_LT(rotation::varimax_residue(best), 1e-10);
  for (int step = 0; step < 90; ++step) {
    const double a = step * 3.14159265 / 90;
    const Matrix turn{{std::cos(a), -std::sin(a)}, {std::sin(a), std::cos(a)}};
    EXPECT_LE(criterion(l * turn), criterion(best) + 1e-12);
  }
}

TEST(FactorAnalysis, scores_are_expectations_and_drawn_rows_have_its_covariance) {
  const Matrix x = two_factors(600);
  const FactorAnalysisModel model = fit(FactorAnalysis{.factors = 2}, x);
  EXPECT_LE((model.transform(x.topRows(9)) - factors::hidden_means(model.latent(), x.topRows(9))).cwiseAbs().maxCoeff(),
            1e-9);
  const Matrix drawn = model.draw(20000, 4).x;
  const Matrix z = (drawn.rowwise() - model.mean.transpose()) * model.deviations.cwiseInverse().asDiagonal();
  EXPECT_LE((z.transpose() * z / 20000.0 - model.correlation()).cwiseAbs().maxCoeff(), 0.05);
}

TEST(FactorAnalysis, principal_components_are_the_natural_wrong_factors_and_fail_the_certificate) {
  const Matrix x = two_factors(400);
  FactorAnalysisModel model = fit(FactorAnalysis{.factors = 2}, x);
  ASSERT_TRUE(certify(model, MemoryRows(x), {}).holds());
  const Matrix centred = (x.rowwise() - model.mean.transpose()) * model.deviations.cwiseInverse().asDiagonal();
  const Matrix r = centred.transpose() * centred / 400.0;
  const Matrix axes = rotation::canonical(r, Vector::Ones(6), 2);  // √λ times the eigenvectors of the correlations
  model.uniquenesses = (1 - axes.rowwise().squaredNorm().array()).matrix();
  const auto turned =
      rotation::rotated(rotation::canonical(axes * axes.transpose(), model.uniquenesses, 2), Rotation::varimax);
  model.loadings = turned.loadings;
  const Certificate found = certify(model, MemoryRows(x), {});
  EXPECT_FALSE(found.holds()) << found.message;
  EXPECT_GT(found.value, 1e-3);
}

TEST(FactorAnalysis, refuses_too_many_factors_and_dependent_columns) {
  Matrix x = two_factors(60);
  EXPECT_NE(message_of([&] { fit(FactorAnalysis{.factors = 4}, x); }).find("at most 3"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(FactorAnalysis{}, Matrix(x.leftCols(2))); }).find("at least 3 columns"),
            std::string::npos);
  x.col(3) = x.col(0) + x.col(1);
  EXPECT_NE(message_of([&] { fit(FactorAnalysis{}, x); }).find("linearly dependent"), std::string::npos);
  x.col(3).setConstant(1);
  EXPECT_NE(message_of([&] { fit(FactorAnalysis{}, x); }).find("'x4' has the same value"), std::string::npos);
}

}  // namespace
}  // namespace lemma
