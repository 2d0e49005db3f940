// lemma/bayes/mcmc_test.cpp: draws against the closed form, and what the certificate refuses.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/bayes/mcmc/diagnostics.hpp>
#include <lemma/bayes/mcmc/gibbs.hpp>
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

TEST(Mcmc, AllSamplersAgreeWithTheIntegral) {
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
  for (const auto sampler : {McmcSampler::nuts, McmcSampler::metropolis, McmcSampler::gibbs}) {
    const auto m = fit(Mcmc{.sampler = sampler, .intercept = false, .standardize = false}, x, labels);
    EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
    EXPECT_NEAR(m.quantities(0, 0), first / total, 4 * m.quantities(0, 4));
  }
}

TEST(PolyaGamma, HasTheMeanTheVarianceAndTheTransformOfTheFormulas) {
  RandomStream random(12);
  for (const double z : {0.0, 0.3, 1.0, -2.5, 6.0, 40.0, 300.0}) {
    constexpr int kDraws = 40000;
    double sum = 0, squares = 0, transform = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double x = mcmc::polya_gamma(z, random);
      ASSERT_GT(x, 0);
      sum += x / kDraws, squares += x * x / kDraws, transform += std::exp(-x) / kDraws;
    }
    const double a = std::abs(z), mean = a == 0 ? 0.25 : std::tanh(a / 2) / (2 * a);
    const double variance = a == 0   ? 1.0 / 24
                            : a > 50 ? 1 / (2 * a * a * a)
                                     : (std::sinh(a) - a) / (4 * a * a * a * std::cosh(a / 2) * std::cosh(a / 2));
    const double error = std::sqrt(variance / kDraws);
    EXPECT_NEAR(sum, mean, 4 * error) << z;
    EXPECT_NEAR((squares - sum * sum) / variance, 1, 0.06) << z;
    // E e^(−ω) = cosh(z/2) / cosh(√(z²/4 + ½))
    const double at = std::sqrt(0.25 * a * a + 0.5);
    const double ratio = std::exp(a / 2 - at) * (1 + std::exp(-a)) / (1 + std::exp(-2 * at));
    EXPECT_NEAR(transform, ratio, 4 * error) << z;
  }
}

