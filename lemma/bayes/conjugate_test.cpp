// lemma/bayes/conjugate_test.cpp: posteriors by their formulas, evidence by integration and one row at a time, shortest intervals.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/bayes/conjugate.hpp>
#include <lemma/bayes/conjugate/parts.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

using conjugate::Belief;
using Family = ConjugateFamily;

Matrix column(const std::vector<double>& values) {
  return Eigen::Map<const Matrix>(values.data(), static_cast<Index>(values.size()), 1);
}
const Matrix kTosses = column({1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1, 1});  // 8 heads of 12
const Matrix kCounts = column({2, 0, 3, 1, 1, 4, 0, 2});              // 13 in 8
const Matrix kNumbers = column({1.2, -0.3, 2.5, 0.8, 1.9});

void expect_close(double ours, double theirs) { EXPECT_NEAR(ours, theirs, 1e-12 * std::max(1.0, std::abs(theirs))); }

/// ∫ exp(f) over an interval, by Simpson's rule.
double integral(double from, double to, const auto& f) {
  const int steps = 200000;
  double sum = 0;
  for (int i = 0; i <= steps; ++i) {
    const double value = std::exp(f(from + (to - from) * i / steps));
    sum += value * (i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2);
  }
  return sum * (to - from) / steps / 3;
}

TEST(Conjugate, TossesOfACoinAreThoseOfTheNotes) {  // a uniform prior: n₁ = 8, n = 12
  const auto m = fit(Conjugate{.family = Family::beta_binomial}, kTosses);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_EQ(m.posterior, (Matrix{{9, 5}}));
  const double mean = 9.0 / 14;
  expect_close(m.quantities(0, 0), mean);
  expect_close(m.quantities(0, 1), std::sqrt(mean * (1 - mean) / 15));
  expect_close(m.log_evidence(0), std::log(1.0 / (13 * 495)));  // n₁! n₀! / (n + 1)!
  expect_close(m.log_density(column({1}))(0), std::log(mean));
  expect_close(m.log_density(column({0}))(0), std::log(1 - mean));
  const auto given = fit(Conjugate{.family = Family::beta_binomial, .prior = {2.5, 4}}, kTosses);
  EXPECT_EQ(given.posterior, (Matrix{{10.5, 8}}));
}

TEST(Conjugate, CountsHaveAGammaPosteriorAndANegativeBinomialPredictive) {
  const auto m = fit(Conjugate{.family = Family::gamma_poisson, .prior = {2, 0.5}}, kCounts);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_EQ(m.posterior, (Matrix{{15, 8.5}}));
  expect_close(m.quantities(0, 0), 15 / 8.5);
  expect_close(m.quantities(0, 1), std::sqrt(15.0) / 8.5);
  for (const double x : {0.0, 1.0, 5.0}) {
    const double p = integral(1e-9, 30, [&](double rate) {
      return 15 * std::log(8.5) - std::lgamma(15.0) + 14 * std::log(rate) - 8.5 * rate + x * std::log(rate) - rate -
             std::lgamma(x + 1);
    });
    EXPECT_NEAR(m.log_density(column({x}))(0), std::log(p), 1e-9) << x;
  }
}

TEST(Conjugate, LevelsHaveTheDirichletPosteriorOfTheNotes) {
  const Table table({categorical("colour", {"red", "blue", "red", "green", "red", "blue"})});
  const auto m = fit(Conjugate{.family = Family::dirichlet_multinomial, .prior = {0.5}}, formula("~ colour"), table);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_EQ(m.posterior, (Matrix{{2.5}, {1.5}, {3.5}}));  // blue, green, red
  for (Index l = 0; l < 3; ++l) expect_close(m.quantities(l, 0), m.posterior(l, 0) / 7.5);
  expect_close(m.ConjugateModel::log_density(column({2}))(0), std::log(3.5 / 7.5));
  // One toss after the other: 0.5/1.5 · 0.5/2.5 · 1.5/3.5 · 0.5/4.5 · 2.5/5.5 · 1.5/6.5
  expect_close(m.log_evidence(0),
               std::log(0.5 / 1.5 * (0.5 / 2.5) * (1.5 / 3.5) * (0.5 / 4.5) * (2.5 / 5.5) * (1.5 / 6.5)));
}

