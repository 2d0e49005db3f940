// lemma/cluster/kmeans/vq_test.cpp: images in few bits.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/cluster/kmeans/vq.hpp>
#include <lemma/core/random.hpp>
#include <limits>
#include <set>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Waves with a little noise.
Image waves(Index height, Index width, Index channels) {
  Image out{height, width, channels, {}};
  RandomStream random(5);
  for (Index r = 0; r < height; ++r)
    for (Index c = 0; c < width; ++c)
      for (Index k = 0; k < channels; ++k)
        out.levels.push_back(static_cast<std::uint8_t>(120 + 60 * std::sin(0.2 * static_cast<double>(r + k * 5)) +
                                                       50 * std::cos(0.15 * static_cast<double>(c)) +
                                                       static_cast<double>(random.below(15))));
  return out;
}

VqOptions with(int codewords, Index height = 3, Index width = 3) {
  return {.block_height = height, .block_width = width, .codewords = codewords};
}

TEST(Vq, TakesTheBitsOfItsCodes) {  // 1.11, 0.78 and 0.44 bits per pixel
  const Image image = waves(120, 120, 1);
  EXPECT_DOUBLE_EQ(quantise(image, with(1024)).bits_per_pixel(), 10 / 9.0);
  EXPECT_DOUBLE_EQ(quantise(image, with(128)).bits_per_pixel(), 7 / 9.0);
  const Vq coded = quantise(image, with(16));
  EXPECT_DOUBLE_EQ(coded.bits_per_pixel(), 4 / 9.0);
  EXPECT_DOUBLE_EQ(coded.bits_with_codebook(), 4 / 9.0 + 8.0 * 16 * 9 / (120 * 120));
  EXPECT_EQ(quantise(image, with(17)).code_bits(), 5);
  EXPECT_EQ(quantise(image, with(1)).bits_per_pixel(), 0);
}

TEST(Vq, GivesEachPixelTheLevelOfItsCodeword) {
  const Image image = waves(18, 24, 3);
  const Vq coded = quantise(image, with(8, 3, 4));
  const Image back = reconstruct(coded);
  ASSERT_EQ(coded.codes.size(), 6u * 6);
  for (Index r = 0; r < 18; ++r)
    for (Index c = 0; c < 24; ++c)
      for (Index k = 0; k < 3; ++k) {
        const Index word = coded.codes[at(r / 3 * 6 + c / 4)];
        EXPECT_EQ(back.levels[at((r * 24 + c) * 3 + k)], coded.codebook[at(word * 36 + (r % 3 * 4 + c % 4) * 3 + k)]);
      }
}

TEST(Vq, CodesEachBlockByTheNearestCodeword) {
  const Image image = waves(30, 30, 1);
  const Vq coded = quantise(image, with(12));
  EXPECT_TRUE(coded.certificate.holds());
  for (Index b = 0; b < 100; ++b) {
    const auto far = [&](Index word) {
      double out = 0;
      for (Index i = 0; i < 9; ++i) {
        const double apart = static_cast<double>(image.levels[at((b / 10 * 3 + i / 3) * 30 + b % 10 * 3 + i % 3)]) -
                             coded.codebook[at(word * 9 + i)];
        out += apart * apart;
      }
      return std::sqrt(out);
    };
    for (Index word = 0; word < 12; ++word)  // codewords are rounded, each level by a half at most
      EXPECT_LE(far(coded.codes[at(b)]), far(word) + 2 * 1.5) << b;
  }
}

TEST(Vq, IsNearerWithMoreCodewordsAndExactWithAllBlocks) {
  const Image image = waves(30, 30, 1);
  double before = 0;
  for (const int codewords : {1, 4, 16, 64}) {
    const double now = peak_signal_to_noise(image, reconstruct(quantise(image, with(codewords))));
    EXPECT_GT(now, before);
    before = now;
  }
  Image few{6, 9, 1, {}};  // three different blocks
  for (Index i = 0; i < 54; ++i) few.levels.push_back(static_cast<std::uint8_t>(i % 9 / 3 * 100));
  EXPECT_EQ(reconstruct(quantise(few, with(3))), few);
  const std::string said = message_of([&] { quantise(few, with(4)); });
  EXPECT_NE(said.find("only 3 different rows"), std::string::npos) << said;
  EXPECT_NE(said.find("a row is a block"), std::string::npos) << said;
}

TEST(Vq, FillsBlocksAtTheBordersWithWhatStandsThere) {
  const Image image = waves(10, 11, 3);
  const Vq coded = quantise(image, with(16));
  EXPECT_EQ(coded.codes.size(), 4u * 4);
  EXPECT_DOUBLE_EQ(coded.bits_per_pixel(), 16 * 4 / 110.0);
  const Image back = reconstruct(coded);
  EXPECT_EQ(back.height, 10);
  EXPECT_EQ(back.width, 11);
  EXPECT_EQ(back, image);  // sixteen blocks, sixteen codewords
}

TEST(Vq, IsTheSameOnAnyNumberOfThreads) {
  const Image image = waves(60, 60, 3);
  FitOptions one, four;
  one.threads = 1;
  four.threads = 4;
  const Vq a = quantise(image, with(20), one), b = quantise(image, with(20), four);
  EXPECT_EQ(a.codebook, b.codebook);
  EXPECT_EQ(a.codes, b.codes);
}

TEST(Vq, ShowsItsCodebookTheMostUsedFirst) {
  Image image{3, 12, 1, {}};
  for (Index i = 0; i < 36; ++i) image.levels.push_back(i % 12 < 9 ? 10 : 200);
  const Image book = codebook_image(quantise(image, with(2)));
  EXPECT_EQ(book.width, 7);
  EXPECT_EQ(book.height, 3);
  EXPECT_EQ(book.levels[0], 10);
  EXPECT_EQ(book.levels[4], 200);
}

TEST(PeakSignalToNoise, IsThatOfTheMeanSquare) {
  const Image a{1, 2, 1, {10, 20}}, b{1, 2, 1, {13, 16}};
  EXPECT_DOUBLE_EQ(peak_signal_to_noise(a, b), 10 * std::log10(255.0 * 255 / 12.5));
  EXPECT_EQ(peak_signal_to_noise(a, a), std::numeric_limits<double>::infinity());
  EXPECT_THROW(peak_signal_to_noise(a, Image{1, 1, 1, {1}}), Error);
}

TEST(Vq, SaysWhatItTakes) {
  const Image image = waves(9, 9, 1);
  EXPECT_THROW(quantise(image, with(0)), Error);
  EXPECT_THROW(quantise(image, with(2, 0, 3)), Error);
  EXPECT_THROW(quantise(image, with(2, 3, 65)), Error);
  EXPECT_THROW(quantise({}, with(2)), Error);
}

}  // namespace
}  // namespace lemma
