// lemma/embed/shared/way_back_test.cpp: from a picture back to the columns.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/row_views.hpp>
#include <lemma/embed/isomap.hpp>
#include <lemma/embed/mds.hpp>
#include <lemma/embed/shared/swiss_roll_test.hpp>
#include <lemma/embed/smacof.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

TEST(WayBack, OfAPlaneIsThePlane) {
  const Matrix x = normal_matrix(200, 2, 3) * normal_matrix(2, 5, 4);
  const auto model = fit(Mds{}, x);
  EXPECT_LE((model.inverse(model.places) - x).norm() / x.norm(), 0.02);
  EXPECT_LE(model.inverse_error.maxCoeff(), 0.1 * std::sqrt(x.squaredNorm() / 1000));
}

TEST(WayBack, RollsTheSheetUpAgain) {
  const SwissRoll roll = swiss_roll();
  const auto model = fit(Isomap{}, roll.points);
  const Matrix back = model.inverse(model.places);
  const double spread = (roll.points.rowwise() - roll.points.colwise().mean()).norm();
  EXPECT_LE((back - roll.points).norm() / spread, 0.1);
  EXPECT_NE(model.summary({}).find("Way back to the columns: 0.9"), std::string::npos) << model.summary({});
  // The natural wrong way, one line for all: the roll is not one.
  Matrix a(1000, 3);
  a << Vector::Ones(1000), model.places;
  double line = 0;
  for (Index j = 0; j < 3; ++j) line += (a * least_squares(a, roll.points.col(j)).w - roll.points.col(j)).squaredNorm();
  EXPECT_GE(std::sqrt(line) / spread, 0.5);
}

/// The error told is that of rows that took no part: what a model of the others says at the place left out.
TEST(WayBack, ItsErrorIsThatOfRowsLeftOut) {
  const Matrix x = normal_matrix(40, 4, 8);
  auto model = fit(Mds{}, x);
  Vector squares = Vector::Zero(4);
  for (Index i = 0; i < 40; ++i) {
    MdsModel others = model;
    others.places.resize(39, 2);
    others.points.resize(39, 4);
    for (Index j = 0; j < 39; ++j) {
      others.places.row(j) = model.places.row(j < i ? j : j + 1);
      others.points.row(j) = x.row(j < i ? j : j + 1);
    }
    squares += (others.inverse(model.places.row(i)) - x.row(i)).cwiseAbs2().transpose();
  }
  EXPECT_LE((model.inverse_error - (squares / 40).cwiseSqrt()).cwiseAbs().maxCoeff(), 1e-10);
  model.inverse_error(2) *= 0.99;
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
}

TEST(WayBack, PlacesThatCoincideShareTheirMean) {
  Matrix x = normal_matrix(30, 3, 5);
  x.topRows(20) = x.row(0).replicate(20, 1);
  const auto model = fit(Smacof{}, x);
  const Matrix back = model.inverse(model.places.topRows(1));
  EXPECT_LE((back - x.topRows(1)).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(WayBack, BadInputIsRefused) {
  const Matrix x = normal_matrix(30, 3, 5);
  const auto model = fit(Smacof{}, x);
  EXPECT_NE(message_of([&] { model.inverse(x); }).find("the inverse takes 2 coordinates, and there are 3 columns"),
            std::string::npos);
  EXPECT_EQ(model.inverse(Matrix(0, 2)).rows(), 0);
  const auto given = fit(Smacof{.input = Input::square}, formula("~ . - city"), dataset("uscities"));
  EXPECT_NE(message_of([&] { given.inverse(given.places); }).find("has no inverse here: it was given dissimilarities"),
            std::string::npos);
  EXPECT_EQ(given.inverse_error.size(), 0);
}

}  // namespace
}  // namespace lemma
