// lemma/linear/glm_test.cpp: families and links, weights, offsets, counts, intervals, diagnostics; the numbers are R's.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/data/csv.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/data/stream/rows.hpp>
#include <lemma/linear/glm.hpp>
#include <lemma/linear/ols/data_test.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/model/train.hpp>
#include <random>

namespace lemma {

using ols_test::expect_near;

namespace {

/// Eight rows: trials n, successes s, failures f, outcomes y, counts k, positive numbers v.
Table rows() {
  return parse_csv(
      "x,z,y,n,s,f,k,v\n1,0.5,0,4,1,3,2,1.2\n2,-0.2,1,6,2,4,1,2.1\n3,0.3,0,5,1,4,4,2.7\n4,0.9,1,9,4,5,3,4.4\n"
      "5,-0.4,0,3,1,2,6,4.6\n6,0.1,1,7,4,3,5,6.9\n7,0.7,1,8,6,2,9,6.5\n8,-0.6,1,5,4,1,8,8.8\n",
      {}, "rows");
}
Vector numbers(const std::string& column) {
  const Table table = rows();
  const auto& values = table.column(column).numbers().values;
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}
Vector coefficients(const GlmModel& m) { return Vector{{m.intercept, m.coefficients(0)}}; }

/// y from a law with a given linear predictor, far from any border.
struct Sample {
  Matrix x;
  Vector y;
  Sample(GlmFamily family, Index n, Index p) : x(n, p), y(n) {
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    for (Index i = 0; i < n; ++i) {
      double eta = 0.3;
      for (Index j = 0; j < p; ++j) {
        x(i, j) = normal(random);
        eta += (j % 2 ? -0.4 : 0.5) * x(i, j) / std::sqrt(static_cast<double>(p));
      }
      if (family == GlmFamily::binomial) y(i) = std::bernoulli_distribution(1 / (1 + std::exp(-eta)))(random);
      else if (family == GlmFamily::poisson) y(i) = std::poisson_distribution<int>(std::exp(eta))(random);
      else if (family == GlmFamily::gaussian) y(i) = 5 + eta + 0.3 * normal(random);
      else y(i) = 2 + std::exp(0.3 * eta + 0.1 * normal(random));
    }
  }
};

TEST(Glm, SuccessesAndFailuresAreTrialsOfARow) {
  const auto m = fit(Glm{}, formula("cbind(s, f) ~ x"), rows());
  expect_near(coefficients(m), Vector{{-1.81081988513204, 0.375537657918491}}, 1e-8, "coefficients");
  EXPECT_NEAR(m.residual_deviance, 1.32178110341388, 1e-10);
  EXPECT_NEAR(m.null_deviance, 8.24718795582302, 1e-10);
  EXPECT_NEAR(m.aic, 21.9378156101451, 1e-9);
  EXPECT_EQ(m.df_residual, 6);
  EXPECT_EQ(m.spec.family, GlmFamily::binomial);
  EXPECT_TRUE(m.warnings.empty());

  const auto by_share =
      fit(Glm{.family = GlmFamily::binomial}, formula("I(s / n) ~ x"), rows(), {.precision = numbers("n")});
  expect_near(coefficients(by_share), coefficients(m), 1e-12, "proportions with their trials as precision");
  EXPECT_NEAR(by_share.aic, m.aic, 1e-9);
}

TEST(Glm, AnOffsetIsPartOfTheLinearPredictor) {
  const auto m = fit(Glm{.family = GlmFamily::poisson}, formula("k ~ x + offset(log(n))"), rows());
  expect_near(coefficients(m), Vector{{-1.33370014653852, 0.216299014225571}}, 1e-8, "coefficients");
  EXPECT_NEAR(m.residual_deviance, 8.21290172696793, 1e-10);
  EXPECT_NEAR(m.null_deviance, 16.0149362977948, 1e-9);
  EXPECT_NEAR(m.aic, 38.213952205263, 1e-9);
  const Table fresh = parse_csv("x,n\n3,50\n", {}, "fresh");
  EXPECT_NEAR(m.predict(fresh)(0), 25.2094746383138, 1e-8);
  EXPECT_NEAR(m.decision(fresh)(0, 0), std::log(25.2094746383138), 1e-9);
  EXPECT_NEAR(m.predict(Matrix{{3.0}})(0), 25.2094746383138 / 50, 1e-9);  // bare columns have none
}

TEST(Glm, AnOffsetOfATableGoesThroughTheLinkInAllThatIsPredicted) {
  const auto trained = train({std::shared_ptr<const Method>(), &method_of<Glm>()}, Value::Object{{"family", "poisson"}},
                             formula("k ~ x + offset(log(n))"), MemoryTableStream(rows()));
  PredictOptions options;
  options.interval = IntervalKind::confidence;
  options.what = {"value", "decision"};
  const Prediction p = trained.predict(parse_csv("x,n\n3,50\n3,100\n", {}, "fresh"), options);
  EXPECT_NEAR(p.value()(1), 2 * p.value()(0), 1e-9);
  EXPECT_NEAR(p.interval()(1, 0), 2 * p.interval()(0, 0), 1e-9);
  EXPECT_NEAR(p.interval()(1, 1), 2 * p.interval()(0, 1), 1e-9);
  EXPECT_NEAR(p.decision()(1, 0) - p.decision()(0, 0), std::log(2.0), 1e-12);
}

TEST(Glm, PrecisionsAreTheWeightsOfR) {
  const CallOptions weighted{.precision = numbers("n")};
  const auto gamma =
      fit(Glm{.family = GlmFamily::gamma, .link = GlmLink::identity}, formula("v ~ x"), rows(), weighted);
  expect_near(coefficients(gamma), Vector{{0.147881145319636, 1.0021252308909}}, 1e-6, "gamma");  // R stops at 1e-8
  EXPECT_NEAR(gamma.residual_deviance, 0.388715928821831, 1e-9);
  EXPECT_NEAR(gamma.aic, 48.9346766429301, 1e-7);
  EXPECT_NEAR(gamma.dispersion, 0.0634060410924954, 1e-7);
  const auto inverse =
      fit(Glm{.family = GlmFamily::inverse_gaussian, .link = GlmLink::inverse}, formula("v ~ x"), rows(), weighted);
  expect_near(coefficients(inverse), Vector{{0.538437545986174, -0.0583622175442505}}, 1e-9, "inverse Gaussian");
  EXPECT_NEAR(inverse.aic, 164.609307477418, 1e-8);
  EXPECT_NEAR(inverse.dispersion, 0.150880588970262, 1e-9);
  const auto gaussian = fit(Glm{}, formula("v ~ x"), rows(), weighted);
  expect_near(coefficients(gaussian), Vector{{0.0289315274642589, 1.032910082769}}, 1e-12, "Gaussian");
  EXPECT_NEAR(gaussian.aic, 17.9858924893758, 1e-10);
  EXPECT_NEAR(gaussian.bic, 18.2242171144153, 1e-10);
  EXPECT_EQ(gaussian.iterations, 2);
}

TEST(Glm, OtherLinksReachTheirMaximumToo) {
  // R's deviance stands still while its coefficients are still 1e-8 off
  const auto cloglog = fit(Glm{.family = GlmFamily::binomial, .link = GlmLink::cloglog}, formula("y ~ x"), rows());
  expect_near(coefficients(cloglog), Vector{{-1.75081806042018, 0.393843429986641}}, 1e-7, "cloglog");
  EXPECT_NEAR(cloglog.intercept_std_error, 1.39693448444119, 1e-7);
  const auto identity = fit(Glm{.family = GlmFamily::poisson, .link = GlmLink::identity}, formula("k ~ x"), rows());
  expect_near(coefficients(identity), Vector{{0.399511764246303, 0.966775163500822}}, 1e-7, "identity");
}

TEST(Glm, EveryLinkOfEveryFamilyIsCertified) {
  for (const auto family :
       {GlmFamily::binomial, GlmFamily::poisson, GlmFamily::gaussian, GlmFamily::gamma, GlmFamily::inverse_gaussian}) {
    const Sample sample(family, 400, 2);
    const Vector& y = sample.y;
    MemoryRows source(sample.x);
    source.response({y.data(), static_cast<std::size_t>(y.size())});
    for (const GlmLink link : GlmLaw::links_of(family)) {
      const std::string name = std::string(name_of(family)) + " " + std::string(name_of(link));
      if (family == GlmFamily::binomial && link == GlmLink::log) continue;  // its maximum lies on the border here
      const auto m = fit(Glm{.family = family, .link = link}, sample.x, y);
      EXPECT_TRUE(m.certificate.holds()) << name << ": " << m.certificate.message;
      const auto again = certify(m, source, {});
      EXPECT_TRUE(again.holds()) << name << ": " << again.message;
      EXPECT_LT(*m.certificate.error_bound, 1e-7) << name;
      auto damaged = m;
      damaged.slopes(0) += 1e-6;
      damaged.coefficients(0) = damaged.slopes(0);
      EXPECT_FALSE(certify(damaged, source, {}).holds()) << name;
    }
  }
}

/// Least squares on 0 and 1 is no logistic regression, and neither is the fit of another link.
TEST(Glm, TheNaturalWrongModelsFailTheCertificate) {
  const Sample sample(GlmFamily::binomial, 300, 2);
  MemoryRows source(sample.x);
  source.response({sample.y.data(), 300});
  auto m = fit(Glm{.family = GlmFamily::binomial, .link = GlmLink::probit}, sample.x, sample.y);
  ASSERT_TRUE(certify(m, source, {}).holds());
  m.spec.link = GlmLink::logit;
  EXPECT_FALSE(certify(m, source, {}).holds());
  auto line = fit(Glm{.family = GlmFamily::binomial}, sample.x, sample.y);
  ASSERT_TRUE(certify(line, source, {}).holds());
  const auto squares = fit(Glm{.family = GlmFamily::gaussian}, sample.x, sample.y);
  line.slopes = 4 * squares.slopes;  // a logistic curve rises by a quarter of its slope at the middle
  line.base = 4 * (squares.base - 0.5);
  EXPECT_FALSE(certify(line, source, {}).holds());
}

TEST(Glm, AWeightOfKIsKCopies) {
  for (const auto family : {GlmFamily::binomial, GlmFamily::poisson, GlmFamily::gamma}) {
    const Sample sample(family, 200, 2);
    Vector weights(200);
    std::vector<Index> copies;
    for (Index i = 0; i < 200; ++i) {
      weights(i) = static_cast<double>(i % 4);
      for (Index k = 0; k < i % 4; ++k) copies.push_back(i);
    }
    const Matrix x = sample.x(copies, Eigen::all);
    const Vector y = sample.y(copies);
    const auto a = fit(Glm{.family = family}, sample.x, sample.y, {.weights = weights}),
               b = fit(Glm{.family = family}, x, y);
    expect_near(a.coefficients, b.coefficients, 1e-10, "coefficients");
    expect_near(a.std_errors, b.std_errors, 1e-10, "standard errors");
    expect_near(a.residual_quantiles, b.residual_quantiles, 1e-9, "quantiles");
    EXPECT_EQ(a.df_residual, b.df_residual);
    EXPECT_EQ(a.iterations, b.iterations);
    EXPECT_NEAR(a.aic, b.aic, 1e-8);
    EXPECT_NEAR(a.null_deviance, b.null_deviance, 1e-8);
  }
}

TEST(Glm, TheGaussianFamilyIsLeastSquares) {
  const ols_test::Data data(300, 4);
  const auto line = fit(Ols{}, data.x, data.response());
  const auto m = fit(Glm{}, data.x, data.response());
  expect_near(m.coefficients, line.coefficients, 1e-13, "coefficients");
  expect_near(m.std_errors, line.std_errors, 1e-12, "standard errors");
  expect_near(m.t, line.t, 1e-10, "t");
  expect_near(m.lower, line.lower, 1e-12, "lower");
  EXPECT_NEAR(m.residual_deviance, line.rss, 1e-9);
  EXPECT_NEAR(m.aic, line.aic, 1e-9);
}

TEST(Glm, TheUnitsOfAColumnDoNotMatter) {
  const Sample sample(GlmFamily::binomial, 500, 3);
  Matrix scaled = sample.x;
  scaled.col(0) = 1e9 * scaled.col(0).array() + 1e10;
  scaled.col(2) *= 1e-7;
  const Glm spec{.family = GlmFamily::binomial};
  const auto a = fit(spec, sample.x, sample.y), b = fit(spec, scaled, sample.y);
  EXPECT_NEAR(b.coefficients(0) * 1e9, a.coefficients(0), 1e-8);
  EXPECT_NEAR(b.coefficients(2) * 1e-7, a.coefficients(2), 1e-8);
  EXPECT_NEAR(b.residual_deviance, a.residual_deviance, 1e-9);
}

TEST(Glm, ProfileLimitsAreWhereTheDevianceRisesByTheQuantile) {
  const Table pima = dataset("pima_train");
  const auto m = fit(Glm{.interval = CoefficientInterval::profile}, formula("type ~ ."), pima);
  // R's confint, which interpolates: npreg, glu, ped
  EXPECT_NEAR(m.lower(0), -2.2121412e-02, 2e-5);
  EXPECT_NEAR(m.upper(0), 0.233344469, 2e-5);
  EXPECT_NEAR(m.lower(1), 1.9425126e-02, 2e-6);
  EXPECT_NEAR(m.upper(5), 3.164678052, 2e-4);
  EXPECT_NEAR(m.intercept_lower, -1.3460048e+01, 1e-3);
  // held at its limit, the deviance of the rest is higher by the quantile of chi-squared
  const auto held = fit(Glm{}, formula("type ~ npreg + bp + skin + bmi + ped + age + offset(g)"), [&] {
    Table with = pima;
    std::vector<double> g = pima.column("glu").numbers().values;
    for (double& each : g) each *= m.upper(1);
    with.add(numeric("g", g));
    return with;
  }());
  EXPECT_NEAR(held.residual_deviance - m.residual_deviance, 3.841458820694124, 1e-6);
  const DesignData data = m.design.train(pima);
  const DesignRows source(m.design, data);
  EXPECT_TRUE(certify(m, source, {}).holds()) << certify(m, source, {}).message;
  GlmModel damaged = m;
  damaged.upper(2) *= 1.01;
  EXPECT_FALSE(certify(damaged, source, {}).holds());
}

TEST(Glm, DiagnosticsAreThoseOfR) {
  const auto m = fit(Glm{.family = GlmFamily::binomial}, formula("y ~ z"), rows());
  const Matrix x = numbers("z");
  const Vector y = numbers("y");
  Block block(x, 0);
  block.y = {y.data(), 8};
  const auto all = m.diagnostics(block);
  const auto named = [&](std::string_view name) {
    for (const auto& each : all)
      if (each.name == name) return each.values;
    return Vector();
  };
  expect_near(named("cooks_distance").head(3), Vector{{0.244029107229051, 0.0928181876561472, 0.155142035365127}}, 1e-6,
              "Cook's distance");
  expect_near(named("standardised_deviance_residual").head(2), Vector{{-1.58147112359196, 1.10607958639805}}, 1e-6,
              "standardised");
  expect_near(named("working_residual").head(2), Vector{{-2.77709274058458, 1.64135426623109}}, 1e-6, "working");
  const auto interval = m.interval(Matrix{{0.25}}, IntervalKind::confidence, 0.95);
  EXPECT_NEAR(interval.lower(0), 0.282428056488794, 1e-6);
  EXPECT_NEAR(interval.upper(0), 0.879634589518399, 1e-6);
  EXPECT_THROW(m.interval(Matrix{{0.25}}, IntervalKind::prediction, 0.95), Error);
}

TEST(Glm, TheSecondOfTwoClassesIsThePositiveOne) {
  const Sample sample(GlmFamily::binomial, 200, 2);
  std::vector<std::string> labels;
  for (const double y : sample.y) labels.emplace_back(y == 1 ? "yes" : "no");
  const auto by_class = fit(Glm{}, sample.x, labels),
             by_number = fit(Glm{.family = GlmFamily::binomial}, sample.x, sample.y);
  EXPECT_EQ(by_class.coefficients, by_number.coefficients);
  EXPECT_EQ(by_class.task(), Task::classification);
  EXPECT_EQ(by_number.task(), Task::regression);
  const Matrix p = by_class.probabilities(sample.x);
  expect_near(p.col(1), by_number.predict(sample.x), 1e-15, "probability");
  expect_near(p.rowwise().sum(), Vector::Ones(200), 1e-15, "sum");
  EXPECT_EQ(by_class.mean_of(sample.x), Vector(p.col(1)));
  EXPECT_THROW(by_class.predict(sample.x), Error);  // a class is no number, and a number no class
  EXPECT_THROW(by_number.classify(sample.x), Error);
  EXPECT_THROW(by_number.probabilities(sample.x), Error);
}

TEST(Glm, TheFittedMeanIsTheMeanWithACanonicalLink) {
  for (const auto family : {GlmFamily::binomial, GlmFamily::poisson, GlmFamily::gamma}) {
    const Sample sample(family, 300, 3);
    const auto m = fit(Glm{.family = family}, sample.x, sample.y);
    EXPECT_NEAR(m.predict(sample.x).mean(), sample.y.mean(), 1e-12) << name_of(family);
  }
}

}  // namespace
}  // namespace lemma
