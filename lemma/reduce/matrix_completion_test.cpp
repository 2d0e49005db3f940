// lemma/reduce/matrix_completion_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/math/svd.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/reduce/matrix_completion.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// A matrix of rank r, and the same with a share of its places known.
struct Seen {
  Matrix truth, known;
};
Seen seen(Index n, Index p, Index rank, double share, double noise = 0) {
  Seen out{normal_matrix(n, rank, 3) * normal_matrix(rank, p, 4), {}};
  out.known = out.truth + noise * normal_matrix(n, p, 6);
  RandomStream stream(5);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < p; ++j)
      if (stream.uniform() >= share) out.known(i, j) = std::nan("");
  return out;
}

Matrix without_nan(const Matrix& x) {
  return x.unaryExpr([](double v) { return std::isnan(v) ? 0.0 : v; });
}

TEST(MatrixCompletion, FindsRank10Of500By500From30PercentOfItsEntries) {
  const Seen given = seen(500, 500, 10, 0.3);
  const double first = thin_svd(without_nan(given.known)).s(0);
  const auto model = fit(MatrixCompletion{.lambda = 1e-5 * first}, given.known);
  EXPECT_EQ(model.rank, 10);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_EQ(model.certificate.strength, Strength::optimal);
  EXPECT_LE((model.transform(given.known) - given.truth).norm(), 1e-4 * given.truth.norm());
}

