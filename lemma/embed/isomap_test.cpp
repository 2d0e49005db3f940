// lemma/embed/isomap_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/row_views.hpp>
#include <lemma/embed/isomap.hpp>
#include <lemma/embed/mds.hpp>
#include <lemma/embed/shared/swiss_roll_test.hpp>
#include <lemma/model/fit.hpp>
#include <numeric>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

Matrix distances_of(const Matrix& places) { return Dissimilarities::of_rows(places, Metric()).square(); }

TEST(Isomap, OfTheSwissRollIsTheReference) {
  const Golden golden("isomap_swiss_roll_k10");
  const SwissRoll roll = swiss_roll();
  const Neighborhood near = neighborhood("test", Neighbors(roll.points, Metric()), roll.points, {});
  std::vector<Index> all(1000);
  std::iota(all.begin(), all.end(), Index{0});
  const Matrix ways = shortest_paths(near.graph, all);
  EXPECT_TRUE(golden.agrees("geodesic_sum_upper", 0.5 * ways.sum()));
  EXPECT_TRUE(golden.agrees("geodesic_row1_first6", Vector(ways.row(0).segment(1, 6))));
  const auto model = fit(Isomap{.dimensions = 6}, roll.points);
  EXPECT_TRUE(golden.agrees("geodesic_max", model.longest_way));
  EXPECT_TRUE(golden.agrees("eigenvalues", model.eigenvalues));
  EXPECT_TRUE(golden.agrees("residual_variance_d1to5", Vector(model.residual_variance.head(5))));
  const auto flat = fit(Isomap{}, roll.points);
  EXPECT_TRUE(golden.agrees("r2_true_coordinates", Vector{{r_squared(flat.places, roll.plane.col(0)),
                                                           r_squared(flat.places, roll.plane.col(1))}}));
  EXPECT_GE(r_squared(flat.places.leftCols(1), roll.plane.col(0)), 0.98 * 0.98);
  EXPECT_TRUE(flat.certificate.holds()) << flat.certificate.message;
  EXPECT_EQ(flat.certificate.strength, Strength::optimal);
}

TEST(Isomap, WithAllRowsJoinedIsClassicalScaling) {
  const Matrix x = normal_matrix(40, 3, 7);
  const auto model = fit(Isomap{.neighbors = 39, .dimensions = 3}, x);
  EXPECT_LE((distances_of(model.places) - distances_of(x)).cwiseAbs().maxCoeff(), 1e-9);
  const auto within = fit(Isomap{.radius = 1e3, .dimensions = 3}, x);
  EXPECT_LE((within.eigenvalues - model.eigenvalues).norm(), 1e-8);
}

TEST(Isomap, ARowOfTheFitIsPlacedWhereItIsAndANewOneBetweenItsNeighbours) {
  const SwissRoll roll = swiss_roll();
  const auto model = fit(Isomap{}, Matrix(roll.points.topRows(900)));
  const Matrix again = model.transform(roll.points);
  EXPECT_LE((again.topRows(900) - model.places).cwiseAbs().maxCoeff(), 1e-6 * model.longest_way);
  EXPECT_GE(r_squared(again, roll.plane.col(0)), 0.99);
  EXPECT_GE(r_squared(again.bottomRows(100), roll.plane.bottomRows(100).col(0)), 0.99);
}

TEST(Isomap, LandmarksUnrollItToo) {
  const SwissRoll roll = swiss_roll();
  const auto model = fit(Isomap{.landmarks = 100}, roll.points);
  EXPECT_EQ(model.landmarks.of.size(), 100U);
  EXPECT_GE(r_squared(model.places, roll.plane.col(0)), 0.98);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_LE((model.transform(roll.points) - model.places).cwiseAbs().maxCoeff(), 1e-6 * model.longest_way);
  IsomapModel wrong = model;
  wrong.places(5, 0) += 0.01 * model.longest_way;
  EXPECT_FALSE(certify(wrong, MemoryRows(roll.points), {}).holds());
}

TEST(Isomap, PiecesAreJoinedByTheirShortestEdgesOrRefused) {
  const Matrix x = two_clouds(30, 3);
  const auto model = fit(Isomap{.neighbors = 5}, x);
  EXPECT_EQ(model.graph_pieces, 2);
  ASSERT_EQ(model.warnings.size(), 1U);
  EXPECT_EQ(model.warnings[0], "the graph of 5 neighbours is in 2 pieces, which were joined by their 1 shortest edge");
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const std::string refusal = message_of([&] { fit(Isomap{.neighbors = 5, .pieces = Pieces::refuse}, x); });
  EXPECT_NE(refusal.find("in 2 pieces (the largest has 30 of 60 rows)"), std::string::npos) << refusal;
}

TEST(Isomap, TheNaturalWrongStraightDistancesFail) {
  const SwissRoll roll = swiss_roll();
  const Matrix x = roll.points.topRows(300);
  IsomapModel model = fit(Isomap{}, x);
  const auto straight = fit(Mds{}, x);
  model.places = straight.places;
  model.eigenvalues = straight.eigenvalues.head(2);
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
}

TEST(Isomap, EqualRowsAreNoObstacle) {
  Matrix x = normal_matrix(60, 3, 3);
  x.topRows(20) = x.middleRows(20, 20).eval();
  const auto model = fit(Isomap{.neighbors = 6}, x);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_LE((model.places.topRows(20) - model.places.middleRows(20, 20)).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Isomap, BadInputIsRefused) {
  const Matrix x = normal_matrix(10, 3, 3);
  EXPECT_NE(message_of([&] { fit(Isomap{.neighbors = 10}, x); }).find("neighbors is 10, must be below 10"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(Isomap{}, Matrix::Ones(20, 2)); }).find("all 20 rows are equal"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(Isomap{.neighbors = 3, .landmarks = 2}, x); }).find("landmarks is 2"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(Isomap{.neighbors = 3, .landmarks = 20}, x); }).find("must be below 10"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(Isomap{.neighbors = 3, .gigabytes = 1e-7}, x); }).find("--landmarks"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
