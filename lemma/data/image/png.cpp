// lemma/data/image/png.cpp: the one place that knows libpng.
#include <array>
#include <cstring>
#include <fmt/core.h>
#include <lemma/data/image/codecs.hpp>
#include <memory>
#include <png.h>

namespace lemma {
namespace {

/// What libpng holds for an image; freed on every way out.
struct Held {
  png_image image{};
  Held() { image.version = PNG_IMAGE_VERSION; }
  ~Held() { png_image_free(&image); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  const char* message() const { return image.message; }
};

constexpr std::array<std::uint8_t, 8> kSignature = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

}  // namespace

bool is_png(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= kSignature.size() && std::memcmp(bytes.data(), kSignature.data(), kSignature.size()) == 0;
}

Image decode_png(std::span<const std::uint8_t> bytes, const std::string& name) {
  Held held;
  const auto broken = [&] { return BrokenImage(fmt::format("{} is a damaged PNG file: {}", name, held.message())); };
  if (!png_image_begin_read_from_memory(&held.image, bytes.data(), bytes.size())) throw broken();
  check_size(held.image.height, held.image.width, bytes.size(), name);
  const bool color = held.image.format & PNG_FORMAT_FLAG_COLOR;
  Image out{held.image.height, held.image.width, color ? 3 : 1, {}};
  held.image.format = color ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  held.image.flags |=
      PNG_IMAGE_FLAG_16BIT_sRGB;  // else 16 bits without a word on gamma would be taken for linear light
  out.levels.resize(static_cast<std::size_t>(out.pixels() * out.channels));
  const png_color white{255, 255, 255};
  if (!png_image_finish_read(&held.image, &white, out.levels.data(), 0, nullptr)) throw broken();
  return out;
}

std::vector<std::uint8_t> encode_png(const Image& image) {
  require(image.height > 0 && image.width > 0 && (image.channels == 1 || image.channels == 3) &&
              std::ssize(image.levels) == image.pixels() * image.channels,
          "an image has rows, columns, one or three channels, and a level for each");
  require(image.pixels() <= kMostPixels, "the image is too large for a PNG file");
  Held held;
  held.image.height = static_cast<png_uint_32>(image.height);
  held.image.width = static_cast<png_uint_32>(image.width);
  held.image.format = image.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  png_alloc_size_t size = 0;
  std::vector<std::uint8_t> out;
  const auto write = [&](void* memory) {
    if (!png_image_write_to_memory(&held.image, memory, &size, 0, image.levels.data(), 0, nullptr))
      throw MachineError(fmt::format("libpng cannot write the image: {}", held.message()));
  };
  write(nullptr);
  out.resize(size);
  write(out.data());
  out.resize(size);
  return out;
}

}  // namespace lemma
