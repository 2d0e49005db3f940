// lemma/embed/shared/given_test.cpp: graph methods of dissimilarities that are given, all or some.
#include <gtest/gtest.h>
#include <lemma/core/row_views.hpp>
#include <lemma/embed/diffusion_map.hpp>
#include <lemma/embed/isomap.hpp>
#include <lemma/embed/laplacian_eigenmaps.hpp>
#include <lemma/embed/mvu.hpp>
#include <lemma/embed/shared/swiss_roll_test.hpp>
#include <lemma/embed/tsne.hpp>
#include <lemma/geometry/dissimilarities.hpp>
#include <lemma/model/fit.hpp>
#include <limits>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Matrix some_rows() { return swiss_roll().points.topRows(200); }
Matrix square_of(const Matrix& x) { return Dissimilarities::of_rows(x, Metric()).square(); }

/// The square with those pairs alone that are no farther than `most`.
Matrix near_alone(Matrix square, double most) {
  for (Index i = 0; i < square.rows(); ++i)
    for (Index j = 0; j < square.cols(); ++j)
      if (square(i, j) > most) square(i, j) = kNone;
  return square;
}

/// i, j, d of the pairs that are known.
Matrix pairs_of(const Matrix& square) {
  std::vector<Eigen::RowVector3d> rows;
  for (Index i = 0; i < square.rows(); ++i)
    for (Index j = i + 1; j < square.cols(); ++j)
      if (!std::isnan(square(i, j))) rows.emplace_back(static_cast<double>(i), static_cast<double>(j), square(i, j));
  Matrix out(static_cast<Index>(rows.size()), 3);
  for (std::size_t k = 0; k < rows.size(); ++k) out.row(static_cast<Index>(k)) = rows[k];
  return out;
}

Certificate seen_again(const auto& model, const Matrix& data) {
  MemoryRows rows(data);
  rows.features = model.things;
  rows.features.resize(at(data.cols()));
  return certify(model, rows, {});
}

/// The picture of the rows is that of their distances, as a square and as pairs.
template <class Spec>
void is_the_same_of_distances(Spec spec, double unit) {
  const Matrix x = some_rows(), square = square_of(x);
  const auto rows = fit(spec, x);
  for (const Input input : {Input::square, Input::pairs}) {
    spec.input = input;
    const Matrix data = input == Input::square ? square : pairs_of(square);
    const auto given = fit(spec, data);
    EXPECT_LE((given.places - rows.places).cwiseAbs().maxCoeff(), unit);
    EXPECT_NEAR(given.stress_1, rows.stress_1, 1e-6);
    EXPECT_EQ(given.things.size(), 200U);
    EXPECT_TRUE(given.certificate.holds()) << given.certificate.message;
    EXPECT_TRUE(seen_again(given, data).holds());
    auto moved = given;
    moved.places(3, 0) += 0.01 * rows.places.cwiseAbs().maxCoeff();
    EXPECT_FALSE(seen_again(moved, data).holds());
  }
}

TEST(Given, IsomapOfDistancesIsThatOfTheRows) { is_the_same_of_distances(Isomap{.neighbors = 8}, 1e-6); }
TEST(Given, EigenmapsOfDistancesAreThoseOfTheRows) {
  is_the_same_of_distances(LaplacianEigenmaps{.neighbors = 8, .affinity = Affinity::heat}, 1e-6);
  is_the_same_of_distances(LaplacianEigenmaps{.radius = 6}, 1e-6);
}
TEST(Given, TheDiffusionMapOfDistancesIsThatOfTheRows) { is_the_same_of_distances(DiffusionMap{}, 1e-8); }