TEST(Conjugate, NumbersHaveTheNormalPosteriorOfTheTextbook) {
  const double m0 = 0.5, k0 = 2, a0 = 3, b0 = 1.5, n = 5, mean = kNumbers.mean();
  const double squares = (kNumbers.array() - mean).square().sum();
  const auto m = fit(Conjugate{.prior = {m0, k0, a0, b0}}, kNumbers);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  expect_close(m.posterior(0, 0), (k0 * m0 + n * mean) / (k0 + n));
  expect_close(m.posterior(0, 1), k0 + n);
  expect_close(m.posterior(0, 2), a0 + n / 2);
  const double b = b0 + 0.5 * squares + 0.5 * k0 * n / (k0 + n) * (mean - m0) * (mean - m0);
  expect_close(m.posterior(0, 3), b);
  expect_close(m.quantities(1, 0), b / (a0 + n / 2 - 1));  // the mean of the variance
  const double variance = 1.3;
  const auto known = fit(Conjugate{.prior = {m0, k0}, .variance = variance}, kNumbers);
  EXPECT_TRUE(known.certificate.holds()) << known.certificate.message;
  expect_close(known.quantities(0, 0), (k0 * m0 + n * mean) / (k0 + n));
  expect_close(known.quantities(0, 1), std::sqrt(variance / (k0 + n)));
  const double evidence = integral(-10, 10, [&](double mu) {
    double sum = -0.5 * std::log(2 * M_PI * variance / k0) - 0.5 * k0 * (mu - m0) * (mu - m0) / variance;
    for (const double x : kNumbers.reshaped())
      sum += -0.5 * std::log(2 * M_PI * variance) - 0.5 * (x - mu) * (x - mu) / variance;
    return sum;
  });
  EXPECT_NEAR(known.log_evidence(0), std::log(evidence), 1e-9);
}

TEST(Conjugate, ABayesFactorIsTheRatioOfTheEvidencesOfTwoPriors) {
  const auto m = fit(Conjugate{.family = Family::beta_binomial, .prior = {10, 10}, .against = {1, 1}}, kTosses);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  const auto other = fit(Conjugate{.family = Family::beta_binomial}, kTosses);
  ASSERT_EQ(m.log_bayes_factor.size(), 1);
  expect_close(m.log_bayes_factor(0), m.log_evidence(0) - other.log_evidence(0));
  EXPECT_EQ(other.log_bayes_factor.size(), 0);
  // B(18, 14) / B(10, 10) over B(9, 5) / B(1, 1)
  const auto log_beta = [](double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); };
  EXPECT_NEAR(m.log_bayes_factor(0), log_beta(18, 14) - log_beta(10, 10) - log_beta(9, 5), 1e-12);
  const std::string said = m.summary({});
  EXPECT_NE(said.find("Bayes factor against the prior 1, 1"), std::string::npos) << said;
  const auto normal = fit(Conjugate{.prior = {0, 1, 1, 1}, .against = {5, 1, 1, 1}}, kNumbers);
  EXPECT_GT(normal.log_bayes_factor(0), 0) << "numbers about 1 speak for a mean of 0 against one of 5";
  EXPECT_TRUE(normal.certificate.holds());
  auto lie = normal;
  lie.log_bayes_factor(0) += 0.1;
  EXPECT_FALSE(certify(lie, MemoryRows(kNumbers), {}).holds());
  const auto twice = updated(m, MemoryRows(kTosses), {});
  EXPECT_NEAR(twice.log_bayes_factor(0), log_beta(26, 18) - log_beta(10, 10) - log_beta(17, 9), 1e-12);
  EXPECT_NE(message_of([] {
              fit(Conjugate{.against = {1, 1}}, kNumbers);
            }).find("against has 2 numbers"),
            std::string::npos);
  const Table levels({categorical("l", {"a", "b", "c"})});
  EXPECT_NE(message_of([&] {
              fit(Conjugate{.family = Family::dirichlet_multinomial, .against = {1, 2}}, formula("~ l"), levels);
            }).find("2 numbers"),
            std::string::npos);
}

/// p(rows) is the product of what each row was expected to be after those before it, in any order.
TEST(Conjugate, TheEvidenceIsTheProductOfThePredictivesAndTheUpdateOfOneRowAfterTheOther) {
  struct Case {
    Conjugate spec;
    Matrix x;
  };
  const Case cases[] = {{{.family = Family::beta_binomial, .prior = {0.7, 2}}, kTosses},
                        {{.family = Family::gamma_poisson, .prior = {2, 0.5}}, kCounts},
                        {{.prior = {0.5, 2, 3, 1.5}}, kNumbers},
                        {{.prior = {0.5, 2}, .variance = 0.8}, kNumbers}};
  for (const auto& [spec, x] : cases) {
    const auto whole = fit(spec, x);
    const Matrix first_row = x.topRows(1);
    auto m = fit(spec, first_row);
    double sum = m.log_evidence(0);
    for (Index i = 1; i < x.rows(); ++i) {
      const Matrix row = x.row(i);
      sum += m.log_density(row)(0);
      m = updated(m, MemoryRows(row), {});
      EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
    }
    EXPECT_NEAR(whole.log_evidence(0), sum, 1e-11) << name_of(spec.family);
    EXPECT_LT((m.posterior - whole.posterior).cwiseAbs().maxCoeff(), 1e-12) << name_of(spec.family);
    EXPECT_LT((m.quantities - whole.quantities).cwiseAbs().maxCoeff(), 1e-9) << name_of(spec.family);
  }
}

