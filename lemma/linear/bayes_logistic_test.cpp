// lemma/linear/bayes_logistic_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/linear/bayes_logistic.hpp>
#include <lemma/linear/ols/data_test.hpp>
#include <lemma/math/special.hpp>
#include <lemma/model/fit.hpp>
#include <numbers>

namespace lemma {
namespace {

using ols_test::expect_near;

struct Two {
  Matrix x;
  std::vector<std::string> labels;
  Labels codes;
  explicit Two(Index n, Index p = 2, std::uint64_t seed = 3) : x(normal_matrix(n, p, seed)) {
    RandomStream stream(seed, 1);
    for (Index i = 0; i < n; ++i) {
      codes.push_back(stream.uniform() < logistic(0.5 + 2 * x(i, 0) - x(i, p - 1)) ? 1 : 0);
      labels.push_back(codes.back() ? "yes" : "no");
    }
  }
  MemoryRows rows() const {
    MemoryRows out(x);
    out.labels(codes, {"no", "yes"});
    return out;
  }
};

/// −log p(labels | b) − log p(b) for a Gaussian prior on the slopes, taken literally.
double energy(const Two& data, double alpha, double b0, const Vector& b) {
  double sum = 0.5 * alpha * b.squaredNorm();
  for (Index i = 0; i < data.x.rows(); ++i) {
    const double eta = b0 + data.x.row(i).dot(b);
    sum += log1p_exp(data.codes[static_cast<std::size_t>(i)] ? -eta : eta);
  }
  return sum;
}

TEST(BayesLogistic, FindsTheModeAndItsCurvature) {
  const Two data(150);
  const auto m = fit(BayesLogistic{.alpha = 2, .standardize = false}, data.x, data.labels);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  const Vector b = m.coefficients.of.row(0);
  const double at = energy(data, 2, m.intercept.of(0), b);
  const double h = 1e-3;
  for (Index j = 0; j < 2; ++j) {
    const Vector step = h * Vector::Unit(2, j);
    EXPECT_GT(energy(data, 2, m.intercept.of(0), b + step), at);
    EXPECT_GT(energy(data, 2, m.intercept.of(0), b - step), at);
  }
  EXPECT_NEAR(at, -m.log_likelihood.of(0) + b.squaredNorm(), 1e-9);
}

TEST(BayesLogistic, TheEvidenceIsNearTheIntegral) {  // one column, no intercept: the integral over b on a fine grid
  const Two data(40, 1);
  const auto m = fit(BayesLogistic{.alpha = 0.5, .intercept = false, .standardize = false}, data.x, data.labels);
  double sum = 0;
  const double width = 1e-3;
  for (double b = -20; b < 20; b += width)
    sum += width * std::sqrt(0.5 / (2 * 3.141592653589793)) * std::exp(-energy(data, 0.5, 0, Vector::Constant(1, b)));
  EXPECT_NEAR(m.log_evidence.of(0), std::log(sum), 0.1);
}

TEST(BayesLogistic, ProbabilitiesAreNearThePosteriorAverage) {
  const Two data(60, 1);
  const auto m = fit(BayesLogistic{.intercept = false, .standardize = false}, data.x, data.labels);
  const double mode = m.coefficients.of(0, 0), sd = m.std_errors.of(0, 0);
  for (const double x : {-3.0, 0.5, 2.0}) {
    double average = 0, total = 0;
    for (double u = -8; u <= 8; u += 0.01) {
      average += std::exp(-u * u / 2) * logistic((mode + sd * u) * x);
      total += std::exp(-u * u / 2);
    }
    const double found = m.probabilities(Matrix{{x}})(0, 1);
    EXPECT_NEAR(found, average / total, 0.01) << x;
    EXPECT_LT(std::abs(found - 0.5), std::abs(logistic(mode * x) - 0.5));  // nearer to ½ than at the mode
  }
}

TEST(BayesLogistic, LaplacesPriorHoldsWeakColumnsAtZero) {
  const Two data(200, 6);
  const auto m = fit(BayesLogistic{.prior = LogisticPrior::laplace, .alpha = 12}, data.x, data.labels);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_NE(m.coefficients.of(0, 0), 0);
  const auto zeros = (m.coefficients.of.array() == 0).count();
  EXPECT_GE(zeros, 2);
  for (Index j = 0; j < 6; ++j) EXPECT_EQ(m.coefficients.of(0, j) == 0, m.std_errors.of(0, j) == 0);
  EXPECT_TRUE(std::isfinite(m.log_evidence.of(0)));
  const MemoryRows rows = data.rows();
  auto soft = m;  // a small weight in the place of a zero
  for (Index j = 0; j < 6; ++j)
    if (soft.coefficients.of(0, j) == 0) soft.coefficients.of(0, j) = 1e-6;
  EXPECT_FALSE(certify(soft, rows, {}).holds());
}

TEST(BayesLogistic, SeparatedClassesHaveAMode) {
  const Matrix x{{-2.0}, {-1.0}, {1.0}, {2.0}};
  const auto m = fit(BayesLogistic{}, x, std::vector<std::string>{"a", "a", "b", "b"});
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_GT(m.coefficients.of(0, 0), 0.3);
  EXPECT_LT(m.coefficients.of(0, 0), 10);
}

TEST(BayesLogistic, ManyClassesHaveProbabilitiesThatAddToOne) {
  const Matrix x = normal_matrix(90, 2, 8);
  std::vector<std::string> labels;
  for (Index i = 0; i < 90; ++i) labels.push_back(x(i, 0) > 0.5 ? "a" : x(i, 1) > 0 ? "b" : "c");
  const auto m = fit(BayesLogistic{}, x, labels);
  EXPECT_EQ(m.planes(), 3);
  EXPECT_LT((m.probabilities(x).rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
}

TEST(BayesLogistic, AWeightIsSoManyCopiesOfItsRow) {
  const Two data(60);
  CallOptions options;
  options.weights = Vector(60);
  std::vector<Index> copies;
  std::vector<std::string> labels;
  for (Index i = 0; i < 60; ++i) {
    options.weights(i) = static_cast<double>(i % 3);
    for (Index copy = 0; copy < i % 3; ++copy) {
      copies.push_back(i);
      labels.push_back(data.labels[static_cast<std::size_t>(i)]);
    }
  }
  const Matrix x = data.x(copies, Eigen::all);
  const auto weighted = fit(BayesLogistic{}, data.x, data.labels, options), copied = fit(BayesLogistic{}, x, labels);
  expect_near(weighted.coefficients.of.row(0).transpose(), copied.coefficients.of.row(0).transpose(), 1e-9,
              "coefficients");
  EXPECT_NEAR(weighted.log_evidence.of(0), copied.log_evidence.of(0), 1e-8);
}

TEST(BayesLogistic, TheNaturalWrongAnswersFailTheCertificate) {
  const Two data(120);
  const MemoryRows rows = data.rows();
  const auto right = fit(BayesLogistic{}, rows, {});
  ASSERT_TRUE(certify(right, rows, {}).holds()) << certify(right, rows, {}).message;
  auto early = right, flat = right, evidence = right, curvature = right;
  early.coefficients.of(0, 0) += 1e-6;  // one step short
  flat.spec.alpha = 1e-3;               // the mode of another prior
  evidence.log_evidence.of(0) += 0.9;   // ½ log 2π left out
  curvature.posterior *= 1.01;
  for (const auto& wrong : {early, flat, evidence, curvature}) EXPECT_FALSE(certify(wrong, rows, {}).holds());
}

constexpr BayesLogistic kBounded{.approximation = LogisticPosterior::variational, .standardize = false};

TEST(BayesLogistic, JaakkolaAndJordansBoundIsBelowTheEvidenceAndItsMeanNearThePosteriors) {
  const Two data(60, 1);
  BayesLogistic spec = kBounded;
  spec.alpha = 0.5;
  spec.intercept = false;
  const auto m = fit(spec, data.x, data.labels);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_EQ(m.certificate.strength, Strength::consistent);
  double total = 0, first = 0;
  constexpr double kStep = 1e-3;
  for (double b = -8; b < 8; b += kStep) {
    const double p = std::exp(-energy(data, 0.5, 0, Vector::Constant(1, b))) * std::sqrt(0.5 / (2 * std::numbers::pi));
    total += p * kStep;
    first += b * p * kStep;
  }
  EXPECT_LT(m.log_evidence.of(0), std::log(total));
  EXPECT_GT(m.log_evidence.of(0), std::log(total) - 0.5);
  EXPECT_NEAR(m.coefficients.of(0, 0), first / total, 0.5 * m.std_errors.of(0, 0));
}

TEST(BayesLogistic, TheBoundNeverFalls) {
  const Two data(80);
  BayesLogistic spec = kBounded;
  double before = -std::numeric_limits<double>::infinity();
  for (spec.max_iterations = 10; spec.max_iterations < 40; ++spec.max_iterations) {
    const double bound = fit(spec, data.x, data.labels).log_evidence.of(0);
    EXPECT_GE(bound, before - 1e-10);
    before = bound;
  }
}

TEST(BayesLogistic, TheNaturalWrongBoundsFailTheCertificate) {
  const Two data(80);
  const MemoryRows rows = data.rows();
  const auto right = fit(Valid<BayesLogistic>(kBounded), rows, {});
  EXPECT_TRUE(certify(right, rows, {}).holds()) << right.certificate.message;
  auto mode = fit(Valid<BayesLogistic>(BayesLogistic{.standardize = false}), rows, {});  // Laplace's in its place
  mode.spec = right.spec;
  auto sure = right, evidence = right, alpha = right;
  sure.posterior *= 0.99;
  evidence.log_evidence.of(0) += 0.1;
  alpha.spec.alpha = 1.1;
  for (const auto& wrong : {mode, sure, evidence, alpha}) EXPECT_FALSE(certify(wrong, rows, {}).holds());
  EXPECT_NE(message_of([&] {
              fit(BayesLogistic{.prior = LogisticPrior::laplace, .approximation = LogisticPosterior::variational},
                  data.x, data.labels);
            }).find("gaussian prior"),
            std::string::npos);
}

TEST(BayesLogistic, HardColumnsGetAnAnswerOrAClearError) {
  const Two data(80);
  Matrix x(80, 4);
  x << data.x, data.x.col(0), Vector::Constant(80, 3.0);
  for (const auto prior : {LogisticPrior::gaussian, LogisticPrior::laplace}) {
    const auto m = fit(BayesLogistic{.prior = prior}, x, data.labels);
    EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
    EXPECT_TRUE(m.probabilities(x).allFinite());
  }
  const Matrix wide = normal_matrix(6, 20, 5);
  EXPECT_TRUE(fit(BayesLogistic{}, wide, std::vector<std::string>{"a", "b", "a", "b", "a", "b"}).certificate.holds());
  for (const double scale : {1e-140, 1e140}) {
    Matrix scaled = data.x;
    scaled.col(0) *= scale;
    const auto m = fit(BayesLogistic{}, scaled, data.labels);
    EXPECT_LT((m.probabilities(scaled) - fit(BayesLogistic{}, data.x, data.labels).probabilities(data.x))
                  .cwiseAbs()
                  .maxCoeff(),
              1e-8);
  }
  EXPECT_NE(message_of([&] {
              fit(BayesLogistic{}, data.x, std::vector<std::string>(80, "yes"));
            }).find("at least two classes"),
            std::string::npos);
  CallOptions options;
  options.weights = Vector::Zero(80);
  EXPECT_NE(message_of([&] { fit(BayesLogistic{}, data.x, data.labels, options); }).find("no row of class 'no'"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
