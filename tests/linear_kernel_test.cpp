// tests/linear_kernel_test.cpp: with a linear kernel a kernel method is the linear method.
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/discriminant/lda.hpp>
#include <lemma/kernel/kernel_lda.hpp>
#include <lemma/kernel/kernel_logistic.hpp>
#include <lemma/kernel/kernel_perceptron.hpp>
#include <lemma/linear/logistic.hpp>
#include <lemma/linear/perceptron.hpp>
#include <lemma/model/fit.hpp>

namespace lemma {
namespace {

/// Classes around means of their own, with correlated columns.
struct Groups {
  Matrix x;
  std::vector<std::string> labels;
  Groups(Index n, Index p, int classes, double apart, std::uint64_t seed = 6)
      : x(normal_matrix(n, p, seed, 1) * normal_matrix(p, p, seed, 2)) {
    const Matrix centres = apart * normal_matrix(classes, p, seed, 3);
    for (Index i = 0; i < n; ++i) {
      x.row(i) += centres.row(i % classes);
      labels.emplace_back(1, static_cast<char>('a' + i % classes));
    }
  }
};

double difference(const Matrix& a, const Matrix& b) {
  return (a - b).cwiseAbs().maxCoeff() / (1 + b.cwiseAbs().maxCoeff());
}

TEST(LinearKernel, MakesKernelLogisticTheRidgeOfLogistic) {
  const Groups data(150, 4, 2, 0.5);
  CallOptions weighted;
  weighted.weights = Vector::LinSpaced(150, 0, 149).unaryExpr([](double i) { return std::fmod(i, 3); });
  for (const auto& options : {CallOptions{}, weighted})
    for (const bool intercept : {true, false})
      for (const double lambda : {0.1, 3.0}) {
        const auto plain = fit(Logistic{.lambda = std::vector{lambda}, .intercept = intercept, .standardize = false},
                               data.x, data.labels, options);
        const auto lifted = fit(KernelLogistic{.kernel = LinearKernel{}, .lambda = lambda, .intercept = intercept},
                                data.x, data.labels, options);
        EXPECT_LT(difference(lifted.decision(data.x), plain.decision(data.x)), 2e-5);
        EXPECT_NEAR(lifted.objective.of(0), plain.objective.of(0), 1e-8 * plain.objective.of(0));
        EXPECT_NEAR(lifted.squared_norm.of(0), plain.coefficients.of.squaredNorm(),
                    1e-4 * plain.coefficients.of.squaredNorm());
      }
}

TEST(LinearKernel, MakesKernelLdaTheLimitOfLda) {
  const Groups data(120, 4, 3, 1);
  for (const PriorChoice& prior : {PriorChoice(Prior::proportions), PriorChoice(std::vector{0.2, 0.3, 0.5})}) {
    const auto plain = fit(Lda{.prior = prior}, data.x, data.labels);
    const auto lifted = fit(KernelLda{.kernel = LinearKernel{}, .lambda = 1e-8, .prior = prior}, data.x, data.labels);
    EXPECT_TRUE(lifted.certificate.holds()) << lifted.certificate.message;
    EXPECT_LT(difference(lifted.coordinates(data.x).cwiseAbs(), plain.coordinates(data.x).cwiseAbs()), 1e-8);
    EXPECT_LT(difference(lifted.probabilities(data.x), plain.probabilities(data.x)), 1e-8);
    EXPECT_LT(difference(lifted.svd, plain.svd), 1e-8);
  }
}

TEST(LinearKernel, MakesKernelPerceptronThePerceptron) {
  for (const double apart : {0.3, 4.0})  // one that is not separated, and one that is
    for (const int classes : {2, 3})
      for (const bool intercept : {true, false}) {
        const Groups data(90, 5, classes, apart);
        const auto plain =
            fit(Perceptron{.max_iterations = 30, .intercept = intercept, .standardize = false}, data.x, data.labels);
        const auto lifted =
            fit(KernelPerceptron{.kernel = LinearKernel{}, .max_iterations = 30, .intercept = intercept}, data.x,
                data.labels);
        EXPECT_EQ(lifted.updates.of, plain.updates.of);
        EXPECT_EQ(lifted.passes.of, plain.passes.of);
        EXPECT_EQ(lifted.errors.of, plain.errors.of);
        EXPECT_LT(difference(lifted.intercept.of, plain.intercept.of), 1e-12);
        EXPECT_LT(difference(lifted.decision(data.x), plain.decision(data.x)), 1e-10);
        EXPECT_LT(difference(lifted.margin.of, plain.margin.of), 1e-8);
      }
}

}  // namespace
}  // namespace lemma