TEST(MatrixCompletion, OfAllPlacesIsTheSingularValuesLessLambda) {
  const Matrix x = normal_matrix(40, 12, 8);
  const Svd svd = thin_svd(x);
  const double lambda = 0.5 * (svd.s(4) + svd.s(5));
  const auto model = fit(MatrixCompletion{.lambda = lambda, .tolerance = 1e-10}, x);
  ASSERT_EQ(model.rank, 5);
  for (Index k = 0; k < 5; ++k) {
    EXPECT_NEAR(model.singular_values(k), svd.s(k) - lambda, 1e-4 * svd.s(0));
    EXPECT_NEAR(std::abs(model.loadings.col(k).dot(svd.v.col(k))), 1, 1e-4);
  }
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(MatrixCompletion, OfWideRowsHasTheObjectiveOfTallOnes) {
  const Matrix x = seen(60, 25, 3, 0.6, 0.1).known;
  const auto tall = fit(MatrixCompletion{.lambda = 1.0}, x),
             wide = fit(MatrixCompletion{.lambda = 1.0}, Matrix(x.transpose()));
  EXPECT_TRUE(tall.certificate.holds()) << tall.certificate.message;
  EXPECT_TRUE(wide.certificate.holds()) << wide.certificate.message;
  EXPECT_NEAR(tall.objective, wide.objective, 1e-5 * tall.objective);
}

TEST(MatrixCompletion, ChoosesALambdaThatFillsNoisyGapsBetterThanMeansDo) {
  const Seen given = seen(150, 40, 3, 0.5, 0.3);
  const auto model = fit(MatrixCompletion{}, given.known);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const Matrix filled = model.transform(given.known);
  double ours = 0, zeros = 0;
  for (Index i = 0; i < filled.rows(); ++i)
    for (Index j = 0; j < filled.cols(); ++j)
      if (std::isnan(given.known(i, j))) {
        ours += std::pow(filled(i, j) - given.truth(i, j), 2);
        zeros += std::pow(given.truth(i, j), 2);
      } else EXPECT_EQ(filled(i, j), given.known(i, j));
  EXPECT_LE(ours, 0.1 * zeros);
  EXPECT_GE(model.path_lambda.size(), 3);
}

TEST(MatrixCompletion, CentredKnowsWhatAnOffsetIs) {
  const Matrix x = seen(80, 10, 2, 0.7).known;
  const auto plain = fit(MatrixCompletion{.lambda = 0.5, .center = true}, x),
             moved = fit(MatrixCompletion{.lambda = 0.5, .center = true}, Matrix(x.array() + 100));
  EXPECT_NEAR(plain.objective, moved.objective, 1e-5 * plain.objective);
  EXPECT_TRUE(moved.certificate.holds()) << moved.certificate.message;
}

TEST(MatrixCompletion, TheNaturalWrongSvdOfZerosInTheGapsFails) {
  const Matrix x = seen(60, 30, 3, 0.5).known;
  MatrixCompletionModel model = fit(MatrixCompletion{.lambda = 1.0}, x);
  ASSERT_TRUE(model.certificate.holds());
  const Svd svd = thin_svd(without_nan(x));
  model.loadings = svd.v.leftCols(model.rank);
  model.singular_values = svd.s.head(model.rank).array() - 1.0;
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
}

TEST(MatrixCompletion, TheNaturalWrongRankCutOffFails) {
  const Matrix x = seen(60, 30, 3, 0.5, 0.5).known;
  MatrixCompletionModel model = fit(MatrixCompletion{.lambda = 1.0}, x);
  ASSERT_TRUE(model.certificate.holds());
  ASSERT_GT(model.rank, 3);
  model.rank = 3;  // what alternating regressions of too few columns give
  model.loadings = Matrix(model.loadings.leftCols(3));
  model.singular_values = Vector(model.singular_values.head(3));
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
}

double residual_of(const MatrixCompletionModel& model) {
  return model.error * std::sqrt(static_cast<double>(model.known));
}

TEST(MatrixCompletion, BoundedNoiseIsTheResidualThatIsLeft) {
  const Seen given = seen(80, 30, 3, 0.5, 0.3);
  const double known = (given.known.array() == given.known.array()).count(), noise = 0.3 * std::sqrt(known);
  const auto model = fit(MatrixCompletion{.noise = noise}, given.known);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_NEAR(residual_of(model), noise, 2e-4 * noise);
  const auto same = fit(MatrixCompletion{.lambda = model.lambda}, given.known);  // its multiplier
  EXPECT_NEAR(same.singular_values.sum(), model.singular_values.sum(), 1e-3 * same.singular_values.sum());
}

TEST(MatrixCompletion, OfAllPlacesBoundedNoiseHasItsClosedForm) {
  const Matrix x = normal_matrix(40, 12, 8);
  const Svd svd = thin_svd(x);
  const double lambda = 0.5 * (svd.s(4) + svd.s(5)), left = svd.s.cwiseMin(lambda).norm();
  const auto model = fit(MatrixCompletion{.noise = left}, x);
  EXPECT_EQ(model.rank, 5);
  EXPECT_NEAR(model.lambda, lambda, 1e-3 * lambda);
  EXPECT_NEAR(model.singular_values.sum(), svd.s.head(5).sum() - 5 * lambda, 1e-3 * svd.s.sum());
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(MatrixCompletion, SmallAndLargeNoiseAreMetToo) {
  const Matrix x = seen(60, 30, 3, 0.6, 0.2).known;
  const double size = without_nan(x).norm();
  for (const double share : {0.9, 0.1, 0.01}) {
    const auto model = fit(MatrixCompletion{.noise = share * size}, x);
    EXPECT_NEAR(residual_of(model), share * size, 2e-4 * share * size) << share;
    EXPECT_TRUE(model.certificate.holds()) << share << ": " << model.certificate.message;
  }
}

TEST(MatrixCompletion, TheNaturalWrongLambdaForTheNoiseFails) {
  const Matrix x = seen(60, 30, 3, 0.6, 0.2).known;
  const double noise = 0.2 * without_nan(x).norm();
  const auto right = fit(MatrixCompletion{.noise = noise}, x);
  MatrixCompletionModel twice = fit(MatrixCompletion{.lambda = 2 * right.lambda}, x);  // of squares without the half
  twice.spec.lambda.reset();
  twice.spec.noise = noise;
  EXPECT_GT(residual_of(twice), 1.1 * noise);
  EXPECT_FALSE(certify(twice, MemoryRows(x), {}).holds());
  MatrixCompletionModel near =
      fit(MatrixCompletion{.lambda = 0.5 * right.lambda}, x);  // near enough, and not the least
  near.spec.lambda.reset();
  near.spec.noise = noise;
  EXPECT_LT(residual_of(near), noise);
  EXPECT_FALSE(certify(near, MemoryRows(x), {}).holds());
}

TEST(MatrixCompletion, HasTheSameBitsOnAnyNumberOfThreads) {
  const Matrix x = seen(300, 40, 3, 0.5, 0.1).known;
  const auto one = fit(MatrixCompletion{}, x, {.threads = 1}), three = fit(MatrixCompletion{}, x, {.threads = 3});
  EXPECT_EQ(one.loadings, three.loadings);
  EXPECT_EQ(one.objective, three.objective);
}

TEST(MatrixCompletion, WorkThatEndsEarlySaysSo) {
  const auto model = fit(MatrixCompletion{.lambda = 0.01, .max_iterations = 1}, seen(40, 30, 3, 0.4).known);
  EXPECT_FALSE(model.certificate.holds());
  EXPECT_NE(model.certificate.message.find("--max_iterations"), std::string::npos);
}

TEST(MatrixCompletion, BadInputIsRefusedWithItsPlace) {
  const auto says = [](const Matrix& x, const MatrixCompletion& spec = {}) {
    return message_of([&] { fit(spec, x); });
  };
  Matrix x = normal_matrix(20, 4, 1);
  x.row(6).setConstant(std::nan(""));
  EXPECT_NE(says(x).find("row 7 has no value at all"), std::string::npos);
  x = normal_matrix(20, 4, 1);
  x.col(2).setConstant(std::nan(""));
  EXPECT_NE(says(x).find("'x3' has no value at all"), std::string::npos);
  EXPECT_NE(says(Matrix::Zero(5, 3)).find("all known numbers are 0"), std::string::npos);
  EXPECT_NE(says(normal_matrix(20, 4, 1), {.lambda = 1e6}).find("take a smaller one"), std::string::npos);
  EXPECT_NE(says(normal_matrix(20, 4, 1), {.noise = 1e6}).find("take less"), std::string::npos);
  EXPECT_NE(says(normal_matrix(20, 4, 1), {.lambda = 1, .noise = 1}).find("leave one out"), std::string::npos);
}

}  // namespace
}  // namespace lemma
