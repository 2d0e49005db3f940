// lemma/data/csv/columns.cpp: the fast way through a piece of a file.
//
// First the places of all separators are found, 64 bytes at a time: no branch depends on what a field holds. Then tiles
// of rows that fit the nearest cache are read column after column. A field whose ends are known is a short number or a
// short label nearly always, and both are read from the 16 bytes before its end without a loop.
#include <algorithm>
#include <lemma/data/csv/bits.hpp>
#include <lemma/data/csv/parse.hpp>
#include <lemma/data/csv/short.hpp>
#include <lemma/data/csv/store.hpp>
#include <limits>
#include <memory>

namespace lemma::csv {
namespace {

constexpr std::size_t kTileBytes = std::size_t{1} << 15;
constexpr std::size_t kManyColumns = 4096;  // whose codes begin with little room

/// Room for separators, not filled before they are written.
class Room {
 public:
  std::uint32_t* of(std::size_t count) {
    if (count > capacity_) {
      room_ = std::make_unique_for_overwrite<std::uint32_t[]>(count);
      capacity_ = count;
    }
    return room_.get();
  }

 private:
  std::unique_ptr<std::uint32_t[]> room_;
  std::size_t capacity_ = 0;
};

/// The codes of short fields by their bytes as written, quotes and all.
class ShortCodes {
 public:
  static constexpr std::int32_t kUnknown = -1;

  /// Room for some, before the first is looked for: a column of numbers never comes here, and needs none.
  void open(std::size_t some) {
    if (entries_.empty()) entries_.resize(some);
  }

  std::int32_t find(const ShortText& text) const {
    const std::size_t mask = entries_.size() - 1;
    for (std::size_t place = text.hash() & mask;; place = (place + 1) & mask) {
      const Entry& entry = entries_[place];
      if (entry.code == kUnknown || entry.text == text) return entry.code;
    }
  }

  void add(const ShortText& text, std::int32_t code) {
    if (2 * ++used_ > entries_.size()) grow();
    insert(text, code);
  }

  void clear() {
    std::fill(entries_.begin(), entries_.end(), Entry{});
    used_ = 0;
  }

 private:
  struct Entry {
    ShortText text;
    std::int32_t code = kUnknown;
  };

  void insert(const ShortText& text, std::int32_t code) {
    const std::size_t mask = entries_.size() - 1;
    std::size_t place = text.hash() & mask;
    while (entries_[place].code != kUnknown) place = (place + 1) & mask;
    entries_[place] = {text, code};
  }
  void grow() {
    std::vector<Entry> before(4 * entries_.size());
    before.swap(entries_);
    for (const auto& entry : before)
      if (entry.code != kUnknown) insert(entry.text, entry.code);
  }

  std::vector<Entry> entries_;  // a power of two of them
  std::size_t used_ = 0;
};

class ColumnParser {
 public:
  ColumnParser(const Grammar& grammar, const Text& text, std::span<Sink> sinks)
      : syntax_(grammar.layout.syntax),
        text_(text),
        sinks_(sinks),
        missing_(grammar.missing),
        store_(grammar.missing, syntax_.decimal),
        width_(sinks.size()),
        codes_(sinks.size()) {}

  bool run(const RowRange& rows) {
    if (!find_separators()) return false;
    const auto bytes = static_cast<std::size_t>(text_.end - text_.begin);
    const Index tile =
        std::max<Index>(16, static_cast<Index>(kTileBytes * static_cast<std::size_t>(text_.rows) / bytes));
    for (Index done = 0; done < rows.take; done += tile) {
      const Tile part{rows.skip + done, std::min(tile, rows.take - done), rows.first + done};
      for (std::size_t j = 0; j < width_; ++j)
        if (!put(j, part)) return false;
    }
    return true;
  }

 private:
  struct Tile {
    Index record, count, row;  // the first record in the piece, how many, and the row of the first
  };

  /// separator_[i·width + j] ends field j of record i; before the first record stands a separator too. False when there
  /// are more or fewer than width times rows.
  bool find_separators() {
    thread_local Room room;
    const auto size = static_cast<std::size_t>(text_.end - text_.begin);
    if (size == 0 || size > std::numeric_limits<std::uint32_t>::max() - 64) return false;
    const std::size_t expected = width_ * static_cast<std::size_t>(text_.rows);
    std::uint32_t* const all = room.of(expected + 2 + 64);
    all[0] = ~std::uint32_t{0};  // one before the first byte
    bool open = false;
    std::size_t found =
        csv::find_separators(text_.begin, size, syntax_.delimiter, syntax_.newline, all + 1, expected, open);
    if (open || found > expected) return false;
    if (text_.end[-1] != syntax_.newline) all[++found] = static_cast<std::uint32_t>(size);
    separator_ = all + 1;
    return found == expected;
  }

