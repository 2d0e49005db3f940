// lemma/data/image/codecs.hpp: what libpng and libjpeg do for image.cpp. Only the files of the image include it.
#pragma once
#include <lemma/data/image.hpp>

namespace lemma {

bool is_png(std::span<const std::uint8_t> bytes);
bool is_jpeg(std::span<const std::uint8_t> bytes);
Image decode_png(std::span<const std::uint8_t> bytes, const std::string& name);
Image decode_jpeg(std::span<const std::uint8_t> bytes, const std::string& name);

/// BrokenImage when an image of this size is not read, from a file of so many bytes.
void check_size(Index height, Index width, std::size_t bytes, const std::string& name);

}  // namespace lemma
