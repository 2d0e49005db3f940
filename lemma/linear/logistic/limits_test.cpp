#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/linear/glm.hpp>
#include <lemma/linear/logistic.hpp>
#include <lemma/linear/multinomial.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

const Logistic kPlain{.lambda = std::vector{0.0}};
const std::vector<std::string> kApart{"a", "a", "a", "b", "b", "b"}, kMixed{"a", "b", "a", "b", "a", "b"};

Matrix column(std::initializer_list<double> values) {
  Matrix out(static_cast<Index>(values.size()), 1);
  Index i = 0;
  for (const double v : values) out(i++, 0) = v;
  return out;
}

TEST(LogisticLimits, SeparatedClassesAreSaidAndNotCertified) {
  const Matrix x = column({1, 2, 3, 4, 5, 6});
  const LogisticModel model = fit(kPlain, x, kApart);
  EXPECT_FALSE(model.certificate.holds());
  ASSERT_EQ(model.warnings.size(), 1U);
  EXPECT_NE(model.warnings[0].find("separates the two classes completely"), std::string::npos);
  EXPECT_NE(model.warnings[0].find("x1"), std::string::npos);
  EXPECT_NE(model.warnings[0].find("--lambda"), std::string::npos);
  EXPECT_TRUE(fit(Logistic{}, x, kApart).certificate.holds());  // a penalty is all it takes
}

TEST(LogisticLimits, ClassesThatTouchInOnePointAreSeparatedToo) {
  const LogisticModel model = fit(kPlain, column({1, 2, 3, 3, 5, 6}), kApart);
  EXPECT_FALSE(model.certificate.holds());
  EXPECT_EQ(model.warnings.size(), 1U);
}

TEST(LogisticLimits, ASeparatedModelFailsItsCertificateAgain) {
  const Matrix x = column({1, 2, 3, 3, 5, 6});
  const LogisticModel model = fit(kPlain, x, kApart);
  const Labels codes{0, 0, 0, 1, 1, 1};
  MemoryRows rows(x);
  rows.labels(codes, {"a", "b"});
  EXPECT_FALSE(certify(model, rows, {}).holds());
}

TEST(LogisticLimits, AConstantColumnHasNoCoefficient) {
  Matrix x(6, 2);
  x << 1, 7, 2, 7, 3, 7, 2.5, 7, 1.5, 7, 4, 7;
  for (const auto& spec : {Logistic{}, kPlain, Logistic{.penalty = Penalty::l1}}) {
    const LogisticModel model = fit(spec, x, kMixed), alone = fit(spec, Matrix(x.leftCols(1)), kMixed);
    EXPECT_EQ(model.coefficients.of(0, 1), 0);
    EXPECT_NEAR(model.coefficients.of(0, 0), alone.coefficients.of(0, 0), 1e-8);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  }
}

TEST(LogisticLimits, DuplicatedColumnsShareTheirEffect) {
  const Matrix one = column({1, 2, 3, 2.5, 1.5, 4});
  Matrix two(6, 2);
  two << one, one;
  const LogisticModel model = fit(kPlain, two, kMixed), alone = fit(kPlain, one, kMixed);
  EXPECT_NEAR(model.coefficients.of.sum(), alone.coefficients.of(0, 0), 1e-6);
  EXPECT_EQ(model.warnings.size(), 1U);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const LogisticModel ridge = fit(Logistic{}, two, kMixed);
  EXPECT_NEAR(ridge.coefficients.of(0, 0), ridge.coefficients.of(0, 1), 1e-9);
}

bool says_dependent(const LogisticModel& model) {
  return std::any_of(model.warnings.begin(), model.warnings.end(), [](const std::string& warning) {
    return warning.find("linear combinations of each other") != std::string::npos;
  });
}

TEST(LogisticLimits, DependenceIsSeenWhicheverWayTheLastBitsFall) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Matrix x = normal_matrix(60, 4, seed);
    RandomStream chance(5000 + seed);
    std::vector<std::string> sides;
    for (Index i = 0; i < x.rows(); ++i) sides.push_back(chance.normal() + 0.5 * x(i, 0) > 0 ? "b" : "a");
    x.col(3) = x.col(0) - 0.3 * x.col(1) + 7 * x.col(2);
    EXPECT_TRUE(says_dependent(fit(kPlain, x, sides))) << seed;
    x.col(3) += 1e-4 * normal_matrix(60, 1, 1000 + seed).col(0);  // nearly so is not so
    EXPECT_FALSE(says_dependent(fit(kPlain, x, sides))) << seed;
  }
}

