// lemma/linear/ridge_test.cpp: the reference, answers by hand, and what must not change them.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/data/datasets.hpp>
#include <lemma/linear/ols/data_test.hpp>
#include <lemma/linear/ridge.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/model/fit.hpp>
#include <tests/golden.hpp>

namespace lemma {

using ols_test::Data;
using ols_test::expect_near;
using ols_test::rows_of;

namespace {

/// A⁻¹ b for a positive definite A.
Vector solved(const Matrix& a, const Vector& b) {
  const auto r = cholesky(a);
  return solve_upper(*r, solve_upper_transposed(*r, b));
}

Vector row(const PathMatrix& path, Index k = 0) { return path.of.row(k); }

}  // namespace

TEST(Ridge, AgreesWithTheReferenceOnBoston) {  // its objective has no ½ on either part, so its λ is ours
  const Golden golden("ridge_boston");
  const auto& fits = golden.value("fits").as_list();
  Ridge spec;
  spec.lambda.clear();
  for (const auto& each : fits) spec.lambda.push_back(each.at("lambda").as_double());
  const auto m = fit(spec, formula("medv ~ ."), dataset("boston"));
  ASSERT_EQ(m.lambda.size(), static_cast<Index>(fits.size()));
  for (Index k = 0; k < m.lambda.size(); ++k) {
    const Value& theirs = fits[static_cast<std::size_t>(k)];
    const auto number = [&](const char* key) { return theirs.at(key).as_double(); };
    expect_near(row(m.coefficients, k), theirs.at("coef_original").as_vector(), 1e-9, "coef_original");
    expect_near(row(m.coefficients, k).cwiseProduct(m.scale), theirs.at("coef_standardised").as_vector(), 1e-9, "coef");
    EXPECT_NEAR(m.intercept.of(k), number("intercept"), 1e-8);
    EXPECT_NEAR(m.rss.of(k), number("rss"), 1e-8 * number("rss"));
    EXPECT_NEAR(2 * m.objective.of(k), number("objective"), 1e-8 * number("objective"));
    EXPECT_NEAR(m.df.of(k), number("effective_df"), 1e-9 * number("effective_df"));
    EXPECT_NEAR(m.gcv.of(k), number("gcv"), 1e-9 * number("gcv"));
    EXPECT_NEAR(m.loo_mse.of(k), number("loocv_mse"), 1e-8 * number("loocv_mse"));
  }
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
}

TEST(Ridge, MatchesTheAnswerByHand) {  // Sxx = 2, Sxy = 3: b = 3 / (2 + 1) = 1, b₀ = 3 − 1 = 2; df = 1 + 2/3
  const auto m = fit(Ridge{.standardize = false}, Matrix{{0.0}, {1.0}, {2.0}}, Vector{{2.0, 2.0, 5.0}});
  EXPECT_NEAR(m.coefficients.of(0, 0), 1, 1e-15);
  EXPECT_NEAR(m.intercept.of(0), 2, 1e-15);
  EXPECT_NEAR(m.df.of(0), 5.0 / 3, 1e-15);
  EXPECT_NEAR(m.rss.of(0), 2, 1e-14);  // residuals 0, −1, 1
  EXPECT_NEAR(m.objective.of(0), 1.5, 1e-14);
  EXPECT_NEAR(m.gcv.of(0), 3 * 2 / (16.0 / 9), 1e-14);
  EXPECT_EQ(m.chosen_lambda, 1);
  const auto scaled = fit(Ridge{}, Matrix{{0.0}, {1.0}, {2.0}}, Vector{{2.0, 2.0, 5.0}});  // sd² = 2/3, λ sd² = 2/3
  EXPECT_NEAR(scaled.coefficients.of(0, 0), 3 / (2 + 2.0 / 3), 1e-14);
}

TEST(Ridge, WithoutPenaltyItIsLeastSquares) {
  const Data data(60, 4);
  const auto ols = fit(Ols{}, data.x, data.response());
  for (const bool standardize : {true, false}) {
    const auto m = fit(Ridge{.lambda = {0}, .standardize = standardize}, data.x, data.response());
    expect_near(row(m.coefficients), ols.coefficients, 1e-12, "coefficients");
    EXPECT_NEAR(m.df.of(0), 5, 1e-12);
    EXPECT_NEAR(m.rss.of(0), ols.rss, 1e-10);
  }
}

TEST(Ridge, WithoutPenaltyDependentColumnsShareTheShortestSolution) {
  const Data data(30, 2);
  Matrix x(30, 4);
  x << data.x, data.x.col(0), Vector::Constant(30, 7.0);
  const auto m = fit(Ridge{.lambda = {0}}, x, data.response());
  const auto ols = fit(Ols{}, data.x, data.response());
  EXPECT_NEAR(m.coefficients.of(0, 0), ols.coefficients(0) / 2, 1e-12);
  EXPECT_NEAR(m.coefficients.of(0, 2), ols.coefficients(0) / 2, 1e-12);
  EXPECT_NEAR(m.coefficients.of(0, 1), ols.coefficients(1), 1e-12);
  EXPECT_EQ(m.coefficients.of(0, 3), 0);
  ASSERT_EQ(m.warnings.size(), 1U);
  EXPECT_EQ(m.warnings[0], "'x4' is constant and takes no part: its coefficient is 0");
  const MemoryRows rows = rows_of(x, data.y);
  EXPECT_TRUE(certify(m, rows, {}).holds()) << certify(m, rows, {}).message;
  auto longer = m;  // fits as well, but is not the shortest
  longer.coefficients.of(0, 0) += 0.1;
  longer.coefficients.of(0, 2) -= 0.1;
  EXPECT_FALSE(certify(longer, rows, {}).holds());
}

TEST(Ridge, MoreColumnsThanRowsAreFitted) {
  const Data data(10, 30);
  const auto m = fit(Ridge{.lambda = {0, 0.1, 10}}, data.x, data.response());
  const MemoryRows rows = rows_of(data.x, data.y);
  EXPECT_TRUE(certify(m, rows, {}).holds()) << certify(m, rows, {}).message;
  EXPECT_NEAR(m.rss.of(0), 0, 1e-18);
  EXPECT_NEAR(m.df.of(0), 10, 1e-9);
  EXPECT_TRUE(std::isnan(m.gcv.of(0)));  // no degrees of freedom are left
  // (XXᵀ + λI)⁻¹ on the other side of the matrix gives the same fit
  Matrix z = data.x.rowwise() - data.x.colwise().mean();
  for (Index j = 0; j < 30; ++j) z.col(j) /= z.col(j).norm() / std::sqrt(10.0);
  const Vector y = data.response().array() - data.response().mean();
  const Matrix outer = z * z.transpose() + 10 * Matrix::Identity(10, 10);
  const Vector fitted = z * z.transpose() * solved(outer, y);
  EXPECT_NEAR(m.rss.of(2), (y - fitted).squaredNorm(), 1e-9);
}

TEST(Ridge, EachLambdaOfAListGivesWhatItGivesAlone) {
  const Data data(50, 4);
  const Ridge list{.lambda = {3, 0, 100}};
  const auto all = fit(list, data.x, data.response());
  for (Index k = 0; k < 3; ++k) {
    const auto one = fit(Ridge{.lambda = {list.lambda[static_cast<std::size_t>(k)]}}, data.x, data.response());
    expect_near(row(all.coefficients, k), row(one.coefficients), 1e-14, "coefficients");
    EXPECT_NEAR(all.gcv.of(k), one.gcv.of(0), 1e-12);
  }
  Index best = 0;
  all.gcv.of.minCoeff(&best);
  EXPECT_EQ(all.chosen(), best);
  expect_near(all.predict(data.x), Vector((data.x * row(all.coefficients, best)).array() + all.intercept.of(best)),
              1e-13, "predictions");
}

TEST(Ridge, AFactorScalesThePenaltyOfItsColumnAndZeroFreesIt) {
  const Data data(50, 3);
  Ridge spec{.lambda = {5}, .standardize = false, .penalty_factors = {1, 0, 4}};
  const auto m = fit(spec, data.x, data.response());
  Matrix x = data.x;
  x.col(2) /= 2;  // ½ λ 4 b² is ½ λ (2b)²
  const auto halved = fit(Ridge{.lambda = {5}, .standardize = false, .penalty_factors = {1, 0, 1}}, x, data.response());
  EXPECT_NEAR(m.coefficients.of(0, 2), halved.coefficients.of(0, 2) / 2, 1e-13);
  EXPECT_NEAR(m.objective.of(0), halved.objective.of(0), 1e-10);

  spec.penalty_factors = {};
  spec.penalty = Vector{{1.0, 0.0, 4.0}}.asDiagonal();
  const auto matrix = fit(spec, data.x, data.response());
  expect_near(row(matrix.coefficients), row(m.coefficients), 1e-13, "coefficients");
  EXPECT_NEAR(matrix.df.of(0), m.df.of(0), 1e-12);

  const auto freed = fit(Ridge{.lambda = {1e12}, .penalty_factors = {1, 0, 1}}, data.x, data.response());
  const auto alone = fit(Ols{}, data.x.col(1).eval(), data.response());
  EXPECT_NEAR(freed.coefficients.of(0, 1), alone.coefficients(0), 1e-7);
  EXPECT_NEAR(freed.df.of(0), 2, 1e-7);
}

TEST(Ridge, APenaltyOnDifferencesDrawsNeighboursTogether) {  // P of Σ (b_j − b_{j+1})²: equal coefficients cost nothing
  const Data data(80, 3);
  Ridge spec{.lambda = {1e8}, .standardize = false};
  spec.penalty = Matrix{{1.0, -1.0, 0.0}, {-1.0, 2.0, -1.0}, {0.0, -1.0, 1.0}};
  const auto m = fit(spec, data.x, data.response());
  const auto summed = fit(Ols{}, data.x.rowwise().sum().eval(), data.response());
  expect_near(row(m.coefficients), Vector::Constant(3, summed.coefficients(0)), 1e-5, "coefficients");
  const auto certificate = certify(m, rows_of(data.x, data.y), {});
  EXPECT_TRUE(certificate.holds()) << certificate.message;
}

TEST(Ridge, AWeightIsSoManyCopiesOfItsRow) {
  const Data data(40, 3);
  CallOptions options;
  options.weights = Vector(40);
  std::vector<Index> copies;
  for (Index i = 0; i < 40; ++i) {
    options.weights(i) = static_cast<double>(i % 4);
    copies.insert(copies.end(), static_cast<std::size_t>(i % 4), i);
  }
  const Ridge spec{.lambda = {0.1, 10}};
  const auto weighted = fit(spec, data.x, data.response(), options);
  const Matrix x = data.x(copies, Eigen::all);
  const Vector y = data.response()(copies);
  const auto copied = fit(spec, x, y);
  EXPECT_LT((weighted.coefficients.of - copied.coefficients.of).cwiseAbs().maxCoeff(), 1e-13);
  expect_near(weighted.gcv.of, copied.gcv.of, 1e-12, "gcv");
  expect_near(weighted.loo_mse.of, copied.loo_mse.of, 1e-12, "loo_mse");
}

TEST(Ridge, PrecisionMultipliesTheSquaresAndAnOffsetLeavesTheResponse) {
  const Data data(40, 3);
  CallOptions precise;
  precise.precision = Vector::LinSpaced(40, 0.5, 2);
  const Ridge spec{.lambda = {2}, .intercept = false, .standardize = false};
  const auto m = fit(spec, data.x, data.response(), precise);
  const Vector root = precise.precision.cwiseSqrt();
  const Matrix x = root.asDiagonal() * data.x;
  const auto multiplied = fit(spec, x, root.cwiseProduct(data.response()));
  expect_near(row(m.coefficients), row(multiplied.coefficients), 1e-13, "coefficients");
  EXPECT_EQ(m.intercept.of(0), 0);

  CallOptions moved;
  moved.offset = data.x.col(0);
  const auto with = fit(Ridge{}, data.x, data.response(), moved);
  const auto without = fit(Ridge{}, data.x, data.response() - moved.offset);
  expect_near(row(with.coefficients), row(without.coefficients), 1e-13, "coefficients");
}

TEST(Ridge, LeaveOneOutIsARefitWithoutEachRow) {
  const Data data(15, 3);
  const Ridge spec{.lambda = {0.5, 20}, .standardize = false, .penalty_factors = {1, 2, 0}};
  const auto m = fit(spec, data.x, data.response());
  Vector sum = Vector::Zero(2);
  for (Index out = 0; out < 15; ++out) {
    std::vector<Index> others;
    for (Index i = 0; i < 15; ++i)
      if (i != out) others.push_back(i);
    const Matrix x = data.x(others, Eigen::all);
    const auto without = fit(spec, x, data.response()(others));
    for (Index k = 0; k < 2; ++k) {
      const double r = data.y[static_cast<std::size_t>(out)] - without.intercept.of(k) -
                       data.x.row(out).dot(row(without.coefficients, k));
      sum(k) += r * r / 15;
    }
  }
  expect_near(m.loo_mse.of, sum, 1e-11, "loo_mse");
  Ridge by_loo = spec;
  by_loo.choose = RidgeChoice::loo;
  Index best = 0;
  sum.minCoeff(&best);
  EXPECT_EQ(fit(by_loo, data.x, data.response()).chosen(), best);
}

TEST(Ridge, TheCertificateFailsOnADamagedModel) {
  const Data data(200, 4);
  const MemoryRows rows = rows_of(data.x, data.y);
  const auto m = fit(Ridge{.lambda = {0, 1, 1000}}, rows, {});
  ASSERT_TRUE(certify(m, rows, {}).holds()) << certify(m, rows, {}).message;
  for (Index k = 0; k < 3; ++k)
    for (Index j = 0; j < 4; ++j) {
      auto damaged = m;
      damaged.coefficients.of(k, j) *= 1 + 1e-6;
      EXPECT_FALSE(certify(damaged, rows, {}).holds()) << k << " " << j;
    }
  auto other = m;  // the λ of another convention
  other.spec.lambda[2] = 1000.0 / 200;
  other.lambda.of(2) = 1000.0 / 200;
  other.chosen_lambda = m.chosen_lambda;
  EXPECT_FALSE(certify(other, rows, {}).holds());
}

/// XᵀX + λI solved as the textbook has it loses the digits that a square root of the condition would have kept.
TEST(Ridge, TheNaturalWrongWayByNormalEquationsFailsTheCertificateOnNearlyDependentColumns) {
  const Data data(100, 3);
  Matrix x = data.x;
  x.col(2) = x.col(0) + 1e-7 * x.col(2);
  const Ridge spec{.lambda = {1e-9}, .intercept = false, .standardize = false};
  const MemoryRows rows = rows_of(x, data.y);
  const auto m = fit(spec, rows, {});
  ASSERT_TRUE(certify(m, rows, {}).holds()) << certify(m, rows, {}).message;
  auto normal = m;
  const Matrix gram = x.transpose() * x + 1e-9 * Matrix::Identity(3, 3);
  normal.coefficients.of.row(0) = solved(gram, x.transpose() * data.response());
  EXPECT_FALSE(certify(normal, rows, {}).holds()) << certify(normal, rows, {}).message;
}

TEST(Ridge, ThreadsGiveTheSameBits) {
  const Data data(20'000, 7);
  const MemoryRows rows = rows_of(data.x, data.y);
  CallOptions options;
  options.threads = 1;
  const auto bits = [&] { return to_cbor(write_fields(fit(Ridge{.lambda = {1, 50}}, rows, options), false)); };
  const auto one = bits();
  for (const int threads : {2, 3}) {
    options.threads = threads;
    EXPECT_EQ(bits(), one) << threads << " threads";
  }
}

TEST(Ridge, WithoutALambdaAPathIsFollowedAndTheBestPredicts) {
  const Table boston = dataset("boston");
  const auto path = fit(Ridge{.lambda = {}}, formula("medv ~ ."), boston);
  ASSERT_EQ(path.lambda.size(), 100);
  EXPECT_GT(path.lambda.of(0), path.lambda.of(99));
  EXPECT_LT(path.df.of(0), 3);
  EXPECT_NEAR(path.df.of(99), 14, 1e-3);
  EXPECT_EQ(path.gcv.of(path.chosen()), path.gcv.of.minCoeff());
  EXPECT_EQ(path.spec.lambda.size(), 100U);
  EXPECT_TRUE(path.certificate.holds()) << path.certificate.message;
}

TEST(Ridge, SaysWhatItCannotUse) {
  const Data data(20, 2);
  const auto says = [&](const Ridge& spec) { return message_of([&] { fit(spec, data.x, data.response()); }); };
  EXPECT_NE(says({.lambda = {-1}}).find("ridge: lambda"), std::string::npos);
  EXPECT_EQ(says({.penalty_factors = {1, 1, 1}}), "ridge: there are 3 penalty_factors for 2 columns (x1 and x2)");
  EXPECT_NE(says({.penalty_factors = {1, -1}}).find("penalty_factors"), std::string::npos);
  Ridge spec;
  spec.penalty = Matrix{{1.0, 2.0}, {0.0, 1.0}};
  EXPECT_NE(says(spec).find("symmetric"), std::string::npos);
  spec.penalty = Matrix{{1.0, 2.0}, {2.0, 1.0}};
  EXPECT_EQ(says(spec), "ridge: penalty has the eigenvalue -1, must have none below 0");
  spec.penalty = Matrix::Identity(3, 3);
  EXPECT_NE(says(spec).find("3 rows of the penalty matrix for 2 columns"), std::string::npos);
  CallOptions options;
  options.weights = Vector::Zero(20);
  EXPECT_EQ(message_of([&] { fit(Ridge{}, data.x, data.response(), options); }),
            "ridge: all weights are 0, so there are no rows to learn from");
  for (const double scale : {1e-200, 1e200}) {
    Matrix x = data.x;
    x.col(0) *= scale;
    const std::string answer = message_of([&] { fit(Ridge{}, x, data.response()); });
    EXPECT_NE(answer.find(scale > 1 ? "'x1' are too large" : "'x1' are too small"), std::string::npos) << answer;
  }
}

}  // namespace lemma
