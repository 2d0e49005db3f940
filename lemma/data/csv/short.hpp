// lemma/data/csv/short.hpp: fields of up to 16 bytes, read in a few instructions from where they end.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <lemma/data/csv/number.hpp>

namespace lemma::csv {

static_assert(std::endian::native == std::endian::little);

/// What to keep of the two words of a text of so many bytes: the last eight are in `high`, those before in `low`.
struct ShortMasks {
  std::array<std::uint64_t, 17> low{}, high{};
  constexpr ShortMasks() {
    const auto last = [](std::size_t bytes) { return bytes == 0 ? 0 : ~std::uint64_t{0} << (64 - 8 * bytes); };
    for (std::size_t bytes = 0; bytes < low.size(); ++bytes) {
      low[bytes] = last(bytes > 8 ? bytes - 8 : 0);
      high[bytes] = last(bytes < 8 ? bytes : 8);
    }
  }
};
inline constexpr ShortMasks kShortMasks;

/// Up to 16 bytes as two words, zeros before the first. The 16 bytes before the end must be readable.
struct ShortText {
  static constexpr std::size_t kMost = 16;
  std::uint64_t low = 0, high = 0, size = 0;

  ShortText() = default;
  ShortText(const char* end, std::size_t bytes) : size(bytes) {
    std::memcpy(&low, end - 16, 8);
    std::memcpy(&high, end - 8, 8);
    low &= kShortMasks.low[bytes];
    high &= kShortMasks.high[bytes];
  }
  bool operator==(const ShortText& other) const {
    return ((low ^ other.low) | (high ^ other.high) | (size ^ other.size)) == 0;
  }
  std::uint64_t hash() const {
    const std::uint64_t mixed = ((low ^ size) * 0x9E3779B97F4A7C15u) ^ ((high ^ (high >> 31)) * 0xD6E8FEB86659FD93u);
    return mixed ^ (mixed >> 32);
  }
};

/// Eight digits, the first in the lowest byte, as a number: pairs, then fours, then all.
inline std::uint64_t eight_digits(std::uint64_t digits) {
  digits = digits * 10 + (digits >> 8);
  constexpr std::uint64_t kPairs = 0x000000FF000000FFu;
  constexpr std::uint64_t kFirst = 100 + (std::uint64_t{1000000} << 32), kSecond = 1 + (std::uint64_t{10000} << 32);
  return ((digits & kPairs) * kFirst + ((digits >> 16) & kPairs) * kSecond) >> 32;
}

/// The number [-]digits[.digits] of at most 16 bytes besides the sign that fills [begin, end). False for everything else,
/// numbers in other forms among it; `value` is then undefined. It is the value of read_number to the last bit.
inline bool read_short_number(const char* begin, const char* end, char decimal, double& value) {
  constexpr std::uint64_t kOnes = 0x0101010101010101u, kTops = 0x8080808080808080u;
  const bool negative = *begin == '-';
  begin += negative;
  const auto bytes = static_cast<std::size_t>(end - begin);
  if (bytes - 1 >= ShortText::kMost) return false;  // nothing, or too much
  std::uint64_t low, high;
  std::memcpy(&low, end - 16, 8);
  std::memcpy(&high, end - 8, 8);
  low = (low ^ ('0' * kOnes)) & kShortMasks.low[bytes];  // digits are 0 … 9, and so is what stands before
  high = (high ^ ('0' * kOnes)) & kShortMasks.high[bytes];

  // The top bit of every byte that is the decimal mark.
  const std::uint64_t mark = static_cast<std::uint64_t>(static_cast<unsigned char>(decimal ^ '0')) * kOnes;
  const auto equal = [&](std::uint64_t word) {
    const std::uint64_t difference = word ^ mark;
    return ~(((difference & ~kTops) + ~kTops) | difference | ~kTops);
  };
  const std::uint64_t low_mark = equal(low), high_mark = equal(high);
  std::size_t decimals = 0;
  if ((low_mark | high_mark) != 0) {  // take it out: what stands before it moves up by a byte
    if (bytes == 1 || (low_mark != 0 && high_mark != 0)) return false;
    const auto without = [](std::uint64_t word, std::uint64_t bit) {
      return (word & ~((bit << 1) - 1)) | ((word & ((bit >> 7) - 1)) << 8);
    };
    const bool in_high = high_mark != 0;
    const std::uint64_t marks = in_high ? high_mark : low_mark, bit = marks & (~marks + 1);
    decimals = static_cast<std::size_t>(std::countl_zero(bit)) / 8 + (in_high ? 0 : 8);
    if (in_high) {
      high = without(high, bit) | low >> 56;
      low <<= 8;
    } else {
      low = without(low, bit);
    }
  }
  const auto beyond_nine = [&](std::uint64_t word) { return ((word + 0x76 * kOnes) | word) & kTops; };
  if ((beyond_nine(low) | beyond_nine(high)) != 0) return false;
  const std::uint64_t m = eight_digits(low) * 100000000 + eight_digits(high);
  if (m >= std::uint64_t{1} << 53) return false;
  const double magnitude = static_cast<double>(static_cast<std::int64_t>(m)) / kPowersOfTen[decimals];
  const std::uint64_t sign = static_cast<std::uint64_t>(negative) << 63;  // signs are as good as random: no branch
  value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) | sign);
  return true;
}

}  // namespace lemma::csv