TEST(Mcmc, GibbsHasTheMomentsOfTheClosedFormForEverySeed) {
  const Matrix x = normal_matrix(40, 3, 5);
  const Vector y = x * Vector{{1, -0.5, 0}} + 0.7 * normal_matrix(40, 1, 6).col(0);
  const Matrix h = x.transpose() * x / 0.49 + Matrix::Identity(3, 3) * (2 / (y.squaredNorm() / 40));
  const Matrix root = solve_upper(*cholesky(h), Matrix::Identity(3, 3)), cov = root * root.transpose();
  const Vector mean = cov * (x.transpose() * y / 0.49);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CallOptions o;
    o.seed = seed;
    const Mcmc spec{.sampler = McmcSampler::gibbs, .alpha = 2, .noise = 0.7, .intercept = false, .standardize = false};
    const auto m = fit(spec, x, y, o);
    EXPECT_TRUE(m.certificate.holds()) << seed << m.certificate.message;
    for (Index j = 0; j < 3; ++j) {
      EXPECT_NEAR(m.quantities(j, 0), mean(j), 4 * m.quantities(j, 4)) << seed;
      EXPECT_NEAR(m.quantities(j, 1) / std::sqrt(cov(j, j)), 1, 0.1) << seed;
    }
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

// ---- Samplers that are wrong, with the right energies beside their draws ----

/// What a sampler does other than it should.
struct Fault {
  double momentum = 1;       // its standard deviation
  double patience = 1;       // a point is accepted with probability e^(−patience (H' − H)): 0 takes every one
  double posterior = 1;      // e^(−posterior U) is sampled
  double away = 0;           // of the draws, in posterior deviations
  double turned = INFINITY;  // no draw is further from the mode in any direction
};

/// Hamiltonian chains of fixed length, their draws in q.
mcmc::Draws hamiltonian(const Mcmc& spec, const mcmc::Target& target, const mcmc::Round& round, const Fault& fault) {
  const Index d = target.size();
  const auto energy = mcmc::rounded(target, round);
  mcmc::Draws out{Matrix(spec.chains * spec.draws, d), Vector(spec.chains * spec.draws), 0.9, 0.8};
  for (Index k = 0; k < spec.chains; ++k) {
    RandomStream random(77, static_cast<std::uint64_t>(k));
    Vector q = Vector::Zero(d), g(d);
    double u = energy(q, &g);
    for (Index i = -50; i < spec.draws; ++i) {
      Vector p(d), to = q, slope = g;
      for (double& each : p) each = fault.momentum * random.normal();
      const double before = fault.posterior * u + 0.5 * p.squaredNorm(), step = 0.7 + 0.5 * random.uniform();
      double there = u;
      p -= 0.5 * step * fault.posterior * slope;
      for (int leap = 0; leap < 2; ++leap) {
        to += step * p;
        there = energy(to, &slope);
        p -= (leap == 0 ? 1 : 0.5) * step * fault.posterior * slope;
      }
      const double after = fault.posterior * there + 0.5 * p.squaredNorm();
      const bool inside = to.cwiseAbs().maxCoeff() <= fault.turned;
      if (inside && random.uniform() < std::exp(fault.patience * (before - after))) {
        q = to;
        u = there;
        g = slope;
      }
      if (i < 0) continue;
      const Vector told = q + Vector::Constant(d, fault.away);
      out.theta.row(k * spec.draws + i) = round.mode + round.from_q * told;
      out.energy(k * spec.draws + i) = energy(told, nullptr);
    }
  }
  return out;
}

/// A walk whose steps are longer where it is further out, without the correction that this asks for.
mcmc::Draws uneven_walk(const Mcmc& spec, const mcmc::Target& target, const mcmc::Round& round, double uneven) {
  const Index d = target.size(), each = 10 * d;
  const auto energy = mcmc::rounded(target, round);
  mcmc::Draws out{Matrix(spec.chains * spec.draws, d), Vector(spec.chains * spec.draws), 0.9, 0.3};
  for (Index k = 0; k < spec.chains; ++k) {
    RandomStream random(78, static_cast<std::uint64_t>(k));
    Vector q = Vector::Zero(d), to(d);
    double u = energy(q, nullptr);
    for (Index i = -50 * each; i < spec.draws * each; ++i) {
      const double size = 1.6 / std::sqrt(static_cast<double>(d)) * std::exp(uneven * q.norm());
      for (Index j = 0; j < d; ++j) to(j) = q(j) + size * random.normal();
      const double there = energy(to, nullptr);
      if (random.uniform() < std::exp(u - there)) {
        q = to;
        u = there;
      }
      if (i < 0 || i % each != 0) continue;
      out.theta.row(k * spec.draws + i / each) = round.mode + round.from_q * q;
      out.energy(k * spec.draws + i / each) = u;
    }
  }
  return out;
}

/// Rows and the spec that is chosen for them.
struct Case {
  MemoryRows rows;
  Mcmc spec;
  mcmc::Sizes sizes;
  mcmc::Target target;
  mcmc::Round round;
  Case(const MemoryRows& from, const Mcmc& asked)
      : rows(from),
        spec(chosen(asked, rows)),
        sizes(mcmc::sizes_of(spec, rows, {})),
        target(spec, sizes, rows, {}),
        round(mcmc::round_about_the_mode(target, {})) {}
  static Mcmc chosen(Mcmc spec, const Rows& rows) {
    spec.family = mcmc::family_of(spec, rows);
    return spec;
  }
  Certificate judged(const mcmc::Draws& draws) const {
    return certify(mcmc::model_of(spec, sizes, mcmc::planes_of(*spec.family, rows.classes.size()), draws), rows, {});
  }
  Certificate of(const Fault& fault) const { return judged(hamiltonian(spec, target, round, fault)); }
};

/// Three columns beside a response of each kind.
struct Toy {
  Matrix x = normal_matrix(60, 3, 5);
  Labels two, three;
  Vector numbers = x.col(0) - x.col(1) + normal_matrix(60, 1, 6).col(0), counts = Vector(60);
  Toy() {
    RandomStream r(4);
    for (Index i = 0; i < 60; ++i) {
      two.push_back(r.uniform() < logistic(x(i, 0)) ? 1 : 0);
      three.push_back(static_cast<int>(i % 3));
      counts(i) = static_cast<double>(i % 4 + (x(i, 0) > 0 ? 2 : 0));
    }
  }
  MemoryRows rows() const { return MemoryRows(x); }
};

void expect_wrong_samplers_fail(const Case& one) {
  const Certificate right = one.of({});
  EXPECT_TRUE(right.holds()) << right.message;
  const std::pair<const char*, Fault> faults[] = {{"a momentum a quarter too large", {.momentum = 1.25}},
                                                  {"a momentum a quarter too small", {.momentum = 0.75}},
                                                  {"every point is taken", {.patience = 0}},
                                                  {"half the patience", {.patience = 0.25}},
                                                  {"a hotter posterior", {.posterior = 0.75}},
                                                  {"a colder posterior", {.posterior = 1.35}},
                                                  {"moved by a sixth of a deviation", {.away = 0.17}},
                                                  {"nothing beyond 1.6 deviations", {.turned = 1.6}}};
  for (const auto& [about, fault] : faults) {
    const Certificate found = one.of(fault);
    EXPECT_FALSE(found.holds()) << about << ": " << found.message;
  }
}

TEST(Mcmc, TheNaturalWrongSamplersFailTheCertificateOfTwoClasses) {
  const Toy toy;
  const Case one(toy.rows().labels(toy.two, {"no", "yes"}), Mcmc{});
  expect_wrong_samplers_fail(one);
  EXPECT_TRUE(one.judged(uneven_walk(one.spec, one.target, one.round, 0)).holds());
  const Certificate uneven = one.judged(uneven_walk(one.spec, one.target, one.round, 0.3));
  EXPECT_FALSE(uneven.holds()) << uneven.message;
}

TEST(Mcmc, TheNaturalWrongSamplersFailTheCertificateOfNumbersWithNoise) {
  const Toy toy;
  expect_wrong_samplers_fail(Case(toy.rows().response({toy.numbers.data(), 60}), Mcmc{}));
}

TEST(Mcmc, TheNaturalWrongSamplersFailTheCertificateOfThreeClasses) {
  const Toy toy;
  expect_wrong_samplers_fail(Case(toy.rows().labels(toy.three, {"a", "b", "c"}), Mcmc{}));
}

TEST(Mcmc, TheNaturalWrongSamplersFailTheCertificateOfCounts) {
  const Toy toy;
  expect_wrong_samplers_fail(Case(toy.rows().response({toy.counts.data(), 60}), Mcmc{.family = McmcFamily::poisson}));
}

TEST(Mcmc, TheNaturalWrongDrawsFailTheCertificate) {
  const Toy toy;
  const MemoryRows rows = toy.rows().labels(toy.two, {"no", "yes"});
  for (const auto sampler : {McmcSampler::nuts, McmcSampler::metropolis, McmcSampler::gibbs}) {
    const auto right = fit(Valid<Mcmc>(Mcmc{.sampler = sampler}), rows, {});
    EXPECT_TRUE(certify(right, rows, {}).holds()) << right.certificate.message;
    auto prior = right, moved = right, sure = right, stuck = right;
    prior.spec.alpha = 1.1;
    moved.theta.col(0).array() += 0.05;
    sure.quantities(0, 4) *= 0.5;
    stuck.theta.topRows(500).setZero();  // a chain that stays where it is, with energies to match
    stuck.energy.head(500).setConstant(60 * std::log(2));
    mcmc::tell(stuck);
    for (const auto& wrong : {prior, moved, sure, stuck}) EXPECT_FALSE(certify(wrong, rows, {}).holds());
  }
}

TEST(Mcmc, GibbsDrawsArePosteriorDrawsOfEveryFamilyThatHasConditionals) {
  const Toy toy;
  const Vector copies = Vector::Constant(60, 2);
  const Mcmc gibbs{.sampler = McmcSampler::gibbs};
  for (const MemoryRows& rows :
       {toy.rows().labels(toy.two, {"no", "yes"}), toy.rows().labels(toy.three, {"a", "b", "c"}),
        toy.rows().response({toy.numbers.data(), 60}),
        toy.rows().labels(toy.two, {"no", "yes"}).weights({copies.data(), 60})}) {
    const auto m = fit(Valid<Mcmc>(gibbs), rows, {});
    EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
    EXPECT_EQ(m.divergences, 0);
  }
  // beside the wrong rows: those without the last ten
  const MemoryRows rows = toy.rows().labels(toy.two, {"no", "yes"});
  const Matrix fewer = toy.x.topRows(50);
  const MemoryRows less = MemoryRows(fewer).labels(std::span(toy.two).first(50), {"no", "yes"});
  EXPECT_FALSE(certify(fit(Valid<Mcmc>(gibbs), less, {}), rows, {}).holds());
}

TEST(Mcmc, GibbsSaysWhereNoConditionalIsKnown) {
  const Toy toy;
  EXPECT_NE(message_of([&] {
              fit(Mcmc{.family = McmcFamily::poisson, .sampler = McmcSampler::gibbs}, toy.x, toy.counts);
            }).find("nuts or metropolis"),
            std::string::npos);
  const Vector halves = Vector::Constant(60, 0.5);
  const MemoryRows rows = toy.rows().labels(toy.two, {"no", "yes"}).weights({halves.data(), 60});
  EXPECT_NE(message_of([&] { fit(Valid<Mcmc>(Mcmc{.sampler = McmcSampler::gibbs}), rows, {}); }).find("weight is 0.5"),
            std::string::npos);
}

TEST(Mcmc, TooFewDrawsDoNotHold) {
  const Toy toy;
  const auto m = fit(Valid<Mcmc>(Mcmc{.chains = 2, .draws = 20}), toy.rows().labels(toy.two, {"no", "yes"}), {});
  EXPECT_FALSE(m.certificate.holds());
  EXPECT_NE(m.certificate.message.find("effective size"), std::string::npos);
}

// ---- What several chains say of a quantity ----

TEST(McmcDiagnostics, ChainsOfIndependentDrawsHaveAnRHatOfOneAndTheirOwnSize) {
  const Matrix chains = normal_matrix(4, 1000, 3);
  EXPECT_NEAR(mcmc::rank_r_hat(chains), 1, 0.005);
  EXPECT_NEAR(mcmc::effective_size(chains), 4000, 500);
  EXPECT_NEAR(mcmc::mean_error(chains), 1 / std::sqrt(4000.0), 0.002);
  EXPECT_NEAR(mcmc::deviation_error(chains), 1 / std::sqrt(8000.0), 0.002);
  EXPECT_NEAR(mcmc::share_error(chains, 0), 0.5 / std::sqrt(4000.0), 0.001);
}

TEST(McmcDiagnostics, OfAnAutoregressionTheEffectiveSizeIsThatOfTheFormula) {
  Matrix chains = normal_matrix(4, 20000, 4);
  for (Index t = 1; t < chains.cols(); ++t) chains.col(t) += 0.8 * chains.col(t - 1);
  EXPECT_NEAR(mcmc::effective_size(chains) / (80000 * 0.2 / 1.8), 1, 0.15);
}

TEST(McmcDiagnostics, AChainElsewhereOrWiderThanTheOthersRaisesRHat) {
  Matrix elsewhere = normal_matrix(4, 500, 5), wider = elsewhere;
  elsewhere.row(0).array() += 1;
  wider.row(0) *= 3;  // with the same mean: seen by the ranks of distances
  EXPECT_GT(mcmc::rank_r_hat(elsewhere), 1.05);
  EXPECT_GT(mcmc::rank_r_hat(wider), 1.05);
}

TEST(McmcDiagnostics, QuantilesLieBetweenValuesAsInR) {
  EXPECT_DOUBLE_EQ(mcmc::quantile_of(Vector{{4, 1, 3, 2}}, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(mcmc::quantile_of(Vector{{4, 1, 3, 2}}, 1), 4);
}

// ---- What does not suit ----

TEST(Mcmc, AFamilyThatTheResponseCannotHaveIsRefused) {
  const Matrix x = Toy().x;
  const Vector y = x.col(0);
  const std::vector<std::string> labels{"a", "b", "c", "a"};
  EXPECT_NE(message_of([&] { fit(Mcmc{.family = McmcFamily::logistic}, x, y); }).find("is numeric"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(Mcmc{.family = McmcFamily::poisson}, x, y); }).find("counts"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(Mcmc{.family = McmcFamily::gaussian}, x.topRows(4), labels); }).find("holds classes"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(Mcmc{.family = McmcFamily::logistic}, x.topRows(4), labels); }).find("softmax"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(Mcmc{.family = McmcFamily::poisson, .noise = 1}, x, y); }).find("gaussian"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
