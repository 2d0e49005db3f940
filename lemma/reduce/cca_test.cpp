// lemma/reduce/cca_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/reduce/cca.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Two sets of columns with two things in common.
struct Data {
  Matrix x, y;
  std::vector<double> flat;
  Data(Matrix of_x, Matrix of_y) : x(std::move(of_x)), y(std::move(of_y)) {
    for (Index i = 0; i < y.rows(); ++i)
      for (Index k = 0; k < y.cols(); ++k) flat.push_back(y(i, k));
  }
  explicit Data(Index n, Index p = 4, Index q = 3, std::uint64_t seed = 3)
      : Data(left(n, p, seed), right(n, q, seed)) {}
  static Matrix left(Index n, Index p, std::uint64_t seed) {
    return (normal_matrix(n, 2, seed) * normal_matrix(2, p, 1) + 0.7 * normal_matrix(n, p, seed, 1)).array() + 5;
  }
  static Matrix right(Index n, Index q, std::uint64_t seed) {
    return normal_matrix(n, 2, seed) * normal_matrix(2, q, 2) + 0.9 * normal_matrix(n, q, seed, 2);
  }
  MemoryRows rows() const {
    MemoryRows out(x);
    if (y.cols() == 1) return out.response(flat);
    std::vector<ResponseColumn> columns;
    for (Index k = 0; k < y.cols(); ++k) columns.push_back({"y" + std::to_string(k + 1), {}});
    return out.several(flat, columns);
  }
};
CcaModel fitted(const Data& data, const Cca& spec = {}) { return fit(Valid<Cca>(spec), data.rows(), {}); }
Matrix centred(const Matrix& x) { return x.rowwise() - x.colwise().mean(); }
double correlation(const Vector& a, const Vector& b) {
  const Vector u = a.array() - a.mean(), v = b.array() - b.mean();
  return u.dot(v) / (u.norm() * v.norm());
}

TEST(Cca, ItsSquaresAreTheEigenvaluesOfTheTextbook) {
  const Data data(120);
  const auto model = fitted(data);
  const Matrix x = centred(data.x), y = centred(data.y);
  const Matrix cross = x.transpose() * y;
  const Eigenpairs gy = symmetric_eigen(Matrix(y.transpose() * y));
  const Matrix through =
      cross * gy.vectors * gy.values.cwiseInverse().asDiagonal() * gy.vectors.transpose() * cross.transpose();
  const Eigenpairs pairs = generalised_eigen(through, Matrix(x.transpose() * x));
  for (Index k = 0; k < 3; ++k) EXPECT_NEAR(std::pow(model.correlations(k), 2), pairs.values(k), 1e-12);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_EQ(model.certificate.strength, Strength::optimal);
}

TEST(Cca, OnlyTheVariatesOfAPairAreCorrelated) {
  const Data data(150);
  const auto model = fitted(data);
  const Matrix u = model.transform(data.x), v = model.response_variates(data.y);
  EXPECT_LE((u.transpose() * u / 149.0 - Matrix::Identity(3, 3)).norm(), 1e-11);
  EXPECT_LE((v.transpose() * v / 149.0 - Matrix::Identity(3, 3)).norm(), 1e-11);
  EXPECT_LE((u.transpose() * v / 149.0 - Matrix(model.correlations.asDiagonal())).norm(), 1e-11);
  for (Index j = 0; j < 4; ++j) EXPECT_NEAR(model.loadings(j, 0), correlation(data.x.col(j), u.col(0)), 1e-12);
  for (Index j = 0; j < 3; ++j) EXPECT_NEAR(model.response_loadings(j, 1), correlation(data.y.col(j), v.col(1)), 1e-12);
}

TEST(Cca, OfOneResponseItIsTheMultipleCorrelation) {
  const Data both(80);
  const Data data(both.x, Matrix(both.y.leftCols(1)));
  const auto model = fitted(data);
  ASSERT_EQ(model.components(), 1);
  const Matrix x = centred(data.x), y = centred(data.y);
  const Eigenpairs g = symmetric_eigen(Matrix(x.transpose() * x));
  const Vector b =
      g.vectors * g.values.cwiseInverse().asDiagonal() * g.vectors.transpose() * (x.transpose() * y.col(0));
  EXPECT_NEAR(model.correlations(0), (x * b).norm() / y.norm(), 1e-12);
  EXPECT_NEAR(model.correlations(0), std::abs(correlation(data.y.col(0), model.transform(data.x).col(0))), 1e-12);
}

