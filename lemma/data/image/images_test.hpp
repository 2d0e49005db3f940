// lemma/data/image/images_test.hpp: images for tests, written by libpng and libjpeg themselves.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <jpeglib.h>
#include <lemma/data/image.hpp>
#include <png.h>
#include <vector>

namespace lemma {

/// A JPEG file of the image, of the best quality that there is.
inline std::vector<std::uint8_t> encode_jpeg(const Image& image, bool progressive = false) {
  jpeg_compress_struct state{};
  jpeg_error_mgr errors{};
  state.err = jpeg_std_error(&errors);
  jpeg_create_compress(&state);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&state, &memory, &size);
  state.image_height = static_cast<JDIMENSION>(image.height);
  state.image_width = static_cast<JDIMENSION>(image.width);
  state.input_components = static_cast<int>(image.channels);
  state.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&state);
  jpeg_set_quality(&state, 100, TRUE);
  for (int i = 0; i < state.num_components; ++i)
    state.comp_info[i].h_samp_factor = state.comp_info[i].v_samp_factor = 1;
  if (progressive) jpeg_simple_progression(&state);
  jpeg_start_compress(&state, TRUE);
  while (state.next_scanline < state.image_height) {
    auto* row = const_cast<JSAMPROW>(image.levels.data() + state.next_scanline * image.width * image.channels);
    jpeg_write_scanlines(&state, &row, 1);
  }
  jpeg_finish_compress(&state);
  jpeg_destroy_compress(&state);
  std::vector<std::uint8_t> out(memory, memory + size);
  std::free(memory);
  return out;
}

/// A PNG file of a kind that encode_png() does not write: its rows as they are stored.
inline std::vector<std::uint8_t> encode_png_rows(int width, int depth, int color_type, int interlace,
                                                 std::vector<std::vector<std::uint8_t>> rows,
                                                 const std::vector<png_color>& palette = {}) {
  std::vector<std::uint8_t> out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &out,
      [](png_structp from, png_bytep bytes, std::size_t count) {
        auto& to = *static_cast<std::vector<std::uint8_t>*>(png_get_io_ptr(from));
        to.insert(to.end(), bytes, bytes + count);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(rows.size()), depth, color_type,
               interlace, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (!palette.empty()) png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
  std::vector<png_bytep> pointers;
  for (auto& row : rows) pointers.push_back(row.data());
  png_set_rows(png, info, pointers.data());
  png_write_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
  png_destroy_write_struct(&png, &info);
  return out;
}

}  // namespace lemma
