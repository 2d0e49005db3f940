// lemma/linear/lasso_test.cpp: answers by hand, and what must not change them.
#include <cmath>
#include <lemma/linear/lasso/data_test.hpp>

namespace lemma {

using namespace lasso_test;

TEST(Lasso, MatchesTheAnswerByHand) {  // Sxx = 2, Sxy = 3: b = (3 − 1) / 2, and 0 from λ = 3 on
  const Matrix x{{0.0}, {1.0}, {2.0}};
  const Vector y{{2.0, 2.0, 5.0}};
  const auto m = fit(Lasso{.lambda = {3, 1}, .standardize = false}, x, y);
  EXPECT_EQ(m.coefficients.of(0, 0), 0);
  EXPECT_NEAR(m.coefficients.of(1, 0), 1, 1e-15);
  EXPECT_NEAR(m.intercept.of(1), 2, 1e-15);
  EXPECT_NEAR(m.rss.of(1), 2, 1e-14);  // residuals 0, −1, 1
  EXPECT_NEAR(m.objective.of(1), 2, 1e-14);
  EXPECT_NEAR(m.norm.of(1), 1, 1e-15);
  EXPECT_NEAR(fit(Lasso{.standardize = false}, x, y).lambda.of(0), 3, 1e-13);
  const auto scaled = fit(Lasso{.lambda = {1}}, x, y);  // sd² = 2/3: the penalty on b is sd
  EXPECT_NEAR(scaled.coefficients.of(0, 0), (3 - std::sqrt(2.0 / 3)) / 2, 1e-14);
}

TEST(Lasso, OrthogonalColumnsAreThresholdedOneByOne) {
  const Matrix x{{1.0, 1.0}, {1.0, -1.0}, {-1.0, 1.0}, {-1.0, -1.0}};
  const Vector y{{5.0, 3.0, 1.0, -1.0}};  // x·y = 8 and 4, x·x = 4
  const auto m = fit(Lasso{.lambda = {2}}, x, y);
  EXPECT_NEAR(m.coefficients.of(0, 0), (8 - 2) / 4.0, 1e-14);
  EXPECT_NEAR(m.coefficients.of(0, 1), (4 - 2) / 4.0, 1e-14);
  const auto net = fit(ElasticNet{.alpha = 0.5, .lambda = {2}}, x, y);
  EXPECT_NEAR(net.coefficients.of(0, 0), (8 - 1) / (4 + 1.0), 1e-14);
  EXPECT_NEAR(net.coefficients.of(0, 1), (4 - 1) / (4 + 1.0), 1e-14);
}

TEST(Lasso, WithoutPenaltyItIsLeastSquares) {
  const Data data(40, 3);
  const auto m = fit(Lasso{.lambda = {0}}, data.x, data.response());
  expect_near(Vector(m.coefficients.of.row(0)), fit(Ols{}, data.x, data.response()).coefficients, 1e-9, "coefficients");
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
}

TEST(Lasso, EveryLambdaOfAPathIsOptimalAndIsWhatItIsAlone) {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{200, 30}, {40, 200}}) {
    const Wide data(rows, columns);
    const MemoryRows all = rows_of(data.x, data.y);
    const auto path = fit(Lasso{}, all, {});
    const auto certificate = certify(path, all, {});
    EXPECT_TRUE(certificate.holds()) << certificate.message;
    EXPECT_EQ(path.df.of(0), 0);
    EXPECT_GE(path.df.of.maxCoeff(), 10);
    EXPECT_NEAR(path.lambda.of(99) / path.lambda.of(0), rows > columns ? 1e-4 : 1e-2, 1e-12);
    for (const Index k : {20, 50, 80}) {
      const auto one = fit(Lasso{.lambda = {path.lambda.of(k)}}, all, {});
      EXPECT_LT((one.coefficients.of.row(0) - path.coefficients.of.row(k)).cwiseAbs().maxCoeff(), 1e-6);
      EXPECT_NEAR(one.objective.of(0) / path.objective.of(k), 1, 1e-9);
    }
  }
}

TEST(Lasso, TheConditionsOfKarushKuhnAndTuckerHold) {
  const Wide data(60, 100);
  const auto m = fit(Lasso{.tolerance = 1e-13}, data.x, data.response());
  for (const Index k : {10, 60, 99}) {
    const Vector b = m.coefficients.of.row(k);
    const Vector r = data.response().array() - m.intercept.of(k) - (data.x * b).array();
    EXPECT_NEAR(r.sum(), 0, 1e-9);
    for (Index j = 0; j < 100; ++j) {
      const double slope = data.x.col(j).dot(r) / m.scale(j), lambda = m.lambda.of(k);
      if (b(j) != 0) EXPECT_NEAR(slope, std::copysign(lambda, b(j)), 1e-4 * lambda) << j;
      else EXPECT_LE(std::abs(slope), lambda * (1 + 1e-6)) << j;
    }
  }
}

