// lemma/data/csv_cut.cpp
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <hwy/highway.h>
#include <lemma/core/error.hpp>
#include <lemma/data/csv_cut.hpp>

namespace lemma::csv {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::uint64_t kNone = ~std::uint64_t{0};

/// Bit i is set where p[i] == c, for 64 bytes.
std::uint64_t equal_bits(const char* p, char c) {
  const hn::ScalableTag<std::uint8_t> tag;
  const std::size_t lanes = hn::Lanes(tag);
  static_assert(hn::MaxLanes(tag) <= 64);
  const auto wanted = hn::Set(tag, static_cast<std::uint8_t>(c));
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 64; i += lanes) {
    std::uint64_t part = 0;
    hn::StoreMaskBits(tag, hn::Eq(hn::LoadU(tag, reinterpret_cast<const std::uint8_t*>(p) + i), wanted),
                      reinterpret_cast<std::uint8_t*>(&part));
    bits |= part << i;
  }
  return bits;
}

/// Bit i is the parity of the bits 0 … i.
std::uint64_t running_parity(std::uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

/// The record ends of a block under one assumption about its start.
struct Ends {
  Index count = 0;
  std::uint64_t first = kNone;  // offset of the first one

  void add(std::uint64_t bits, std::uint64_t offset) {
    if (bits == 0) return;
    if (first == kNone) first = offset + static_cast<std::uint64_t>(std::countr_zero(bits));
    count += std::popcount(bits);
  }
};

struct Block {
  Ends outside, inside;  // if the block starts outside, or inside quotes
  bool odd = false;      // does it hold an odd number of quotes?
};

Block count_block(const char* text, std::size_t size, std::uint64_t offset, char newline) {
  Block block;
  std::uint64_t parity = 0;  // all ones inside quotes, if the block started outside
  for (std::size_t i = 0; i < size; i += 64) {
    std::uint64_t quotes = equal_bits(text + i, '"'), newlines = equal_bits(text + i, newline);
    if (size - i < 64) {
      const std::uint64_t real = (std::uint64_t{1} << (size - i)) - 1;
      quotes &= real;
      newlines &= real;
    }
    const std::uint64_t inside = quotes == 0 ? parity : running_parity(quotes) ^ parity;
    block.outside.add(newlines & ~inside, offset + i);
    block.inside.add(newlines & inside, offset + i);
    if (std::popcount(quotes) % 2 != 0) parity = ~parity;
  }
  block.odd = parity != 0;
  return block;
}

/// Collects pieces block after block.
class Cutter {
 public:
  Cutter(std::uint64_t begin, std::uint64_t end) : begin_(begin), end_(end) {}

  /// A block with `count` record ends, the first at `first`; `last_is_end`: its last byte is the last of the rows and
  /// ends a record, so that no record follows.
  void add(Index count, std::uint64_t first, bool last_is_end) {
    const bool opens = rows_ == 0 && pieces_.start.empty();  // the first record follows no record end
    const Index records = count + (opens ? 1 : 0) - (last_is_end ? 1 : 0);
    if (records <= 0) return;
    pieces_.start.push_back(opens ? begin_ : first + 1);
    pieces_.first_row.push_back(rows_);
    rows_ += records;
  }

  Pieces finish() {
    pieces_.start.push_back(end_);
    pieces_.first_row.push_back(rows_);
    return std::move(pieces_);
  }

 private:
  Pieces pieces_;
  std::uint64_t begin_, end_;
  Index rows_ = 0;
};

struct Blocks {
  std::uint64_t begin, end, size;
  Index count() const { return static_cast<Index>((end - begin + size - 1) / size); }
  std::uint64_t from(Index b) const { return begin + static_cast<std::uint64_t>(b) * size; }
  std::uint64_t to(Index b) const { return std::min(end, from(b) + size); }
};

/// The state of a reader that takes byte after byte.
class Scanner {
 public:
  explicit Scanner(const Syntax& syntax) : syntax_(syntax) {}

  bool ends_record(char c) {
    if (state_ == State::quoted) {
      if (c == '"') state_ = State::closed;
      return false;
    }
    if (state_ == State::closed && c == '"') {
      state_ = State::quoted;
      return false;
    }
    if (c == syntax_.newline) {
      state_ = State::start;
      return true;
    }
    if (c == syntax_.delimiter) state_ = State::start;
    else if (state_ == State::start && c == '"') state_ = State::quoted;
    else if (!(state_ == State::start && syntax_.is_blank(c))) state_ = State::plain;
    return false;
  }

 private:
  enum class State { start, plain, quoted, closed };
  const Syntax& syntax_;
  State state_ = State::start;
};

}  // namespace

