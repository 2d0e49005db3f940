// lemma/geometry/compared_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/geometry/compared.hpp>
#include <limits>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Compared of_square(const Matrix& square) {
  MemoryRows rows(square);
  rows.features = {"Rome", "Paris", "Oslo"};
  rows.features.resize(at(square.cols()), "more");
  return compare("mds", Input::square, {}, rows);
}

Matrix triangle() { return Matrix{{0, 3, 4}, {3, 0, 5}, {4, 5, 0}}; }

TEST(Compared, RowsAreAsFarApartAsTheirMetricSays) {
  const Matrix x{{0, 0}, {3, 4}, {0, 1}};
  const Compared found = compare("mds", Input::rows, Metric(ManhattanMetric{}), MemoryRows(x));
  EXPECT_EQ(found.dissimilarities(0, 1), 7);
  EXPECT_EQ(found.dissimilarities(0, 2), 1);
  EXPECT_EQ(found.points, x);
  EXPECT_TRUE(found.names.empty());
}

TEST(Compared, ASquareIsNamedByItsColumns) {
  const Compared found = of_square(triangle());
  EXPECT_EQ(found.names, (std::vector<std::string>{"Rome", "Paris", "Oslo"}));
  EXPECT_EQ(found.dissimilarities(1, 2), 5);
}

TEST(Compared, OfASquareOneTriangleIsEnough) {
  Matrix lower = triangle();
  for (Index i = 0; i < 3; ++i)
    for (Index j = i; j < 3; ++j) lower(i, j) = kNone;
  EXPECT_EQ(of_square(lower).dissimilarities.square(), triangle());
  EXPECT_EQ(of_square(Matrix(lower.transpose())).dissimilarities.square(), triangle());
}

TEST(Compared, ASquareMayHaveGapsForMethodsThatDoWithoutSomePairs) {
  Matrix square = triangle();
  square(0, 1) = square(1, 0) = square(2, 2) = kNone;
  MemoryRows rows(square);
  rows.features = {"Rome", "Paris", "Oslo"};
  const Compared found = compare_known("smacof", Input::square, {}, rows);
  EXPECT_EQ(found.weight, (std::vector<double>{0, 1, 1}));
  EXPECT_EQ(found.dissimilarities(1, 2), 5);
  EXPECT_NE(message_of([&] { found.require_all("mds"); }).find("'Rome' and 'Paris' is not given"), std::string::npos);
  EXPECT_NE(message_of([&] { compare("mds", Input::square, {}, rows); }).find("is missing"), std::string::npos);
  square(0, 1) = 3;  // one of the two places of a pair is a slip
  MemoryRows slip(square);
  slip.features = rows.features;
  EXPECT_NE(message_of([&] { compare_known("smacof", Input::square, {}, slip); }).find("is missing"),
            std::string::npos);
}

Compared triangle_of(const Matrix& table, std::vector<std::string> features) {
  MemoryRows rows(table);
  rows.features = std::move(features);
  return compare_known("mds", Input::square, {}, rows);
}

TEST(Compared, ATriangleMayComeAsRPrintsItOrAsAColumn) {
  const Compared printed = triangle_of(Matrix{{3, kNone}, {4, 5}}, {"Rome", "Paris"});
  EXPECT_EQ(printed.dissimilarities.square(), triangle());
  EXPECT_EQ(printed.names, (std::vector<std::string>{"Rome", "Paris", "3"}));
  const Compared column = triangle_of(Matrix{{3.0}, {4.0}, {5.0}}, {"d"});  // d(2,1), d(3,1), d(3,2)
  EXPECT_EQ(column.dissimilarities.square(), triangle());
  EXPECT_EQ(column.names, (std::vector<std::string>{"1", "2", "3"}));
  const Matrix four{{3.0}, {4.0}, {5.0}, {6.0}};
  EXPECT_NE(message_of([&] { triangle_of(four, {"d"}); }).find("4 rows and 1 column"), std::string::npos);
  EXPECT_EQ(triangle_of(Matrix{{0, kNone}, {4, 0}}, {"a", "b"}).count(), 2);  // a lower triangle with its diagonal
}

