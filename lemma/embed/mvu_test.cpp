// lemma/embed/mvu_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/row_views.hpp>
#include <lemma/embed/mds.hpp>
#include <lemma/embed/mvu.hpp>
#include <lemma/embed/shared/swiss_roll_test.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

Certificate seen_again(const MvuModel& model, const Matrix& x) { return certify(model, MemoryRows(x), {}); }

TEST(Mvu, AFoldedChainBecomesStraight) {  // five links of length 1 around two corners: variance of 0, 1, …, 5
  const Matrix x = (Matrix(6, 2) << 0, 0, 1, 0, 2, 0, 2, 1, 2, 2, 1, 2).finished();
  const auto model = fit(Mvu{.radius = 1.1, .dimensions = 1}, x);
  EXPECT_NEAR(model.variance, 17.5, 1e-3);
  EXPECT_NEAR(model.explained(0), 1, 1e-4);
  for (Index i = 0; i < 6; ++i) EXPECT_NEAR(std::abs(model.places(i, 0)), std::abs(static_cast<double>(i) - 2.5), 1e-3);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_EQ(model.certificate.strength, Strength::optimal);
  EXPECT_TRUE(seen_again(model, x).holds());
}

TEST(Mvu, ARingCannotGetWiderThanItIs) {  // n R² of a regular polygon with unit sides, R = 1 / (2 sin(π/n))
  for (const Index n : {5, 6, 12}) {
    const double radius = 0.5 / std::sin(M_PI / static_cast<double>(n));
    Matrix x(n, 3);  // bent in space: every other corner is lifted, and the sides are longer for it
    for (Index i = 0; i < n; ++i) {
      const double angle = 2 * M_PI * static_cast<double>(i) / static_cast<double>(n);
      x.row(i) << radius * std::cos(angle), radius * std::sin(angle), n == 6 ? 0.3 * static_cast<double>(i % 2) : 0.0;
    }
    const double side = n == 6 ? std::sqrt(1.09) : 1;
    const auto model = fit(Mvu{.radius = 1.1}, x);
    EXPECT_EQ(model.tensions.size(), n);
    EXPECT_NEAR(model.variance, static_cast<double>(n) * std::pow(radius * side, 2), 1e-3);
    EXPECT_NEAR(model.eigenvalues(0), model.eigenvalues(1), 1e-3);
    EXPECT_NEAR(model.bound, model.variance, 1e-3);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  }
}

TEST(Mvu, TheSwissRollUnrolls) {
  const SwissRoll roll = swiss_roll();
  const Matrix x = roll.points.topRows(300);
  const auto model = fit(Mvu{}, x);
  EXPECT_GE(std::sqrt(r_squared(model.places, roll.plane.col(0).head(300))), 0.98);
  EXPECT_GE(model.explained.sum(), 0.98);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_TRUE(seen_again(model, x).holds());
}

TEST(Mvu, EqualRowsShareAPlaceAndCountAsManyAsTheyAre) {
  Matrix x(5, 1);
  x << 0, 1, 2, 2, 2;
  const auto model = fit(Mvu{.radius = 1.1, .dimensions = 1}, x);
  EXPECT_EQ(model.places.row(2), model.places.row(3));
  EXPECT_EQ(model.places.row(2), model.places.row(4));
  EXPECT_EQ(model.tensions.size(), 2);
  EXPECT_NEAR(model.variance, 3.2, 1e-3);  // of 0, 1, 2, 2, 2
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(Mvu, TheOrderOfTheRowsAndTheThreadsDoNotMatter) {
  const Matrix x = swiss_roll().points.topRows(60), back = x.colwise().reverse();
  const auto one = fit(Mvu{}, x, CallOptions{.threads = 1}), two = fit(Mvu{}, x, CallOptions{.threads = 2}),
             turned = fit(Mvu{}, back);
  EXPECT_EQ(one.places, two.places);
  EXPECT_EQ(one.places, Matrix(turned.places.colwise().reverse()));
  EXPECT_TRUE(seen_again(one, back).holds());
}

TEST(Mvu, WhatIsNotThePlaceOfLeastTensionFailsItsCertificate) {
  const Matrix x = swiss_roll().points.topRows(60);
  const auto good = fit(Mvu{}, x);
  ASSERT_TRUE(seen_again(good, x).holds());
  auto model = good;  // pulled a little too far
  const double wider = 1.001;
  model.places *= wider, model.unfolded *= wider;
  model.variance *= wider * wider, model.eigenvalues *= wider * wider;
  EXPECT_FALSE(seen_again(model, x).holds());
  model = good;  // not far enough: a picture of less variance
  model.places *= 0.999, model.unfolded *= 0.999;
  model.variance *= 0.999 * 0.999, model.eigenvalues *= 0.999 * 0.999;
  EXPECT_FALSE(seen_again(model, x).holds());
  model = good;  // tensions that hold nothing together
  model.tensions *= 0.999, model.bound *= 0.999;
  EXPECT_FALSE(seen_again(model, x).holds());
  model = good;
  model.tensions(0) = -1e-6;
  EXPECT_FALSE(seen_again(model, x).holds());
  EXPECT_FALSE(seen_again(fit(Mvu{.max_iterations = 3}, x), x).holds());
}

TEST(Mvu, TheNaturalWrongPrincipalComponentsKeepAllDistancesAndFail) {
  const Matrix x = swiss_roll().points.topRows(60);
  MvuModel model = fit(Mvu{}, x);
  const MdsModel space = fit(Mds{.dimensions = 3}, x), plane = fit(Mds{.dimensions = 2}, x);
  static_cast<Embedded&>(model) = plane;  // with how good its picture is
  model.unfolded = space.places;          // rolled up as before: all distances are kept
  model.eigenvalues = plane.eigenvalues.head(2);
  model.variance = space.places.squaredNorm();
  model.explained = model.eigenvalues / model.variance;
  EXPECT_LT(model.variance, 0.9 * model.bound);
  const Certificate found = certify(model, MemoryRows(x), {});
  EXPECT_FALSE(found.holds());
  EXPECT_NE(found.message.find("raise --max_iterations"), std::string::npos) << found.message;
}

TEST(Mvu, PiecesAreJoinedAndSaid) {
  const auto model = fit(Mvu{.neighbors = 4}, two_clouds(15, 2));
  ASSERT_FALSE(model.warnings.empty());
  EXPECT_NE(model.warnings[0].find("2 pieces"), std::string::npos) << model.warnings[0];
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(Mvu, RefusesWhatItCannotUse) {
  const Matrix x = normal_matrix(20, 2, 1);
  const auto says = [&](const Mvu& spec, const Matrix& rows, const std::string& words) {
    const std::string said = message_of([&] { fit(spec, rows); });
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  says({.neighbors = 20}, x, "neighbors is 20, must be below 20");
  says({}, Matrix::Constant(20, 2, 1.0), "all 20 rows are equal");
  says({.neighbors = 4, .pieces = AllPieces::refuse}, two_clouds(15, 2), "2 pieces");
  says({.gigabytes = 1e-6}, x, "raise --gigabytes");
}

}  // namespace
}  // namespace lemma
