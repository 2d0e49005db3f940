// lemma/kernel/kernel_perceptron_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/kernel/kernel_perceptron.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// A disc and a ring around it, `gap` apart: no line lies between them.
struct Disc {
  Matrix x;
  std::vector<std::string> labels;
  Labels codes;
  Disc(Index n, double gap, std::uint64_t seed = 2) : x(normal_matrix(n, 2, seed)) {
    RandomStream stream(seed, 5);
    for (Index i = 0; i < n; ++i) {
      const int code = static_cast<int>(i % 2);
      x.row(i) *= (code ? 1 + gap + stream.uniform() : stream.uniform()) / x.row(i).norm();
      codes.push_back(code);
      labels.emplace_back(code ? "ring" : "disc");
    }
  }
  MemoryRows rows() const {
    MemoryRows out(x);
    out.labels(codes, {"disc", "ring"});
    return out;
  }
};

TEST(KernelPerceptron, MatchesThePassesByHand) {  // (1) +, (−1) −: α = (1, −1), f(x) = 2x, as the plane w = 2, b = 0
  const auto m =
      fit(KernelPerceptron{.kernel = LinearKernel{}}, Matrix{{1.0}, {-1.0}}, std::vector<std::string>{"b", "a"});
  EXPECT_EQ(m.dual_coefficients.of, (Matrix{{1.0, -1.0}}));
  EXPECT_EQ(m.intercept.of(0), 0);
  EXPECT_EQ(m.updates.of(0), 2);
  EXPECT_EQ(m.passes.of(0), 2);
  EXPECT_EQ(m.margin.of(0), 1);
  EXPECT_EQ(m.decision(Matrix{{3.0}})(0, 0), 6);
}

TEST(KernelPerceptron, SeparatesADiscFromARingAndKeepsOnlyTheMistakes) {
  const Disc data(200, 0.4);
  const auto m = fit(KernelPerceptron{.kernel = Poly{.degree = 2, .gamma = 1}}, data.x, data.labels);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_EQ(m.certificate.strength, Strength::optimal);
  EXPECT_GT(m.margin.of(0), 0);
  EXPECT_EQ(m.predict(data.x), data.codes);
  EXPECT_LT(m.support.of.size(), 100U);
  EXPECT_EQ(m.dual_coefficients.of.cwiseAbs().sum(), m.updates.of(0));
  EXPECT_TRUE(certify(m, data.rows(), {}).holds()) << certify(m, data.rows(), {}).message;
  const auto line = fit(KernelPerceptron{.kernel = LinearKernel{}, .max_iterations = 20}, data.x, data.labels);
  EXPECT_FALSE(line.certificate.holds());
  EXPECT_EQ(line.certificate.strength, Strength::none);
  ASSERT_EQ(line.warnings.size(), 1U);
  EXPECT_NE(line.warnings[0].find("not separated after 20 passes"), std::string::npos);
}

TEST(KernelPerceptron, LittleMemoryChangesNothing) {
  const Disc data(120, 0.3);
  const KernelPerceptron spec{.kernel = Rbf{.gamma = 0.5}};
  KernelPerceptron small = spec;
  small.gigabytes = 1e-9;
  const auto m = fit(spec, data.x, data.labels), again = fit(small, data.x, data.labels);
  EXPECT_EQ(m.dual_coefficients.of, again.dual_coefficients.of);
  EXPECT_EQ(m.intercept.of, again.intercept.of);
}

TEST(KernelPerceptron, ThePocketHoldsTheFunctionThatWentLongestWithoutAMistake) {
  Disc data(200, 0.3);
  data.labels[10] = "ring";  // in the middle of the disc, where another row of the disc lies too
  data.x.row(10) = data.x.row(12);
  const KernelPerceptron spec{.kernel = Poly{.degree = 2, .gamma = 1}, .max_iterations = 50};
  const auto m = fit(spec, data.x, data.labels);
  EXPECT_FALSE(m.certificate.holds());
  EXPECT_EQ(m.passes.of(0), 50);
  EXPECT_LT(m.errors.of(0), 40);
  EXPECT_NE(m.summary({{"a", "b"}, {"disc", "ring"}, "y"}).find("not separated"), std::string::npos);
}

TEST(KernelPerceptron, OfMoreClassesHasOneFunctionForEach) {
  const auto iris = fit(KernelPerceptron{.kernel = Rbf{.gamma = 0.5}, .max_iterations = 2000}, formula("species ~ ."),
                        dataset("iris"));
  EXPECT_EQ(iris.functions(), 3);
  EXPECT_EQ(iris.errors.of(0), 0);  // setosa stands apart
  EXPECT_EQ(iris.intercept.size(), 3);
}

