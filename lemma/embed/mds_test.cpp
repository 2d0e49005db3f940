// lemma/embed/mds_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/embed/mds.hpp>
#include <lemma/embed/shared/centred.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/model/fit.hpp>
#include <limits>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

Matrix distances_of(const Matrix& places) { return Dissimilarities::of_rows(places, Metric()).square(); }

auto uscities(const Mds& spec = {.input = Input::square}) {
  return fit(spec, formula("~ . - city"), dataset("uscities"));
}
auto iris() { return fit(Mds{}, formula("~ . - species"), dataset("iris")); }

double sum_of_squares(const Matrix& things, const Matrix& places) {
  return 0.5 * (things - distances_of(places)).squaredNorm();
}

TEST(Mds, OfIrisIsThatOfR) {
  const Golden golden("cmdscale_iris");
  const auto model = iris();
  EXPECT_TRUE(golden.agrees("eigenvalues", Vector(model.eigenvalues.head(10))));
  EXPECT_TRUE(golden.agrees("gof", model.goodness_of_fit));
  EXPECT_TRUE(golden.agrees("points_abs", Matrix(model.places.topRows(6))));
  EXPECT_TRUE(golden.agrees("embedded_distances", distances_of(model.places.topRows(6))));
  EXPECT_TRUE(golden.agrees("strain", model.strain));
  EXPECT_TRUE(golden.agrees("stress_sum_sq", sum_of_squares(distances_of(model.points), model.places)));
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_EQ(model.certificate.strength, Strength::optimal);
}

TEST(Mds, OfCitiesIsThatOfR) {
  const Golden golden("cmdscale_uscities");
  const auto model = uscities();
  EXPECT_TRUE(golden.agrees("eigenvalues", model.eigenvalues));
  EXPECT_TRUE(golden.agrees("gof", model.goodness_of_fit));
  EXPECT_TRUE(golden.agrees("points_abs", model.places));
  EXPECT_TRUE(golden.agrees("embedded_distances", distances_of(model.places)));
  EXPECT_TRUE(golden.agrees("strain", model.strain));
  EXPECT_NEAR(model.negative_share, 1 - 11279088.463 / 11320932.626, 1e-6);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_EQ(model.things.front(), "ATLA");
  EXPECT_EQ(model.trained.result_table("coordinates").column("thing").text(0), "ATLA");
}

TEST(Mds, PairsSayWhatASquareSays) {
  const auto square = uscities();
  const Table cities = dataset("uscities");
  std::vector<std::string> from, to;
  std::vector<double> miles;
  for (Index i = 0; i < 10; ++i)
    for (Index j = 0; j < i; ++j) {
      from.push_back(square.things[at(i)]);
      to.push_back(square.things[at(j)]);
      miles.push_back(cities.column(square.things[at(i)]).numbers().values[at(j)]);
    }
  Table table({}, "pairs");
  table.add(categorical("from", from));
  table.add(categorical("to", to));
  table.add(numeric("miles", miles));
  const auto pairs = fit(Mds{.input = Input::pairs}, formula("~ from + to + miles"), table);
  EXPECT_EQ(pairs.things,
            (std::vector<std::string>{"ATLA", "CHIG", "DC", "DENV", "HOUS", "LA", "MIAM", "NY", "SEAT", "SF"}));
  EXPECT_LE((pairs.eigenvalues - square.eigenvalues).norm(), 1e-6);
  EXPECT_EQ(pairs.trained.result_table("coordinates").rows(), 10);
  EXPECT_EQ(pairs.trained.result_table("coordinates").column("thing").text(2), "DC");
  EXPECT_TRUE(pairs.trained.verify(MemoryTableStream(table)).certificate.holds());
  EXPECT_NE(message_of([&] { pairs.trained.predict(table); }), "no error");
  EXPECT_NE(message_of([&] {
              fit(Mds{.input = Input::pairs}, formula("~ from + to + miles"), table.slice(0, 44));
            }).find("is not given"),
            std::string::npos);
}