TEST(Lasso, SparseColumnsGiveWhatDenseOnesGive) {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{120, 20}, {30, 80}})
    for (const bool intercept : {true, false}) {
      Wide data(rows, columns);
      data.x = (data.x.array() > 0.5).select(data.x, 0);
      const Csr x = sparse_of(data.x);
      MemoryRows thin(x);
      thin.response(data.y);
      const MemoryRows dense = rows_of(data.x, data.y);
      const Lasso spec{.intercept = intercept};
      const auto a = fit(spec, thin, {}), b = fit(Lasso{.lambda = a.spec.lambda, .intercept = intercept}, dense, {});
      EXPECT_LT(largest_difference(a, b), 1e-6);
      EXPECT_LT((a.objective.of - b.objective.of).cwiseAbs().maxCoeff(), 1e-8 * b.objective.of(0));
      EXPECT_TRUE(certify(a, thin, {}).holds()) << certify(a, thin, {}).message;
      EXPECT_TRUE(certify(a, dense, {}).holds()) << certify(a, dense, {}).message;
    }
}

TEST(Lasso, AWeightIsSoManyCopiesOfItsRow) {
  const Data data(40, 3);
  CallOptions options;
  options.weights = Vector(40);
  std::vector<Index> copies;
  for (Index i = 0; i < 40; ++i) {
    options.weights(i) = static_cast<double>(i % 4);
    copies.insert(copies.end(), static_cast<std::size_t>(i % 4), i);
  }
  const auto weighted = fit(Lasso{}, data.x, data.response(), options);
  const Matrix x = data.x(copies, Eigen::all);
  const auto copied = fit(Lasso{}, x, Vector(data.response()(copies)));
  expect_near(weighted.lambda.of, copied.lambda.of, 1e-12, "lambda");
  EXPECT_LT(largest_difference(weighted, copied), 1e-9);
  EXPECT_EQ(weighted.chosen(), copied.chosen());
}

TEST(Lasso, PrecisionMultipliesTheSquaresAndAnOffsetLeavesTheResponse) {
  const Data data(40, 3);
  CallOptions precise;
  precise.precision = Vector::LinSpaced(40, 0.5, 2);
  const Lasso spec{.lambda = {2}, .intercept = false, .standardize = false};
  const auto m = fit(spec, data.x, data.response(), precise);
  const Vector root = precise.precision.cwiseSqrt();
  const Matrix x = root.asDiagonal() * data.x;
  EXPECT_LT(largest_difference(m, fit(spec, x, root.cwiseProduct(data.response()))), 1e-10);
  CallOptions moved;
  moved.offset = data.x.col(0);
  const auto with = fit(Lasso{.lambda = {2}}, data.x, data.response(), moved),
             without = fit(Lasso{.lambda = {2}}, data.x, data.response() - moved.offset);
  EXPECT_LT(largest_difference(with, without), 1e-10);
}

TEST(Lasso, AFactorScalesThePenaltyOfItsColumnAndZeroFreesIt) {
  const Data data(50, 3);
  Matrix x = data.x;
  x.col(2) /= 2;
  const Lasso spec{.lambda = {20}, .standardize = false, .penalty_factors = {1, 0, 2}};
  const auto m = fit(spec, data.x, data.response());
  const auto halved =
      fit(Lasso{.lambda = {20}, .standardize = false, .penalty_factors = {1, 0, 1}}, x, data.response());
  EXPECT_NEAR(m.coefficients.of(0, 2), halved.coefficients.of(0, 2) / 2, 1e-9);
  const auto path = fit(Lasso{.penalty_factors = {1, 0, 1}}, data.x, data.response());
  EXPECT_EQ(path.df.of(0), 1);  // the free column alone
  EXPECT_NEAR(path.coefficients.of(0, 1), fit(Ols{}, data.x.col(1).eval(), data.response()).coefficients(0), 1e-8);
  EXPECT_TRUE(certify(path, rows_of(data.x, data.y), {}).holds());
  EXPECT_GT(path.df.of(2), 1);
}

TEST(Lasso, PositiveCoefficientsAreTheBestThatAreNotNegative) {
  const Data data(60, 4);  // true coefficients 1, −2, 3, −4
  const auto m = fit(Lasso{.lambda = {1}, .positive = true}, data.x, data.response());
  EXPECT_GE(m.coefficients.of.minCoeff(), 0);
  EXPECT_TRUE(certify(m, rows_of(data.x, data.y), {}).holds()) << certify(m, rows_of(data.x, data.y), {}).message;
  std::vector<Index> used;
  for (Index j = 0; j < 4; ++j)
    if (m.coefficients.of(0, j) > 0) used.push_back(j);
  const Matrix x = data.x(Eigen::all, used);
  const auto alone =
      fit(Lasso{.lambda = {1}}, x, data.response());  // without the others the constraint does not matter
  EXPECT_NEAR(alone.objective.of(0), m.objective.of(0), 1e-8 * m.objective.of(0));
}