TEST(Compared, AWrongSquareIsRefusedByItsFirstWrongPair) {
  const auto refusal = [](Index i, Index j, double value) {
    Matrix square = triangle();
    square(i, j) = value;
    return message_of([&] { of_square(square); });
  };
  EXPECT_EQ(refusal(2, 0, 6),
            "the dissimilarity of 'Rome' and 'Oslo' is 4, but that of 'Oslo' and 'Rome' is 6: it must be the same");
  EXPECT_EQ(refusal(1, 1, 2), "the dissimilarity of 'Paris' and itself is 2, must be 0");
  EXPECT_NE(refusal(0, 1, -3).find("'Rome' and 'Paris' is -3, must not be negative"), std::string::npos);
  EXPECT_NE(refusal(0, 1, kNone).find("'Rome' and 'Paris' is missing"), std::string::npos);
  const Matrix oblong(2, 3);
  EXPECT_NE(message_of([&] { of_square(oblong); }).find("2 rows and 3 columns"), std::string::npos);
}

Compared of_pairs(const Matrix& table, bool named = true) {
  MemoryRows rows(table);
  rows.features = {"from", "to", "miles", "sure"};
  rows.features.resize(at(table.cols()));
  if (named) rows.levels = {{"b", "c"}, {"a", "b"}, {}};
  if (named && table.cols() == 4) rows.levels.emplace_back();
  return compare("metric_mds", Input::pairs, {}, rows);
}

TEST(Compared, PairsAreOrderedByTheirNamesWhicheverColumnTheyStandIn) {
  const Compared found = of_pairs(Matrix{{0, 0, 7}, {1, 1, 2}});  // b–a 7, c–b 2
  EXPECT_EQ(found.names, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(found.dissimilarities(0, 1), 7);
  EXPECT_EQ(found.dissimilarities(2, 1), 2);
  EXPECT_EQ(found.weight, (std::vector<double>{1, 0, 1}));
  EXPECT_NE(message_of([&] { found.require_all("mds"); }).find("'a' and 'c' is not given"), std::string::npos);
}

TEST(Compared, NumbersNameThingsToo) {
  const Compared found = of_pairs(Matrix{{10, 9, 7, 0.5}, {100, 9, 2, 3}}, false);
  EXPECT_EQ(found.names, (std::vector<std::string>{"9", "10", "100"}));
  EXPECT_EQ(found.weight, (std::vector<double>{0.5, 3, 0}));
}

TEST(Compared, WrongPairsAreRefusedByTheirNames) {
  const auto refusal = [](const Matrix& table) { return message_of([&] { of_pairs(table); }); };
  EXPECT_NE(refusal(Matrix{{0, 0, -7}}).find("'b' and 'a' is -7, must not be negative"), std::string::npos);
  EXPECT_NE(refusal(Matrix{{0, 0, 7}, {0, 1, 7}}).find("'b' and 'b' is 7, must be 0"), std::string::npos);
  EXPECT_NE(refusal(Matrix{{0, 0, 7}, {0, 0, 8}}).find("given twice, as 7 and as 8"), std::string::npos);
  EXPECT_NE(refusal(Matrix{{0, 0, kNone}}).find("is missing"), std::string::npos);
  EXPECT_NE(refusal(Matrix{{0, 0, 7, -1}}).find("weight -1"), std::string::npos);
  EXPECT_NE(refusal(Matrix{{0, kNone, 7}}).find("'to' is missing in row 1"), std::string::npos);
  EXPECT_NE(refusal(Matrix{{0, 0}}).find("2 columns"), std::string::npos);
}

TEST(Compared, MemoryIsSaidBeforeItIsTaken) {
  const Matrix x = Matrix::Zero(3000, 1);
  EXPECT_NE(message_of([&] { require_room("mds", MemoryRows(x), Input::rows, 0.01); }).find("36 MB"),
            std::string::npos);
  EXPECT_NO_THROW(require_room("mds", MemoryRows(x), Input::rows, 1));
}

}  // namespace
}  // namespace lemma
