// lemma/core/random.hpp: random numbers that are a function of (seed, stream, position), so that a tree, a fold or a
// restart owns its numbers whatever thread runs it.
#pragma once
#include <array>
#include <cstdint>
#include <lemma/core/matrix.hpp>
#include <lemma/core/parallel.hpp>
#include <span>
#include <utility>
#include <vector>

namespace lemma {

/// Philox4x64 with 10 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
std::array<std::uint64_t, 4> philox(const std::array<std::uint64_t, 4>& counter,
                                    const std::array<std::uint64_t, 2>& key);

/// The quantile Φ⁻¹(p) of the normal distribution for 0 < p < 1, to about 16 digits (Wichura, algorithm AS 241, 1988).
double normal_quantile(double p);

/// Numbers of one stream, in their order. The same on every machine.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed, std::uint64_t stream = 0) : key_{seed, stream} {}

  /// A stream of its own for a part of the work: it depends on this stream's key and the id, not on what has been
  /// drawn.
  RandomStream split(std::uint64_t id) const;

  std::uint64_t bits() {
    if (used_ == block_.size()) refill();
    return block_[used_++];
  }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // [0, 1), a multiple of 2⁻⁵³
  double normal();                                                          // one draw of bits() for each
  Index below(Index n);                                                     // 0 … n−1, each equally likely

  template <class T>
  void shuffle(std::span<T> items) {  // Fisher and Yates
    for (auto i = static_cast<Index>(items.size()) - 1; i > 0; --i)
      std::swap(items[static_cast<std::size_t>(i)], items[static_cast<std::size_t>(below(i + 1))]);
  }

 private:
  void refill();
  std::array<std::uint64_t, 2> key_;
  std::uint64_t counter_ = 0;
  std::array<std::uint64_t, 4> block_{};
  std::size_t used_ = 4;
};

/// 0 … n−1 in random order.
std::vector<Index> permutation(RandomStream& stream, Index n);

/// k different numbers below n, in random order: each ordered choice equally likely. O(k) memory.
std::vector<Index> sample_without_replacement(RandomStream& stream, Index n, Index k);

/// Independent standard normal entries: the numbers of RandomStream(seed, stream).normal(), row by row, drawn on
/// several threads.
Matrix normal_matrix(Index rows, Index cols, std::uint64_t seed, std::uint64_t stream = 0,
                     const Execution& execution = {});

}  // namespace lemma
