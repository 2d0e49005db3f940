// lemma/math/radix.hpp: numbers sorted in linear time, with the rows they belong to.
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

namespace lemma {

/// Bits that order as the numbers do; -0 is 0.
inline std::uint64_t key_of(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);
  return bits >> 63 != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
}
inline double number_of(std::uint64_t key) {
  return std::bit_cast<double>(key >> 63 != 0 ? key ^ (std::uint64_t{1} << 63) : ~key);
}

struct KeyedRow {
  std::uint64_t key;
  std::uint32_t row;
};

/// By key, those of equal keys as they stood: by the leading digits in which they differ, then those that agree in all of these.
void radix_sort(std::vector<KeyedRow>& items);

}  // namespace lemma