TEST(LogisticLimits, RowsOfWeightZeroTakeNoPart) {
  const Matrix x = column({1, 2, 3, 2.5, 1.5, 400});
  CallOptions options;
  options.weights = Vector{{1, 1, 1, 1, 1, 0}};
  const LogisticModel model = fit(Logistic{}, x, kMixed, options),
                      without = fit(Logistic{}, Matrix(x.topRows(5)), std::vector(kMixed.begin(), kMixed.end() - 1));
  EXPECT_NEAR(model.coefficients.of(0, 0), without.coefficients.of(0, 0), 1e-9);
  options.weights.setZero();
  EXPECT_NE(message_of([&] { fit(Logistic{}, x, kMixed, options); }).find("weights are 0"), std::string::npos);
  options.weights = Vector{{1, 0, 1, 0, 1, 0}};  // all of one class
  EXPECT_NE(message_of([&] { fit(Logistic{}, x, kMixed, options); }).find("'b'"), std::string::npos);
}

TEST(LogisticLimits, BadParametersAreNamed) {
  const Matrix x = column({1, 2, 3, 2.5, 1.5, 4});
  EXPECT_NE(message_of([&] { fit(Logistic{.lambda = std::vector{-1.0}}, x, kMixed); }).find("lambda is -1"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(Logistic{.lambda = std::vector<double>{}}, x, kMixed); }).find("lambda is empty"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              fit(Logistic{.penalty = Penalty::l1, .solver = LogisticSolver::lbfgs}, x, kMixed);
            }).find("smooth"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(Logistic{.class_weights = std::vector{1.0}}, x, kMixed); }).find("class_weights"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(Logistic{}, x, std::vector<std::string>(6, "a")); }).find("two classes"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              fit(Logistic{}, x, std::vector<std::string>{"a", "b", "c", "a", "b", "c"});
            }).find("multinomial"),
            std::string::npos);
  const Vector y{{0.5, 1.5, 0, 1, 1, 0}};
  EXPECT_NE(message_of([&] { fit(Logistic{}, x, y); }).find("1.5"), std::string::npos);
}

TEST(LogisticLimits, MoreColumnsThanRowsAreNoTrouble) {
  const Matrix x = Matrix::Random(6, 40);
  for (const auto penalty : {Penalty::l2, Penalty::l1}) {
    const LogisticModel model = fit(Logistic{.lambda = std::vector{0.5}, .penalty = penalty}, x, kMixed);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  }
}

TEST(LogisticLimits, UnitsDoNotMatterWhenColumnsAreStandardised) {
  const Matrix x = column({1, 2, 3, 2.5, 1.5, 4});
  const LogisticModel plain = fit(Logistic{}, x, kMixed);
  for (const double unit : {1e-140, 1e140}) {
    const LogisticModel model = fit(Logistic{}, Matrix(unit * x), kMixed);
    EXPECT_NEAR(model.coefficients.of(0, 0) * unit, plain.coefficients.of(0, 0), 1e-9);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  }
}

TEST(LogisticLimits, TheCurvatureIsThatOfTheCoefficientsAndNotOfAStepBefore) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix x = normal_matrix(50, 4, seed);
    std::vector<std::string> y;
    RandomStream stream(seed, 7);
    for (Index i = 0; i < 50; ++i) y.push_back(x(i, 0) - x(i, 1) + 1.5 * stream.normal() > 0 ? "b" : "a");
    const auto model = fit(Logistic{}, x, y);
    Matrix expected = Matrix::Zero(5, 5);
    for (Index i = 0; i < 50; ++i) {
      Vector row(5);
      row << 1, x.row(i).transpose();
      const double p = model.probabilities(x.row(i))(0, 1);
      expected += p * (1 - p) * row * row.transpose();
    }
    for (Index j = 0; j < 4; ++j) {
      const double mean = x.col(j).mean();
      expected(j + 1, j + 1) += (x.col(j).array() - mean).square().mean();  // λ s² for λ = 1
    }
    EXPECT_LT((model.curvature - expected).cwiseAbs().maxCoeff(), 1e-9 * expected.maxCoeff()) << seed;
  }
}

TEST(LogisticLimits, ModelsThatStoppedEarlyAreNotCertified) {
  const Matrix x = Matrix::Random(200, 5);
  std::vector<std::string> y;
  for (Index i = 0; i < 200; ++i) y.push_back(x(i, 0) + x(i, 1) * x(i, 2) > 0.1 ? "b" : "a");
  const LogisticModel early = fit(Logistic{.solver = LogisticSolver::gd, .max_iterations = 2}, x, y);
  EXPECT_FALSE(early.certificate.holds());
  EXPECT_EQ(early.certificate.stopped, "iteration limit");
  EXPECT_GE(early.objective.of(0), fit(Logistic{}, x, y).objective.of(0));
}