TEST(Conjugate, NoIntervalOfTheSameProbabilityIsShorterThanThatOfHighestDensity) {
  using Kind = Belief::Kind;
  for (const Belief& belief :
       {Belief{Kind::beta, 9, 5}, Belief{Kind::beta, 1, 4}, Belief{Kind::beta, 6, 0.8}, Belief{Kind::gamma, 3, 2},
        Belief{Kind::gamma, 0.6, 2}, Belief{Kind::inverse_gamma, 2.5, 4}, Belief{Kind::normal, 1, 2},
        Belief{Kind::student, 1, 2, 5}})
    for (const double level : {0.5, 0.95}) {
      const auto [low, high] = belief.highest_density(level);
      EXPECT_NEAR(belief.cdf(high) - belief.cdf(low), level, 1e-9);
      for (int i = 0; i <= 100; ++i) {
        const double q = (1 - level) * (0.0005 + 0.999 * i / 100);
        EXPECT_GE(belief.quantile(q + level) - belief.quantile(q), (high - low) * (1 - 1e-9));
      }
      EXPECT_NEAR(belief.cdf(belief.quantile(0.2)), 0.2, 1e-10);
    }
}

TEST(Conjugate, WeightsAreCopies) {
  Vector w(5);
  w << 2, 0, 1, 3, 1;
  const Matrix copies = column({1.2, 1.2, 2.5, 0.8, 0.8, 0.8, 1.9});
  const auto a = fit(Conjugate{}, kNumbers, {.weights = w}), b = fit(Conjugate{}, copies);
  EXPECT_LT((a.posterior - b.posterior).cwiseAbs().maxCoeff(), 1e-12);
  expect_close(a.log_evidence(0), b.log_evidence(0));
}

TEST(Conjugate, TheNaturalWrongPosteriorsFailTheCertificate) {
  const MemoryRows numbers(kNumbers), tosses(kTosses);
  const Conjugate spec{.prior = {3, 2, 3, 1.5}};
  const ConjugateModel right = fit(Valid<Conjugate>(spec), numbers, {});
  EXPECT_TRUE(certify(right, numbers, {}).holds());
  ConjugateModel lost = right;  // the distance of the rows' mean from the prior's is forgotten
  lost.posterior(0, 3) = 1.5 + 0.5 * right.squares(0);
  EXPECT_FALSE(certify(lost, numbers, {}).holds());
  ConjugateModel flat =
      fit(Valid<Conjugate>(Conjugate{.family = Family::beta_binomial, .prior = {1e-9, 1e-9}}), tosses, {});
  flat.spec.prior = {1, 1};  // the shares of the rows, as if there were no prior
  EXPECT_FALSE(certify(flat, tosses, {}).holds());
  ConjugateModel normal = right;  // a normal interval in the place of Student's
  normal.quantities(0, 2) = right.quantities(0, 0) - 1.959963984540054 * right.quantities(0, 1);
  EXPECT_FALSE(certify(normal, numbers, {}).holds());
  ConjugateModel likelihood = right;  // the greatest likelihood in the place of the evidence
  likelihood.log_evidence(0) = -2.5 * std::log(2 * M_PI * right.squares(0) / 5) - 2.5;
  EXPECT_FALSE(certify(likelihood, numbers, {}).holds());
}

TEST(Conjugate, RefusesWhatItsFamilyDoesNotKnow) {
  const auto refusal = [](const Conjugate& spec, const Matrix& x) { return message_of([&] { fit(spec, x); }); };
  EXPECT_NE(
      refusal({.family = Family::beta_binomial}, kCounts).find("'x1' is 2 in row 1, and beta_binomial takes 0 and 1"),
      std::string::npos);
  EXPECT_NE(refusal({.family = Family::gamma_poisson}, kNumbers).find("whole numbers"), std::string::npos);
  EXPECT_NE(refusal({.family = Family::dirichlet_multinomial}, kNumbers).find("factor(x1)"), std::string::npos);
  EXPECT_NE(refusal({.prior = {1, 1}}, kNumbers).find("prior has 2 numbers, and normal_normal takes 4"),
            std::string::npos);
  EXPECT_NE(refusal({.family = Family::beta_binomial, .prior = {0, 1}}, kTosses).find("above 0"), std::string::npos);
  EXPECT_NE(refusal({.family = Family::beta_binomial, .variance = 1}, kTosses).find("normal_normal alone"),
            std::string::npos);
  const Table table({categorical("c", {"a", "b", "a"})});
  EXPECT_NE(message_of([&] {
              fit(Conjugate{.family = Family::dirichlet_multinomial, .prior = {1, 1, 1}}, formula("~ c"), table);
            }).find("2 levels"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
