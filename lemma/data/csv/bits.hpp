// lemma/data/csv/bits.hpp: record ends and separators, found 64 bytes at a time.
#pragma once
#include <cstddef>
#include <cstdint>

namespace lemma::csv {

/// The newlines that end records in a block of a file, under one assumption about how the block starts.
struct RecordEnds {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::int64_t count = 0;
  std::uint64_t first = kNone;  // place in the block
};

struct BlockCount {
  RecordEnds outside, inside;  // if the block starts outside, or inside quotes
  bool odd = false;            // does it hold an odd number of quotes?
  bool quotes = false;         // does it hold any?
  bool odd_start = false;      // is its first byte one that a line seldom begins with: a blank, a line end, `comment`?
  bool odd_lines = false;      // does such a byte follow a newline in it?
  bool ends_line = false;      // is its last byte a newline?
};

/// Up to 63 bytes behind the text are read, and do not count.
BlockCount count_record_ends(const char* text, std::size_t size, char newline, char comment);

/// Writes the places of delimiters and newlines outside quotes to `places`, which has room for `most` + 64, and gives their
/// number; it stops early once there are more than `most`. `open`: a quote is not closed at the end.
std::size_t find_separators(const char* text, std::size_t size, char delimiter, char newline, std::uint32_t* places,
                            std::size_t most, bool& open);

}  // namespace lemma::csv