/// The affinities are those of the rows; the order of things is their own, and leads to a minimum of its own.
TEST(Given, NeighboursOfDistancesAreThoseOfTheRows) {
  const Matrix x = some_rows().topRows(80), square = square_of(x);
  const auto rows = fit(Tsne{.perplexity = 10}, x), given = fit(Tsne{.input = Input::square, .perplexity = 10}, square);
  EXPECT_LE((given.bandwidths - rows.bandwidths).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_NEAR(given.kl_divergence, rows.kl_divergence, 0.5 * rows.kl_divergence);
  EXPECT_TRUE(seen_again(given, square).holds()) << given.certificate.message;
  const auto groups = fit(Tsne{.input = Input::square, .perplexity = 10, .forces = TsneForces::barnes_hut}, square);
  EXPECT_LE((groups.bandwidths - rows.bandwidths).cwiseAbs().maxCoeff(), 0.05 * rows.bandwidths.maxCoeff());
}

TEST(Given, UnfoldingTakesDistancesToo) {  // five links of length 1 around two corners
  const Matrix x = (Matrix(6, 2) << 0, 0, 1, 0, 2, 0, 2, 1, 2, 2, 1, 2).finished(), square = square_of(x);
  const auto model = fit(Mvu{.input = Input::square, .radius = 1.1, .dimensions = 1}, square);
  EXPECT_NEAR(model.variance, 17.5, 1e-3);
  EXPECT_TRUE(seen_again(model, square).holds());
}

TEST(Given, PairsThatAreFarNeedNotBeKnown) {
  const Matrix square = square_of(some_rows()), near = near_alone(square, 15);
  const Isomap spec{.input = Input::square, .neighbors = 6};
  const auto all = fit(spec, square), some = fit(spec, near);
  EXPECT_LE((some.places - all.places).cwiseAbs().maxCoeff(), 1e-9 * all.longest_way);
  EXPECT_TRUE(std::isnan(some.trustworthiness));
  EXPECT_TRUE(seen_again(some, near).holds());
  const auto pairs = fit(Isomap{.input = Input::pairs, .neighbors = 6}, pairs_of(near));
  EXPECT_LE((pairs.places - all.places).cwiseAbs().maxCoeff(), 1e-9 * all.longest_way);
  EXPECT_NE(message_of([&] { fit(DiffusionMap{.input = Input::square}, near); }).find("is not given"),
            std::string::npos);
}

TEST(Given, NewThingsLieWhereTheirDistancesPutThem) {
  const Matrix x = some_rows(), all = square_of(x), square = all.topLeftCorner(180, 180),
               fresh = all.rightCols(20).transpose().leftCols(180);
  const auto as_rows = fit(Isomap{.neighbors = 8}, Matrix(x.topRows(180)));
  const auto isomap = fit(Isomap{.input = Input::square, .neighbors = 8}, square);
  EXPECT_LE((isomap.transform(fresh) - as_rows.transform(x.bottomRows(20))).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LE((isomap.transform(square) - isomap.places).cwiseAbs().maxCoeff(), 1e-6 * isomap.longest_way);
  IsomapModel damaged = isomap;
  damaged.edges(7, 2) *= 1.01;
  EXPECT_FALSE(seen_again(damaged, square).holds());
  const auto maps = fit(LaplacianEigenmaps{.neighbors = 8}, Matrix(x.topRows(180)));
  const auto given = fit(LaplacianEigenmaps{.input = Input::square, .neighbors = 8}, square);
  EXPECT_LE((given.transform(fresh) - maps.transform(x.bottomRows(20))).cwiseAbs().maxCoeff(), 1e-6);
  const auto walk = fit(DiffusionMap{.input = Input::square}, square);
  EXPECT_LE((walk.transform(square) - walk.places).cwiseAbs().maxCoeff(), 1e-6);
  const auto pairs = fit(Isomap{.input = Input::pairs, .neighbors = 8}, pairs_of(square));
  EXPECT_NE(message_of([&] { pairs.transform(Matrix::Zero(1, 3)); }).find("a model of pairs does not place"),
            std::string::npos);
}

TEST(Given, WhatCannotBeUsedIsRefused) {
  const auto refusal = [](const Matrix& data, Input input = Input::square) {
    return message_of([&] { fit(Isomap{.input = input, .neighbors = 2}, data); });
  };
  const auto has = [](const std::string& said, const std::string& words) {
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  Matrix square = square_of(some_rows().topRows(5));
  has(refusal(Matrix::Zero(5, 5)), "all 5 things are equal");
  has(refusal(square.topRows(4)), "as many columns as rows");
  square(0, 1) = 7;
  has(refusal(square), "it must be the same");
  has(refusal(Matrix{{0, 1, 2, 1}, {1, 2, 1, 0.5}, {0, 2, 3, 1}, {2, 3, 3, 1}}, Input::pairs), "no weights here");
  has(refusal(Matrix{{0, 1, 2}, {2, 3, 1}, {0, 4, 3}}, Input::pairs), "no chain of known pairs leads from '0' to '2'");
}

TEST(Given, GowerComparesMixedColumns) {
  Table table({}, "mixed");
  std::vector<double> size;
  std::vector<std::string> colour;
  for (Index i = 0; i < 60; ++i) {
    size.push_back(static_cast<double>(i % 20));
    colour.emplace_back(i % 3 == 0 ? "red" : "blue");
  }
  table.add(numeric("size", size));
  table.add(categorical("colour", colour));
  const auto graph = fit(Isomap{.metric = Metric(GowerMetric{})}, formula("~ size + colour"), table);
  EXPECT_EQ(graph.columns, 2);  // codes, not an indicator for each level
  EXPECT_TRUE(graph.certificate.holds()) << graph.certificate.message;
  const auto walk = fit(DiffusionMap{.metric = Metric(GowerMetric{})}, formula("~ size + colour"), table);
  EXPECT_EQ(walk.columns, 2);
  EXPECT_TRUE(walk.certificate.holds()) << walk.certificate.message;
}

}  // namespace
}  // namespace lemma