TEST(Cca, DoesNotDependOnUnitsAndOffsets) {
  const Data data(90);
  const auto plain = fitted(data);
  Matrix x = data.x;
  x.col(0) = (1e6 * x.col(0)).array() + 1e9;
  x.col(1) *= 1e-5;
  const auto other = fitted(Data(x, Matrix(100 * data.y)));
  EXPECT_LE((plain.correlations - other.correlations).norm(), 1e-8);
  EXPECT_LE((plain.loadings - other.loadings).norm(), 1e-6);
  EXPECT_TRUE(other.certificate.holds()) << other.certificate.message;
}

TEST(Cca, AWeightIsCopiesOfARow) {
  const Data data(60);
  Matrix x(80, 4), y(80, 3);
  x << data.x, data.x.topRows(20);
  y << data.y, data.y.topRows(20);
  std::vector<double> weight(60, 1.0);
  std::fill(weight.begin(), weight.begin() + 20, 2.0);
  const auto weighted = fit(Valid<Cca>(Cca{}), data.rows().weights(weight), {}), copied = fitted(Data(x, y));
  EXPECT_LE((weighted.correlations - copied.correlations).norm(), 1e-12);
  EXPECT_LE((weighted.coefficients - copied.coefficients).norm(), 1e-9 * copied.coefficients.norm());
  EXPECT_LE((weighted.p_values - copied.p_values).norm(), 1e-12);
}

TEST(Cca, AColumnThatDependsOnOthersTakesNoPart) {
  const Data data(90);
  Matrix x = data.x;
  x.col(2) = x.col(0) - 2 * x.col(1);
  const auto model = fitted(Data(x, data.y));
  ASSERT_EQ(model.warnings.size(), 1U);
  EXPECT_EQ(model.warnings[0], "'x3' depends on the columns before it and takes no part");
  EXPECT_EQ(model.coefficients.row(2).norm(), 0);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  Matrix fewer(90, 3);
  fewer << x.col(0), x.col(1), x.col(3);
  EXPECT_LE((fitted(Data(fewer, data.y)).correlations - model.correlations).norm(), 1e-9);
}

TEST(Cca, BartlettsTestSaysHowManyPairsThereAre) {
  const auto model = fitted(Data(400));
  EXPECT_LT(model.p_values(0), 1e-6);
  EXPECT_LT(model.p_values(1), 1e-6);
  EXPECT_GT(model.p_values(2), 0.001);  // two things are common
}

TEST(Cca, TheNaturalWrongVariatesFail) {
  const Data data(120);
  const MemoryRows rows = data.rows();
  const CcaModel right = fitted(data);
  ASSERT_TRUE(certify(right, rows, {}).holds());
  // Singular vectors of the covariances, which is partial least squares, scaled to standard deviation 1.
  const Matrix x = centred(data.x), y = centred(data.y), cross = x.transpose() * y;
  const Eigenpairs pairs = symmetric_eigen(Matrix(cross.transpose() * cross));
  CcaModel covariances = right;
  covariances.response_coefficients = pairs.vectors;
  covariances.coefficients = cross * pairs.vectors;
  for (Index k = 0; k < 3; ++k) {
    covariances.coefficients.col(k) *= std::sqrt(119.0) / (x * covariances.coefficients.col(k)).norm();
    covariances.response_coefficients.col(k) *=
        std::sqrt(119.0) / (y * covariances.response_coefficients.col(k)).norm();
    covariances.correlations(k) =
        correlation(x * covariances.coefficients.col(k), y * covariances.response_coefficients.col(k));
  }
  EXPECT_FALSE(certify(covariances, rows, {}).holds());
  // The first pair left out: the others are true pairs all the same.
  CcaModel missed = right;
  missed.spec.components = 2;
  for (Matrix* each :
       {&missed.coefficients, &missed.response_coefficients, &missed.loadings, &missed.response_loadings})
    *each = each->rightCols(2).eval();
  missed.correlations = right.correlations.tail(2);
  missed.p_values = right.p_values.tail(2);
  EXPECT_FALSE(certify(missed, rows, {}).holds());
  // Divided by n.
  CcaModel divided = right;
  divided.coefficients *= std::sqrt(120.0 / 119.0);
  EXPECT_FALSE(certify(divided, rows, {}).holds());
}

