// lemma/data/image_test.cpp: PNG and JPEG files, whole and broken.
#include <filesystem>
#include <gtest/gtest.h>
#include <lemma/core/file.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/image.hpp>
#include <lemma/data/image/images_test.hpp>
#include <tests/message_of.hpp>
#include <zlib.h>

namespace lemma {
namespace {

using Bytes = std::vector<std::uint8_t>;

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

Image noise(Index height, Index width, Index channels, std::uint64_t seed = 1) {
  Image out{height, width, channels, {}};
  RandomStream random(seed);
  for (Index i = 0; i < height * width * channels; ++i)
    out.levels.push_back(static_cast<std::uint8_t>(random.below(256)));
  return out;
}

Image slope(Index height, Index width, Index channels) {
  Image out{height, width, channels, {}};
  for (Index r = 0; r < height; ++r)
    for (Index c = 0; c < width; ++c)
      for (Index k = 0; k < channels; ++k) out.levels.push_back(static_cast<std::uint8_t>(10 + 3 * r + 2 * c + 40 * k));
  return out;
}

bool is_broken(const Bytes& bytes) {
  try {
    decode_image(bytes, "x");
    return false;
  } catch (const BrokenImage&) { return true; }
}

/// The header of a PNG file says another size, with the right check sum.
void claim_size(Bytes& png, std::uint32_t width, std::uint32_t height) {
  const auto put = [&](std::size_t at, std::uint32_t number) {
    for (std::size_t i = 0; i < 4; ++i) png[at + i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
  };
  put(16, width);
  put(20, height);
  put(29, static_cast<std::uint32_t>(crc32(0, png.data() + 12, 17)));
}

TEST(Image, IsTheSameAfterAPngFile) {
  for (const Index channels : {1, 3})
    for (const auto& [height, width] : {std::pair<Index, Index>{1, 1}, {3, 7}, {40, 33}}) {
      const Image image = noise(height, width, channels);
      const Bytes file = encode_png(image);
      EXPECT_EQ(decode_image(file, "x"), image);
      EXPECT_EQ(encode_png(image), file);
    }
}

TEST(Image, OfAJpegFileIsNearToWhatWasWritten) {
  for (const Index channels : {1, 3})
    for (const bool progressive : {false, true}) {
      const Image image = slope(20, 30, channels), read = decode_image(encode_jpeg(image, progressive), "x");
      ASSERT_EQ(read.height, 20);
      ASSERT_EQ(read.width, 30);
      ASSERT_EQ(read.channels, channels);
      for (std::size_t i = 0; i < image.levels.size(); ++i) EXPECT_NEAR(read.levels[i], image.levels[i], 3);
    }
}

TEST(Image, OfPalettesBitsAndInterlacedRowsIsWhatTheyMean) {
  const Image red_blue = decode_image(
      encode_png_rows(2, 8, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE, {{1, 0}}, {{0, 0, 255}, {255, 0, 0}}), "x");
  EXPECT_EQ(red_blue, (Image{1, 2, 3, {255, 0, 0, 0, 0, 255}}));
  const Image bits = decode_image(encode_png_rows(8, 1, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, {{0b10100000}}), "x");
  EXPECT_EQ(bits, (Image{1, 8, 1, {255, 0, 255, 0, 0, 0, 0, 0}}));
  const Image image = noise(9, 11, 1);
  std::vector<Bytes> rows;
  for (Index r = 0; r < 9; ++r) rows.emplace_back(image.levels.begin() + r * 11, image.levels.begin() + (r + 1) * 11);
  EXPECT_EQ(decode_image(encode_png_rows(11, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_ADAM7, rows), "x"), image);
}

TEST(Image, Of16BitsIsRoundedTo8) {
  const Bytes file =
      encode_png_rows(4, 16, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, {{0, 0, 0x80, 0x80, 0xFF, 0xFF, 0x12, 0xF0}});
  EXPECT_EQ(decode_image(file, "x"), (Image{1, 4, 1, {0, 0x80, 0xFF, 0x13}}));
}

TEST(Image, ThatIsTransparentStandsOnWhite) {
  const Image image = decode_image(
      encode_png_rows(2, 8, PNG_COLOR_TYPE_RGB_ALPHA, PNG_INTERLACE_NONE, {{9, 9, 9, 0, 7, 8, 9, 255}}), "x");
  EXPECT_EQ(image, (Image{1, 2, 3, {255, 255, 255, 7, 8, 9}}));
}

TEST(Image, ThatEndsEarlyIsBroken) {
  const Bytes png = encode_png(noise(20, 20, 3));
  for (std::size_t length = 0; length + 16 < png.size(); length += 7)  // behind it stands only the mark of the end
    EXPECT_TRUE(is_broken({png.begin(), png.begin() + static_cast<std::ptrdiff_t>(length)})) << length;
  for (const bool progressive : {false, true}) {
    const Bytes jpeg = encode_jpeg(noise(20, 20, 3), progressive);
    for (std::size_t length = 0; length < jpeg.size(); length += 7)
      EXPECT_TRUE(is_broken({jpeg.begin(), jpeg.begin() + static_cast<std::ptrdiff_t>(length)})) << length;
  }
}

TEST(Image, OfDamagedBytesIsBrokenOrAnImage) {
  RandomStream random(1);
  for (const Bytes& whole : {encode_png(noise(12, 12, 1)), encode_jpeg(noise(12, 12, 3), true)})
    for (int i = 0; i < 2000; ++i) {
      Bytes damaged = whole;
      for (int k = 0; k < 3; ++k)
        damaged[static_cast<std::size_t>(random.below(std::ssize(damaged)))] = static_cast<std::uint8_t>(random.bits());
      try {
        const Image image = decode_image(damaged, "x");
        EXPECT_EQ(std::ssize(image.levels), image.pixels() * image.channels);
      } catch (const BrokenImage& broken) { EXPECT_TRUE(contains(broken.what(), "x ")); }
    }
}

TEST(Image, ThatClaimsTooMuchIsRefusedBeforeMemoryIsTaken) {
  Bytes png = encode_png(noise(4, 4, 1));
  claim_size(png, 50'000, 50'000);
  EXPECT_TRUE(contains(message_of([&] { decode_image(png, "big.png"); }), "images of at most 100,000,000 pixels"));
  claim_size(png, 9'000, 9'000);  // 81 million pixels in less than a hundred bytes
  EXPECT_TRUE(contains(message_of([&] { decode_image(png, "big.png"); }), "cannot hold 9000 x 9000 pixels"));
  claim_size(png, 4, 4);
  EXPECT_EQ(decode_image(png, "x"), noise(4, 4, 1));
  claim_size(png, 0, 4);
  EXPECT_TRUE(is_broken(png));
  Bytes jpeg = encode_jpeg(noise(8, 8, 1));
  for (std::size_t i = 0; i + 8 < jpeg.size(); ++i)
    if (jpeg[i] == 0xFF && jpeg[i + 1] == 0xC0) jpeg[i + 5] = jpeg[i + 6] = jpeg[i + 7] = jpeg[i + 8] = 0xFE;
  EXPECT_TRUE(contains(message_of([&] { decode_image(jpeg, "big.jpg"); }), "images of at most"));
}

TEST(Image, SaysWhatAFileIs) {
  const auto said = [](const Bytes& bytes) { return message_of([&] { decode_image(bytes, "a.png"); }); };
  EXPECT_EQ(said({}), "a.png is an empty file");
  EXPECT_EQ(said({'G', 'I', 'F', '8', '9', 'a'}), "a.png is neither a PNG nor a JPEG file");
  EXPECT_TRUE(contains(message_of([] { read_image("no such file.png"); }), "no such file.png cannot be read"));
  EXPECT_TRUE(contains(message_of([] { read_image("/"); }), "/ cannot be read"));
  EXPECT_THROW(encode_png({2, 2, 1, {0}}), Error);
  EXPECT_THROW(encode_png({}), Error);
}

TEST(Image, IsKnownByItsFirstBytesNotItsName) {
  const std::string path = (std::filesystem::temp_directory_path() / "lemma_image_test.jpg").string();
  write_file(path, encode_png(noise(3, 3, 1)));
  EXPECT_EQ(read_image(path), noise(3, 3, 1));
  std::filesystem::remove(path);
}

TEST(ImageName, EndsAsThoseOfImagesDo) {
  for (const char* name : {"a.png", "b/C.JPG", "x.y.jpeg", ".png"}) EXPECT_TRUE(is_image_name(name)) << name;
  for (const char* name : {"", "png", "a.gif", "a.png.txt", "jpeg"}) EXPECT_FALSE(is_image_name(name)) << name;
}

}  // namespace
}  // namespace lemma
