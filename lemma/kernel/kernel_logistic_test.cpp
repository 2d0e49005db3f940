// lemma/kernel/kernel_logistic_test.cpp: answers by hand, duality, and what must not change them.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/kernel/kernel_logistic.hpp>
#include <lemma/model/fit.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// A ring around a disc, with a few rows on the wrong side.
struct Rings {
  Matrix x;
  std::vector<std::string> labels;
  Labels codes;
  explicit Rings(Index n, std::uint64_t seed = 4, int classes = 2) : x(normal_matrix(n, 2, seed)) {
    RandomStream noise(seed, 7);
    for (Index i = 0; i < n; ++i) {
      const double r = x.row(i).norm() + 0.25 * noise.normal();
      codes.push_back(r < 1 ? 0 : r < 1.7 || classes == 2 ? 1 : 2);
      labels.emplace_back(1, static_cast<char>('a' + codes.back()));
    }
  }
  MemoryRows rows(int classes = 2) const {
    MemoryRows out(x);
    out.labels(codes, classes == 2 ? std::vector<std::string>{"a", "b"} : std::vector<std::string>{"a", "b", "c"});
    return out;
  }
};

TEST(KernelLogistic,
     MatchesTheAnswerByHand) {  // rows ±1: f(x) = u x with λ u = 2 / (1 + e^u); u = 1 for λ = 2 / (1 + e)
  const KernelLogistic spec{.kernel = LinearKernel{}, .lambda = 2 / (1 + std::exp(1.0)), .intercept = false};
  const Matrix x{{1.0}, {-1.0}};
  const auto m = fit(spec, x, std::vector<std::string>{"yes", "no"});
  EXPECT_NEAR(m.decision(x)(0, 0), 1, 1e-12);
  EXPECT_NEAR(m.decision(x)(1, 0), -1, 1e-12);
  EXPECT_NEAR(m.dual_coefficients.of(0, 0), 0.5, 1e-12);  // (1 − p) / λ
  EXPECT_NEAR(m.squared_norm.of(0), 1, 1e-12);
  EXPECT_NEAR(m.deviance.of(0), 4 * std::log1p(std::exp(-1.0)), 1e-12);
  EXPECT_NEAR(m.probabilities(x)(0, 1), 1 / (1 + std::exp(-1.0)), 1e-12);
  EXPECT_EQ(m.predict(x), (Labels{1, 0}));
  EXPECT_TRUE(m.certificate.holds());
}

TEST(KernelLogistic, RowsThatAreAllEqualGetTheOddsOfTheClasses) {
  const Matrix x = Matrix::Constant(12, 3, 4.0);
  std::vector<std::string> labels(12, "a");
  for (std::size_t i = 0; i < 3; ++i) labels[i] = "b";
  const auto m = fit(KernelLogistic{}, x, labels);
  EXPECT_NEAR(m.probabilities(x)(0, 1), 0.25, 1e-12);
  EXPECT_NEAR(m.squared_norm.of(0), 0, 1e-20);
  EXPECT_TRUE(m.certificate.holds());
}

TEST(KernelLogistic, SolvesItsEquationsToTheLastDigits) {
  const Rings data(300);
  for (const double lambda : {1e-3, 0.1, 10.0}) {
    const KernelLogistic spec{.kernel = Rbf{.gamma = 0.7}, .lambda = lambda};
    const auto m = fit(spec, data.x, data.labels);
    ASSERT_TRUE(m.certificate.holds()) << lambda << ": " << m.certificate.message;
    const Matrix p = m.probabilities(data.x);
    double worst = 0;
    for (Index i = 0; i < 300; ++i)
      worst = std::max(
          worst, std::abs(lambda * m.dual_coefficients.of(0, i) - (data.codes[static_cast<std::size_t>(i)] - p(i, 1))));
    EXPECT_LT(worst, 1e-8) << lambda;
    EXPECT_NEAR(m.dual_coefficients.of.sum(), 0, 1e-8 / lambda);
    EXPECT_LT(m.certificate.iterations, 20);
    const Certificate again = certify(m, data.rows(), {});
    EXPECT_TRUE(again.holds()) << again.message;
  }
}

