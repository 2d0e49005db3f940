// lemma/kernel/kernel_lda_test.cpp: answers by hand, the link to ridge regression, and what must not change them.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/kernel/kernel_lda.hpp>
#include <lemma/kernel/kernel_ridge.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Rings around the origin, one class each.
struct Rings {
  Matrix x;
  std::vector<std::string> labels, names;
  Labels codes;
  explicit Rings(Index n, int classes = 3, std::uint64_t seed = 4) : x(normal_matrix(n, 2, seed)) {
    RandomStream noise(seed, 7);
    for (Index i = 0; i < n; ++i) {
      const int code = static_cast<int>(i % classes);
      x.row(i) *= (0.5 + code + 0.2 * noise.normal()) / x.row(i).norm();
      codes.push_back(code);
      labels.emplace_back(1, static_cast<char>('a' + code));
    }
    for (int k = 0; k < classes; ++k) names.emplace_back(1, static_cast<char>('a' + k));
  }
  MemoryRows rows() const {
    MemoryRows out(x);
    out.labels(codes, names);
    return out;
  }
};

TEST(KernelLda, MatchesTheAnswerByHand) {  // a: −2, 0; b: 1, 3 on a line. Scatter within 2 + 2, m_b − m_a = 3
  const Matrix x{{-2.0}, {0.0}, {1.0}, {3.0}};
  const std::vector<std::string> labels{"a", "a", "b", "b"};
  const auto m = fit(KernelLda{.kernel = LinearKernel{}, .lambda = 2}, x, labels);  // S = (4 + 2) / 2 = 3
  EXPECT_NEAR(m.svd(0), std::sqrt(4 * 0.5 * (1.5 * 1.5 + 1.5 * 1.5) / 3), 1e-12);
  const double unit = 1 / std::sqrt(3.0);  // v = 1/√S
  EXPECT_NEAR(m.means(0, 0), 1.5 * unit, 1e-12) << "the first of equals is positive";
  EXPECT_NEAR(m.means(1, 0), -1.5 * unit, 1e-12);
  EXPECT_NEAR(m.coordinates(Matrix{{2.5}})(0, 0), -2 * unit, 1e-12);  // the mean of the classes is ½
  EXPECT_NEAR(m.probabilities(Matrix{{0.5}})(0, 0), 0.5, 1e-12);
  EXPECT_NEAR(m.probabilities(Matrix{{1.5}})(0, 1), 1 / (1 + std::exp(-3.0 * 1.0 / 3)), 1e-12);  // (m_b − m_a) x / S
  EXPECT_EQ(m.predict(x), (Labels{0, 0, 1, 1}));
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
}

TEST(KernelLda, TellsRingsApartThatNoPlaneTellsApart) {
  const Rings data(180), fresh(90, 3, 8);
  const auto m = fit(KernelLda{.kernel = Rbf{.gamma = 1}, .lambda = 0.1}, data.x, data.labels);
  EXPECT_EQ(m.discriminants(), 2);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_TRUE(certify(m, data.rows(), {}).holds());
  const Labels found = m.predict(fresh.x);
  int wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) wrong += found[i] != fresh.codes[i];
  EXPECT_LE(wrong, 4);
  EXPECT_LT((m.probabilities(fresh.x).rowwise().sum().array() - 1).abs().maxCoeff(), 1e-14);
}

TEST(KernelLda, OfTwoClassesHasTheDirectionOfRidgeRegressionWithTheSameLambda) {
  const Rings data(80, 2);
  Vector y(80);
  for (Index i = 0; i < 80; ++i) y(i) = data.codes[static_cast<std::size_t>(i)];
  const Kernel kernel = Rbf{.gamma = 0.8};
  const auto m = fit(KernelLda{.kernel = kernel, .lambda = 0.4}, data.x, data.labels);
  const auto ridge = fit(KernelRidge{.kernel = kernel, .lambda = {0.4}}, data.x, y);
  Vector a = m.coordinates(data.x).col(0), b = ridge.predict(data.x);
  a.array() -= a.mean();
  b.array() -= b.mean();
  EXPECT_NEAR(std::abs(a.dot(b)) / (a.norm() * b.norm()), 1, 1e-12);
}

