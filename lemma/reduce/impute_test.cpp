// lemma/reduce/impute_test.cpp
#include <gtest/gtest.h>

#include <cmath>
#include <lemma/core/random.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/reduce/impute.hpp>

namespace lemma {
namespace {

const double kMissing = std::nan("");

/// Whole numbers (so that values repeat) and both signs; about a tenth is missing.
Matrix with_holes(Index n, Index p) {
  Matrix x = normal_matrix(n, p, 6, 1);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < p; ++j)
      x(i, j) = (i * 7 + j * 3) % 10 == 0 ? kMissing : j % 2 == 0 ? std::round(3 * x(i, j)) : x(i, j);
  return x;
}

std::vector<double> present(const Matrix& x, Index j) {
  std::vector<double> out;
  for (Index i = 0; i < x.rows(); ++i)
    if (!std::isnan(x(i, j))) out.push_back(x(i, j));
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Impute, MatchesTheAnswerByHand) {
  const Matrix x{{1, -4}, {2, kMissing}, {2, -4}, {kMissing, 0}, {9, 8}};
  EXPECT_EQ(fit(Impute{}, x).fill, (Vector{{3.5, 0.0}}));
  EXPECT_EQ(fit(Impute{.with = Fill::median}, x).fill, (Vector{{2.0, -2.0}}));  // −4 −4 0 8: between −4 and 0
  EXPECT_EQ(fit(Impute{.with = Fill::mode}, x).fill, (Vector{{2.0, -4.0}}));
  const auto model = fit(Impute{}, x);
  EXPECT_EQ(model.missing, (Vector{{1.0, 1.0}}));
  EXPECT_EQ(model.transform(x), (Matrix{{1, -4}, {2, 0}, {2, -4}, {3.5, 0}, {9, 8}}));
}

TEST(Impute, MedianAndModeAreThoseOfTheSortedColumn) {
  for (const Index n : {3, 50, 51, 3000}) {
    const Matrix x = with_holes(n, 4);
    const auto median = fit(Impute{.with = Fill::median}, x), mode = fit(Impute{.with = Fill::mode}, x);
    for (Index j = 0; j < 4; ++j) {
      const auto values = present(x, j);
      const std::size_t half = values.size() / 2;
      const double expected =
          values.size() % 2 ? values[half] : values[half - 1] + (values[half] - values[half - 1]) / 2;
      EXPECT_EQ(median.fill(j), expected) << n << " rows, column " << j;
      const auto count = [&](double value) { return std::count(values.begin(), values.end(), value); };
      for (const double value : values) EXPECT_LE(count(value), count(mode.fill(j)));
    }
    EXPECT_TRUE(median.certificate.holds()) << median.certificate.message;
    EXPECT_TRUE(mode.certificate.holds()) << mode.certificate.message;
  }
}

TEST(Impute, WeightsEqualRepetition) {
  const Matrix x{{1, 5}, {2, kMissing}, {7, 6}, {kMissing, 9}};
  const Vector weights{{1, 2, 3, 0}};
  const Matrix repeated{{1, 5}, {2, kMissing}, {2, kMissing}, {7, 6}, {7, 6}, {7, 6}};
  for (const auto with : {Fill::mean, Fill::median, Fill::mode}) {
    const auto weighted = fit(Impute{.with = with}, x, CallOptions{.weights = weights}),
               copied = fit(Impute{.with = with}, repeated);
    EXPECT_LT((weighted.fill - copied.fill).cwiseAbs().maxCoeff(), 1e-15);
    EXPECT_EQ(weighted.missing, copied.missing);
  }
}

TEST(Impute, GivesTheSameBitsOnAnyNumberOfThreads) {
  const Matrix x = with_holes(5000, 3);
  for (const auto with : {Fill::mean, Fill::median, Fill::mode})
    EXPECT_EQ(fit(Impute{.with = with}, x, CallOptions{.threads = 1}).fill,
              fit(Impute{.with = with}, x, CallOptions{.threads = 3}).fill);
}

TEST(Impute, TheNaturalWrongFillsFailTheCertificate) {
  const Matrix x = with_holes(500, 3);
  const MemoryRows rows(x);
  const auto mean = fit(Impute{}, x), median = fit(Impute{.with = Fill::median}, x),
             mode = fit(Impute{.with = Fill::mode}, x);
  for (const auto& model : {mean, median, mode}) {
    EXPECT_TRUE(certify(model, rows, {}).holds());
    ImputeModel damaged = model;
    damaged.fill(1) += 0.25;
    EXPECT_FALSE(certify(damaged, rows, {}).holds());
    damaged = model;
    damaged.missing(2) += 1;
    EXPECT_FALSE(certify(damaged, rows, {}).holds());
  }
  ImputeModel zeros = mean;  // zeros for NaN, then the mean over all rows
  const Matrix zeroed = x.unaryExpr([](double v) { return std::isnan(v) ? 0.0 : v; });
  zeros.fill = zeroed.colwise().mean().transpose();
  EXPECT_FALSE(certify(zeros, rows, {}).holds());
}

TEST(Impute, ComesBackFromItsFieldsWithEveryBit) {
  const Matrix x = with_holes(40, 3);
  const auto& method = method_of<Impute>();
  const auto model = method.fit(from_json(R"({"with": "median"})"), MemoryRows(x), {});
  const auto loaded = method.load(model->params(), model->save(), {model->certificate(), {}});
  EXPECT_EQ(loaded->transform(x), model->transform(x));
  EXPECT_TRUE(loaded->verify(MemoryRows(x), {}).holds());
}

TEST(Impute, RefusesColumnsItCannotFill) {
  Matrix x = with_holes(20, 2);
  EXPECT_THROW(fit(Impute{}, x, CallOptions{.weights = Vector::Constant(20, -1)}), Error);
  x(1, 1) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(fit(Impute{}, x), Error);
  x.col(1).setConstant(kMissing);
  try {
    fit(Impute{}, x);
    FAIL() << "a column without values was taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'x2' has no value"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lemma