TEST(KernelLogistic, TheStochasticSolverComesNearTheSameFunction) {
  const Rings data(300);
  KernelLogistic spec{.kernel = Rbf{.gamma = 0.7}, .lambda = 0.5};
  const auto exact = fit(spec, data.x, data.labels);
  spec.solver = KernelLogisticSolver::stochastic;
  const auto near = fit(spec, data.x, data.labels);
  EXPECT_TRUE(near.certificate.holds()) << near.certificate.message;
  EXPECT_TRUE(certify(near, data.rows(), {}).holds());
  EXPECT_GE(near.objective.of(0), exact.objective.of(0));
  EXPECT_LE(near.objective.of(0), exact.objective.of(0) * (1 + 1e-3));
  EXPECT_LT((near.probabilities(data.x) - exact.probabilities(data.x)).cwiseAbs().maxCoeff(), 0.05);
  CallOptions other;
  other.seed = 5;
  EXPECT_NE(fit(spec, data.x, data.labels, other).objective.of(0), near.objective.of(0));
  spec.max_iterations = 1;
  const auto early = fit(spec, data.x, data.labels);
  EXPECT_FALSE(early.certificate.holds());
  EXPECT_EQ(early.warnings.size(), 1U);
}

TEST(KernelLogistic, OfMoreClassesHasOneFunctionForEachAndProbabilitiesThatSumToOne) {
  const Rings data(240, 4, 3);
  const KernelLogistic spec{.kernel = Rbf{.gamma = 0.7}, .lambda = 0.2};
  const auto m = fit(spec, data.x, data.labels);
  EXPECT_EQ(m.functions(), 3);
  const Matrix p = m.probabilities(data.x);
  EXPECT_LT((p.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-14);
  std::vector<std::string> first_or_not;
  for (const auto& label : data.labels) first_or_not.emplace_back(label == "a" ? "yes" : "no");
  const auto alone = fit(spec, data.x, first_or_not);
  EXPECT_LT((m.decision(data.x).col(0) - alone.decision(data.x).col(0)).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_TRUE(certify(m, data.rows(3), {}).holds());
}

KernelLogistic softmax_of(Kernel kernel, double lambda) {
  return {.kernel = std::move(kernel), .lambda = lambda, .classes = KernelLogisticClasses::softmax};
}

/// The linear kernel's functions are planes: those of the multinomial model with the same penalty.
TEST(KernelLogistic, ItsSoftmaxWithTheLinearKernelIsMultinomialRegression) {
  const Golden golden("multinom_ridge_iris");
  const Table iris = dataset("iris");
  const auto m = fit(softmax_of(LinearKernel{}, 1), formula("species ~ ."), iris);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  ASSERT_EQ(m.objective.size(), 1);
  EXPECT_TRUE(golden.agrees("objective", m.objective.of(0)));
  EXPECT_TRUE(golden.agrees("neg_log_likelihood", m.deviance.of(0) / 2));
  const Matrix x = m.design.apply(iris).x, expected = golden.matrix("coef");
  Matrix planes(3, 5);
  planes << m.intercept.of, m.dual_coefficients.of * x;
  planes.col(0).array() -= planes.col(0).mean();
  EXPECT_LT((planes.rightCols(4) - expected.rightCols(4)).cwiseAbs().maxCoeff(), 1e-6);
  for (Index k = 1; k < 3; ++k) EXPECT_NEAR(planes(k, 0) - planes(0, 0), expected(k, 0) - expected(0, 0), 1e-5);
  EXPECT_TRUE(golden.agrees("probabilities", golden.shown(m.probabilities(x))));
}

TEST(KernelLogistic, ItsSoftmaxSolvesItsEquations) {
  const Rings data(240, 4, 3);
  for (const double lambda : {1e-3, 0.2, 10.0}) {
    const auto m = fit(softmax_of(Rbf{.gamma = 0.7}, lambda), data.x, data.labels);
    ASSERT_TRUE(m.certificate.holds()) << lambda << ": " << m.certificate.message;
    const Matrix p = m.probabilities(data.x);
    EXPECT_LT((p.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-14);
    double worst = 0, loss = 0;
    for (Index i = 0; i < 240; ++i) {
      loss -= std::log(p(i, data.codes[static_cast<std::size_t>(i)]));
      for (Index k = 0; k < 3; ++k)
        worst = std::max(worst, std::abs(lambda * m.dual_coefficients.of(k, i) -
                                         ((data.codes[static_cast<std::size_t>(i)] == k) - p(i, k))));
    }
    EXPECT_LT(worst, 1e-7) << lambda;
    EXPECT_NEAR(m.deviance.of(0), 2 * loss, 1e-8 * loss);
    EXPECT_NEAR(m.objective.of(0), loss + 0.5 * lambda * m.squared_norm.of.sum(), 1e-8 * loss);
    EXPECT_NEAR(m.intercept.of.sum(), 0, 1e-10);
    EXPECT_LT(m.dual_coefficients.of.colwise().sum().cwiseAbs().maxCoeff() * lambda, 1e-8);
    const Certificate again = certify(m, data.rows(3), {});
    EXPECT_TRUE(again.holds()) << again.message;
    const auto apart = fit(KernelLogistic{.kernel = Rbf{.gamma = 0.7}, .lambda = lambda}, data.x, data.labels);
    EXPECT_GT((apart.probabilities(data.x) - p).cwiseAbs().maxCoeff(), 1e-3) << "another model";
  }
}

TEST(KernelLogistic, ItsSoftmaxOfTwoClassesIsTheOneFunction) {
  const Rings data(90);
  const auto one = fit(KernelLogistic{.kernel = Rbf{.gamma = 0.7}, .lambda = 0.3}, data.x, data.labels),
             both = fit(softmax_of(Rbf{.gamma = 0.7}, 0.3), data.x, data.labels);
  EXPECT_EQ(one.dual_coefficients.of, both.dual_coefficients.of);
}

TEST(KernelLogistic,
     WhatMustNotChangeItsSoftmax) {  // weights as copies, the order of the rows, threads, a given matrix
  const Rings data(120, 4, 3);
  const KernelLogistic spec = softmax_of(Rbf{.gamma = 0.7}, 0.3);
  CallOptions options;
  options.weights = Vector(120);
  std::vector<Index> copies;
  std::vector<std::string> labels;
  for (Index i = 0; i < 120; ++i) {
    options.weights(i) = static_cast<double>(i % 3);
    for (Index copy = 0; copy < i % 3; ++copy) {
      copies.insert(copies.begin(), i);
      labels.insert(labels.begin(), data.labels[static_cast<std::size_t>(i)]);
    }
  }
  const auto weighted = fit(spec, data.x, data.labels, options),
             copied = fit(spec, Matrix(data.x(copies, Eigen::all)), labels);
  EXPECT_LT((weighted.decision(data.x) - copied.decision(data.x)).cwiseAbs().maxCoeff(), 1e-7);
  CallOptions one;
  one.threads = 1;
  CallOptions three;
  three.threads = 3;
  const auto alone = fit(spec, data.x, data.labels, one), shared = fit(spec, data.x, data.labels, three);
  EXPECT_EQ(alone.dual_coefficients.of, shared.dual_coefficients.of);
  KernelLogistic given = spec;
  given.kernel = Precomputed{};
  const BoundKernel bound(spec.kernel, Points(data.x));
  const auto by_matrix = fit(given, bound.gram(), data.labels);
  EXPECT_LT((by_matrix.decision(bound.gram()) - alone.decision(data.x)).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(KernelLogistic,
     TheNaturalWrongSoftmaxesFailTheCertificate) {  // half the λ; classes one by one; b left at the odds
  const Rings data(120, 4, 3);
  const KernelLogistic spec = softmax_of(Rbf{.gamma = 0.7}, 0.5);
  const auto right = fit(spec, data.x, data.labels);
  ASSERT_TRUE(certify(right, data.rows(3), {}).holds());
  auto half = right;
  const auto other = fit(softmax_of(Rbf{.gamma = 0.7}, 0.4999), data.x, data.labels);
  half.dual_coefficients = other.dual_coefficients;
  half.intercept = other.intercept;
  auto apart = right;
  apart.dual_coefficients =
      fit(KernelLogistic{.kernel = Rbf{.gamma = 0.7}, .lambda = 0.5}, data.x, data.labels).dual_coefficients;
  auto odds = right;
  odds.intercept.of = (right.counts / right.counts.sum()).array().log();
  auto shifted = right;  // the same model, told in another way
  shifted.intercept.of.array() += 0.01;
  auto wrong_number = right;
  wrong_number.deviance.of(0) *= 1.001;
  KernelLogistic hurried = spec;
  hurried.max_iterations = 1;
  for (const auto& wrong : {half, apart, odds, shifted, wrong_number, fit(hurried, data.x, data.labels)})
    EXPECT_FALSE(certify(wrong, data.rows(3), {}).holds());
}

TEST(KernelLogistic, ItsSoftmaxRefusesWhatItCannotDo) {
  const Rings data(40, 4, 3);
  KernelLogistic walk = softmax_of(Rbf{.gamma = 0.7}, 0.5);
  walk.solver = KernelLogisticSolver::stochastic;
  EXPECT_NE(message_of([&] { fit(walk, data.x, data.labels); }).find("softmax is found by solver newton"),
            std::string::npos);
  EXPECT_NE(
      message_of([&] { fit(softmax_of(Tanh{.gamma = 2, .offset = -1}, 1), data.x, data.labels); }).find("not positive"),
      std::string::npos);
  KernelLogistic chosen = softmax_of(Rbf{.gamma = 0.7}, 1);
  chosen.lambda = {};
  const Rings more(150, 5, 3);
  const auto m = fit(Valid<KernelLogistic>(chosen), more.rows(3), {});
  EXPECT_EQ(m.lambda_path.size(), 20);
  EXPECT_TRUE(certify(m, more.rows(3), {}).holds()) << certify(m, more.rows(3), {}).message;
}

TEST(KernelLogistic, AWeightIsSoManyCopiesForBothSolversInTheirObjective) {
  const Rings data(90);
  CallOptions options;
  options.weights = Vector(90);
  std::vector<Index> copies;
  std::vector<std::string> labels;
  for (Index i = 0; i < 90; ++i) {
    options.weights(i) = static_cast<double>(i % 3);
    for (Index copy = 0; copy < i % 3; ++copy) {
      copies.push_back(i);
      labels.push_back(data.labels[static_cast<std::size_t>(i)]);
    }
  }
  const Matrix x = data.x(copies, Eigen::all);
  KernelLogistic spec{.lambda = 0.3};
  const auto weighted = fit(spec, data.x, data.labels, options), copied = fit(spec, x, labels);
  EXPECT_NEAR(weighted.objective.of(0), copied.objective.of(0), 1e-9);
  EXPECT_LT((weighted.decision(data.x) - copied.decision(data.x)).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_EQ(weighted.dual_coefficients.of.cols(), 60);  // rows of weight 0 are not kept
  spec.solver = KernelLogisticSolver::stochastic;
  const auto walked = fit(spec, data.x, data.labels, options);
  EXPECT_NEAR(walked.objective.of(0), copied.objective.of(0), 2e-3 * copied.objective.of(0));
}

TEST(KernelLogistic, APrecomputedMatrixGivesWhatItsKernelGives) {
  const Rings data(60), fresh(9, 5);
  const Kernel rbf = Rbf{.gamma = 0.5};
  const BoundKernel bound(rbf, Points(data.x));
  const Matrix gram = bound.gram();
  for (const auto solver : {KernelLogisticSolver::newton, KernelLogisticSolver::stochastic}) {
    const auto direct = fit(KernelLogistic{.kernel = rbf, .solver = solver}, data.x, data.labels);
    const auto given = fit(KernelLogistic{.kernel = Precomputed{}, .solver = solver}, gram, data.labels);
    EXPECT_LT((direct.decision(fresh.x) - given.decision(bound.cross(fresh.x))).cwiseAbs().maxCoeff(), 1e-9);
    MemoryRows rows(gram);
    rows.labels(data.codes, {"a", "b"});
    EXPECT_TRUE(certify(given, rows, {}).holds()) << certify(given, rows, {}).message;
  }
}

TEST(KernelLogistic, TheNaturalWrongLambdasAndFunctionsFailTheCertificate) {  // n λ for λ; b penalised; too few steps
  const Rings data(120);
  const KernelLogistic spec{.kernel = Rbf{.gamma = 0.7}, .lambda = 0.5};
  const auto right = fit(spec, data.x, data.labels);
  ASSERT_TRUE(certify(right, data.rows(), {}).holds());
  KernelLogistic other = spec;
  other.lambda = 0.5001;
  auto wrong_lambda = right;
  const auto near = fit(other, data.x, data.labels);
  wrong_lambda.dual_coefficients = near.dual_coefficients;
  wrong_lambda.intercept = near.intercept;
  auto pulled = right;
  pulled.dual_coefficients.of *= 0.999;
  auto moved = right;
  moved.intercept.of(0) += 1e-3;
  KernelLogistic hurried = spec;
  hurried.max_iterations = 2;
  for (const auto& wrong : {wrong_lambda, pulled, moved, fit(hurried, data.x, data.labels)})
    EXPECT_FALSE(certify(wrong, data.rows(), {}).holds());
}

TEST(KernelLogistic, AnIndefiniteKernelIsSaidToBeOne) {
  const Rings data(60);
  const auto m = fit(KernelLogistic{.kernel = Tanh{.gamma = 2, .offset = -1}, .lambda = 200}, data.x, data.labels);
  ASSERT_FALSE(m.warnings.empty());
  EXPECT_NE(m.warnings[0].find("not positive semidefinite"), std::string::npos);
  EXPECT_EQ(m.certificate.strength, Strength::stationary);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  const auto hopeless =
      fit(KernelLogistic{.kernel = Precomputed{}, .lambda = 0.01}, -Matrix::Identity(60, 60), data.labels);
  EXPECT_FALSE(hopeless.certificate.holds());
}

TEST(KernelLogistic, BadInputIsRefusedByWhatIsWrong) {
  const Rings data(20);
  const auto refusal = [&](const KernelLogistic& spec, const Matrix& x) {
    return message_of([&] { fit(spec, x, data.labels); });
  };
  EXPECT_NE(refusal({.kernel = Precomputed{}}, data.x).find("20 rows and 2 columns"), std::string::npos);
  EXPECT_NE(refusal({.kernel = Rbf{.gamma = 0}}, data.x).find("gamma"), std::string::npos);
  EXPECT_NE(refusal({.lambda = 0}, data.x).find("lambda"), std::string::npos);
  EXPECT_NE(refusal({.gigabytes = 1e-6}, data.x).find("would take 3.2 kB"), std::string::npos);
  const std::string large = refusal({.kernel = Poly{.degree = 3, .gamma = 1}}, 1e140 * data.x);
  EXPECT_NE(large.find("overflows"), std::string::npos) << large;
  EXPECT_NE(message_of([&] {
              fit(KernelLogistic{}, data.x, std::vector<std::string>(20, "yes"));
            }).find("at least two classes"),
            std::string::npos);
  CallOptions options;
  options.weights = Vector::Ones(20);
  for (Index i = 0; i < 20; ++i)
    if (data.codes[static_cast<std::size_t>(i)] == 1) options.weights(i) = 0;
  EXPECT_NE(message_of([&] { fit(KernelLogistic{}, data.x, data.labels, options); }).find("class 'b' has no rows"),
            std::string::npos);
}

TEST(KernelLogistic, RowsWithOppositeLabelsShareTheirOdds) {
  Matrix x(40, 2);
  x << normal_matrix(20, 2, 3), normal_matrix(20, 2, 3);
  std::vector<std::string> labels(40, "a");
  std::fill(labels.begin() + 20, labels.end(), "b");
  const auto m = fit(KernelLogistic{.lambda = 1e-6}, x, labels);
  EXPECT_LT((m.probabilities(x).array() - 0.5).abs().maxCoeff(), 1e-9);
}

/// A λ that the rows choose: the least loss of held-out rows, whatever the order of the rows, and looked up again.
TEST(KernelLogistic, LambdaAutoIsThatOfTheLeastHeldOutLoss) {
  const Rings rings(80);
  const MemoryRows rows = rings.rows();
  const auto m = fit(Valid<KernelLogistic>((KernelLogistic{.kernel = Rbf{.gamma = 0.5}, .lambda = {}})), rows, {});
  ASSERT_EQ(m.lambda_path.size(), 20);
  Index best = 0;
  m.held_out_loss.minCoeff(&best);
  EXPECT_EQ(*m.spec.lambda, m.lambda_path(best));
  EXPECT_TRUE(certify(m, rows, {}).holds()) << certify(m, rows, {}).message;
  KernelLogistic same = (KernelLogistic{.kernel = Rbf{.gamma = 0.5}, .lambda = {}});
  same.lambda = *m.spec.lambda;
  const auto plain = fit(Valid<KernelLogistic>(same), rows, {});
  EXPECT_EQ(plain.dual_coefficients.of, m.dual_coefficients.of) << "the fit with that number";
  EXPECT_EQ(plain.lambda_path.size(), 0);
  std::vector<Index> turned;
  for (Index i = rows.count(); i-- > 0;) turned.push_back(i);
  const SelectedRows others(rows, turned);
  const auto again =
      fit(Valid<KernelLogistic>((KernelLogistic{.kernel = Rbf{.gamma = 0.5}, .lambda = {}})), others, {});
  EXPECT_NEAR(*again.spec.lambda, *m.spec.lambda, 1e-9 * *m.spec.lambda);
  auto damaged = fit(Valid<KernelLogistic>(same), rows, {});
  damaged.lambda_path = m.lambda_path;
  damaged.held_out_loss = m.held_out_loss;
  EXPECT_TRUE(certify(damaged, rows, {}).holds());
  damaged.held_out_loss((best + 5) % 20) *= 0.5;
  EXPECT_FALSE(certify(damaged, rows, {}).holds());
  same.lambda = m.lambda_path((best + 1) % 20);
  damaged = fit(Valid<KernelLogistic>(same), rows, {});
  damaged.lambda_path = m.lambda_path;
  damaged.held_out_loss = m.held_out_loss;
  const Certificate found = certify(damaged, rows, {});
  EXPECT_FALSE(found.holds());
  EXPECT_NE(found.message.find("lambda"), std::string::npos) << found.message;
}

}  // namespace
}  // namespace lemma