TEST(KernelLda, AWeightIsSoManyCopies) {
  const Rings data(90);
  CallOptions options;
  options.weights = Vector(90);
  std::vector<Index> copies;
  std::vector<std::string> labels;
  for (Index i = 0; i < 90; ++i) {
    options.weights(i) = static_cast<double>((i / 3) % 3);
    for (Index copy = 0; copy < (i / 3) % 3; ++copy) {
      copies.push_back(i);
      labels.push_back(data.labels[static_cast<std::size_t>(i)]);
    }
  }
  const Matrix x = data.x(copies, Eigen::all);
  for (const PriorChoice& prior : {PriorChoice(Prior::proportions), PriorChoice(std::vector{0.2, 0.3, 0.5})}) {
    const KernelLda spec{.kernel = Rbf{.gamma = 1}, .lambda = 0.3, .prior = prior};
    const auto weighted = fit(spec, data.x, data.labels, options), copied = fit(spec, x, labels);
    EXPECT_TRUE(weighted.certificate.holds() && copied.certificate.holds());
    EXPECT_LT((weighted.coordinates(data.x) - copied.coordinates(data.x)).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT((weighted.probabilities(data.x) - copied.probabilities(data.x)).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT((weighted.svd - copied.svd).cwiseAbs().maxCoeff(), 1e-9);
  }
}

TEST(KernelLda, APrecomputedMatrixGivesWhatItsKernelGives) {
  const Rings data(60), fresh(9, 3, 5);
  const Kernel rbf = Rbf{.gamma = 0.5};
  const BoundKernel bound(rbf, Points(data.x));
  const Matrix gram = bound.gram();
  const auto direct = fit(KernelLda{.kernel = rbf}, data.x, data.labels);
  const auto given = fit(KernelLda{.kernel = Precomputed{}}, gram, data.labels);
  EXPECT_LT((direct.coordinates(fresh.x) - given.coordinates(bound.cross(fresh.x))).cwiseAbs().maxCoeff(), 1e-10);
  MemoryRows rows(gram);
  rows.labels(data.codes, data.names);
  EXPECT_TRUE(certify(given, rows, {}).holds()) << certify(given, rows, {}).message;
}

TEST(KernelLda, TheNaturalWrongLambdaDivisorAndLostDiscriminantFailTheCertificate) {
  const Rings data(90);
  const auto right = fit(KernelLda{.kernel = Rbf{.gamma = 1}, .lambda = 0.3}, data.x, data.labels);
  ASSERT_TRUE(certify(right, data.rows(), {}).holds());
  auto other_lambda = right;
  other_lambda.spec.lambda = 0.3001;
  auto lost = right;
  lost.svd = Vector(right.svd.head(1));
  lost.proportion_of_trace = Vector::Ones(1);
  lost.offset = Vector(right.offset.head(1));
  lost.means = Matrix(right.means.leftCols(1));
  lost.dual_coefficients = Matrix(right.dual_coefficients.leftCols(1));
  auto divided_by_n = right;
  divided_by_n.dual_coefficients *= std::sqrt(90.0 / 87);
  for (const auto& wrong : {other_lambda, lost, divided_by_n}) EXPECT_FALSE(certify(wrong, data.rows(), {}).holds());
}

TEST(KernelLda, KeepsItsDigitsUntilLambdaIsLostBesideTheScatterAndThenSaysSo) {
  const Rings data(120);
  const auto lost = fit(KernelLda{.kernel = Rbf{.gamma = 1}, .lambda = 1e-14}, data.x, data.labels);
  EXPECT_FALSE(lost.certificate.holds());
  EXPECT_NE(lost.certificate.message.find("larger lambda"), std::string::npos);
  for (const double lambda : {1e-4, 1e-2, 1e3}) {
    const auto m = fit(KernelLda{.kernel = Rbf{.gamma = 1}, .lambda = lambda}, data.x, data.labels);
    EXPECT_TRUE(m.certificate.holds()) << lambda << ": " << m.certificate.message;
  }
}

TEST(KernelLda, BadInputIsRefusedByWhatIsWrong) {
  const Rings data(21);
  const auto refusal = [&](const KernelLda& spec, const Matrix& x) {
    return message_of([&] { fit(spec, x, data.labels); });
  };
  EXPECT_NE(refusal({.kernel = Precomputed{}}, data.x).find("21 rows and 2 columns"), std::string::npos);
  EXPECT_NE(refusal({.kernel = Rbf{.gamma = 0}}, data.x).find("gamma"), std::string::npos);
  EXPECT_NE(refusal({.lambda = 0}, data.x).find("lambda"), std::string::npos);
  EXPECT_NE(refusal({.gigabytes = 1e-6}, data.x).find("would take 3.5 kB"), std::string::npos);
  EXPECT_NE(refusal({.prior = std::vector{0.5, 0.5}}, data.x).find("prior has 2 numbers"), std::string::npos);
  EXPECT_NE(refusal({.prior = std::vector{0.5, 0.5, 0.5}}, data.x).find("sums to 1.5"), std::string::npos);
  EXPECT_NE(refusal({}, Matrix::Constant(21, 2, 3.0)).find("class means are equal"), std::string::npos)
      << refusal({}, Matrix::Constant(21, 2, 3.0));
  EXPECT_NE(refusal({.kernel = Poly{.degree = 3, .gamma = 1}}, 1e140 * data.x).find("overflows"), std::string::npos);
  EXPECT_NE(refusal({.kernel = Precomputed{}}, -3 * Matrix::Identity(21, 21)).find("another kernel"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              fit(KernelLda{}, Matrix(data.x.topRows(3)), std::vector<std::string>{"a", "b", "c"});
            }).find("more rows than classes"),
            std::string::npos);
  EXPECT_NE(
      message_of([&] { fit(KernelLda{}, data.x, std::vector<std::string>(21, "yes")); }).find("at least two classes"),
      std::string::npos);
}

/// A λ that the rows choose: the least loss of held-out rows, whatever the order of the rows, and looked up again.
TEST(KernelLda, LambdaAutoIsThatOfTheLeastHeldOutLoss) {
  const Rings rings(90);
  const MemoryRows rows = rings.rows();
  const auto m = fit(Valid<KernelLda>((KernelLda{.kernel = Rbf{.gamma = 0.5}, .lambda = {}})), rows, {});
  ASSERT_EQ(m.lambda_path.size(), 20);
  Index best = 0;
  m.held_out_loss.minCoeff(&best);
  EXPECT_EQ(*m.spec.lambda, m.lambda_path(best));
  EXPECT_TRUE(certify(m, rows, {}).holds()) << certify(m, rows, {}).message;
  KernelLda same = (KernelLda{.kernel = Rbf{.gamma = 0.5}, .lambda = {}});
  same.lambda = *m.spec.lambda;
  const auto plain = fit(Valid<KernelLda>(same), rows, {});
  EXPECT_EQ(plain.dual_coefficients, m.dual_coefficients) << "the fit with that number";
  EXPECT_EQ(plain.lambda_path.size(), 0);
  std::vector<Index> turned;
  for (Index i = rows.count(); i-- > 0;) turned.push_back(i);
  const SelectedRows others(rows, turned);
  const auto again = fit(Valid<KernelLda>((KernelLda{.kernel = Rbf{.gamma = 0.5}, .lambda = {}})), others, {});
  EXPECT_NEAR(*again.spec.lambda, *m.spec.lambda, 1e-9 * *m.spec.lambda);
  auto damaged = fit(Valid<KernelLda>(same), rows, {});
  damaged.lambda_path = m.lambda_path;
  damaged.held_out_loss = m.held_out_loss;
  EXPECT_TRUE(certify(damaged, rows, {}).holds());
  damaged.held_out_loss((best + 5) % 20) *= 0.5;
  EXPECT_FALSE(certify(damaged, rows, {}).holds());
  same.lambda = m.lambda_path((best + 1) % 20);
  damaged = fit(Valid<KernelLda>(same), rows, {});
  damaged.lambda_path = m.lambda_path;
  damaged.held_out_loss = m.held_out_loss;
  const Certificate found = certify(damaged, rows, {});
  EXPECT_FALSE(found.holds());
  EXPECT_NE(found.message.find("lambda"), std::string::npos) << found.message;
}

}  // namespace
}  // namespace lemma
