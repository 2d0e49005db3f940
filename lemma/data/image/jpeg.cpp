// lemma/data/image/jpeg.cpp: the one place that knows libjpeg. Its errors jump: no object with a destructor is made between the
// setjmp and the calls that may jump back to it.
#include <array>
#include <csetjmp>
#include <cstdio>
#include <fmt/core.h>
#include <lemma/data/image/codecs.hpp>
// clang-format off
#include <jpeglib.h>  // needs <cstdio>
#include <jerror.h>   // asks jpeglib.h which codes there are
// clang-format on

namespace lemma {
namespace {

constexpr int kMostScans = 500;  // a progressive file of a few bytes could ask for thousands of passes over the image

struct Decoder {
  jpeg_decompress_struct state{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf back{};
  std::array<char, JMSG_LENGTH_MAX> message{};

  Decoder() {
    state.err = jpeg_std_error(&errors);
    errors.error_exit = [](j_common_ptr common) { of(common).give_up(); };
    errors.emit_message = [](j_common_ptr common, int level) {
      if (level < 0 && is_loss(common->err->msg_code)) of(common).give_up();
    };
    errors.output_message = [](j_common_ptr) {};
    progress.progress_monitor = [](j_common_ptr common) {
      Decoder& decoder = of(common);
      if (decoder.state.input_scan_number <= kMostScans) return;
      std::snprintf(decoder.message.data(), decoder.message.size(), "more than %d scans", kMostScans);
      std::longjmp(decoder.back, 1);
    };
    state.client_data = this;
  }
  ~Decoder() { jpeg_destroy_decompress(&state); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  static Decoder& of(j_common_ptr common) { return *static_cast<Decoder*>(common->client_data); }

  [[noreturn]] void give_up() {
    errors.format_message(reinterpret_cast<j_common_ptr>(&state), message.data());
    std::longjmp(back, 1);
  }

  /// Warnings after which a part of the image is made up: it ends early, or its bits make no sense.
  static bool is_loss(int code) {
    return code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE || code == JWRN_MUST_RESYNC ||
           code == JWRN_ARITH_BAD_CODE || code == JWRN_NOT_SEQUENTIAL;
  }

  /// Reads what stands before the pixels; false: see `message`.
  bool read_header(std::span<const std::uint8_t> bytes) {
    if (setjmp(back) != 0) return false;
    jpeg_create_decompress(&state);
    state.client_data = this;  // cleared by the above
    state.progress = &progress;
    jpeg_mem_src(&state, bytes.data(), static_cast<unsigned long>(bytes.size()));
    jpeg_read_header(&state, TRUE);
    return true;
  }

  bool read_levels(std::uint8_t* levels, std::size_t stride) {
    if (setjmp(back) != 0) return false;
    state.out_color_space = state.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&state);
    while (state.output_scanline < state.output_height) {
      JSAMPROW row = levels + stride * state.output_scanline;
      jpeg_read_scanlines(&state, &row, 1);
    }
    jpeg_finish_decompress(&state);
    return true;
  }
};

}  // namespace

bool is_jpeg(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 3 && bytes[0] == 0xFF && bytes[1] == 0xD8 && bytes[2] == 0xFF;
}

Image decode_jpeg(std::span<const std::uint8_t> bytes, const std::string& name) {
  Decoder decoder;
  const auto broken = [&] {
    return BrokenImage(fmt::format("{} is a damaged JPEG file: {}", name, decoder.message.data()));
  };
  if (!decoder.read_header(bytes)) throw broken();
  const auto& state = decoder.state;
  check_size(state.image_height, state.image_width, bytes.size(), name);
  if (state.num_components != 1 && state.num_components != 3)
    throw BrokenImage(
        fmt::format("{} is a JPEG file of {} inks; save it as one of red, green and blue", name, state.num_components));
  Image out{state.image_height, state.image_width, state.num_components, {}};
  const auto stride = static_cast<std::size_t>(out.width * out.channels);
  out.levels.resize(stride * static_cast<std::size_t>(out.height));
  if (!decoder.read_levels(out.levels.data(), stride)) throw broken();
  return out;
}

}  // namespace lemma