TEST(KernelPerceptron, AWeightIsSoManyCopiesAndMustBeWhole) {
  const Disc data(60, 0.2);
  CallOptions options;
  options.weights = Vector(60);
  std::vector<Index> copies;
  std::vector<std::string> labels;
  for (Index i = 0; i < 60; ++i) {
    options.weights(i) = static_cast<double>((i / 2) % 4);
    for (Index copy = 0; copy < (i / 2) % 4; ++copy) {
      copies.push_back(i);
      labels.push_back(data.labels[static_cast<std::size_t>(i)]);
    }
  }
  const Matrix x = data.x(copies, Eigen::all);
  const KernelPerceptron spec{.kernel = Rbf{.gamma = 0.5}};
  const auto weighted = fit(spec, data.x, data.labels, options), copied = fit(spec, x, labels);
  EXPECT_EQ(weighted.updates.of, copied.updates.of);
  EXPECT_LT((weighted.decision(data.x) - copied.decision(data.x)).cwiseAbs().maxCoeff(), 1e-9);
  options.weights(2) = 0.5;
  EXPECT_NE(message_of([&] { fit(spec, data.x, data.labels, options); }).find("row 3 is 0.5"), std::string::npos);
}

TEST(KernelPerceptron, APrecomputedMatrixGivesWhatItsKernelGives) {
  const Disc data(60, 0.3), fresh(9, 0.3, 7);
  const Kernel rbf = Rbf{.gamma = 0.5};
  const BoundKernel bound(rbf, Points(data.x));
  const Matrix gram = bound.gram();
  const auto direct = fit(KernelPerceptron{.kernel = rbf}, data.x, data.labels);
  const auto given = fit(KernelPerceptron{.kernel = Precomputed{}}, gram, data.labels);
  EXPECT_LT((direct.decision(fresh.x) - given.decision(bound.cross(fresh.x))).cwiseAbs().maxCoeff(), 1e-10);
  MemoryRows rows(gram);
  rows.labels(data.codes, {"disc", "ring"});
  EXPECT_TRUE(certify(given, rows, {}).holds());
}

TEST(KernelPerceptron, TheNaturalWrongFunctionsFailTheCertificate) {
  const Disc data(100, 0.3);
  const auto right = fit(KernelPerceptron{.kernel = Rbf{.gamma = 0.5}}, data.x, data.labels);
  ASSERT_TRUE(certify(right, data.rows(), {}).holds());
  auto turned = right, moved = right, boast = right, counted = right, scaled = right;
  turned.dual_coefficients.of *= -1;
  moved.intercept.of(0) += 1e-3;
  boast.margin.of(0) *= 1.01;
  counted.updates.of(0) += 1;
  scaled.dual_coefficients.of *= 0.5;
  scaled.intercept.of *= 0.5;
  auto early = fit(KernelPerceptron{.kernel = Rbf{.gamma = 0.5}, .max_iterations = 1}, data.x, data.labels);
  ASSERT_GT(early.errors.of(0), 0);
  early.errors.of(0) = 0;  // a pass with mistakes taken for the last one
  for (const auto& wrong : {turned, moved, boast, counted, scaled, early})
    EXPECT_FALSE(certify(wrong, data.rows(), {}).holds());
}

TEST(KernelPerceptron, BadInputIsRefusedByWhatIsWrong) {
  const Disc data(20, 0.3);
  const auto refusal = [&](const KernelPerceptron& spec, const Matrix& x) {
    return message_of([&] { fit(spec, x, data.labels); });
  };
  EXPECT_NE(refusal({.kernel = Precomputed{}}, data.x).find("20 rows and 2 columns"), std::string::npos);
  EXPECT_NE(refusal({.kernel = Rbf{.gamma = -1}}, data.x).find("gamma"), std::string::npos);
  EXPECT_NE(refusal({.max_iterations = 0}, data.x).find("max_iterations"), std::string::npos);
  EXPECT_NE(refusal({.kernel = Poly{.degree = 3, .gamma = 1}}, 1e140 * data.x).find("overflows"), std::string::npos);
  EXPECT_NE(message_of([&] {
              fit(KernelPerceptron{}, data.x, std::vector<std::string>(20, "yes"));
            }).find("at least two classes"),
            std::string::npos);
  const auto equal = fit(KernelPerceptron{.max_iterations = 5}, Matrix::Constant(20, 2, 1.0), data.labels);
  EXPECT_FALSE(equal.certificate.holds());
}

}  // namespace
}  // namespace lemma