TEST(Cca, MoreColumnsThanRowsSayNothingAndThatIsSaid) {
  const auto model = fitted(Data(12, 8, 5));
  ASSERT_EQ(model.warnings.size(), 1U);
  EXPECT_EQ(model.warnings[0], "12 rows and 13 columns: correlations of 1 say nothing of other rows");
  EXPECT_NEAR(model.correlations(0), 1, 1e-9);
}

Data some(const Data& data, Index first, Index count) {
  return {data.x.middleRows(first, count), data.y.middleRows(first, count)};
}

void expect_same(const CcaModel& a, const CcaModel& b) {
  EXPECT_LE((a.correlations - b.correlations).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LE((a.p_values - b.p_values).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LE((a.coefficients - b.coefficients).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LE((a.response_coefficients - b.response_coefficients).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LE((a.loadings - b.loadings).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LE((a.mean - b.mean).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_NEAR(a.weight, b.weight, 1e-9);
}

TEST(Cca, AfterNewRowsItIsTheFitToAll) {
  for (const Index q : {3, 1}) {
    const Data data(120, 4, q), first = some(data, 0, 50), second = some(data, 50, 70);
    const auto both = updated(fitted(first), second.rows(), {});
    EXPECT_TRUE(both.certificate.holds()) << both.certificate.message;
    expect_same(both, fitted(data));
    EXPECT_TRUE(certify(both, data.rows(), {}).holds());
    EXPECT_FALSE(certify(both, second.rows(), {}).holds());
  }
}

TEST(Cca, AnUpdateTakesWeights) {
  const Data data(120), first = some(data, 0, 50), second = some(data, 50, 70);
  std::vector<double> w(120);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = 0.5 + static_cast<double>(i % 3);
  MemoryRows all = data.rows(), before = first.rows(), after = second.rows();
  all.weights(w);
  before.weights(std::span(w).first(50));
  after.weights(std::span(w).last(70));
  const auto both = updated(fit(Valid<Cca>(Cca{}), before, {}), after, {});
  expect_same(both, fit(Valid<Cca>(Cca{}), all, {}));
  EXPECT_TRUE(certify(both, all, {}).holds());
}

TEST(Cca, AColumnThatDependsOnOthersMayBeUpdated) {
  Data data(120);
  data.x.col(2) = data.x.col(0) - 2 * data.x.col(1);
  const Data first = some(data, 0, 50), second = some(data, 50, 70);
  const auto both = updated(fitted(first), second.rows(), {});
  EXPECT_TRUE(both.certificate.holds()) << both.certificate.message;
  EXPECT_EQ(both.warnings, fitted(data).warnings);
  expect_same(both, fitted(data));
}

TEST(Cca, WhatIsKeptForUpdatesIsCertifiedAndItsLackIsTold) {
  const Data data(60);
  const auto right = fitted(data);
  auto model = right;
  model.seen_covariance *= 1.01;
  EXPECT_FALSE(certify(model, data.rows(), {}).holds());
  model.seen_covariance.resize(0, 0);
  EXPECT_NO_THROW(model.check());
  EXPECT_TRUE(certify(model, data.rows(), {}).holds());
  EXPECT_NE(message_of([&] { updated(model, data.rows(), {}); }).find("does not keep the covariance"),
            std::string::npos);
  const Data narrow(60, 3), fewer(60, 4, 2);
  for (const Data* other : {&narrow, &fewer})
    EXPECT_NE(message_of([&] { updated(right, other->rows(), {}); }).find("columns and responses of the model"),
              std::string::npos);
}

TEST(Cca, BadInputIsRefused) {
  EXPECT_NE(message_of([] { fitted(Data(30), Cca{.components = 4}); }).find("must be at most 3"), std::string::npos);
  EXPECT_NE(message_of([] { fitted(Data(Matrix::Ones(9, 2), normal_matrix(9, 2, 1))); }).find("no column"),
            std::string::npos);
}

TEST(Cca, TakesTwoSetsOfColumnsFromAFormula) {
  const auto model =
      fit(Cca{}, formula("cbind(petal_length, petal_width) ~ sepal_length + sepal_width"), dataset("iris"));
  EXPECT_EQ(model.components(), 2);
  EXPECT_GT(model.correlations(0), 0.9);
}

}  // namespace
}  // namespace lemma
