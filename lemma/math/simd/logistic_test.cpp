#include <cmath>
#include <gtest/gtest.h>
#include <lemma/math/simd/logistic.hpp>
#include <lemma/math/special.hpp>
#include <limits>
#include <tests/sparse_of.hpp>
#include <vector>

namespace lemma {
namespace {

TEST(LogisticLoss, KeepsItsDigitsWhereProbabilitiesAreNearlyZeroOrOne) {
  std::vector<double> eta, y, w;
  for (const double e : {-800.0, -700.0, -40.0, -3.0, -1e-9, 0.0, 1e-9, 0.7, 5.0, 39.0, 710.0, 900.0})
    for (const double response : {0.0, 0.25, 1.0}) {
      eta.push_back(e);
      y.push_back(response);
      w.push_back(1 + response);
    }
  std::vector<double> residual(eta.size()), curvature(eta.size());
  for (std::size_t i = 0; i < eta.size(); ++i) {
    const std::span<const double> e(&eta[i], 1), r(&y[i], 1), k(&w[i], 1);
    const double loss = simd::logistic_loss(e, r, k, {&residual[i], 1}, {&curvature[i], 1});
    const double p = logistic(eta[i]), q = logistic(-eta[i]);
    const double expected = y[i] == 1 ? log1p_exp(-eta[i]) : log1p_exp(eta[i]) - y[i] * eta[i];
    EXPECT_NEAR(loss, w[i] * expected, 4e-15 * w[i] * std::max(std::abs(expected), 1e-300)) << eta[i] << " " << y[i];
    const double slope = y[i] == 1 ? -q : y[i] == 0 ? p : p - y[i];
    EXPECT_NEAR(residual[i], w[i] * slope, 4e-15 * std::abs(w[i] * slope) + 1e-320) << eta[i] << " " << y[i];
    EXPECT_NEAR(curvature[i], w[i] * p * q, 4e-15 * w[i] * p * q + 1e-320) << eta[i];
  }
  std::vector<double> together(eta.size()), bends(eta.size());
  simd::logistic_loss(eta, y, w, together, bends);
  for (std::size_t i = 0; i < eta.size(); ++i) {
    EXPECT_EQ(together[i], residual[i]);
    EXPECT_EQ(bends[i], curvature[i]);
  }
}

TEST(LogisticLoss, OfAPredictorThatIsNotANumberIsNotOne) {
  const std::vector<double> eta{std::nan("")}, y{1};
  std::vector<double> residual(1);
  EXPECT_TRUE(std::isnan(simd::logistic_loss(eta, y, {}, residual)));
}

TEST(RowProducts, AreThoseOfPlainLoops) {
  for (const Index columns : {1, 3, 8, 17, 50})
    for (const Index rows : {1, 2, 5, 64, 67}) {
      const Matrix x = Matrix::Random(rows, columns + 2);
      const MatrixView part = x.leftCols(columns);
      const Vector b = Vector::Random(columns), r = Vector::Random(rows);
      Vector out(rows), sum = Vector::Ones(columns);
      simd::rows_times(part, {b.data(), static_cast<std::size_t>(columns)}, 0.5,
                       {out.data(), static_cast<std::size_t>(rows)});
      simd::add_rows(part, {r.data(), static_cast<std::size_t>(rows)}, {sum.data(), static_cast<std::size_t>(columns)});
      EXPECT_LE((out - (part * b + Vector::Constant(rows, 0.5))).cwiseAbs().maxCoeff(), 1e-13);
      EXPECT_LE((sum - (part.transpose() * r + Vector::Ones(columns))).cwiseAbs().maxCoeff(), 1e-13);
    }
}

TEST(RowProducts, OfRowsWithoutTheirZerosHaveTheSameBits) {
  for (const Index columns : {1, 3, 8, 17, 50, 131}) {
    Matrix x = Matrix::Random(67, columns);
    for (Index i = 0; i < x.rows(); ++i)
      for (Index j = 0; j < columns; ++j)
        if ((i * 7 + j * 3) % 5 < 3) x(i, j) = 0;
    const Vector b = Vector::Random(columns);
    const Csr sparse = sparse_of(x);
    Vector dense(67), found(60);
    simd::rows_times(x, {b.data(), static_cast<std::size_t>(columns)}, 0.25, {dense.data(), 67});
    simd::sparse_rows_times(sparse, 7, {b.data(), static_cast<std::size_t>(columns)}, 0.25, {found.data(), 60});
    EXPECT_EQ(found, dense.tail(60)) << columns;
  }
}

}  // namespace
}  // namespace lemma
