// fuzz/image_fuzz.cpp: any bytes are an image of the size it says, or a BrokenImage that names the file; and what is an image has
// grey levels and histograms of finite numbers.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <lemma/data/image/pixels.hpp>
#include <string>

namespace {

using namespace lemma;

void check_numbers(const Image& image, const Picturing& how, double most) {
  std::vector<double> out(static_cast<std::size_t>(columns_of(how)));
  fill_pixels(image, how, out.data());
  for (const double each : out)
    if (!(each >= 0 && each <= most)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const Image image = decode_image({data, size}, "fuzzed");
    if (image.height < 1 || image.width < 1 || (image.channels != 1 && image.channels != 3) ||
        std::ssize(image.levels) != image.pixels() * image.channels)
      std::abort();
    if (image.pixels() > 1'000'000) return 0;
    check_numbers(image, {.height = 5, .width = 7}, 1);
    check_numbers(image, {.edges = true, .height = 8, .width = 8, .cell = 4, .block = 2, .bins = 12}, 1.0000001);
    if (decode_image(encode_png(image), "again") != image) std::abort();
  } catch (const BrokenImage& broken) {
    if (std::string(broken.what()).find("fuzzed") == std::string::npos) std::abort();
  }
  return 0;
}
