// lemma/embed/laplacian_eigenmaps_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/row_views.hpp>
#include <lemma/embed/laplacian_eigenmaps.hpp>
#include <lemma/embed/shared/swiss_roll_test.hpp>
#include <lemma/model/fit.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

Vector after_first(const Vector& eigenvalues) { return eigenvalues.tail(eigenvalues.size() - 1); }

void agrees_with(const Golden& golden, const LaplacianEigenmapsModel& normalised,
                 const LaplacianEigenmapsModel& plain) {
  EXPECT_TRUE(golden.agrees("degree_sum", normalised.degree_sum));
  EXPECT_TRUE(golden.agrees("n_components_graph", static_cast<double>(normalised.graph_pieces)));
  const Vector of_normalised = after_first(golden.vector("eigenvalues_normalised")),
               of_plain = after_first(golden.vector("eigenvalues_unnormalised"));
  ASSERT_EQ(normalised.eigenvalues.size(), of_normalised.size());
  EXPECT_LE((normalised.eigenvalues - of_normalised).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_LE((plain.eigenvalues - of_plain).cwiseAbs().maxCoeff(), 1e-7 * std::max(1.0, of_plain.maxCoeff()));
  EXPECT_TRUE(golden.agrees("fiedler_abs_first6",
                            Vector(normalised.places.col(0).head(6) / normalised.places.col(0).norm()), "abs", 1e-6) ||
              golden.agrees("fiedler_abs_first6",
                            Vector(normalised.places.col(0).head(6).cwiseAbs() / normalised.places.col(0).norm())));
  EXPECT_TRUE(normalised.certificate.holds()) << normalised.certificate.message;
  EXPECT_TRUE(plain.certificate.holds()) << plain.certificate.message;
}

TEST(LaplacianEigenmaps, OfTheSwissRollAreTheReference) {
  const Matrix x = swiss_roll().points;
  agrees_with(Golden("laplacian_swiss_roll_k10"), fit(LaplacianEigenmaps{.dimensions = 11}, x),
              fit(LaplacianEigenmaps{.normalised = false, .dimensions = 11}, x));
}

TEST(LaplacianEigenmaps, OfIrisByHeatAreTheReference) {
  LaplacianEigenmaps spec{.radius = 100, .affinity = Affinity::heat, .sigma = 0.5, .dimensions = 11};
  const auto normalised = fit(spec, formula("~ . - species"), dataset("iris"));
  spec.normalised = false;
  agrees_with(Golden("laplacian_iris_rbf"), normalised, fit(spec, formula("~ . - species"), dataset("iris")));
}

TEST(LaplacianEigenmaps, PlacesAreWeightedByDegreesOrNot) {
  const Matrix x = swiss_roll().points.topRows(300);
  const auto plain = fit(LaplacianEigenmaps{.normalised = false}, x);
  EXPECT_LE((plain.places.transpose() * plain.places / 300 - Matrix::Identity(2, 2)).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LE(plain.places.colwise().mean().cwiseAbs().maxCoeff(), 1e-9);
}

TEST(LaplacianEigenmaps, NewRowsLieAmongTheirNeighbours) {
  const SwissRoll roll = swiss_roll();
  for (const bool normalised : {true, false}) {
    const auto model =
        fit(LaplacianEigenmaps{.affinity = Affinity::heat, .normalised = normalised}, Matrix(roll.points.topRows(900)));
    EXPECT_TRUE(model.spec.sigma.has_value());
    const Matrix again = model.transform(roll.points);
    for (Index k = 0; k < 2; ++k) EXPECT_GE(r_squared(again.col(k).head(900), model.places.col(k)), 0.98);
  }
}

TEST(LaplacianEigenmaps, TheNaturalWrongLaplacianFails) {
  const Matrix x = swiss_roll().points.topRows(300);
  LaplacianEigenmapsModel model = fit(LaplacianEigenmaps{}, x);
  const auto plain = fit(LaplacianEigenmaps{.normalised = false}, x);
  model.places = plain.places;
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
  LaplacianEigenmapsModel shifted = fit(LaplacianEigenmaps{.dimensions = 3}, x);
  shifted.spec.dimensions = 2;
  shifted.places = shifted.places.rightCols(2).eval();
  shifted.eigenvalues = shifted.eigenvalues.tail(2).eval();
  EXPECT_FALSE(certify(shifted, MemoryRows(x), {}).holds());
}

TEST(LaplacianEigenmaps, BadInputIsRefused) {
  const Matrix x = normal_matrix(30, 3, 3);
  EXPECT_NE(message_of([&] { fit(LaplacianEigenmaps{.sigma = 1}, x); }).find("sigma"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(LaplacianEigenmaps{.neighbors = 30}, x); }).find("must be below 30"),
            std::string::npos);
  EXPECT_NE(
      message_of([&] { fit(LaplacianEigenmaps{.affinity = Affinity::heat, .sigma = 1e-3}, x); }).find("no affinity"),
      std::string::npos);
  const std::string refusal = message_of([&] { fit(LaplacianEigenmaps{.pieces = Pieces::refuse}, two_clouds(30, 3)); });
  EXPECT_NE(refusal.find("in 2 pieces"), std::string::npos);
}

}  // namespace
}  // namespace lemma
