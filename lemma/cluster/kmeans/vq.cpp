// lemma/cluster/kmeans/vq.cpp
#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/core.h>
#include <lemma/cluster/kmeans.hpp>
#include <lemma/cluster/kmeans/vq.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <limits>
#include <numeric>

namespace lemma {
namespace {

/// visit(level of the image, place in the block) for the levels of a block; those beyond the image are its last ones.
template <class Visit>
void for_each_level(const Vq& shape, Index block, Visit&& visit) {
  const Index top = block / shape.blocks_across() * shape.block_height,
              left = block % shape.blocks_across() * shape.block_width;
  Index place = 0;
  for (Index r = top; r < top + shape.block_height; ++r)
    for (Index c = left; c < left + shape.block_width; ++c)
      for (Index k = 0; k < shape.channels; ++k, ++place)
        visit((std::min(r, shape.height - 1) * shape.width + std::min(c, shape.width - 1)) * shape.channels + k, place);
}

Matrix blocks_of(const Image& image, const Vq& shape) {
  const Index count = shape.blocks_across() * ((shape.height + shape.block_height - 1) / shape.block_height);
  Matrix out(count, shape.block_size());
  for (Index b = 0; b < count; ++b)
    for_each_level(shape, b, [&](Index level, Index place) { out(b, place) = image.levels[at(level)]; });
  return out;
}

}  // namespace

int Vq::code_bits() const { return static_cast<int>(std::bit_width(static_cast<unsigned>(codewords - 1))); }

double Vq::bits_per_pixel() const {
  return static_cast<double>(std::ssize(codes) * code_bits()) / static_cast<double>(pixels());
}

double Vq::bits_with_codebook() const {
  return bits_per_pixel() + 8 * static_cast<double>(codebook.size()) / static_cast<double>(pixels());
}

Vq quantise(const Image& image, const VqOptions& options, const FitOptions& fit_options) {
  require(options.block_height >= 1 && options.block_width >= 1 && options.block_height <= kMostBlockSide &&
              options.block_width <= kMostBlockSide,
          fmt::format("the sides of a block are from 1 to {} pixels", kMostBlockSide));
  require(options.codewords >= 1 && options.codewords <= kMostCodewords,
          fmt::format("there are from 1 to {} codewords", format_count(kMostCodewords)));
  require(image.pixels() > 0, "the image has no pixels");
  Vq out{image.height, image.width, image.channels, options.block_height, options.block_width, options.codewords, {},
         {},           {}};
  const Matrix blocks = blocks_of(image, out);
  KMeans spec{.k = options.codewords};
  spec.restarts = options.restarts;
  spec.max_iterations = options.max_iterations;
  const KMeansModel model = [&] {
    try {
      return fit(Valid<KMeans>(spec), MemoryRows(blocks), fit_options);
    } catch (const Error& error) {
      throw Error(
          fmt::format("the blocks of the image by k-means: {}; a row is a block, and k the codewords", error.what()));
    }
  }();
  out.certificate = model.certificate;
  out.codes = model.assign(blocks);
  for (const double level : model.centers.reshaped<Eigen::RowMajor>())
    out.codebook.push_back(static_cast<std::uint8_t>(std::lround(std::clamp(level, 0.0, 255.0))));
  return out;
}

Image reconstruct(const Vq& coded) {
  Image out{coded.height, coded.width, coded.channels, {}};
  out.levels.resize(static_cast<std::size_t>(coded.pixels() * coded.channels));
  for (Index b = std::ssize(coded.codes); b-- > 0;) {
    const auto word = coded.codebook.begin() + coded.codes[at(b)] * coded.block_size();
    const Index top = b / coded.blocks_across() * coded.block_height,
                left = b % coded.blocks_across() * coded.block_width, row = coded.block_width * coded.channels;
    for (Index r = 0; r < coded.block_height && top + r < coded.height; ++r)
      std::copy_n(word + r * row, std::min(coded.block_width, coded.width - left) * coded.channels,
                  out.levels.begin() + ((top + r) * coded.width + left) * coded.channels);
  }
  return out;
}

Image codebook_image(const Vq& coded) {
  std::vector<Index> used(at(coded.codewords)), order(at(coded.codewords));
  for (const int code : coded.codes) ++used[static_cast<std::size_t>(code)];
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return used[at(a)] > used[at(b)]; });
  std::vector<Image> words;
  for (const Index k : order) {
    const auto word = coded.codebook.begin() + k * coded.block_size();
    words.push_back({coded.block_height, coded.block_width, coded.channels, {word, word + coded.block_size()}});
  }
  return sheet_of(words, static_cast<Index>(std::ceil(std::sqrt(coded.codewords))));
}

double peak_signal_to_noise(const Image& a, const Image& b) {
  require(a.levels.size() == b.levels.size() && !a.levels.empty(), "images of different sizes are not compared");
  double squares = 0;  // whole numbers: exact
  for (std::size_t i = 0; i < a.levels.size(); ++i) {
    const double apart = static_cast<double>(a.levels[i]) - b.levels[i];
    squares += apart * apart;
  }
  if (squares == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.levels.size()) / squares);
}

}  // namespace lemma
