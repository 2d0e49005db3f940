// lemma/core/hash.hpp: fingerprints. The values are fixed for ever: model files hold them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace lemma {

/// A fast 64-bit hash, not a cryptographic one.
std::uint64_t hash_bytes(const void* data, std::size_t size, std::uint64_t seed = 0);
inline std::uint64_t hash_text(std::string_view text, std::uint64_t seed = 0) {
  return hash_bytes(text.data(), text.size(), seed);
}
/// Equal numbers have equal hashes: −0 counts as 0, and every NaN as the same one.
std::uint64_t hash_numbers(std::span<const double> numbers, std::uint64_t seed = 0);

/// zlib's CRC-32, which finds every burst of damage up to 32 bits. `before` continues an earlier part.
std::uint32_t crc32(const void* data, std::size_t size, std::uint32_t before = 0);

}  // namespace lemma
