// lemma/reduce/robust_pca_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/math/svd.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/reduce/robust_pca.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Rank r, and gross errors of either sign in a share of the places.
struct Spoilt {
  Matrix low, errors;
  Matrix rows() const { return low + errors; }
};
Spoilt spoilt(Index n, Index p, Index rank, double share) {
  Spoilt out{normal_matrix(n, rank, 3) * normal_matrix(rank, p, 4), Matrix::Zero(n, p)};
  RandomStream stream(5);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < p; ++j)
      if (stream.uniform() < share) out.errors(i, j) = stream.uniform() < 0.5 ? 20 : -20;
  return out;
}

TEST(RobustPca, FindsLowRankAndGrossErrorsAgain) {
  const Spoilt given = spoilt(100, 80, 4, 0.08);
  const auto model = fit(RobustPca{.tolerance = 1e-8}, given.rows());
  EXPECT_EQ(model.rank, 4);
  EXPECT_LE((model.low_rank() - given.low).norm(), 1e-6 * given.low.norm());
  EXPECT_LE((model.errors - given.errors).norm(), 1e-6 * given.errors.norm());
  EXPECT_EQ(model.error_count, (given.errors.array() != 0).count());
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_EQ(model.certificate.strength, Strength::optimal);
  EXPECT_NEAR(*model.spec.lambda, 0.1, 1e-12);
}

TEST(RobustPca, OfWideRowsIsThatOfTallOnesTurned) {
  const Matrix x = spoilt(60, 25, 2, 0.1).rows();
  const auto tall = fit(RobustPca{}, x), wide = fit(RobustPca{}, Matrix(x.transpose()));
  EXPECT_NEAR(tall.objective, wide.objective, 1e-5 * tall.objective);
  EXPECT_LE((tall.low_rank() - wide.low_rank().transpose()).norm(), 1e-3 * x.norm());
}

TEST(RobustPca, DoesNotDependOnTheUnit) {
  const Matrix x = spoilt(40, 15, 2, 0.1).rows();
  const auto plain = fit(RobustPca{}, x), small = fit(RobustPca{}, Matrix(1e-6 * x));
  EXPECT_LE((1e6 * small.errors - plain.errors).norm(), 1e-6 * x.norm());
}

TEST(RobustPca, TheNaturalWrongTruncatedSvdFails) {
  const Spoilt given = spoilt(60, 40, 3, 0.1);
  const Matrix x = given.rows();
  RobustPcaModel model = fit(RobustPca{}, x);
  ASSERT_TRUE(model.certificate.holds());
  const Svd svd = thin_svd(x);  // the best matrix of that rank in squares: errors pull it
  model.loadings = svd.v.leftCols(model.rank);
  model.singular_values = svd.s.head(model.rank);
  model.scores = svd.u.leftCols(model.rank) * model.singular_values.asDiagonal();
  model.errors = x - model.low_rank();
  model.error_count = (model.errors.array() != 0).count();
  model.objective = model.singular_values.sum() + *model.spec.lambda * model.errors.cwiseAbs().sum();
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
}

TEST(RobustPca, WorkThatEndsEarlySaysSo) {
  const auto model = fit(RobustPca{.max_iterations = 5}, spoilt(40, 30, 2, 0.1).rows());
  EXPECT_FALSE(model.certificate.holds());
  EXPECT_EQ(model.certificate.stopped, "iteration limit");
  EXPECT_NE(model.certificate.message.find("--max_iterations"), std::string::npos);
}

TEST(RobustPca, BadInputIsRefused) {
  EXPECT_NE(message_of([] { fit(RobustPca{}, Matrix::Zero(5, 3)); }).find("all numbers are 0"), std::string::npos);
  EXPECT_NE(message_of([] { fit(RobustPca{.lambda = 1e-9}, normal_matrix(20, 5, 1)); }).find("larger lambda"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
