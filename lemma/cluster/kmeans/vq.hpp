// lemma/cluster/kmeans/vq.hpp: vector quantisation: an image in few bits, by k-means on its blocks.
#pragma once
#include <cstdint>
#include <lemma/core/certificate.hpp>
#include <lemma/data/image.hpp>
#include <lemma/model/options.hpp>
#include <vector>

namespace lemma {

struct VqOptions {
  Index block_height = 3, block_width = 3;
  int codewords = 128;  // K
  int restarts = 1, max_iterations = 100;
};
constexpr Index kMostBlockSide = 64;
constexpr int kMostCodewords = 65536;

/// An image as a codebook of K blocks and, for each of its own blocks, the number of the codeword that is nearest: what
///
///     minimise  Σ ‖block − codeword of the block‖²
///
/// comes to by Lloyd's algorithm, the centres rounded to levels of 0 … 255. Where the sides are no multiples of the block's, the last
/// row and column are repeated to fill the blocks there.
struct Vq {
  Index height = 0, width = 0, channels = 1;  // of the image
  Index block_height = 0, block_width = 0;
  int codewords = 0;
  std::vector<std::uint8_t> codebook;  // one codeword after the other, each as an Image holds a block
  std::vector<int> codes;              // of the blocks, row after row
  Certificate certificate;             // of the k-means

  Index pixels() const { return height * width; }
  Index block_size() const { return block_height * block_width * channels; }
  Index blocks_across() const { return (width + block_width - 1) / block_width; }
  /// ⌈log₂ K⌉: what a code takes.
  int code_bits() const;
  /// codes · ⌈log₂ K⌉ / pixels; of blocks that fill the image ⌈log₂ K⌉ / (pixels of a block).
  double bits_per_pixel() const;
  /// The same with 8 bits for each level of the codebook.
  double bits_with_codebook() const;
};

/// Error when the image has fewer different blocks than there are codewords. The model holds the certificate of k-means.
Vq quantise(const Image& image, const VqOptions& options, const FitOptions& fit = {});
Image reconstruct(const Vq& coded);
/// The codewords side by side, the most used first.
Image codebook_image(const Vq& coded);

/// 10 log₁₀(255² / mean squared difference of the levels), in decibels; infinite for equal images.
double peak_signal_to_noise(const Image& a, const Image& b);

}  // namespace lemma
