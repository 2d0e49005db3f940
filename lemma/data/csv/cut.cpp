// lemma/data/csv/cut.cpp
#include <algorithm>
#include <atomic>
#include <cstring>
#include <lemma/core/error.hpp>
#include <lemma/data/csv/bits.hpp>
#include <lemma/data/csv/cut.hpp>

namespace lemma::csv {
namespace {

/// Collects pieces block after block.
class Cutter {
 public:
  Cutter(std::uint64_t begin, std::uint64_t end) : begin_(begin), end_(end) {}

  /// A block at `offset` with its record ends; `last_is_end`: its last byte is the last of the rows and ends a record, so
  /// that no record follows.
  void add(const RecordEnds& ends, std::uint64_t offset, bool last_is_end) {
    const bool opens = rows_ == 0 && pieces_.start.empty();  // the first record follows no record end
    const Index records = ends.count + (opens ? 1 : 0) - (last_is_end ? 1 : 0);
    if (records <= 0) return;
    pieces_.start.push_back(opens ? begin_ : offset + ends.first + 1);
    pieces_.first_row.push_back(rows_);
    pieces_.odd.push_back(0);
    rows_ += records;
  }
  /// An odd line begins in the last piece.
  void mark_odd() {
    if (!pieces_.odd.empty()) pieces_.odd.back() = 1;
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
      state_ = State::line;
      return true;
    }
    if (state_ == State::comment || (state_ == State::line && c == ' ' && syntax_.blank_separated())) return false;
    if (state_ == State::line && syntax_.is_comment(&c)) state_ = State::comment;
    else if (c == syntax_.delimiter) state_ = State::start;
    else if (at_start() && c == '"') state_ = State::quoted;
    else if (!(at_start() && syntax_.is_blank(c))) state_ = State::plain;
    return false;
  }

 private:
  /// Before the first byte that counts in a line, or in a field.
  enum class State { line, start, plain, quoted, closed, comment };
  bool at_start() const { return state_ == State::line || state_ == State::start; }
  const Syntax& syntax_;
  State state_ = State::line;
};

}  // namespace

std::vector<std::size_t> record_starts(const char* begin, const char* end, const Syntax& syntax) {
  std::vector<std::size_t> starts{0};
  Scanner scanner(syntax);
  for (const char* p = begin; p < end; ++p)
    if (scanner.ends_record(*p)) starts.push_back(static_cast<std::size_t>(p + 1 - begin));
  const auto size = static_cast<std::size_t>(end - begin);
  if (starts.back() != size) starts.push_back(size);
  return starts;
}

Index Pieces::piece_of(Index row) const {
  return std::upper_bound(first_row.begin(), first_row.end() - 1, row) - first_row.begin() - 1;
}

void Buffer::close(std::span<const Gap> gaps) {
  char* const text = room_.get() + kMargin;
  std::size_t to = 0, from = 0;
  for (const Gap& gap : gaps) {
    std::memmove(text + to, text + from, gap.begin - from);
    to += gap.begin - from;
    from = gap.end;
    closed_.push_back({to, from - to});
  }
  std::memmove(text + to, text + from, size_ - from);
  size_ -= from - to;
  std::memset(text + size_, newline_, kMargin);
}

void Buffer::fill(const Bytes& bytes, std::uint64_t from, std::uint64_t to, char newline) {
  closed_.clear();
  newline_ = newline;
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
  std::vector<BlockCount> counted(static_cast<std::size_t>(blocks.count()));
  std::atomic<Index> done = 0;
  parallel_for(blocks.count(), execution, [&](Index b) {
    thread_local Buffer buffer;
    buffer.fill(bytes, blocks.from(b), blocks.to(b), layout.syntax.newline);
    counted[static_cast<std::size_t>(b)] =
        count_record_ends(buffer.begin(), static_cast<std::size_t>(buffer.end() - buffer.begin()),
                          layout.syntax.newline, layout.syntax.comment);
    report(execution.progress, 0.1 * static_cast<double>(++done) / static_cast<double>(blocks.count()), message);
  });
  Cutter cutter(layout.begin, layout.end);
  bool inside = false, quotes = false;
  for (std::size_t b = 0; b < counted.size(); ++b) {
    const RecordEnds& ends = inside ? counted[b].inside : counted[b].outside;
    inside ^= counted[b].odd;
    quotes |= counted[b].quotes;
    if (b > 0 && counted[b].odd_start && counted[b - 1].ends_line) cutter.mark_odd();  // it belongs to the piece before
    cutter.add(ends, blocks.from(static_cast<Index>(b)), b + 1 == counted.size() && counted[b].ends_line && !inside);
    if (counted[b].odd_lines || (b == 0 && counted[b].odd_start)) cutter.mark_odd();
  }
  Pieces pieces = cutter.finish();
  pieces.quotes = quotes;
  return pieces;
}

Pieces cut_exactly(const Bytes& bytes, const Layout& layout, std::size_t block_bytes, const Execution& execution) {
  const Blocks blocks{layout.begin, layout.end, block_bytes};
  Cutter cutter(layout.begin, layout.end);
  Scanner scanner(layout.syntax);
  Buffer buffer;
  for (Index b = 0; b < blocks.count(); ++b) {
    if (cancelled(execution.progress)) throw Cancelled();
    buffer.fill(bytes, blocks.from(b), blocks.to(b), layout.syntax.newline);
    RecordEnds ends;
    bool last = false;
    for (const char* p = buffer.begin(); p < buffer.end(); ++p) {
      last = scanner.ends_record(*p);
      if (last && ends.count++ == 0) ends.first = static_cast<std::uint64_t>(p - buffer.begin());
    }
    cutter.add(ends, blocks.from(b), b + 1 == blocks.count() && last);
    cutter.mark_odd();
  }
  return cutter.finish();
}

}  // namespace lemma::csv
