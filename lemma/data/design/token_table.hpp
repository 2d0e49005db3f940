// lemma/data/design/token_table.hpp: tokens by number: what counting and looking up words takes its time with. Inner header.
#pragma once
#include <cstdint>
#include <cstring>
#include <lemma/core/matrix.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace lemma {

/// Numbers 0, 1, … for tokens in the order of their coming. Open addressing; a slot holds tokens of up to 8 bytes whole, so that
/// nothing else is touched for most words, and of longer ones a hash beside the place of their bytes.
class TokenTable {
 public:
  TokenTable() : slots_(64) {}
  Index size() const { return static_cast<Index>(start_.size()) - 1; }
  std::string_view token(Index number) const {
    const std::size_t from = start_[static_cast<std::size_t>(number)];
    return {bytes_.data() + from, start_[static_cast<std::size_t>(number) + 1] - from};
  }

  /// −1 when it has none.
  Index find(std::string_view token) const {
    const Key key = key_of(token);
    return slots_[slot_of(key, token)].number;
  }
  /// A new token gets the next number.
  Index number_of(std::string_view token) {
    const Key key = key_of(token);
    Slot& slot = slots_[slot_of(key, token)];
    if (slot.number >= 0) return slot.number;
    const Index number = size();
    slot = {key.word, key.length, static_cast<std::int32_t>(number)};
    bytes_.insert(bytes_.end(), token.begin(), token.end());
    start_.push_back(bytes_.size());
    if (2 * start_.size() > slots_.size()) grow();
    return number;
  }

 private:
  struct Key {
    std::uint64_t word;  // the token itself where it has at most 8 bytes, else its hash
    std::uint32_t length;
  };
  struct Slot {
    std::uint64_t word = 0;
    std::uint32_t length = 0;
    std::int32_t number = -1;
  };

  static std::uint64_t load(const char* from, std::size_t bytes) {
    std::uint64_t out = 0;
    std::memcpy(&out, from, bytes);
    return out;
  }
  static std::uint64_t mixed(std::uint64_t word) {
    word *= 0x9E37'79B9'7F4A'7C15u;
    return word ^ (word >> 32);
  }
  /// Two tokens of one length of up to 8 bytes have one word when they are equal, and only then.
  static Key key_of(std::string_view token) {
    const char* p = token.data();
    const std::size_t n = token.size();
    const auto length = static_cast<std::uint32_t>(n);
    if (n > 8) {
      std::uint64_t hash = n;
      for (std::size_t i = 0; i + 8 < n; i += 8) hash = mixed(hash ^ load(p + i, 8));
      return {mixed(hash ^ load(p + n - 8, 8)), length};
    }
    if (n >= 4) return {load(p, 4) | load(p + n - 4, 4) << 32, length};
    if (n == 0) return {0, 0};
    const auto byte = [&](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(p[i])}; };
    return {byte(0) | byte(n / 2) << 8 | byte(n - 1) << 16, length};
  }

  std::size_t slot_of(const Key& key, std::string_view token) const {
    const std::size_t last = slots_.size() - 1;  // a power of two
    for (std::size_t i = mixed(key.word + key.length) & last;; i = (i + 1) & last) {
      const Slot& slot = slots_[i];
      if (slot.number < 0) return i;
      if (slot.word == key.word && slot.length == key.length &&
          (token.size() <= 8 || this->token(slot.number) == token))
        return i;
    }
  }
  void grow() {
    const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(4 * slots_.size()));
    const std::size_t last = slots_.size() - 1;
    for (const Slot& slot : before) {
      if (slot.number < 0) continue;
      std::size_t i = mixed(slot.word + slot.length) & last;
      while (slots_[i].number >= 0) i = (i + 1) & last;
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::vector<char> bytes_;
  std::vector<std::size_t> start_{0};
};

}  // namespace lemma
