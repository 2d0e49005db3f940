// lemma/data/image/pixels_test.cpp: images at other sizes, and the directions of their edges.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/image/pixels.hpp>

namespace lemma {
namespace {

Image grey(Index height, Index width, std::vector<std::uint8_t> levels) {
  return {height, width, 1, std::move(levels)};
}

Image noise(Index height, Index width, Index channels = 1) {
  Image out{height, width, channels, {}};
  RandomStream random(3);
  for (Index i = 0; i < height * width * channels; ++i)
    out.levels.push_back(static_cast<std::uint8_t>(random.below(256)));
  return out;
}

Picturing hog(int height, int width, int cell, int block, int bins = 12, bool full_turn = false) {
  return {.edges = true,
          .height = height,
          .width = width,
          .cell = cell,
          .block = block,
          .bins = bins,
          .full_turn = full_turn};
}

/// Bright on one side of a line through the middle; `angle` is that of the way from dark to light.
Matrix half_plane(double angle) {
  Matrix out(16, 16);
  const double degrees = std::acos(-1.0) / 180;
  for (Index r = 0; r < 16; ++r)
    for (Index c = 0; c < 16; ++c) {
      const double x = static_cast<double>(c) - 7.5, y = static_cast<double>(r) - 7.5;
      out(r, c) = 0.5 + 0.02 * (x * std::cos(angle * degrees) + y * std::sin(angle * degrees));
    }
  return out;
}

TEST(GreyLevels, AreTheLevelsAtTheSameSize) {
  EXPECT_EQ(grey_levels(grey(2, 3, {0, 51, 102, 153, 204, 255}), 2, 3), (Matrix{{0, 0.2, 0.4}, {0.6, 0.8, 1}}));
}

TEST(GreyLevels, AreMeansOfWhatIsCovered) {
  const Image image = grey(2, 4, {0, 255, 0, 0, 255, 255, 0, 255});
  EXPECT_EQ(grey_levels(image, 1, 2), (Matrix{{0.75, 0.25}}));
  // a third pixel counts half on either side
  const Matrix parts = grey_levels(grey(1, 3, {0, 0, 255}), 1, 2);
  EXPECT_EQ(parts(0, 0), 0);
  EXPECT_NEAR(parts(0, 1), 2.0 / 3, 1e-15);
  const Image any = noise(31, 17);
  EXPECT_NEAR(grey_levels(any, 5, 3).mean(), grey_levels(any, 31, 17).mean(), 1e-14);
}

TEST(GreyLevels, LieBetweenTheNearestCentresOfALargerImage) {
  EXPECT_EQ(grey_levels(grey(1, 2, {0, 255}), 1, 4), (Matrix{{0, 0.25, 0.75, 1}}));
  EXPECT_EQ(grey_levels(grey(2, 1, {0, 255}), 4, 1), (Matrix{{0}, {0.25}, {0.75}, {1}}));
  EXPECT_EQ(grey_levels(grey(1, 1, {51}), 2, 2), Matrix::Constant(2, 2, 0.2));
}

TEST(GreyLevels, OfAnEvenAreaAreEvenToTheLastBit) {
  for (const Index height : {1, 3, 7, 16, 50})
    for (const Index width : {1, 5, 13, 64})
      for (const int level : {0, 1, 77, 254, 255}) {
        const Image image{7, 13, 3, std::vector<std::uint8_t>(7 * 13 * 3, static_cast<std::uint8_t>(level))};
        const Matrix out = grey_levels(image, height, width);
        EXPECT_TRUE((out.array() == level / 255.0).all()) << height << " " << width << " " << level;
      }
}

TEST(GreyLevels, WeighTheColoursAsTheEyeDoes) {
  const Matrix out = grey_levels({1, 3, 3, {255, 0, 0, 0, 255, 0, 0, 0, 255}}, 1, 3);
  EXPECT_EQ(out, (Matrix{{0.299, 0.587, 0.114}}));
}

TEST(EdgeHistograms, FindTheDirectionOfASlope) {
  const Picturing how = hog(16, 16, 16, 0);  // one cell, 12 directions 15° apart
  for (int k = 0; k < 12; ++k) {
    const Vector found = edge_histograms(half_plane(15 * k), how);
    Index most = -1;
    found.maxCoeff(&most);
    EXPECT_EQ(most, k);
    EXPECT_GT(found[k] / found.sum(), 0.8) << k;  // at the borders a direction is seen in part
  }
  // half-way between two
  Matrix inner = half_plane(37.5);
  const Vector both = edge_histograms(inner, how);
  EXPECT_NEAR(both[2], both[3], 0.1 * both[2]);
}

TEST(EdgeHistograms, SumToTheMeanLengthOfTheGradients) {
  const Matrix levels = grey_levels(noise(12, 8), 12, 8);
  double length = 0;
  for (Index r = 0; r < 12; ++r)
    for (Index c = 0; c < 8; ++c)
      length += std::hypot(levels(r, std::min<Index>(c + 1, 7)) - levels(r, std::max<Index>(c - 1, 0)),
                           levels(std::min<Index>(r + 1, 11), c) - levels(std::max<Index>(r - 1, 0), c));
  EXPECT_NEAR(edge_histograms(levels, hog(12, 8, 4, 0)).sum(), length / 16, 1e-12);
  EXPECT_NEAR(edge_histograms(levels, hog(12, 8, 4, 0, 9, true)).sum(), length / 16, 1e-12);
}

TEST(EdgeHistograms, OfAnImageInWhiteForBlackAreTheSameUnlessSignsCount) {
  const Matrix levels = grey_levels(noise(16, 16), 16, 16), turned = (1 - levels.array()).matrix();
  const Picturing plain = hog(16, 16, 8, 2), with_signs = hog(16, 16, 8, 0, 12, true);
  EXPECT_TRUE(edge_histograms(levels, plain).isApprox(edge_histograms(turned, plain), 1e-9));
  const Vector a = edge_histograms(levels, with_signs), b = edge_histograms(turned, with_signs);
  for (Index cell = 0; cell < 4; ++cell)
    for (Index k = 0; k < 12; ++k) EXPECT_NEAR(a[12 * cell + k], b[12 * cell + (k + 6) % 12], 1e-9);
}

TEST(EdgeHistograms, OfATransposedImageAreMirroredAtTheDiagonal) {
  const Matrix levels = grey_levels(noise(8, 8), 8, 8);
  const Vector a = edge_histograms(levels, hog(8, 8, 8, 0)), b = edge_histograms(levels.transpose(), hog(8, 8, 8, 0));
  for (Index k = 0; k < 12; ++k) EXPECT_NEAR(a[k], b[(18 - k) % 12], 1e-12);  // an angle becomes 90° less it
}

TEST(EdgeHistograms, OfBlocksHaveALengthOfAtMostOneWhateverTheContrast) {
  const Matrix levels = grey_levels(noise(24, 16), 24, 16);
  const Picturing how = hog(24, 16, 8, 2);
  const Vector strong = edge_histograms(levels, how), weak = edge_histograms(levels / 2, how);
  ASSERT_EQ(strong.size(), 2 * 1 * 4 * 12);
  for (Index block = 0; block < 2; ++block) {
    EXPECT_LE(strong.segment(48 * block, 48).norm(), 1);
    EXPECT_GT(strong.segment(48 * block, 48).norm(), 0.99);
  }
  EXPECT_LT((strong - weak).norm(), 0.01 * strong.norm());
  EXPECT_EQ(edge_histograms(Matrix::Constant(24, 16, 0.5), how).norm(), 0);  // nothing is not blown up
}

TEST(ImageOfNumbers, GivesThemBack) {
  const Image image = noise(5, 9);
  EXPECT_EQ(image_of(grey_levels(image, 5, 9), 0, 1), image);
  EXPECT_EQ(image_of(Matrix{{-9, -1, 0, 1, 9}}, -1, 1).levels, (std::vector<std::uint8_t>{0, 0, 128, 255, 255}));
  EXPECT_THROW(image_of(Matrix{{1}}, 1, 1), Error);
}

TEST(Sheet, PutsImagesSideBySide) {
  const Image a = grey(1, 2, {1, 2}), b = grey(1, 2, {3, 4}), c = grey(1, 2, {5, 6});
  EXPECT_EQ(sheet_of({a, b, c}, 2), grey(3, 5, {1, 2, 128, 3, 4, 128, 128, 128, 128, 128, 5, 6, 128, 128, 128}));
  EXPECT_EQ(sheet_of({a}, 9), a);
  EXPECT_THROW(sheet_of({a, grey(2, 1, {1, 2})}, 2), Error);
  EXPECT_THROW(sheet_of({}, 2), Error);
}

TEST(Size, IsAHeightAndAWidth) {
  EXPECT_EQ(parse_size("16x24"), std::pair(16, 24));
  for (const char* wrong : {"", "16", "16x", "x16", "16X16", "16x16 ", "1x2x3", "99999999999x1", "axb"})
    EXPECT_EQ(parse_size(wrong), std::nullopt) << wrong;
}

TEST(Picturing, NamesItsColumnsByTheirPlace) {
  const Picturing image{.height = 2, .width = 3};
  EXPECT_EQ(columns_of(image), 6);
  EXPECT_EQ(place_of(image, 5), "2,3");
  EXPECT_EQ(columns_of(hog(16, 24, 8, 0)), 2 * 3 * 12);
  EXPECT_EQ(place_of(hog(16, 24, 8, 0), 0), "1,1,0");
  EXPECT_EQ(place_of(hog(16, 24, 8, 0), 71), "2,3,165");
  EXPECT_EQ(columns_of(hog(16, 24, 8, 2)), 1 * 2 * 4 * 12);
  EXPECT_EQ(place_of(hog(16, 24, 8, 2), 95), "1,2,4,165");
  EXPECT_EQ(place_of(hog(8, 8, 8, 1, 7, true), 1), "1,1,1,51.43");
}

TEST(Picturing, SaysWhatIsWrong) {
  EXPECT_EQ(fault_of({.height = 16, .width = 16}), "");
  EXPECT_NE(fault_of({.height = 0, .width = 16}), "");
  EXPECT_NE(fault_of({.height = 16, .width = 1001}), "");
  EXPECT_EQ(fault_of(hog(16, 16, 8, 2)), "");
  EXPECT_NE(fault_of(hog(16, 16, 7, 2)), "");
  EXPECT_NE(fault_of(hog(16, 16, 8, 3)), "");
  EXPECT_NE(fault_of(hog(16, 16, 8, 2, 0)), "");
}

}  // namespace
}  // namespace lemma
