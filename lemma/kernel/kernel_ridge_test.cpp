// lemma/kernel/kernel_ridge_test.cpp: the reference, answers by hand, and what must not change them.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/kernel/kernel_ridge.hpp>
#include <lemma/model/fit.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// A wave with noise.
struct Wave {
  Matrix x;
  Vector y;
  explicit Wave(Index n, std::uint64_t seed = 3) : x(normal_matrix(n, 2, seed)), y(n) {
    RandomStream noise(seed, 9);
    for (Index i = 0; i < n; ++i) y(i) = 5 + std::sin(2 * x(i, 0)) + 0.3 * x(i, 1) + 0.1 * noise.normal();
  }
};

MemoryRows rows_of(const Matrix& x, const Vector& y) {
  MemoryRows rows(x);
  rows.response({y.data(), static_cast<std::size_t>(y.size())});
  return rows;
}

Matrix times_of(const Table& mcycle) {
  const auto& values = mcycle.column("times").numbers().values;
  return Eigen::Map<const Vector>(values.data(), mcycle.rows());
}
Vector numbers_of(const Table& table, const std::string& name) {
  return Eigen::Map<const Vector>(table.column(name).numbers().values.data(), table.rows());
}

void expect_golden(const Golden& golden, const KernelRidgeModel& m, const Matrix& x) {
  EXPECT_TRUE(golden.agrees("dual_coef_first5", Vector(m.dual_coefficients.head(5))));
  EXPECT_TRUE(golden.agrees("fitted_first5", Vector(m.predict(x).head(5))));
  EXPECT_TRUE(golden.agrees("predictions", m.predict(golden.matrix("new_x"))));
  EXPECT_TRUE(golden.agrees("rss", m.rss.of(0)));
  EXPECT_TRUE(golden.agrees("effective_df", m.effective_df.of(0)));
  EXPECT_TRUE(golden.agrees("loocv_mse", m.loocv_mse.of(0)));
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
}

TEST(KernelRidge, AgreesWithTheReferenceOnMcycle) {
  const Table mcycle = dataset("mcycle");
  const Matrix x = times_of(mcycle);
  const KernelRidge spec{.kernel = Rbf{.gamma = 0.05}, .lambda = {0.5}, .intercept = false};
  expect_golden(Golden("krr_mcycle_rbf"), fit(spec, x, numbers_of(mcycle, "accel")), x);
}

TEST(KernelRidge, AgreesWithTheReferenceOnBoston) {
  const Table boston = dataset("boston");
  Matrix x(boston.rows(), 5);
  Index j = 0;
  for (const char* name : {"crim", "rm", "dis", "ptratio", "lstat"}) {
    Vector column = numbers_of(boston, name);
    column.array() -= column.mean();
    x.col(j++) = column / std::sqrt(column.squaredNorm() / static_cast<double>(boston.rows()));
  }
  Vector y = numbers_of(boston, "medv");
  y.array() -= y.mean();
  const KernelRidge spec{.kernel = Poly{.degree = 3, .gamma = 0.2, .offset = 1}, .lambda = {1}, .intercept = false};
  expect_golden(Golden("krr_boston_poly"), fit(spec, x, y), x);
}

TEST(KernelRidge, MatchesTheAnswerByHand) {  // K = [1 2; 2 4], A = K + I: α = A⁻¹ y = [5 −2; −2 2] y / 6
  const Matrix x{{1.0}, {2.0}};
  const Vector y{{6.0, 0.0}};
  const auto m = fit(KernelRidge{.kernel = LinearKernel{}, .lambda = {1}, .intercept = false}, x, y);
  EXPECT_NEAR(m.dual_coefficients(0), 5, 1e-14);
  EXPECT_NEAR(m.dual_coefficients(1), -2, 1e-14);
  EXPECT_NEAR(m.rss.of(0), 29, 1e-13);  // residuals λα
  EXPECT_NEAR(m.effective_df.of(0), 2 - 7.0 / 6, 1e-14);
  EXPECT_NEAR(m.loocv_mse.of(0), (36.0 + 36.0) / 2, 1e-12);   // α / B: 5/(5/6) = 6, −2/(2/6) = −6
  EXPECT_NEAR(m.objective.of(0), 0.5 * 29 + 0.5 * 1, 1e-13);  // ‖f‖² = (x·α)² = 1
}

