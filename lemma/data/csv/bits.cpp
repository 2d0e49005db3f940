// lemma/data/csv/bits.cpp: compiled once for each vector width (Highway's foreach_target), chosen among at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lemma/data/csv/bits.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include <bit>
#include <lemma/data/csv/bits.hpp>
#include <lemma/math/simd/dispatch.hpp>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace lemma::csv::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::CappedTag<std::uint8_t, 64>;
using V = hn::Vec<Tag>;

/// One bit a byte for 64 bytes: is it c? The bits of a vector are stored to a word just as wide, which keeps them in
/// registers.
template <class Test>
HWY_INLINE std::uint64_t bits_of(const char* text, Test test) {
  constexpr std::size_t kLanes = hn::MaxLanes(Tag());
  using Part = std::conditional_t<
      kLanes == 64, std::uint64_t,
      std::conditional_t<kLanes == 32, std::uint32_t, std::conditional_t<kLanes == 16, std::uint16_t, std::uint8_t>>>;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text);
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < 64; i += hn::Lanes(Tag())) {
    Part part = 0;
    hn::StoreMaskBits(Tag(), test(hn::LoadU(Tag(), bytes + i)), reinterpret_cast<std::uint8_t*>(&part));
    all |= static_cast<std::uint64_t>(part) << i;
  }
  return all;
}

HWY_INLINE V splat(char c) { return hn::Set(Tag(), static_cast<std::uint8_t>(c)); }

/// Bit i is the parity of the bits 0 … i: ones inside quotes, where the bits are the quotes.
HWY_INLINE std::uint64_t running_parity(std::uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

HWY_INLINE void add(RecordEnds& ends, std::uint64_t bits, std::size_t place) {
  if (bits == 0) return;
  if (ends.first == RecordEnds::kNone) ends.first = place + static_cast<std::uint64_t>(std::countr_zero(bits));
  ends.count += std::popcount(bits);
}

BlockCount count_record_ends(const char* text, std::size_t size, char newline, char comment) {
  const V quote = splat('"'), end = splat(newline), blank = splat(' '), mark = splat(comment);
  BlockCount block;
  std::uint64_t inside = 0;  // all ones inside quotes, if the block started outside
  std::uint64_t after = 0;   // 1 where the byte before these 64 is a newline
  for (std::size_t i = 0; i < size; i += 64) {
    std::uint64_t quotes = bits_of(text + i, [&](V v) { return hn::Eq(v, quote); });
    std::uint64_t newlines = bits_of(text + i, [&](V v) { return hn::Eq(v, end); });
    // Blanks and line ends are the bytes up to ' '.
    std::uint64_t odd = bits_of(text + i, [&](V v) { return hn::Or(hn::Eq(hn::Min(v, blank), v), hn::Eq(v, mark)); });
    if (size - i < 64) {
      const std::uint64_t real = (std::uint64_t{1} << (size - i)) - 1;
      quotes &= real;
      newlines &= real;
      odd &= real;
    }
    if (i == 0) block.odd_start = (odd & 1) != 0;
    block.odd_lines |= ((newlines << 1 | after) & odd) != 0;
    after = newlines >> 63;
    std::uint64_t quoted = inside;
    if (quotes != 0) {
      quoted ^= running_parity(quotes);
      inside = std::uint64_t{0} - (quoted >> 63);
      block.quotes = true;
    }
    add(block.outside, newlines & ~quoted, i);
    add(block.inside, newlines & quoted, i);
  }
  block.odd = inside != 0;
  block.ends_line = size > 0 && text[size - 1] == newline;
  return block;
}

/// Appends the places of the set bits. Eight are written at once, so that the usual word needs no loop.
HWY_INLINE std::uint32_t* append_places(std::uint32_t* out, std::uint64_t bits, std::uint32_t base) {
  const int count = std::popcount(bits);
  for (int done = 0; done < count; done += 8)
    for (int k = 0; k < 8; ++k) {
      out[done + k] = base + static_cast<std::uint32_t>(std::countr_zero(bits));
      bits &= bits - 1;
    }
  return out + count;
}

std::size_t find_separators(const char* text, std::size_t size, char delimiter, char newline, std::uint32_t* places,
                            std::size_t most, bool& open) {
  const V quote = splat('"'), end = splat(newline), between = splat(delimiter);
  std::uint32_t* out = places;
  std::uint64_t inside = 0;
  for (std::size_t i = 0; i < size; i += 64) {
    std::uint64_t quotes = bits_of(text + i, [&](V v) { return hn::Eq(v, quote); });
    std::uint64_t ends = bits_of(text + i, [&](V v) { return hn::Or(hn::Eq(v, end), hn::Eq(v, between)); });
    if (size - i < 64) {
      const std::uint64_t real = (std::uint64_t{1} << (size - i)) - 1;
      quotes &= real;
      ends &= real;
    }
    if ((quotes | inside) != 0) {
      const std::uint64_t quoted = running_parity(quotes) ^ inside;
      ends &= ~quoted;
      inside = std::uint64_t{0} - (quoted >> 63);
    }
    out = append_places(out, ends, static_cast<std::uint32_t>(i));
    if (static_cast<std::size_t>(out - places) > most) break;
  }
  open = inside != 0;
  return static_cast<std::size_t>(out - places);
}

}  // namespace lemma::csv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lemma::csv {

HWY_EXPORT(count_record_ends);
HWY_EXPORT(find_separators);

BlockCount count_record_ends(const char* text, std::size_t size, char newline, char comment) {
  return LEMMA_DISPATCH(count_record_ends)(text, size, newline, comment);
}

std::size_t find_separators(const char* text, std::size_t size, char delimiter, char newline, std::uint32_t* places,
                            std::size_t most, bool& open) {
  return LEMMA_DISPATCH(find_separators)(text, size, delimiter, newline, places, most, open);
}

}  // namespace lemma::csv
#endif  // HWY_ONCE
