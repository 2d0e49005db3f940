// lemma/embed/hessian_lle_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/row_views.hpp>
#include <lemma/embed/hessian_lle.hpp>
#include <lemma/embed/ltsa.hpp>
#include <lemma/embed/shared/swiss_roll_test.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

TEST(HessianLle, TheSwissRollUnrolls) {
  const SwissRoll roll = swiss_roll();
  const auto model = fit(HessianLle{}, roll.points);
  EXPECT_GE(r_squared(model.places, roll.plane.col(0)), 0.98);
  EXPECT_GE(r_squared(model.places, roll.plane.col(1)), 0.98);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(HessianLle, OfAPlaneFindsThePlane) {
  const Matrix plane = normal_matrix(150, 2, 3), x = plane * normal_matrix(2, 5, 4);
  const auto model = fit(HessianLle{}, x);
  EXPECT_LE(model.eigenvalues.maxCoeff(), 1e-12);
  for (Index k = 0; k < 2; ++k) EXPECT_GE(r_squared(model.places, plane.col(k)), 1 - 1e-9);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(HessianLle, TheNaturalWrongAlignmentOfPlanesFails) {
  const Matrix x = swiss_roll().points.topRows(300);
  HessianLleModel model = fit(HessianLle{}, x);
  const auto other = fit(Ltsa{}, x);
  model.places = other.places;
  model.eigenvalues = other.eigenvalues;
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
}

TEST(HessianLle, BadInputIsRefused) {
  const Matrix x = normal_matrix(30, 3, 3);
  EXPECT_NE(message_of([&] { fit(HessianLle{.neighbors = 4}, x); }).find("must be at least 5"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(HessianLle{.neighbors = 20, .dimensions = 4}, x); }).find("must be at most 3"),
            std::string::npos);
  const std::string lonely = message_of([&] { fit(HessianLle{.radius = 1e-3}, x); });
  EXPECT_TRUE(lonely.find("span less than") != std::string::npos ||
              lonely.find("within the radius") != std::string::npos)
      << lonely;
}

}  // namespace
}  // namespace lemma
