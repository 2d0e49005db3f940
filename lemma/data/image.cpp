// lemma/data/image.cpp
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/core.h>
#include <lemma/core/file.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/image/codecs.hpp>

namespace lemma {
namespace {

/// Deflate makes at most 1,032 bytes of one, and a block of 64 pixels takes two bits of a JPEG file: what is said to hold more is
/// forged. Small images are not asked.
constexpr std::size_t kMostPixelsOfAByte = 8 * 1032, kFewPixels = std::size_t{1} << 20;

}  // namespace

void check_size(Index height, Index width, std::size_t bytes, const std::string& name) {
  if (height < 1 || width < 1) throw BrokenImage(fmt::format("{} has no pixels", name));
  if (height > kMostPixels / width)
    throw BrokenImage(fmt::format("{} is said to be {} pixels wide and {} high; images of at most {} pixels are read",
                                  name, format_count(width), format_count(height), format_count(kMostPixels)));
  const auto pixels = static_cast<std::size_t>(height * width);
  if (pixels > kFewPixels && pixels / kMostPixelsOfAByte > bytes)
    throw BrokenImage(fmt::format("{} is damaged: {} cannot hold {} x {} pixels", name,
                                  count_of(static_cast<std::int64_t>(bytes), "byte"), width, height));
}

bool is_image_name(std::string_view name) {
  std::string end(name.substr(name.size() - std::min<std::size_t>(name.size(), 5)));
  std::transform(end.begin(), end.end(), end.begin(), [](unsigned char c) { return std::tolower(c); });
  return end.ends_with(".png") || end.ends_with(".jpg") || end.ends_with(".jpeg");
}

Image decode_image(std::span<const std::uint8_t> bytes, const std::string& name) {
  if (is_png(bytes)) return decode_png(bytes, name);
  if (is_jpeg(bytes)) return decode_jpeg(bytes, name);
  if (bytes.empty()) throw BrokenImage(fmt::format("{} is an empty file", name));
  throw BrokenImage(fmt::format("{} is neither a PNG nor a JPEG file", name));
}

Image sheet_of(const std::vector<Image>& images, Index across) {
  require(!images.empty() && across > 0, "a sheet is made of images");
  const Image& first = images.front();
  const Index columns = std::min(across, std::ssize(images)), rows = (std::ssize(images) + across - 1) / across;
  Image out{rows * (first.height + 1) - 1, columns * (first.width + 1) - 1, first.channels, {}};
  require(out.pixels() <= kMostPixels, "so many images are too large for one sheet");
  out.levels.assign(static_cast<std::size_t>(out.pixels() * out.channels), 128);
  for (Index i = 0; i < std::ssize(images); ++i) {
    const Image& image = images[at(i)];
    require(image.height == first.height && image.width == first.width && image.channels == first.channels,
            "the images of a sheet have one size");
    const Index length = image.width * image.channels;
    for (Index r = 0; r < image.height; ++r)
      std::copy_n(
          image.levels.begin() + r * length, length,
          out.levels.begin() +
              ((i / across * (first.height + 1) + r) * out.width + i % across * (first.width + 1)) * out.channels);
  }
  return out;
}

Image read_image(const std::string& path) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);  // fails for what is no regular file
  if (failed) throw BrokenImage(fmt::format("{} cannot be read: {}", path, failed.message()));
  if (size > kMostImageBytes)
    throw BrokenImage(fmt::format("{} takes {}; files of at most {} are read as images", path,
                                  format_bytes(static_cast<double>(size)),
                                  format_bytes(static_cast<double>(kMostImageBytes))));
  std::vector<std::uint8_t> bytes;
  try {
    bytes = read_file(path);
  } catch (const Error& error) { throw BrokenImage(error.what()); }
  return decode_image(bytes, path);
}

}  // namespace lemma