TEST(Mds, OfEuclideanDistancesFindsThePlacesAgainUpToATurn) {
  const Matrix x = normal_matrix(40, 3, 7);
  const auto model = fit(Mds{.dimensions = 3}, x);
  EXPECT_LE((distances_of(model.places) - distances_of(x)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LE(model.stress_1, 1e-12);
  EXPECT_EQ(model.trustworthiness, 1);
  EXPECT_EQ(model.continuity, 1);
  EXPECT_EQ(model.kept_neighbors, 1);
  EXPECT_LE(model.negative_share, 1e-12);
}

TEST(Mds, NewRowsLieWhereTheTriangleRulePutsThem) {
  const Matrix x = normal_matrix(60, 3, 7);
  const auto model = fit(Mds{.dimensions = 3}, Matrix(x.topRows(50)));
  const Matrix y = model.transform(x);
  EXPECT_LE((y.topRows(50) - model.places).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LE((distances_of(y) - distances_of(x)).cwiseAbs().maxCoeff(), 1e-11);  // they lie in the space of the others
}

TEST(Mds, ARowOfASquareLiesWhereItsThingDoes) {
  for (const bool additive : {false, true}) {
    const auto model = uscities({.input = Input::square, .additive = additive});
    EXPECT_LE((model.transform(dataset("uscities")) - model.places).cwiseAbs().maxCoeff(), 1e-8);
  }
  const auto model = uscities();
  Matrix wrong = Matrix::Zero(1, 10);
  wrong(0, 3) = -1;
  EXPECT_NE(message_of([&] { model.transform(wrong); }).find("row 1 and 'HOUS' is -1"), std::string::npos);
}

TEST(Mds, TheAdditiveConstantIsTheLeastThatLeavesNoNegativeEigenvalue) {
  for (const char* name : {"uscities", "eurodist"}) {
    const auto model = fit(Mds{.input = Input::square, .additive = true}, formula("~ . - city"), dataset(name));
    EXPECT_GT(model.constant, 0);
    EXPECT_GE(model.eigenvalues.minCoeff(), -1e-9 * model.eigenvalues(0)) << name;
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
    const auto given = fit(Mds{.input = Input::square}, formula("~ . - city"), dataset(name));
    const Matrix square = dataset(name).rows() > 0 ? Matrix(given.design.apply(dataset(name)).x) : Matrix();
    const auto d = Dissimilarities::of_square(square);
    const double unit = square.maxCoeff();
    const auto least = [&](double c) { return symmetric_eigen(centred_squares(d, unit, c).inner).values.minCoeff(); };
    EXPECT_LT(least(0.99 * model.constant), -1e-6) << name;
    EXPECT_GT(least(model.constant), -1e-9) << name;
  }
}

/// Distances of places in a plane, of which three tenths are not known.
Matrix with_gaps(const Matrix& square) {
  Matrix out = square;
  for (Index i = 0; i < out.rows(); ++i)
    for (Index j = 0; j < i; ++j)
      if ((7 * i + 3 * j) % 10 < 3) out(i, j) = out(j, i) = std::numeric_limits<double>::quiet_NaN();
  return out;
}

TEST(Mds, PairsThatAreNotGivenAreFilledInAsTheOthersPlaceThem) {
  const Matrix square = distances_of(normal_matrix(30, 2, 6)), gaps = with_gaps(square);
  const auto scaled = fit(Mds{.input = Input::square, .fill = MdsFill::scaling}, gaps);
  EXPECT_EQ(scaled.filled_pairs, gaps.array().isNaN().count() / 2);
  EXPECT_LE((distances_of(scaled.places) - square).cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_TRUE(scaled.certificate.holds()) << scaled.certificate.message;
  const auto ways = fit(Mds{.input = Input::square, .fill = MdsFill::ways}, gaps);
  EXPECT_TRUE(ways.certificate.holds()) << ways.certificate.message;
  const double off = (distances_of(ways.places) - square).norm() / square.norm();
  EXPECT_LE(off, 0.2);
  EXPECT_GE(off, 1e-3);  // ways around are longer than the way across
  EXPECT_NE(message_of([&] { fit(Mds{.input = Input::square}, gaps); }).find("is not given"), std::string::npos);
  const auto whole = fit(Mds{.input = Input::square, .fill = MdsFill::scaling}, square);
  EXPECT_EQ(whole.filled_pairs, 0);
  EXPECT_LE((whole.places - fit(Mds{.input = Input::square}, square).places).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Mds, TheNaturalWrongFillingByPlacesThatStillMoveFails) {
  const Matrix gaps = with_gaps(distances_of(normal_matrix(30, 2, 6)));
  MdsModel model = fit(Mds{.input = Input::square, .fill = MdsFill::scaling}, gaps);
  const auto ways = fit(Mds{.input = Input::square, .fill = MdsFill::ways}, gaps);
  model.filled_places = ways.places;
  MemoryRows rows(gaps);
  rows.features = model.things;
  const Certificate found = certify(model, rows, {});
  EXPECT_FALSE(found.holds());
  EXPECT_NE(found.message.find("filled_places"), std::string::npos) << found.message;
}

TEST(Mds, OfManyThingsKeepsTheEigenvaluesItNeeds) {
  const Matrix x = normal_matrix(2100, 3, 9) * Vector{{3, 2, 1}}.asDiagonal();
  const auto model = fit(Mds{}, x);
  EXPECT_EQ(model.eigenvalues.size(), 2);
  EXPECT_TRUE(std::isnan(model.negative_share));
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const auto few = fit(Mds{}, Matrix(x.topRows(300)));
  EXPECT_EQ(few.eigenvalues.size(), 300);
}

TEST(Mds, TheNaturalWrongCentringOfTheDistancesThemselvesFails) {
  const Matrix x = normal_matrix(50, 3, 3);
  MdsModel model = fit(Mds{}, x);
  const Eigenpairs wrong = symmetric_eigen(centred_plain(Dissimilarities::of_rows(x, Metric()), 1).inner, 2);
  model.places = wrong.vectors * wrong.values.cwiseSqrt().asDiagonal();
  model.eigenvalues.head(2) = wrong.values;
  model.eigenvalues.tail(48).setZero();
  const Certificate found = certify(model, MemoryRows(x), {});
  EXPECT_FALSE(found.holds()) << found.message;
}

TEST(Mds, TheNaturalWrongChoiceOfAnyTwoEigenvectorsFails) {
  const Matrix x = normal_matrix(50, 3, 3) * Vector{{3, 2, 1}}.asDiagonal();
  MdsModel model = fit(Mds{.dimensions = 3}, x);
  model.spec.dimensions = 2;
  model.places = Matrix(model.places(Eigen::all, std::vector<Index>{0, 2}));
  std::swap(model.eigenvalues(1), model.eigenvalues(2));
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
}

TEST(Mds, RowsAreFoundAgainInAnyOrder) {
  const Matrix x = normal_matrix(30, 2, 3);
  const auto model = fit(Mds{}, x);
  const Matrix turned = x.colwise().reverse();
  EXPECT_TRUE(certify(model, MemoryRows(turned), {}).holds());
  Matrix other = x;
  other(4, 1) += 1e-9;
  EXPECT_FALSE(certify(model, MemoryRows(other), {}).holds());
}

TEST(Mds, WhatCarriesNothingIsLeftOutAndSaid) {
  const Matrix line = Vector::LinSpaced(9, 0, 1);
  const auto model = fit(Mds{}, line);
  EXPECT_EQ(model.dimensions(), 1);
  ASSERT_EQ(model.warnings.size(), 1U);
  EXPECT_EQ(model.warnings[0], "1 of 2 dimensions carry nothing beyond rounding and are left out");
}

TEST(Mds, BadInputIsRefused) {
  EXPECT_NE(message_of([] { fit(Mds{}, Matrix::Ones(5, 2)); }).find("all 5 things are equal"), std::string::npos);
  EXPECT_NE(message_of([] { fit(Mds{}, Matrix::Ones(1, 2)); }).find("at least 2"), std::string::npos);
  EXPECT_NE(message_of([] { fit(Mds{.gigabytes = 1e-6}, normal_matrix(100, 2, 1)); }).find("--gigabytes"),
            std::string::npos);
  EXPECT_NE(
      message_of([] { fit(Mds{.input = Input::square}, normal_matrix(4, 2, 1)); }).find("as many columns as rows"),
      std::string::npos);
}

}  // namespace
}  // namespace lemma
