// lemma/geometry/voronoi_test.cpp: cells by their definition, whatever the sites.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/geometry/voronoi.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

constexpr Voronoi::Box kBox{-4, -4, 4, 4};

/// Cells fill the rectangle; each corner is as far from its own site as from the one beyond, and from no site less far.
void expect_a_diagram(const Matrix& sites, const std::string& what) {
  const Voronoi diagram(sites, kBox);
  ASSERT_EQ(diagram.count(), sites.rows());
  double area = 0;
  for (Index i = 0; i < sites.rows(); ++i) {
    area += diagram.area(i);
    for (const auto& side : diagram.cell(i)) {
      const Eigen::RowVector2d corner(side.x0, side.y0), end(side.x1, side.y1);
      const double own = (corner - sites.row(i)).norm();
      EXPECT_LE(own, (sites.rowwise() - corner).rowwise().norm().minCoeff() + 1e-9) << what << ", site " << i;
      if (side.other < 0) continue;
      EXPECT_NEAR(own, (corner - sites.row(side.other)).norm(), 1e-9) << what;
      EXPECT_NEAR((end - sites.row(i)).norm(), (end - sites.row(side.other)).norm(), 1e-9) << what;
    }
  }
  EXPECT_NEAR(area, 64, 1e-9) << what;
}

TEST(Voronoi, CellsFillTheRectangleAndTheirCornersAreEquallyFarFromTheSitesTheyPart) {
  for (const Index n : {1, 2, 3, 17, 400})
    expect_a_diagram(normal_matrix(n, 2, 8).cwiseMin(3.9).cwiseMax(-3.9), "random");
  Matrix grid(49, 2), line(30, 2), circle(64, 2);
  for (Index i = 0; i < 49; ++i) grid.row(i) << static_cast<double>(i / 7) - 3, static_cast<double>(i % 7) - 3;
  for (Index i = 0; i < 30; ++i) line.row(i) << 0.2 * static_cast<double>(i) - 3, 0.1 * static_cast<double>(i) - 1;
  for (Index i = 0; i < 63; ++i)  // and one in the middle, which all others are beside
    circle.row(i) << 3 * std::cos(0.1 * static_cast<double>(i)), 3 * std::sin(0.1 * static_cast<double>(i));
  circle.row(63) << 0, 0;
  expect_a_diagram(grid, "a grid");
  expect_a_diagram(line, "a line");
  expect_a_diagram(circle, "a circle");
  expect_a_diagram(normal_matrix(200, 2, 9).array().round().cwiseMin(4).cwiseMax(-4), "many equal sites");
}

TEST(Voronoi, ACellOfALatticeIsASquare) {
  Matrix grid(25, 2);
  for (Index i = 0; i < 25; ++i) grid.row(i) << static_cast<double>(i / 5) - 2, static_cast<double>(i % 5) - 2;
  const Voronoi diagram(grid, kBox);
  EXPECT_NEAR(diagram.area(12), 1, 1e-12);
  int sides = 0;
  for (const auto& side : diagram.cell(12))
    sides += std::hypot(side.x1 - side.x0, side.y1 - side.y0) > 1e-9 ? 1 : 0;  // others touch at a corner
  EXPECT_EQ(sides, 4);
}

TEST(Voronoi, APointIsLocatedInTheCellThatEnclosesIt) {
  const Matrix sites = normal_matrix(150, 2, 3).cwiseMin(3.9).cwiseMax(-3.9), points = normal_matrix(500, 2, 4);
  const Voronoi diagram(sites, kBox);
  const auto found = diagram.locate(points);
  for (Index p = 0; p < points.rows(); ++p)
    for (const auto& s : diagram.cell(found[static_cast<std::size_t>(p)]))
      if (s.other >= 0) {
        EXPECT_GE((s.x1 - s.x0) * (points(p, 1) - s.y0) - (s.y1 - s.y0) * (points(p, 0) - s.x0), -1e-9) << p;
      }
}

TEST(Voronoi, OfEqualSitesTheFirstHasTheCell) {
  const Voronoi diagram((Matrix(3, 2) << 1, 1, 0, 0, 1, 1).finished(), kBox);
  EXPECT_FALSE(diagram.cell(0).empty());
  EXPECT_TRUE(diagram.cell(2).empty());
  EXPECT_EQ(diagram.area(2), 0);
  EXPECT_EQ(diagram.locate(Matrix::Ones(1, 2)), (std::vector<std::int32_t>{0}));
}

TEST(Voronoi, RefusesWhatIsNotInThePlaneOrTheRectangle) {
  EXPECT_NE(message_of([] { Voronoi(Matrix::Zero(2, 3), kBox); }).find("3 columns"), std::string::npos);
  EXPECT_NE(message_of([] { Voronoi(Matrix::Constant(2, 2, 5), kBox); }).find("point 1"), std::string::npos);
  EXPECT_NE(message_of([] { Voronoi(Matrix::Constant(1, 2, std::nan("")), kBox); }).find("point 1"), std::string::npos);
  EXPECT_EQ(Voronoi(Matrix(0, 2), kBox).count(), 0);
}

}  // namespace
}  // namespace lemma