/// Another's coefficients in a model that is right otherwise.
LogisticModel with_plane(LogisticModel model, double intercept, const Vector& slopes) {
  model.intercept.of(0) = intercept;
  model.coefficients.of.row(0) = slopes.transpose();
  return model;
}

/// With a penalty: glmnet's λ, which is ours over n; an intercept that is penalised too; steps of fixed length that end early.
/// Without one: least squares on 0 and 1, drawn out four times; the plane of the probit, drawn out 1.7 times; a step short.
TEST(LogisticLimits, TheNaturalWrongPlanesFailTheCertificate) {
  const Index n = 300;
  const Matrix x = normal_matrix(n, 3, 4);
  Labels codes;
  RandomStream chance(5);
  for (Index i = 0; i < n; ++i) codes.push_back(chance.uniform() < 1 / (1 + std::exp(-1 - x(i, 0) + x(i, 1))) ? 1 : 0);
  MemoryRows rows(x);
  rows.labels(codes, {"a", "b"});
  const auto fitted = [&](const Logistic& spec) { return fit(Valid<Logistic>(spec), rows, {}); };
  const auto plane_of = [&](const LogisticModel& to, const LogisticModel& from) {
    return with_plane(to, from.intercept.of(0), from.coefficients.of.row(0).transpose());
  };
  const LogisticModel ridge = fitted({.lambda = {{5}}}), plain = fitted({.lambda = {{0}}});
  ASSERT_TRUE(certify(ridge, rows, {}).holds()) << certify(ridge, rows, {}).message;
  ASSERT_TRUE(certify(plain, rows, {}).holds()) << certify(plain, rows, {}).message;
  EXPECT_EQ(certify(plain, rows, {}).strength, Strength::optimal);

  Matrix with_ones(n, 4);  // the intercept as a column among the others
  with_ones << Vector::Ones(n), x;
  MemoryRows ones(with_ones);
  ones.labels(codes, {"a", "b"});
  const auto all = fit(Valid<Logistic>({.lambda = {{5}}, .intercept = false, .standardize = false}), ones, {});
  const auto raw = fitted({.lambda = {{5}}, .standardize = false});
  ASSERT_TRUE(certify(raw, rows, {}).holds());
  EXPECT_FALSE(certify(plane_of(ridge, fitted({.lambda = {{5.0 / static_cast<double>(n)}}})), rows, {}).holds());
  EXPECT_FALSE(
      certify(with_plane(raw, all.coefficients.of(0, 0), all.coefficients.of.row(0).tail(3).transpose()), rows, {})
          .holds());
  EXPECT_FALSE(
      certify(plane_of(ridge, fitted({.lambda = {{5}}, .solver = LogisticSolver::gd, .max_iterations = 3})), rows, {})
          .holds());

  const auto generalised = [&](const Glm& spec) {
    const Vector y = Eigen::Map<const Eigen::VectorXi>(codes.data(), n).cast<double>();
    return fit(spec, x, y);
  };
  const GlmModel probit = generalised({.family = GlmFamily::binomial, .link = GlmLink::probit}),
                 squares = generalised({.family = GlmFamily::gaussian});
  EXPECT_FALSE(certify(with_plane(plain, 1.7 * probit.intercept, 1.7 * probit.coefficients), rows, {}).holds());
  EXPECT_FALSE(certify(with_plane(plain, 4 * (squares.intercept - 0.5), 4 * squares.coefficients), rows, {}).holds());
  const auto short_of = fitted({.lambda = {{0}}, .solver = LogisticSolver::newton, .max_iterations = 3});
  EXPECT_FALSE(certify(plane_of(plain, short_of), rows, {}).holds());
}

TEST(MultinomialLimits, OneClassAndBadParametersAreNamed) {
  const Matrix x = column({1, 2, 3, 2.5, 1.5, 4});
  EXPECT_NE(message_of([&] { fit(Multinomial{}, x, std::vector<std::string>(6, "a")); }).find("two classes"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(Multinomial{.lambda = -1}, x, kMixed); }).find("lambda is -1"), std::string::npos);
  EXPECT_NE(message_of([&] {
              fit(Multinomial{.penalty = MultinomialPenalty::l1, .solver = MultinomialSolver::lbfgs}, x, kMixed);
            }).find("smooth"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
