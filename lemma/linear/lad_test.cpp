// lemma/linear/lad_test.cpp: what is of lad alone; the rest it shares with quantile.
#include <gtest/gtest.h>
#include <lemma/linear/lad.hpp>
#include <lemma/linear/ols/data_test.hpp>
#include <lemma/model/fit.hpp>

namespace lemma {
namespace {

using ols_test::Data;
using ols_test::rows_of;

TEST(Lad, IsTheMedianWithTwiceTheObjectiveOfItsQuantile) {
  const Data data(200, 3);
  const auto lad = fit(Lad{}, data.x, data.response());
  const auto median = fit(Quantile{.tau = 0.5}, data.x, data.response());
  EXPECT_EQ(lad.coefficients, median.coefficients);
  EXPECT_EQ(lad.intercept, median.intercept);
  EXPECT_NEAR(lad.objective, 2 * median.objective, 1e-12 * lad.objective);
  EXPECT_EQ(lad.std_errors, median.std_errors);
}

TEST(Lad, TheNaturalWrongAnswersFailTheCertificate) {
  const Data data(300, 3);
  const MemoryRows rows = rows_of(data.x, data.y);
  const auto right = fit(Lad{}, rows, {});
  const auto holds = [&](const LadModel& m) { return certify(m, rows, {}).holds(); };
  ASSERT_TRUE(holds(right)) << certify(right, rows, {}).message;
  LadModel early = right;  // an interior point that stopped short of the vertex
  early.coefficients(1) += 1e-7;
  EXPECT_FALSE(holds(early));
  LadModel squares = right;  // least squares
  const auto least = scan(rows, LeastSquares(3));
  squares.coefficients = solve(least).coefficients;
  squares.intercept = solve(least).intercept;
  EXPECT_FALSE(holds(squares));
  LadModel halved = right;  // the objective of the other name
  halved.objective /= 2;
  EXPECT_EQ(certify(halved, rows, {}).kind, "difference of objective");
  LadModel errors = right;
  errors.std_errors(0) *= 1.001;
  EXPECT_EQ(certify(errors, rows, {}).kind, "difference of std_errors");
}

}  // namespace
}  // namespace lemma