TEST(Lasso, WithoutPenaltyPositiveCoefficientsAreNonnegativeLeastSquares) {
  const Data data(60, 4);
  const MemoryRows rows = rows_of(data.x, data.y);
  const auto m = fit(Lasso{.lambda = {0}, .positive = true}, rows, {});
  EXPECT_TRUE(certify(m, rows, {}).holds()) << certify(m, rows, {}).message;
  std::vector<Index> used;
  for (Index j = 0; j < 4; ++j)
    if (m.coefficients.of(0, j) > 0) used.push_back(j);
  ASSERT_LT(used.size(), 4U);
  const Matrix x = data.x(Eigen::all, used);
  EXPECT_NEAR(m.rss.of(0), fit(Ols{}, x, data.response()).rss, 1e-9 * m.rss.of(0));
  const auto free = fit(Lasso{.lambda = {5}, .penalty_factors = {1, 0, 1, 1}, .positive = true}, rows, {});
  EXPECT_GE(free.coefficients.of.minCoeff(), 0);
  EXPECT_TRUE(certify(free, rows, {}).holds()) << certify(free, rows, {}).message;
  auto smaller = m;  // a column that should have grown
  smaller.coefficients.of(0, used[0]) = 0;
  EXPECT_FALSE(certify(smaller, rows, {}).holds());
}

TEST(Lasso, ABoundGivesTheSolutionWithThatNorm) {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{100, 8}, {40, 90}}) {
    const Wide data(rows, columns);
    const MemoryRows all = rows_of(data.x, data.y);
    for (const double bound : {0.3, 1.0, 2.5}) {
      const auto m = fit(Lasso{.bound = bound}, all, {});
      EXPECT_NEAR(m.norm.of(0), bound, 1e-10 * bound);
      EXPECT_TRUE(certify(m, all, {}).holds()) << certify(m, all, {}).message;
      const auto penalised = fit(Lasso{.lambda = {m.lambda.of(0)}}, all, {});
      EXPECT_LT(largest_difference(m, penalised), 1e-7);
      auto looser = m;
      looser.spec.bound = 1.01 * bound;
      EXPECT_FALSE(certify(looser, all, {}).holds());  // not the best of those that are allowed now
      looser.spec.bound = 0.99 * bound;
      EXPECT_FALSE(certify(looser, all, {}).holds());  // not allowed
    }
  }
  const Data data(60, 3);
  const auto free = fit(Lasso{.bound = 1e6}, data.x, data.response());
  EXPECT_EQ(free.lambda.of(0), 0);  // the bound does not bind
  expect_near(Vector(free.coefficients.of.row(0)), fit(Ols{}, data.x, data.response()).coefficients, 1e-9, "ols");
  const auto none = fit(Lasso{.bound = 0}, data.x, data.response());
  EXPECT_EQ(none.df.of(0), 0);
  EXPECT_TRUE(none.certificate.holds()) << none.certificate.message;
}

TEST(Lasso, UnitsAndOriginsOfTheColumnsDoNotMatter) {
  const Data data(60, 4);
  const Vector scale{{2.0, 1e-6, -3.0, 1e6}}, shift{{0.0, 5.0, -1e4, 7.0}};
  const Matrix x = (data.x * scale.asDiagonal()).rowwise() + shift.transpose();
  const auto m = fit(Lasso{}, data.x, data.response()), moved = fit(Lasso{}, x, data.response());
  EXPECT_LT((moved.coefficients.of * scale.asDiagonal() - m.coefficients.of).cwiseAbs().maxCoeff(), 1e-7);
}

TEST(Lasso, APathIsGivenBackInTheOrderItWasAskedFor) {
  const Data data(60, 5);
  const auto up = fit(Lasso{.lambda = {0.5, 40, 3}, .choose = PathChoice::last}, data.x, data.response());
  EXPECT_EQ(up.lambda.of, (Vector{{0.5, 40, 3}}));
  EXPECT_EQ(up.chosen_lambda, 3);
  EXPECT_TRUE(up.certificate.holds()) << up.certificate.message;
  const auto down = fit(Lasso{.lambda = {40, 3, 0.5}}, data.x, data.response());
  EXPECT_EQ(up.coefficients.of.row(0), down.coefficients.of.row(2));
  EXPECT_EQ(up.coefficients.of.row(1), down.coefficients.of.row(0));
}

TEST(Lasso, ThreadsGiveTheSameBits) {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{400, 60}, {60, 900}}) {
    const Wide data(rows, columns);
    const MemoryRows all = rows_of(data.x, data.y);
    CallOptions options;
    options.threads = 1;
    const auto bits = [&] { return to_cbor(write_fields(fit(Lasso{}, all, options), false)); };
    const auto one = bits();
    for (const int threads : {2, 3}) {
      options.threads = threads;
      EXPECT_EQ(bits(), one) << threads << " threads";
    }
  }
}

}  // namespace lemma