TEST(KernelRidge, TheInterceptIsNotPenalised) {
  const Wave wave(60);
  const KernelRidge spec{.lambda = {0.3}};
  const auto m = fit(spec, wave.x, wave.y), moved = fit(spec, wave.x, Vector(wave.y.array() + 1000));
  EXPECT_NEAR(moved.intercept, m.intercept + 1000, 1e-9);
  EXPECT_LT((moved.dual_coefficients - m.dual_coefficients).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_NEAR(m.dual_coefficients.sum(), 0, 1e-12);
  EXPECT_NEAR(moved.loocv_mse.of(0), m.loocv_mse.of(0), 1e-9);
}

TEST(KernelRidge, LeavingARowOutIsRefittingWithoutIt) {
  const Wave wave(25);
  for (const bool intercept : {true, false}) {
    const KernelRidge spec{.kernel = Rbf{.gamma = 0.4}, .lambda = {0.2}, .intercept = intercept};
    const auto m = fit(spec, wave.x, wave.y);
    double sum = 0;
    for (Index left = 0; left < 25; ++left) {
      Vector w = Vector::Ones(25);
      w(left) = 0;
      const auto others = fit(spec, wave.x, wave.y, {.weights = w});
      sum += std::pow(wave.y(left) - others.predict(wave.x.row(left))(0), 2);
    }
    EXPECT_NEAR(m.loocv_mse.of(0), sum / 25, 1e-12) << intercept;
  }
}

TEST(KernelRidge, EachLambdaOfAListGivesWhatItGivesAlone) {
  const Wave wave(80);
  const Vector w = Vector::LinSpaced(80, 0, 79).unaryExpr([](double i) { return std::fmod(i, 4); });
  for (const bool intercept : {true, false}) {
    const KernelRidge list{.lambda = {0.01, 0.5, 20}, .intercept = intercept};
    const auto all = fit(list, wave.x, wave.y, {.weights = w});
    for (Index k = 0; k < 3; ++k) {
      KernelRidge one = list;
      one.lambda = {list.lambda[static_cast<std::size_t>(k)]};
      const auto alone = fit(one, wave.x, wave.y, {.weights = w});
      EXPECT_NEAR(all.effective_df.of(k), alone.effective_df.of(0), 1e-9);
      EXPECT_NEAR(all.rss.of(k), alone.rss.of(0), 1e-9);
      EXPECT_NEAR(all.loocv_mse.of(k), alone.loocv_mse.of(0), 1e-9);
      EXPECT_NEAR(all.objective.of(k), alone.objective.of(0), 1e-9);
      if (all.chosen_lambda == one.lambda[0]) {
        EXPECT_LT((all.predict(wave.x) - alone.predict(wave.x)).cwiseAbs().maxCoeff(), 1e-9);
      }
    }
    Index best = 0;
    all.loocv_mse.of.minCoeff(&best);
    EXPECT_EQ(all.chosen_lambda, all.lambda.of(best));
    EXPECT_TRUE(all.certificate.holds()) << all.certificate.message;
  }
}

TEST(KernelRidge, APrecomputedMatrixGivesWhatItsKernelGives) {
  const Wave wave(40), fresh(7, 5);
  const Kernel rbf = Rbf{.gamma = 0.5};
  const BoundKernel bound(rbf, Points(wave.x));
  const Matrix gram = bound.gram();
  const auto direct = fit(KernelRidge{.kernel = rbf}, wave.x, wave.y);
  const auto given = fit(KernelRidge{.kernel = Precomputed{}}, gram, wave.y);
  EXPECT_LT((direct.predict(fresh.x) - given.predict(bound.cross(fresh.x))).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_TRUE(certify(given, rows_of(gram, wave.y), {}).holds());
  Vector w = Vector::Ones(40);
  w(3) = 0;
  const auto without = fit(KernelRidge{.kernel = Precomputed{}}, gram, wave.y, {.weights = w});
  const auto direct_without = fit(KernelRidge{.kernel = rbf}, wave.x, wave.y, {.weights = w});
  EXPECT_LT((direct_without.predict(fresh.x) - without.predict(bound.cross(fresh.x))).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(KernelRidge, TheNaturalWrongLambdaFailsTheCertificate) {  // λ for 2λ, or n λ
  const Wave wave(50);
  auto m = fit(KernelRidge{.lambda = {0.5}}, wave.x, wave.y);
  const auto twice = fit(KernelRidge{.lambda = {1}}, wave.x, wave.y);
  const MemoryRows rows = rows_of(wave.x, wave.y);
  EXPECT_TRUE(certify(m, rows, {}).holds()) << certify(m, rows, {}).message;
  m.dual_coefficients = twice.dual_coefficients;
  m.intercept = twice.intercept;
  EXPECT_FALSE(certify(m, rows, {}).holds());
}

TEST(KernelRidge, AnIndefiniteKernelIsRefusedWithByHowMuch) {
  const Wave wave(40);
  const KernelRidge spec{.kernel = Tanh{.gamma = 5, .offset = -2}, .lambda = {0.01}};
  const std::string message = message_of([&] { fit(spec, wave.x, wave.y); });
  EXPECT_NE(message.find("not positive semidefinite"), std::string::npos) << message;
  EXPECT_NE(message.find("smallest eigenvalue -"), std::string::npos) << message;
  const auto enough = fit(KernelRidge{.kernel = spec.kernel, .lambda = {100}}, wave.x, wave.y);
  EXPECT_EQ(enough.certificate.strength, Strength::stationary);
  EXPECT_TRUE(enough.certificate.holds());
  ASSERT_EQ(enough.warnings.size(), 1U);
}

TEST(KernelRidge, BadInputIsRefusedByWhatIsWrong) {
  const Wave wave(20);
  const auto refusal = [&](const KernelRidge& spec, const Matrix& x) {
    return message_of([&] { fit(spec, x, wave.y); });
  };
  EXPECT_NE(refusal({.kernel = Precomputed{}}, wave.x).find("20 rows and 2 columns"), std::string::npos);
  Matrix lopsided = Matrix::Identity(20, 20);
  lopsided(2, 5) = 0.5;
  EXPECT_NE(refusal({.kernel = Precomputed{}}, lopsided).find("not symmetric"), std::string::npos);
  EXPECT_NE(refusal({.kernel = Precomputed{}, .lambda = {0.5}}, -Matrix::Identity(20, 20)).find("eigenvalue -1"),
            std::string::npos);
  EXPECT_NE(refusal({.lambda = {0}}, wave.x).find("lambda"), std::string::npos);
  EXPECT_NE(refusal({.kernel = Rbf{.gamma = -1}}, wave.x).find("gamma"), std::string::npos);
  EXPECT_NE(refusal({.gigabytes = 1e-6}, wave.x).find("would take 3.2 kB"), std::string::npos)
      << refusal({.gigabytes = 1e-6}, wave.x);
}

TEST(KernelRidge, RowsThatAreAllEqualGetTheirMean) {
  const Matrix x = Matrix::Constant(12, 3, 4.0);
  const Vector y = Vector::LinSpaced(12, 0, 11);
  const auto m = fit(KernelRidge{}, x, y);
  EXPECT_NEAR(m.predict(x)(0), 5.5, 1e-12);
  EXPECT_TRUE(m.certificate.holds());
}

}  // namespace
}  // namespace lemma