Index Pieces::piece_of(Index row) const {
  return std::upper_bound(first_row.begin(), first_row.end() - 1, row) - first_row.begin() - 1;
}

void Buffer::fill(const Bytes& bytes, std::uint64_t from, std::uint64_t to, char newline) {
  size_ = static_cast<std::size_t>(to - from);
  const std::size_t needed = size_ + 2 * kMargin;
  if (needed > capacity_) {
    room_ = std::make_unique_for_overwrite<char[]>(needed);
    capacity_ = needed;
  }
  std::memset(room_.get(), newline, kMargin);
  bytes.read(from, size_, room_.get() + kMargin);
  std::memset(room_.get() + kMargin + size_, newline, kMargin);
}

Pieces cut(const Bytes& bytes, const Layout& layout, std::size_t block_bytes, const Execution& execution,
           const std::string& message) {
  const Blocks blocks{layout.begin, layout.end, block_bytes};
  std::vector<Block> counted(static_cast<std::size_t>(blocks.count()));
  std::atomic<Index> done = 0;
  bool last_is_newline = false;
  parallel_for(blocks.count(), execution, [&](Index b) {
    thread_local Buffer buffer;
    buffer.fill(bytes, blocks.from(b), blocks.to(b), layout.syntax.newline);
    counted[static_cast<std::size_t>(b)] =
        count_block(buffer.begin(), static_cast<std::size_t>(buffer.end() - buffer.begin()), blocks.from(b),
                    layout.syntax.newline);
    if (b == blocks.count() - 1) last_is_newline = buffer.end()[-1] == layout.syntax.newline;
    report(execution.progress, 0.1 * static_cast<double>(++done) / static_cast<double>(blocks.count()), message);
  });
  Cutter cutter(layout.begin, layout.end);
  bool inside = false;
  for (std::size_t b = 0; b < counted.size(); ++b) {
    const Ends& ends = inside ? counted[b].inside : counted[b].outside;
    inside ^= counted[b].odd;
    cutter.add(ends.count, ends.first, b + 1 == counted.size() && last_is_newline && !inside);
  }
  return cutter.finish();
}

Pieces cut_exactly(const Bytes& bytes, const Layout& layout, std::size_t block_bytes, const Execution& execution) {
  const Blocks blocks{layout.begin, layout.end, block_bytes};
  Cutter cutter(layout.begin, layout.end);
  Scanner scanner(layout.syntax);
  Buffer buffer;
  for (Index b = 0; b < blocks.count(); ++b) {
    if (cancelled(execution.progress)) throw Cancelled();
    buffer.fill(bytes, blocks.from(b), blocks.to(b), layout.syntax.newline);
    Ends ends;
    bool last = false;
    for (const char* p = buffer.begin(); p < buffer.end(); ++p) {
      last = scanner.ends_record(*p);
      if (last) ends.add(1, blocks.from(b) + static_cast<std::uint64_t>(p - buffer.begin()));
    }
    cutter.add(ends.count, ends.first, b + 1 == blocks.count() && last);
  }
  return cutter.finish();
}

}  // namespace lemma::csv
