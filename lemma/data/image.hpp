// lemma/data/image.hpp: pictures from PNG and JPEG files, and PNG files of pictures.
#pragma once
#include <cstdint>
#include <lemma/core/error.hpp>
#include <lemma/core/matrix.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

/// Levels from 0 (black) to 255, row after row, the channels of a pixel side by side.
struct Image {
  Index height = 0, width = 0;
  Index channels = 1;  // 1: grey; 3: red, green, blue
  std::vector<std::uint8_t> levels;

  Index pixels() const { return height * width; }
  bool operator==(const Image&) const = default;
};

/// A file that cannot be used as an image: it is not there, is none, is damaged, or is too large. what() names it and says why.
struct BrokenImage : Error {
  using Error::Error;
};

constexpr Index kMostPixels = 100'000'000;  // of one image
constexpr std::size_t kMostImageBytes = std::size_t{1} << 29;

/// A name that ends as those of PNG and JPEG files do: .png .jpg .jpeg, in upper or lower case.
bool is_image_name(std::string_view name);

/// By libpng and libjpeg; which of the two the first bytes decide, not the name. 16 bits are rounded to 8; what is
/// transparent stands on white; JPEG files of four inks (CMYK) are refused. Half an image is none: a file that ends early, or
/// whose check sums are wrong, is a BrokenImage. Memory is taken only when the size that the header claims is allowed, and
/// when so few bytes can hold so many pixels.
Image read_image(const std::string& path);
/// The same from memory; `name` is for messages.
Image decode_image(std::span<const std::uint8_t> bytes, const std::string& name);

/// Images of one size and kind side by side, `across` in a row, a grey line of one pixel between them.
Image sheet_of(const std::vector<Image>& images, Index across);

/// A PNG file without loss. The same image is the same bytes.
std::vector<std::uint8_t> encode_png(const Image& image);

}  // namespace lemma
