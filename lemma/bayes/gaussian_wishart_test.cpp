// lemma/bayes/gaussian_wishart_test.cpp: the posterior by its formulas, one column against normal_normal, and row after row.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/bayes/conjugate.hpp>
#include <lemma/bayes/gaussian_wishart.hpp>
#include <lemma/core/random.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

Matrix sample(Index n, Index p, std::uint64_t seed = 3) {
  return normal_matrix(n, p, seed, 1) * normal_matrix(p, p, seed, 2);
}
const GaussianWishart kSpec{.mean = {1, -1, 0.5},
                            .strength = 2,
                            .degrees = 7,
                            .covariance = Matrix{{2, 0.3, 0}, {0.3, 1, -0.2}, {0, -0.2, 0.5}}};

TEST(GaussianWishart, HasThePosteriorOfTheTextbook) {
  const Matrix x = sample(20, 3);
  const auto m = fit(kSpec, x);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  const Vector mean = x.colwise().mean().transpose(), prior = Vector{{1, -1, 0.5}}, apart = mean - prior;
  const Matrix centred = x.rowwise() - mean.transpose();
  const Matrix scale =
      3 * kSpec.covariance + Matrix(centred.transpose() * centred) + Matrix(2.0 * 20 / 22 * apart * apart.transpose());
  EXPECT_LT((m.mean - (2 * prior + 20 * mean) / 22).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_NEAR(m.strength, 22, 1e-12);
  EXPECT_NEAR(m.degrees, 27, 1e-12);
  EXPECT_LT((m.scale - scale).cwiseAbs().maxCoeff(), 1e-12 * scale.cwiseAbs().maxCoeff());
  EXPECT_LT((m.covariance - scale / 23).cwiseAbs().maxCoeff(), 1e-12 * scale.cwiseAbs().maxCoeff());
}

TEST(GaussianWishart, OfOneColumnIsNormalNormal) {  // Ψ = 2b, ν = 2a
  const Matrix x = sample(15, 1);
  const auto a = fit(GaussianWishart{.mean = {0.4}, .strength = 1.5, .degrees = 6, .covariance = Matrix{{0.7}}}, x);
  const auto b = fit(Conjugate{.prior = {0.4, 1.5, 3, 0.5 * 4 * 0.7}}, x);
  EXPECT_NEAR(a.log_evidence, b.log_evidence(0), 1e-11);
  EXPECT_NEAR(a.mean(0), b.quantities(0, 0), 1e-13);
  EXPECT_NEAR(a.intervals(0, 0), b.quantities(0, 1), 1e-12);
  EXPECT_NEAR(a.intervals(0, 1), b.quantities(0, 2), 1e-10);
  EXPECT_NEAR(a.covariance(0, 0), b.quantities(1, 0), 1e-12);
  EXPECT_LT((a.log_density(x) - b.log_density(x)).cwiseAbs().maxCoeff(), 1e-11);
}

TEST(GaussianWishart, TheEvidenceIsTheProductOfThePredictivesAndTheUpdateOfOneRowAfterTheOther) {
  const Matrix x = sample(12, 3);
  const auto whole = fit(kSpec, x);
  const Matrix first = x.topRows(1);
  auto m = fit(kSpec, first);
  double sum = m.log_evidence;
  for (Index i = 1; i < 12; ++i) {
    const Matrix row = x.row(i);
    sum += m.log_density(row)(0);
    m = updated(m, MemoryRows(row), {});
    EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  }
  EXPECT_NEAR(whole.log_evidence, sum, 1e-9);
  EXPECT_LT((m.scale - whole.scale).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(GaussianWishart, DrawsRowsOfItsPredictive) {
  const auto m = fit(kSpec, sample(60, 3));
  const DrawnRows drawn = m.draw(40000, 5);
  const double df = m.degrees - 2;
  const Matrix expected = m.scale * ((m.strength + 1) / (m.strength * df)) * (df / (df - 2));
  const Vector mean = drawn.x.colwise().mean().transpose();
  const Matrix centred = drawn.x.rowwise() - mean.transpose();
  const Matrix covariance = Matrix(centred.transpose() * centred) / 40000;
  EXPECT_LT((mean - m.mean).cwiseAbs().maxCoeff(), 0.05 * std::sqrt(expected.diagonal().maxCoeff()));
  EXPECT_LT((covariance - expected).cwiseAbs().maxCoeff(), 0.06 * expected.cwiseAbs().maxCoeff());
}

TEST(GaussianWishart, TheNaturalWrongPosteriorsFailTheCertificate) {
  const Matrix x = sample(30, 3);
  const MemoryRows rows(x);
  const GaussianWishartModel right = fit(Valid<GaussianWishart>(kSpec), rows, {});
  EXPECT_TRUE(certify(right, rows, {}).holds());
  GaussianWishartModel lost = right;  // the distance of the rows' mean from the prior's is forgotten
  lost.scale = 3 * kSpec.covariance + right.scatter;
  EXPECT_FALSE(certify(lost, rows, {}).holds());
  GaussianWishartModel plain = right;  // the covariance of the rows, as if there were no prior
  plain.covariance = right.scatter / 29;
  EXPECT_FALSE(certify(plain, rows, {}).holds());
  GaussianWishartModel constant = right;  // Γ in the place of Γ_p
  constant.log_evidence += std::lgamma(0.5 * right.degrees - 0.5) - std::lgamma(3.5 - 0.5);
  EXPECT_FALSE(certify(constant, rows, {}).holds());
}

TEST(GaussianWishart, RefusesAPriorThatDoesNotFitTheColumns) {
  const Matrix x = sample(10, 3);
  const auto refusal = [&](const GaussianWishart& spec) { return message_of([&] { fit(spec, x); }); };
  EXPECT_NE(refusal({.mean = {1, 2}}).find("mean has 2 numbers and there are 3 columns"), std::string::npos);
  EXPECT_NE(refusal({.degrees = 4}).find("degrees is 4, must be above 4"), std::string::npos);
  EXPECT_NE(refusal({.covariance = Matrix::Identity(2, 2)}).find("covariance is 2 x 2"), std::string::npos);
  EXPECT_NE(refusal({.covariance = Matrix::Ones(3, 3)}).find("positive definite"), std::string::npos);
  const Matrix far = x.array() + 1e9;
  EXPECT_NE(message_of([&] { fit(GaussianWishart{}, far); }).find("give --mean"), std::string::npos);
  const Matrix constant = Matrix::Ones(10, 3);  // nothing is lost: the prior has a covariance of its own
  EXPECT_TRUE(fit(GaussianWishart{}, constant).certificate.holds());
}

}  // namespace
}  // namespace lemma
