// lemma/linear/glm/families_test.cpp: quasi families and the negative binomial one; the numbers are R's and MASS's.
#include <gtest/gtest.h>
#include <lemma/data/csv.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/data/stream/rows.hpp>
#include <lemma/linear/glm.hpp>
#include <lemma/linear/ols/data_test.hpp>
#include <lemma/linear/shared/golden_test.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/model/train.hpp>
#include <tests/copied_rows.hpp>

namespace lemma {
namespace {

using ols_test::expect_near;
using Family = GlmFamily;

Vector coefficients(const GlmModel& m) { return with(m.intercept, m.coefficients); }
Vector errors(const GlmModel& m) { return with(m.intercept_std_error, m.std_errors); }

/// Certifies on the table it was fitted to.
template <class Model>
Certificate certified(const Model& m, const Table& table) {
  const DesignRows rows(m.design, m.design.train(table));
  return certify(m, rows, {});
}

TEST(NegativeBinomial, IsThatOfMass) {
  const Golden golden("glm_nb_pima");
  const Table pima = dataset("pima_train");
  const auto m = fit(Glm{.family = Family::negative_binomial}, formula("npreg ~ bmi + age + type"), pima);
  EXPECT_TRUE(golden.agrees("coef", coefficients(m)));
  EXPECT_TRUE(golden.agrees("se", errors(m)));
  EXPECT_TRUE(golden.agrees("z", with(m.intercept_z, m.z)));
  EXPECT_TRUE(golden.agrees("p", with(m.intercept_p, m.p)));
  EXPECT_TRUE(golden.agrees("theta", m.theta));
  EXPECT_TRUE(golden.agrees("theta_se", m.theta_std_error));
  EXPECT_TRUE(golden.agrees("deviance", m.residual_deviance));
  EXPECT_TRUE(golden.agrees("null_deviance", m.null_deviance));
  EXPECT_TRUE(golden.agrees("aic", m.aic));
  EXPECT_TRUE(golden.agrees("log_likelihood", m.log_likelihood));
  EXPECT_EQ(m.dispersion, 1);
  EXPECT_EQ(m.certificate.strength, Strength::stationary);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_TRUE(certified(m, pima).holds()) << certified(m, pima).message;
  const std::string text = m.summary({m.design.features(), {}, "npreg"});
  EXPECT_NE(text.find("(Dispersion parameter for Negative Binomial(3.0754) family taken to be 1)"), std::string::npos);
  EXPECT_NE(text.find("              Theta:  3.075\n          Std. Err.:  0.618\n\n 2 x log-likelihood:  -871.7369"),
            std::string::npos)
      << text;
}

/// Beside any other θ the best coefficients are less likely: θ is the maximum, not only where an iteration stopped.
TEST(NegativeBinomial, NoOtherThetaIsLikelier) {
  const Table pima = dataset("pima_train");
  const Formula of = formula("npreg ~ bmi + age");
  const auto best = fit(Glm{.family = Family::negative_binomial}, of, pima);
  for (const double factor : {0.5, 0.99, 0.9999, 1.0001, 1.01, 2.0}) {
    const auto other = fit(Glm{.family = Family::negative_binomial, .theta = best.theta * factor}, of, pima);
    EXPECT_LT(other.log_likelihood, best.log_likelihood) << factor;
    EXPECT_EQ(other.theta_std_error, 0);
    EXPECT_EQ(other.aic, -2 * other.log_likelihood + 2 * 3);
    EXPECT_TRUE(other.certificate.holds()) << other.certificate.message;
  }
  const auto same = fit(Glm{.family = Family::negative_binomial, .theta = best.theta}, of, pima);
  EXPECT_EQ(same.coefficients, best.coefficients);
  EXPECT_EQ(best.aic, -2 * best.log_likelihood + 2 * 4);
  // The curvature of the profile in θ, by differences: what MASS calls the standard error holds the means fixed.
  EXPECT_GT(best.theta_std_error, 0);
}

TEST(NegativeBinomial, ALargeThetaIsPoissons) {
  const Table pima = dataset("pima_train");
  const Formula of = formula("npreg ~ bmi + age");
  const auto poisson = fit(Glm{.family = Family::poisson}, of, pima);
  const auto nearly = fit(Glm{.family = Family::negative_binomial, .theta = 1e9}, of, pima);
  expect_near(coefficients(nearly), coefficients(poisson), 1e-7, "coefficients");
  EXPECT_NEAR(nearly.residual_deviance, poisson.residual_deviance, 1e-5);
  EXPECT_NEAR(nearly.log_likelihood, poisson.log_likelihood, 1e-5);
}

TEST(NegativeBinomial, AWeightIsThatManyCopiesAndThreadsAndFilesDoNotMatter) {
  const Table pima = dataset("pima_train");
  const auto design = Design(formula("npreg ~ bmi + age"), pima);
  const DesignData data = design.train(pima);
  std::vector<double> weight;
  Matrix copies(0, 2);
  std::vector<double> y;
  for (Index i = 0; i < data.x.rows(); ++i) {
    weight.push_back(static_cast<double>(i % 3));
    for (Index k = 0; k < i % 3; ++k) {
      copies.conservativeResize(copies.rows() + 1, 2);
      copies.row(copies.rows() - 1) = data.x.row(i);
      y.push_back(data.y[static_cast<std::size_t>(i)]);
    }
  }
  MemoryRows weighted(data.x), repeated(copies);
  weighted.response(data.y).weights(weight);
  repeated.response(y);
  const Glm spec{.family = Family::negative_binomial};
  const auto a = fit(spec, weighted, {}), b = fit(spec, repeated, {});
  EXPECT_NEAR(a.theta, b.theta, 1e-9 * a.theta);
  expect_near(coefficients(a), coefficients(b), 1e-9, "coefficients");
  FitOptions three;
  three.threads = 3;
  const auto c = fit(spec, CopiedRows(weighted), three);
  EXPECT_EQ(to_cbor(write_fields(a, false)), to_cbor(write_fields(c, false)));
}

TEST(NegativeBinomial, CountsThatScatterLessThanPoissonsHaveNoTheta) {
  const Table even = parse_csv("x,y\n1,3\n2,3\n3,3\n4,4\n5,3\n6,4\n7,4\n8,4\n", {}, "even");
  EXPECT_NE(message_of([&] {
              fit(Glm{.family = Family::negative_binomial}, formula("y ~ x"), even);
            }).find("no more than a Poisson count"),
            std::string::npos);
}

TEST(NegativeBinomial, AWrongThetaFailsTheCertificate) {
  const Table pima = dataset("pima_train");
  auto m = fit(Glm{.family = Family::negative_binomial}, formula("npreg ~ bmi + age"), pima);
  const double right = m.theta;
  m.theta = right * 1.001;
  m.spec.theta = m.theta;
  EXPECT_FALSE(certified(m, pima).holds());
  m.theta = right;
  m.spec.theta = right;
  m.theta_std_error *= 1.01;
  EXPECT_EQ(certified(m, pima).kind, "difference of theta_std_error");
  // The moment estimate, which is where the work begins, with the coefficients that belong to it.
  auto moment = fit(Glm{.family = Family::negative_binomial, .theta = 2.0}, formula("npreg ~ bmi + age"), pima);
  moment.theta_learned = true;
  moment.aic += 2;
  moment.bic += std::log(200.0);
  moment.theta_std_error = m.theta_std_error;
  EXPECT_EQ(certified(moment, pima).kind, "difference of theta");
}

TEST(Quasi, HasTheCoefficientsOfItsBaseAndScaledErrors) {
  const Table pima = dataset("pima_train");
  const auto counts = fit(Glm{.family = Family::quasipoisson}, formula("npreg ~ bmi + age"), pima);
  expect_near(errors(counts), Vector{{0.33416888957671487, 0.0091750263707635789, 0.0039840516450632378}}, 1e-9, "se");
  EXPECT_NEAR(counts.dispersion, 1.948118, 5e-7);
  EXPECT_TRUE(std::isnan(counts.aic) && std::isnan(counts.log_likelihood));
  const auto poisson = fit(Glm{.family = Family::poisson}, formula("npreg ~ bmi + age"), pima);
  EXPECT_EQ(counts.iterations, poisson.iterations);
  EXPECT_TRUE(counts.warnings.empty());
  EXPECT_TRUE(certified(counts, pima).holds()) << certified(counts, pima).message;
  const auto plain = fit(Glm{.family = Family::poisson}, formula("npreg ~ bmi + age"), pima);
  EXPECT_EQ(plain.coefficients, counts.coefficients);
  expect_near(counts.std_errors, plain.std_errors * std::sqrt(counts.dispersion), 1e-12, "scaled");
  EXPECT_NE(counts.summary({{"bmi", "age"}, {}, "npreg"}).find("AIC: NA"), std::string::npos);

  const auto classes = fit(Glm{.family = Family::quasibinomial}, formula("type ~ bmi + age"), pima);
  expect_near(errors(classes), Vector{{1.153535619185367, 0.029032420502459886, 0.015100121477938303}}, 1e-8, "se");
  EXPECT_EQ(classes.task(), Task::classification);
  EXPECT_NEAR(classes.dispersion, 0.9644571, 5e-8);
}

TEST(Quasi, TakesAnyVarianceAndLink) {
  Table pima = dataset("pima_train");
  std::vector<double> share;
  for (const double ped : pima.column("ped").numbers().values) share.push_back(std::min(1.0, ped / 3));
  pima.add(numeric("share", share));
  using V = GlmVariance;
  using L = GlmLink;
  struct Case {
    const char* formula;
    V variance;
    L link;
    Vector coefficients, errors;
    double deviance;
  };
  const Case cases[] = {
      {"glu ~ bmi + age", V::mu2, L::log, Vector{{4.3319216478538971, 0.0078488393866658172, 0.0071564453132800607}},
       Vector{{0.097259941343671247, 0.0027515392169934995, 0.0015368426326656634}}, 11.157},
      {"ped ~ bmi + age", V::mu, L::identity,
       Vector{{0.24561593423157177, 0.0095133656093189505, -0.0028722446922661827}},
       Vector{{0.11876589918864777, 0.0034595948587217819, 0.0018352860393254739}}, 32.94951},
      {"share ~ bmi + age", V::mu_rest, L::logit,
       Vector{{-2.3250091303513654, 0.025941770579185938, -0.0071503585348368622}},
       Vector{{0.32196407332905902, 0.0088642149280726279, 0.0051526931243055058}}, 13.59582},
      {"share ~ bmi + age", V::mu, L::probit,
       Vector{{-1.3458699626600974, 0.013890072629913356, -0.0039959057628219949}},
       Vector{{0.17421638428205827, 0.0048846247820407756, 0.0027690552118787418}}, 10.96563}};
  for (const Case& each : cases) {
    const auto m =
        fit(Glm{.family = Family::quasi, .link = each.link, .variance = each.variance}, formula(each.formula), pima);
    expect_near(coefficients(m), each.coefficients, 1e-8, each.formula);
    expect_near(errors(m), each.errors, 1e-7, each.formula);
    EXPECT_NEAR(m.residual_deviance, each.deviance, 5e-4 * each.deviance);
    EXPECT_TRUE(certified(m, pima).holds()) << each.formula << certified(m, pima).message;
  }
  const auto line = fit(Glm{.family = Family::quasi}, formula("glu ~ bmi"), pima);
  const auto gaussian = fit(Glm{}, formula("glu ~ bmi"), pima);
  EXPECT_EQ(line.coefficients, gaussian.coefficients);
  EXPECT_EQ(line.std_errors, gaussian.std_errors);
}

TEST(Quasi, ParametersOfOtherFamiliesAreRefused) {
  EXPECT_NE(
      message_of([] { Valid<Glm>(Glm{.family = Family::poisson, .theta = 2.0}); }).find("--family negative_binomial"),
      std::string::npos);
  EXPECT_NE(message_of([] { Valid<Glm>(Glm{.variance = GlmVariance::mu}); }).find("--family quasi"), std::string::npos);
  EXPECT_NE(message_of([] {
              Valid<Glm>(Glm{.family = Family::negative_binomial, .link = GlmLink::logit});
            }).find("does not go with"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
