// lemma/embed/shared/largest_piece_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/row_views.hpp>
#include <lemma/embed/isomap.hpp>
#include <lemma/embed/laplacian_eigenmaps.hpp>
#include <lemma/embed/lle.hpp>
#include <lemma/embed/shared/swiss_roll_test.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Every third row lies in a cloud of its own.
struct TwoClouds {
  Matrix x = normal_matrix(65, 3, 5);
  std::vector<Index> large, small;
  TwoClouds() {
    for (Index i = 0; i < x.rows(); ++i) {
      (i % 3 == 0 ? small : large).push_back(i);
      if (i % 3 == 0) x.row(i).array() += 50;
    }
  }
};

Matrix turned_over(const Matrix& x) { return x.colwise().reverse(); }

Table table_of(const Matrix& x) {
  Table out({}, "clouds");
  const char* names[] = {"a", "b", "c"};
  for (Index j = 0; j < x.cols(); ++j) out.add(numeric(names[j], {x.col(j).begin(), x.col(j).end()}));
  return out;
}

template <class Spec>
class LargestPiece : public testing::Test {};
using Methods = testing::Types<Isomap, LaplacianEigenmaps, Lle>;
TYPED_TEST_SUITE(LargestPiece, Methods);

TYPED_TEST(LargestPiece, IsPlacedAsIfItWereAllThereIs) {
  const TwoClouds two;
  const auto model = fit(TypeParam{.neighbors = 5, .pieces = Pieces::largest}, two.x);
  const auto alone = fit(TypeParam{.neighbors = 5}, Matrix(two.x(two.large, Eigen::all)));
  EXPECT_EQ(model.places, alone.places);
  EXPECT_EQ(model.trustworthiness, alone.trustworthiness);
  EXPECT_EQ(model.left_out.of, two.small);
  EXPECT_EQ(model.graph_pieces, 2);
  ASSERT_EQ(model.warnings.size(), 1U);
  EXPECT_EQ(model.warnings[0],
            "the graph of 5 neighbours is in 2 pieces; the largest has places, 43 of 65 rows, and 22 are left out "
            "(left_out)");
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_LE((model.transform(two.x(two.large, Eigen::all)) - alone.transform(two.x(two.large, Eigen::all))).norm(), 0);
}

TYPED_TEST(LargestPiece, IsFoundAnewAmongRowsInAnyOrder) {
  const TwoClouds two;
  auto model = fit(TypeParam{.neighbors = 5, .pieces = Pieces::largest}, two.x);
  EXPECT_TRUE(certify(model, MemoryRows(two.x), {}).holds());
  const Matrix over = turned_over(two.x);
  EXPECT_TRUE(certify(model, MemoryRows(over), {}).holds());
  const Matrix kept = two.x(two.large, Eigen::all);
  EXPECT_NE(message_of([&] { certify(model, MemoryRows(kept), {}); }).find("fitted on 65 rows and is given 43"),
            std::string::npos);
  model.left_out.of[3] += 1;
  EXPECT_FALSE(certify(model, MemoryRows(two.x), {}).holds());
}

TYPED_TEST(LargestPiece, TheNaturalWrongSmallerPieceOrAllPiecesFail) {
  const TwoClouds two;
  auto model = fit(TypeParam{.neighbors = 5, .pieces = Pieces::largest}, two.x);
  const auto all = fit(TypeParam{.neighbors = 5}, two.x);
  model.places = all.places(two.large, Eigen::all);  // of the graph with the pieces joined
  model.eigenvalues = all.eigenvalues;
  EXPECT_FALSE(certify(model, MemoryRows(two.x), {}).holds());
  auto smaller = fit(TypeParam{.neighbors = 5}, Matrix(two.x(two.small, Eigen::all)));
  smaller.spec.pieces = Pieces::largest;
  smaller.left_out.of = two.large;
  smaller.graph_pieces = 2;
  EXPECT_NE(message_of([&] { certify(smaller, MemoryRows(two.x), {}); }).find("has 43 of these rows"),
            std::string::npos);
}

