// lemma/embed/ltsa_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/row_views.hpp>
#include <lemma/embed/hessian_lle.hpp>
#include <lemma/embed/ltsa.hpp>
#include <lemma/embed/shared/swiss_roll_test.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

TEST(Ltsa, TheSwissRollUnrolls) {
  const SwissRoll roll = swiss_roll();
  const auto model = fit(Ltsa{}, roll.points);
  EXPECT_GE(r_squared(model.places, roll.plane.col(0)), 0.98);
  EXPECT_GE(r_squared(model.places, roll.plane.col(1)), 0.98);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_EQ(model.certificate.strength, Strength::optimal);
}

/// Of a plane, however it lies in space, places are its coordinates up to an affine map, and the eigenvalues are 0.
TEST(Ltsa, OfAPlaneFindsThePlane) {
  const Matrix plane = normal_matrix(150, 2, 3), x = plane * normal_matrix(2, 5, 4);
  const auto model = fit(Ltsa{}, x);
  EXPECT_LE(model.eigenvalues.maxCoeff(), 1e-12);
  for (Index k = 0; k < 2; ++k) EXPECT_GE(r_squared(model.places, plane.col(k)), 1 - 1e-9);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(Ltsa, TheNaturalWrongMatrixOfSecondDerivativesFails) {
  const Matrix x = swiss_roll().points.topRows(300);
  LtsaModel model = fit(Ltsa{}, x);
  const auto other = fit(HessianLle{}, x);
  model.places = other.places;
  model.eigenvalues = other.eigenvalues;
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
  LtsaModel shifted = fit(Ltsa{.dimensions = 2}, x);
  shifted.places.col(0).swap(shifted.places.col(1));
  EXPECT_FALSE(certify(shifted, MemoryRows(x), {}).holds());
}

TEST(Ltsa, BadInputIsRefused) {
  const Matrix x = normal_matrix(30, 3, 3);
  EXPECT_NE(message_of([&] { fit(Ltsa{.neighbors = 2}, x); }).find("must be at least 3"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(Ltsa{.dimensions = 4}, x); }).find("must be at most 3"), std::string::npos);
  Matrix copies = x;
  copies.topRows(20) = x.row(0).replicate(20, 1);
  EXPECT_NE(message_of([&] { fit(Ltsa{}, copies); }).find("row 1 and its neighbours span less than 2 dimensions"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
