// lemma/data/csv/labels.hpp: texts numbered in the order they are met.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace lemma::csv {

/// A hash of the bytes: two multiplications for labels of up to 16 bytes.
inline std::uint64_t hash_of(const char* p, std::size_t size) {
  constexpr std::uint64_t kOdd1 = 0x9E3779B97F4A7C15u, kOdd2 = 0xD6E8FEB86659FD93u;
  const auto load = [](const char* at, std::size_t bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, bytes);
    return word;
  };
  const auto mix = [](std::uint64_t h) { return (h ^ (h >> 32)) * kOdd2; };
  std::uint64_t h = size * kOdd1;
  const char* q = p;
  std::size_t left = size;
  for (; left > 16; left -= 8, q += 8) h = mix(h ^ (load(q, 8) * kOdd1));
  if (left >= 8) {
    h = mix(h ^ (load(q, 8) * kOdd1));
    h ^= load(q + left - 8, 8);
  } else if (left >= 4) {
    h ^= load(q, 4) << 32 | load(q + left - 4, 4);
  } else if (left > 0) {
    h ^= load(q, 1) | load(q + left / 2, 1) << 8 | load(q + left - 1, 1) << 16;
  }
  h = mix(h * kOdd1);
  return h ^ (h >> 29);
}

/// Each distinct text gets the next code. Open addressing; the texts lie one after the other.
class Dictionary {
 public:
  static constexpr std::int32_t kAbsent = -1;

  std::int32_t size() const { return static_cast<std::int32_t>(entries_.size()); }
  std::string_view at(std::int32_t code) const {
    const Entry& entry = entries_[static_cast<std::size_t>(code)];
    return {texts_.data() + entry.offset, entry.size};
  }

  std::int32_t find(std::string_view text) const {
    if (slots_.empty()) return kAbsent;
    const std::uint64_t hash = hash_of(text.data(), text.size());
    return slots_[slot(text, hash)];
  }

  std::int32_t code(std::string_view text) {
    if (slots_.empty()) grow();
    const std::uint64_t hash = hash_of(text.data(), text.size());
    std::size_t place = slot(text, hash);
    if (slots_[place] != kAbsent) [[likely]]
      return slots_[place];
    return insert(text, hash, place);
  }

  void clear() { *this = {}; }

 private:
  struct Entry {
    std::uint64_t hash, offset, size;
  };

  std::size_t slot(std::string_view text, std::uint64_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t place = hash & mask;; place = (place + 1) & mask) {
      const std::int32_t code = slots_[place];
      if (code == kAbsent) return place;
      const Entry& entry = entries_[static_cast<std::size_t>(code)];
      if (entry.hash == hash && at(code) == text) return place;
    }
  }

  std::int32_t insert(std::string_view text, std::uint64_t hash, std::size_t place);
  void grow();

  std::vector<std::int32_t> slots_;  // a power of two of them, at most half used
  std::vector<Entry> entries_;
  std::string texts_;
};

}  // namespace lemma::csv
