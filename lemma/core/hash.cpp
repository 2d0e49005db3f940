// lemma/core/hash.cpp
#include <zlib.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <lemma/core/hash.hpp>

namespace lemma {
namespace {

// The fractional parts of √2, √3, √5, √7 to 64 bits, made odd.
constexpr std::uint64_t kTwo = 0x6A09E667F3BCC909, kThree = 0xBB67AE8584CAA73B, kFive = 0x3C6EF372FE94F82B,
                        kSeven = 0xA54FF53A5F1D36F1;
static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");

/// Both halves of the 128-bit product: each bit of a and b reaches many of the result.
std::uint64_t fold_product(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t finish(std::uint64_t h) {  // the finaliser of splitmix64
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EB;
  return h ^ (h >> 31);
}

/// Two words into the state. The state goes its own way through rotation and multiplication, so no word can erase it.
std::uint64_t mix(std::uint64_t state, std::uint64_t a, std::uint64_t b) {
  return (std::rotl(state, 27) * kTwo) ^ fold_product(a ^ kThree, b ^ kFive);
}

/// Hash of `count` words word(0), word(1), … that hold `size` bytes.
std::uint64_t hash_words(std::size_t count, std::size_t size, std::uint64_t seed, auto&& word) {
  std::uint64_t state = seed ^ kSeven;
  std::size_t i = 0;
  for (; i + 2 <= count; i += 2) state = mix(state, word(i), word(i + 1));
  if (i < count) state = mix(state, word(i), 0);
  return finish(mix(state, size, seed));
}

double canonical(double number) {
  if (std::isnan(number)) return std::bit_cast<double>(std::uint64_t{0x7FF8000000000000});
  return number == 0 ? 0.0 : number;
}

}  // namespace

std::uint64_t hash_bytes(const void* data, std::size_t size, std::uint64_t seed) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  return hash_words((size + 7) / 8, size, seed, [&](std::size_t i) {
    std::uint64_t word = 0;
    if (8 * i + 8 <= size) std::memcpy(&word, bytes + 8 * i, 8);
    else std::memcpy(&word, bytes + 8 * i, size - 8 * i);
    return word;
  });
}

std::uint64_t hash_numbers(std::span<const double> numbers, std::uint64_t seed) {
  return hash_words(numbers.size(), 8 * numbers.size(), seed,
                    [&](std::size_t i) { return std::bit_cast<std::uint64_t>(canonical(numbers[i])); });
}

std::uint32_t crc32(const void* data, std::size_t size, std::uint32_t before) {
  return static_cast<std::uint32_t>(::crc32_z(before, static_cast<const Bytef*>(data), size));
}

}  // namespace lemma
