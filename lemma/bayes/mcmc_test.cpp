// lemma/bayes/mcmc_test.cpp: draws against the closed form, and what the certificate refuses.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/bayes/mcmc.hpp>
#include <lemma/core/random.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/special.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

TEST(Mcmc, OfAGaussianWithKnownNoiseHasTheMomentsOfTheClosedFormForEverySeed) {
  const Matrix x = normal_matrix(40, 3, 5);
  const Vector y = x * Vector{{1, -0.5, 0}} + 0.7 * normal_matrix(40, 1, 6).col(0);
  const Matrix h = x.transpose() * x / 0.49 + Matrix::Identity(3, 3) * (2 / (y.squaredNorm() / 40));
  const Matrix root = solve_upper(*cholesky(h), Matrix::Identity(3, 3)), cov = root * root.transpose();
  const Vector mean = cov * (x.transpose() * y / 0.49);
  int off = 0;
  double worst = 0, worst_sd = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CallOptions o;
    o.seed = seed;
    const Mcmc spec{.alpha = 2, .noise = 0.7, .intercept = false, .standardize = false};
    const auto m = fit(spec, x, y, o);
    EXPECT_TRUE(m.certificate.holds()) << seed << m.certificate.message;
    for (Index j = 0; j < 3; ++j) {
      const double z = std::abs(m.quantities(j, 0) - mean(j)) / m.quantities(j, 4);
      worst = std::max(worst, z);
      worst_sd = std::max(worst_sd, std::abs(m.quantities(j, 1) / std::sqrt(cov(j, j)) - 1));
      off += z > 4;
    }
  }
  EXPECT_EQ(off, 0);
  EXPECT_LT(worst_sd, 0.1);
}

TEST(Mcmc, BothSamplersAgreeWithTheIntegral) {
  const Matrix x = normal_matrix(30, 1, 8);
  std::vector<std::string> labels;
  RandomStream r(4);
  for (Index i = 0; i < 30; ++i) labels.push_back(r.uniform() < logistic(1.5 * x(i, 0)) ? "b" : "a");
  double total = 0, first = 0;
  for (double b = -10; b < 10; b += 1e-3) {
    double u = 0.5 * b * b;
    for (Index i = 0; i < 30; ++i)
      u += log1p_exp(labels[static_cast<std::size_t>(i)] == "b" ? -b * x(i, 0) : b * x(i, 0));
    total += std::exp(-u);
    first += b * std::exp(-u);
  }
  for (const auto sampler : {McmcSampler::nuts, McmcSampler::metropolis}) {
    const auto m = fit(Mcmc{.sampler = sampler, .intercept = false, .standardize = false}, x, labels);
    EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
    EXPECT_NEAR(m.quantities(0, 0), first / total, 4 * m.quantities(0, 4));
  }
}

TEST(Mcmc, HasTheSameBitsOnAnyNumberOfThreads) {
  const Matrix x = normal_matrix(50, 2, 5);
  const Vector y = x.col(0) + normal_matrix(50, 1, 6).col(0);
  CallOptions one, three;
  one.threads = 1;
  three.threads = 3;
  const auto a = fit(Mcmc{}, x, y, one), b = fit(Mcmc{}, x, y, three);
  EXPECT_TRUE(a.certificate.holds()) << a.certificate.message;
  EXPECT_EQ((a.theta - b.theta).cwiseAbs().maxCoeff(), 0);
  EXPECT_EQ(a.certificate.value, b.certificate.value);
}

TEST(Mcmc, TheNaturalWrongDrawsFailTheCertificate) {
  const Matrix x = normal_matrix(60, 2, 5);
  std::vector<int> codes;
  RandomStream r(4);
  for (Index i = 0; i < 60; ++i) codes.push_back(r.uniform() < logistic(x(i, 0)) ? 1 : 0);
  MemoryRows rows(x);
  rows.labels(codes, {"no", "yes"});
  const auto right = fit(Valid<Mcmc>(Mcmc{}), rows, {});
  EXPECT_TRUE(certify(right, rows, {}).holds()) << right.certificate.message;
  auto prior = right, moved = right, fewer = right;
  prior.spec.alpha = 1.1;
  moved.theta.col(0).array() += 0.05;
  fewer.quantities(0, 4) *= 0.5;
  for (const auto& wrong : {prior, moved, fewer}) EXPECT_FALSE(certify(wrong, rows, {}).holds());
}

}  // namespace
}  // namespace lemma
