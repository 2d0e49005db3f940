// lemma/model/bit_stream.hpp: numbers of any number of bits, one after the other.
#pragma once
#include <bit>
#include <cstdint>
#include <lemma/core/error.hpp>
#include <span>
#include <vector>

namespace lemma {

/// The lowest bit first.
class BitWriter {
 public:
  explicit BitWriter(std::vector<std::uint64_t>& words) : words_(words) { words_.clear(); }
  void put(std::uint64_t value, int count) {
    if (count == 0) return;
    if (used_ == 0) words_.push_back(0);
    words_.back() |= value << used_;
    if (used_ + count > 64) words_.push_back(value >> (64 - used_));
    used_ = (used_ + count) % 64;
  }
  void unary(std::uint64_t zeros) {
    for (; zeros >= 32; zeros -= 32) put(0, 32);
    put(std::uint64_t{1} << zeros, static_cast<int>(zeros) + 1);
  }

 private:
  std::vector<std::uint64_t>& words_;
  int used_ = 0;  // of the last word; 0: all of it
};

/// Error where the bits end too early.
class BitReader {
 public:
  explicit BitReader(std::span<const std::uint64_t> words) : words_(words) {}
  std::uint64_t take(int count) {
    if (count == 0) return 0;
    if (static_cast<std::uint64_t>(count) > 64 * words_.size() - at_) throw Error("a list of bits ends too early");
    const std::size_t word = at_ / 64, shift = at_ % 64;
    std::uint64_t out = words_[word] >> shift;
    if (shift + static_cast<std::size_t>(count) > 64) out |= words_[word + 1] << (64 - shift);
    at_ += static_cast<std::size_t>(count);
    return count == 64 ? out : out & ((std::uint64_t{1} << count) - 1);
  }
  std::uint64_t unary() {
    std::uint64_t zeros = 0;
    for (; at_ < 64 * words_.size();) {
      const std::uint64_t rest = words_[at_ / 64] >> (at_ % 64);
      const auto here = static_cast<std::size_t>(std::countr_zero(rest));
      if (rest != 0) {
        at_ += here + 1;
        return zeros + here;
      }
      zeros += 64 - at_ % 64;
      at_ += 64 - at_ % 64;
    }
    throw Error("a list of bits ends too early");
  }
  /// Nothing but the rest of the last word, and that is empty.
  bool at_end() {
    const std::size_t left = 64 * words_.size() - at_;
    return left < 64 && take(static_cast<int>(left)) == 0;
  }

 private:
  std::span<const std::uint64_t> words_;
  std::size_t at_ = 0;
};

}  // namespace lemma
