// lemma/linear/lasso/golden_test.cpp: the numbers of glmnet and of a polished coordinate descent.
#include <cmath>
#include <lemma/data/datasets.hpp>
#include <lemma/linear/lasso/data_test.hpp>
#include <tests/golden.hpp>

namespace lemma {

using namespace lasso_test;

namespace {

constexpr double kRows = 506;  // their λ is ours over n

/// objective rel 1e-9, coefficients mixed 1e-6, rss rel 1e-6, n_nonzero exact.
void expect_lasso(const char* id, bool standardize) {
  const Golden golden(id);
  const auto& fits = golden.value("fits").as_list();
  Lasso spec{.standardize = standardize};
  for (const auto& each : fits) spec.lambda.push_back(kRows * each.at("lambda").as_double());
  const auto m = fit(spec, formula("medv ~ ."), dataset("boston"));
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  for (Index k = 0; k < m.lambda.size(); ++k) {
    const Value& theirs = fits[static_cast<std::size_t>(k)];
    expect_near(Vector(m.coefficients.of.row(k)), theirs.at("coef").as_vector(), 1e-6, "coef");
    EXPECT_NEAR(m.intercept.of(k) / theirs.at("intercept").as_double(), 1, 1e-6);
    EXPECT_NEAR(m.rss.of(k) / theirs.at("rss").as_double(), 1, 1e-6);
    EXPECT_NEAR(m.objective.of(k) / kRows / theirs.at("objective").as_double(), 1, 1e-9);
    EXPECT_EQ(m.df.of(k), theirs.at("n_nonzero").as_double());
  }
  const auto path = fit(Lasso{.standardize = standardize}, formula("medv ~ ."), dataset("boston"));
  EXPECT_TRUE(golden.agrees("lambda_max", path.lambda.of(0) / kRows));
  EXPECT_EQ(path.df.of(0), 0);
  EXPECT_EQ(path.df.of(1), 1);
  EXPECT_EQ(path.lambda.size(), 100);
}

}  // namespace

TEST(LassoGolden, AgreesWithGlmnetOnBoston) { expect_lasso("lasso_boston", true); }

TEST(LassoGolden, AgreesWithGlmnetOnBostonAsItIs) { expect_lasso("lasso_boston_unstd", false); }

TEST(LassoGolden, TheElasticNetAgreesWithTheReferenceOnBoston) {
  const Golden golden("enet_boston");
  for (const auto& theirs : golden.value("fits").as_list()) {
    ElasticNet spec{.alpha = theirs.at("alpha").as_double()};
    spec.lambda = {kRows * theirs.at("lam").as_double()};
    const auto m = fit(spec, formula("medv ~ ."), dataset("boston"));
    EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
    const Vector b = m.coefficients.of.row(0);
    expect_near(b, theirs.at("coef_original").as_vector(), 1e-7, "coef_original");
    expect_near(b.cwiseProduct(m.scale), theirs.at("coef_standardised").as_vector(), 1e-7, "coef_standardised");
    EXPECT_NEAR(m.intercept.of(0) / theirs.at("intercept").as_double(), 1, 1e-7);
    EXPECT_NEAR(m.rss.of(0) / theirs.at("rss").as_double(), 1, 1e-8);
    EXPECT_NEAR(m.objective.of(0) / kRows / theirs.at("objective").as_double(), 1, 1e-10);
    EXPECT_EQ(m.df.of(0), theirs.at("n_nonzero").as_double());
  }
}

}  // namespace lemma