  const char* begin_of(std::size_t field) const {
    return text_.begin + static_cast<std::uint32_t>((separator_ - 1)[field] + 1);
  }
  const char* end_of(std::size_t field) const { return text_.begin + separator_[field]; }

  bool put(std::size_t column, const Tile& tile) {
    const bool last = column + 1 == width_;
    const char expected = last ? syntax_.newline : syntax_.delimiter;
    bool right = true;
    std::size_t field = static_cast<std::size_t>(tile.record) * width_ + column;
    for (Index i = 0; i < tile.count; ++i) right &= *end_of(field + static_cast<std::size_t>(i) * width_) == expected;
    if (!right) return false;
    switch (sinks_[column].mode) {
      case Sink::Mode::number: return sinks_[column].form.plain() ? put_numbers(column, tile) : put_each(column, tile);
      case Sink::Mode::label:
      case Sink::Mode::level: return put_codes(column, tile);
      case Sink::Mode::text:
      case Sink::Mode::empty: return put_each(column, tile);
      case Sink::Mode::skip: break;
    }
    return true;
  }

  /// Where a field ends for those who read from its end: without the '\r' of "\r\n".
  const char* trimmed_end(std::size_t column, const char* begin, const char* end) const {
    return column + 1 == width_ && syntax_.newline == '\n' && end > begin && end[-1] == '\r' ? end - 1 : end;
  }

  bool put_numbers(std::size_t column, const Tile& tile) {
    Sink& sink = sinks_[column];
    const Index stride = sink.stride;
    double* const numbers = sink.numbers + tile.row * stride;
    const char decimal = syntax_.decimal;
    const bool empty_is_missing = missing_.empty_is_missing();
    std::size_t field = static_cast<std::size_t>(tile.record) * width_ + column;
    for (Index i = 0; i < tile.count; ++i, field += width_) {
      const char* const begin = begin_of(field);
      const char* const end = trimmed_end(column, begin, end_of(field));
      double& number = numbers[i * stride];
      if (read_short_number(begin, end, decimal, number) && !missing_.may_be(number)) [[likely]]
        continue;
      if (begin == end && empty_is_missing) {
        number = std::numeric_limits<double>::quiet_NaN();
        sink.missing = true;
        continue;
      }
      if (!put_any(sink, field, tile.row + i)) return false;
      if (sink.mode != Sink::Mode::number) return true;  // labels: the rest is read in another pass
    }
    return true;
  }

  bool put_codes(std::size_t column, const Tile& tile) {
    Sink& sink = sinks_[column];
    ShortCodes& codes = codes_[column];
    codes.open(width_ < kManyColumns ? 128 : 8);
    std::size_t field = static_cast<std::size_t>(tile.record) * width_ + column;
    for (Index i = 0; i < tile.count; ++i, field += width_) {
      const char* const begin = begin_of(field);
      const char* const end = trimmed_end(column, begin, end_of(field));
      const auto bytes = static_cast<std::size_t>(end - begin);
      const bool is_short = bytes <= ShortText::kMost;
      const ShortText text(end, is_short ? bytes : 0);
      if (is_short) {
        const std::int32_t code = codes.find(text);
        if (code >= 0) {
          sink.codes[tile.row + i] = code;
          continue;
        }
      }
      if (!put_any(sink, field, tile.row + i)) return false;
      if (is_short && sink.codes[tile.row + i] >= 0) codes.add(text, sink.codes[tile.row + i]);
    }
    return true;
  }

  bool put_each(std::size_t column, const Tile& tile) {
    std::size_t field = static_cast<std::size_t>(tile.record) * width_ + column;
    for (Index i = 0; i < tile.count && sinks_[column].mode != Sink::Mode::skip; ++i, field += width_)
      if (!put_any(sinks_[column], field, tile.row + i)) return false;
    return true;
  }

  /// Any field, by the rules of the slow way. It must end where the separators say.
  bool put_any(Sink& sink, std::size_t field, Index row) {
    Field found;
    bool stray_quote = false;
    const char* const begin = begin_of(field);
    try {
      if (syntax_.scan(begin, text_.end, found, stray_quote) != end_of(field) || stray_quote) return false;
    } catch (const Syntax::BadField&) { return false; }
    return store_.any(sink, found, row, text_.place(begin)) == Stored::good;
  }

  const Syntax syntax_;
  const Text text_;
  std::span<Sink> sinks_;
  const MissingWords& missing_;
  Store store_;
  std::size_t width_;
  std::vector<ShortCodes> codes_;
  const std::uint32_t* separator_ = nullptr;
};

}  // namespace

bool parse_columns(const Grammar& grammar, const Text& text, const RowRange& rows, std::span<Sink> sinks) {
  if (grammar.layout.syntax.blank_separated()) return false;
  return rows.skip + rows.take <= text.rows && ColumnParser(grammar, text, sinks).run(rows);
}

}  // namespace lemma::csv
