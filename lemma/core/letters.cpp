// lemma/core/letters.cpp
#include <algorithm>
#include <iterator>
#include <lemma/core/letters.hpp>
#include <lemma/core/letters_table.hpp>

namespace lemma {
namespace {

/// The range that holds the code; the end when none does.
template <class Range, std::size_t N>
const Range* holding(const Range (&ranges)[N], char32_t code) {
  const Range* found = std::lower_bound(std::begin(ranges), std::end(ranges), code,
                                        [](const Range& range, char32_t c) { return range.last < c; });
  return found != std::end(ranges) && found->first <= code ? found : std::end(ranges);
}

}  // namespace

bool is_word_character(char32_t code) {
  if (code < 0x80)
    return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || (code >= '0' && code <= '9') || code == '_';
  return holding(letters::kWord, code) != std::end(letters::kWord);
}

char32_t lower_case(char32_t code) {
  if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + ('a' - 'A') : code;
  const auto* range = holding(letters::kLower, code);
  if (range == std::end(letters::kLower)) return code;
  const auto step = static_cast<char32_t>(range->step);
  if ((code - range->first) % step != 0) return code;
  return static_cast<char32_t>(static_cast<std::int64_t>(code) + range->shift);
}

}  // namespace lemma
