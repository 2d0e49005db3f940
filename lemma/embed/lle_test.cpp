// lemma/embed/lle_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/row_views.hpp>
#include <lemma/embed/lle.hpp>
#include <lemma/embed/shared/swiss_roll_test.hpp>
#include <lemma/model/fit.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

TEST(Lle, OfTheSwissRollIsTheReference) {
  const Golden golden("lle_swiss_roll_k12");
  const SwissRoll roll = swiss_roll();
  const auto model = fit(Lle{.neighbors = 12, .dimensions = 5}, roll.points);
  EXPECT_TRUE(golden.agrees("weight_reconstruction_error", model.reconstruction_error));
  const Vector expected = golden.vector("eigenvalues").tail(5);
  for (Index k = 0; k < 5; ++k) EXPECT_NEAR(model.eigenvalues(k), expected(k), 1.8688984095884916e-11);
  EXPECT_TRUE(golden.agrees("embedding_cost_2d", model.eigenvalues.head(2).sum()));
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;

  const Neighborhood near = neighborhood("test", Neighbors(roll.points, Metric()), roll.points, {.neighbors = 12});
  const Value& row = golden.value("weights_row1");
  const Vector which = row.at("neighbours").as_vector("neighbours"), weights = row.at("weights").as_vector("weights");
  Matrix rows(12, 3);
  for (Index j = 0; j < 12; ++j) {
    rows.row(j) = roll.points.row(static_cast<Index>(which(j)) - 1);
    const auto found = near.lists.rows_of(0);
    EXPECT_NE(std::find(found.begin(), found.end(), static_cast<std::int32_t>(which(j)) - 1), found.end());
  }
  const Vector w = lle::weights_of(roll.points.topRows(1), rows, 1e-3, false);
  EXPECT_LE((w - weights).cwiseAbs().maxCoeff(), 1e-7);
}

TEST(Lle, WeightsOfARowAmongItsNeighboursAreItsCoordinatesInThem) {
  const Matrix corners{{0, 0}, {1, 0}, {0, 1}}, inside{{0.2, 0.3}}, outside{{-0.5, 0.3}};
  const Vector w = lle::weights_of(inside, corners, 1e-12, false);
  EXPECT_NEAR(w(0), 0.5, 1e-6);
  EXPECT_NEAR(w(1), 0.2, 1e-6);
  EXPECT_NEAR(w(2), 0.3, 1e-6);
  EXPECT_LE((lle::weights_of(inside, corners, 1e-12, true) - w).norm(), 1e-6);
  const Vector edge = lle::weights_of(outside, corners, 1e-9, true);  // the nearest point of the triangle is (0, 0.3)
  EXPECT_NEAR(edge(0), 0.7, 1e-6);
  EXPECT_NEAR(edge(1), 0, 1e-12);
  EXPECT_NEAR(edge(2), 0.3, 1e-6);
  EXPECT_LT(lle::weights_of(outside, corners, 1e-9, false).minCoeff(), -0.1);
}

TEST(Lle, PlacesAreCentredOfUnitVarianceAndUncorrelated) {
  const auto model = fit(Lle{}, Matrix(swiss_roll().points.topRows(400)));
  EXPECT_LE(model.places.colwise().mean().cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LE((model.places.transpose() * model.places / 400 - Matrix::Identity(2, 2)).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Lle, NewRowsLieWhereTheirWeightsPutThem) {
  const SwissRoll roll = swiss_roll();
  const auto model = fit(Lle{}, Matrix(roll.points.topRows(900)));
  const Matrix again = model.transform(roll.points);
  for (Index k = 0; k < 2; ++k) EXPECT_GE(r_squared(again.col(k).head(900), model.places.col(k)), 0.999);
}

TEST(Lle, NonnegativeWeightsHaveTheirOwnCertificate) {
  const Matrix x = swiss_roll().points.topRows(200);
  const auto model = fit(Lle{.nonnegative = true}, x);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_GT(model.reconstruction_error, fit(Lle{}, x).reconstruction_error);
  LleModel told = model;
  told.spec.nonnegative = false;
  EXPECT_FALSE(certify(told, MemoryRows(x), {}).holds());
}

TEST(Lle, TheNaturalWrongFirstEigenvectorsFail) {
  const Matrix x = swiss_roll().points.topRows(300);
  LleModel shifted = fit(Lle{.dimensions = 3}, x);  // the second and third in the place of the first and second
  shifted.spec.dimensions = 2;
  shifted.places = shifted.places.rightCols(2).eval();
  shifted.eigenvalues = shifted.eigenvalues.tail(2).eval();
  EXPECT_FALSE(certify(shifted, MemoryRows(x), {}).holds());
  LleModel other = fit(Lle{.regulariser = 0.1}, x);  // weights with another regulariser than told
  other.spec.regulariser = 1e-3;
  EXPECT_FALSE(certify(other, MemoryRows(x), {}).holds());
}

TEST(Lle, EqualRowsAndPiecesHaveAnAnswer) {
  Matrix x = two_clouds(40, 3);
  x.topRows(15) = x.row(3).replicate(15, 1);  // more copies than neighbours
  const auto model = fit(Lle{.neighbors = 8}, x);
  EXPECT_GE(model.graph_pieces, 2);
  EXPECT_FALSE(model.warnings.empty());
  EXPECT_TRUE(model.places.allFinite());
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(Lle, BadInputIsRefused) {
  const Matrix x = normal_matrix(10, 3, 3);
  EXPECT_NE(message_of([&] { fit(Lle{}, x); }).find("neighbors is 10, must be below 10"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(Lle{.neighbors = 4, .dimensions = 10}, x); }).find("at most 9"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(Lle{}, Matrix::Ones(20, 2)); }).find("all 20 rows are equal"), std::string::npos);
}

}  // namespace
}  // namespace lemma
