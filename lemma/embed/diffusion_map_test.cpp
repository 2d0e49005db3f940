// lemma/embed/diffusion_map_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/embed/diffusion_map.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// The walk by its definition.
Matrix walk(const Matrix& x, double epsilon, double alpha) {
  Matrix k =
      Dissimilarities::of_rows(x, Metric()).square().unaryExpr([=](double d) { return std::exp(-d * d / epsilon); });
  const Vector q = k.rowwise().sum().array().pow(-alpha);
  k = q.asDiagonal() * k * q.asDiagonal();
  return Vector(k.rowwise().sum().cwiseInverse()).asDiagonal() * k;
}

TEST(DiffusionMap, CoordinatesAreEigenvectorsOfTheWalk) {
  const Matrix x = normal_matrix(60, 3, 3);
  for (const double alpha : {0.0, 0.5, 1.0}) {
    const auto model = fit(DiffusionMap{.epsilon = 2, .alpha = alpha, .time = 2, .dimensions = 3}, x);
    const Matrix p = walk(x, 2, alpha);
    EXPECT_LE((p * model.places - model.places * model.eigenvalues.asDiagonal()).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  }
}

/// Σ over all coordinates of squared differences is the distance of two walks after t steps, in the weights 1/π.
TEST(DiffusionMap, DistancesAreThoseOfWalks) {
  const Matrix x = normal_matrix(12, 2, 3);
  const auto model = fit(DiffusionMap{.epsilon = 0.3, .alpha = 0, .time = 3, .dimensions = 11}, x);
  const Matrix p = walk(x, 0.3, 0), three = p * p * p;
  Matrix kernel =
      Dissimilarities::of_rows(x, Metric()).square().unaryExpr([](double d) { return std::exp(-d * d / 0.3); });
  const Vector degree = kernel.rowwise().sum(), stationary = degree / degree.sum();
  for (Index i = 0; i < 12; ++i)
    for (Index j = 0; j < i; ++j) {
      const double walks = ((three.row(i) - three.row(j)).array().square() / stationary.transpose().array()).sum();
      EXPECT_NEAR((model.places.row(i) - model.places.row(j)).squaredNorm(), walks, 1e-9);
    }
}

TEST(DiffusionMap, ARowOfTheFitIsPlacedWhereItIs) {
  const Matrix x = normal_matrix(400, 3, 3);
  const auto model = fit(DiffusionMap{}, x);
  EXPECT_LE((model.transform(x) - model.places).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_TRUE(model.transform(Matrix::Constant(1, 3, 1e3)).allFinite());  // far from all of them
}

TEST(DiffusionMap, TheNaturalWrongMatrixWithoutTheDensityFails) {
  const Matrix x = normal_matrix(60, 3, 3);
  DiffusionMapModel model = fit(DiffusionMap{}, x);
  const auto other = fit(DiffusionMap{.alpha = 0}, x);
  model.places = other.places;
  model.eigenvalues = other.eigenvalues;
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
}

TEST(DiffusionMap, BadInputIsRefused) {
  EXPECT_NE(message_of([] { fit(DiffusionMap{}, Matrix::Ones(5, 2)); }).find("all 5 things are equal"),
            std::string::npos);
  Matrix apart = normal_matrix(40, 2, 3);
  apart.bottomRows(20).array() += 1e3;
  EXPECT_NE(message_of([&] { fit(DiffusionMap{.epsilon = 1}, apart); }).find("never leaves"), std::string::npos);
  Matrix copies = Matrix::Zero(20, 2);
  copies.bottomRows(3) = normal_matrix(3, 2, 1);
  EXPECT_NE(message_of([&] { fit(DiffusionMap{}, copies); }).find("set --epsilon"), std::string::npos);
}

}  // namespace
}  // namespace lemma