TYPED_TEST(LargestPiece, RowsKeepTheirNumbers) {
  const TwoClouds two;
  const Table table = table_of(two.x);
  const auto model = fit(TypeParam{.neighbors = 5, .pieces = Pieces::largest}, formula("~ a + b + c"), table);
  const Table places = model.trained.result_table("coordinates");
  ASSERT_EQ(places.rows(), 43);
  EXPECT_EQ(places.column("row").text(0), "2");
  EXPECT_EQ(places.column("row").text(42), "65");
  EXPECT_EQ(model.trained.result_table("left_out").column("left_out").numbers().values[1], 4);
  EXPECT_TRUE(model.trained.verify(MemoryTableStream(table)).certificate.holds());
}

TYPED_TEST(LargestPiece, OfPiecesOfOneSizeIsThatWithTheFirstRow) {
  const Matrix x = two_clouds(30, 3);
  const auto model = fit(TypeParam{.neighbors = 5, .pieces = Pieces::largest}, x);
  EXPECT_EQ(model.left_out.of.front(), 30);
  EXPECT_TRUE(certify(model, MemoryRows(x), {}).holds());
  const Matrix over = turned_over(x);
  EXPECT_TRUE(certify(model, MemoryRows(over), {}).holds());
}

TYPED_TEST(LargestPiece, OfOnePieceAreAllRows) {
  const Matrix x = normal_matrix(40, 3, 5);
  const auto model = fit(TypeParam{.neighbors = 8, .pieces = Pieces::largest}, x);
  EXPECT_TRUE(model.left_out.of.empty());
  EXPECT_TRUE(model.warnings.empty());
  EXPECT_EQ(model.places, fit(TypeParam{.neighbors = 8}, x).places);
}

TYPED_TEST(LargestPiece, WithoutEnoughRowsIsRefused) {
  const Matrix x = normal_matrix(30, 3, 5);
  const std::string refusal = message_of([&] { fit(TypeParam{.radius = 1e-3, .pieces = Pieces::largest}, x); });
  EXPECT_NE(refusal.find("the largest has 1 of 30 rows, must have at least 3; take a larger radius"), std::string::npos)
      << refusal;
  Matrix equal = x;
  equal.topRows(20).rowwise() = x.row(0);
  EXPECT_NE(message_of([&] { fit(TypeParam{.radius = 1e-3, .pieces = Pieces::largest}, equal); }).find("are equal"),
            std::string::npos);
}

TEST(LargestPieceOfIsomap, HasTheLandmarks) {
  const TwoClouds two;
  const auto model = fit(Isomap{.neighbors = 5, .landmarks = 12, .pieces = Pieces::largest}, two.x);
  ASSERT_EQ(model.landmarks.of.size(), 12U);
  for (const Index i : model.landmarks.of) EXPECT_NE(i % 3, 0);
  EXPECT_TRUE(certify(model, MemoryRows(two.x), {}).holds());
  EXPECT_LE((model.transform(two.x(two.large, Eigen::all)) - model.places).cwiseAbs().maxCoeff(),
            1e-6 * model.longest_way);
}

TEST(LargestPieceOfIsomap, OfASquareIsThatOfItsRows) {
  const TwoClouds two;
  const Matrix square = Dissimilarities::of_rows(two.x, Metric()).square();
  const auto rows = fit(Isomap{.neighbors = 5, .pieces = Pieces::largest}, two.x);
  const auto model = fit(Isomap{.input = Input::square, .neighbors = 5, .pieces = Pieces::largest}, square);
  EXPECT_EQ(model.left_out.of, two.small);
  EXPECT_LE((Dissimilarities::of_rows(model.places, Metric()).square() -
             Dissimilarities::of_rows(rows.places, Metric()).square())
                .cwiseAbs()
                .maxCoeff(),
            1e-8);
  EXPECT_TRUE(certify(model, MemoryRows(square), {}).holds());
  EXPECT_LE((model.transform(square(two.large, Eigen::all)) - model.places).cwiseAbs().maxCoeff(),
            1e-6 * model.longest_way);
  const Matrix pairs{{1, 2, 1}, {2, 3, 1}, {1, 3, 2}, {4, 5, 1}, {5, 6, 1}, {4, 6, 1}};
  EXPECT_NE(message_of([&] {
              fit(Isomap{.input = Input::pairs, .neighbors = 2, .pieces = Pieces::largest}, pairs);
            }).find("takes rows or a square"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
