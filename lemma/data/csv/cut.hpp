// lemma/data/csv/cut.hpp: a CSV file cut into pieces of whole records, so that each can be read on its own.
#pragma once
#include <cstdint>
#include <lemma/core/parallel.hpp>
#include <lemma/data/csv/bytes.hpp>
#include <lemma/data/csv/parse.hpp>
#include <span>
#include <vector>

namespace lemma::csv {

/// Piece k is the bytes [start[k], start[k + 1]) and holds the rows [first_row[k], first_row[k + 1]).
struct Pieces {
  std::vector<std::uint64_t> start;
  std::vector<Index> first_row;
  std::vector<char> odd;  // of each piece: may there be lines in it that are no rows?
  bool quotes = false;    // does the file hold any?

  Index count() const { return static_cast<Index>(start.size()) - 1; }
  Index rows() const { return first_row.back(); }
  Index rows_of(Index piece) const {
    const auto k = static_cast<std::size_t>(piece);
    return first_row[k + 1] - first_row[k];
  }
  /// The piece that holds this row.
  Index piece_of(Index row) const;
};

/// Cuts in parallel. Whether a newline ends a record is decided by the number of quotes before it, so every block of the
/// file is counted twice, as if it started outside and inside quotes, and the right count is chosen afterwards. That is
/// exact for files in which quotes stand only around fields; the parser notices where they do not. Every line is a row
/// here; those that are none are found afterwards (gaps.hpp).
Pieces cut(const Bytes& bytes, const Layout& layout, std::size_t block_bytes, const Execution& execution,
           const std::string& message);

/// The same, byte after byte, with quotes inside unquoted fields taken as they are.
Pieces cut_exactly(const Bytes& bytes, const Layout& layout, std::size_t block_bytes, const Execution& execution);

/// Where each record begins between `begin` and `end`, and at last `end`: offsets from `begin`.
std::vector<std::size_t> record_starts(const char* begin, const char* end, const Syntax& syntax);

/// A record, or what else ends with a line, that is no row: bytes [begin, end) of a piece.
struct Gap {
  std::size_t begin = 0, end = 0;
};

/// A buffer for bytes [from, to) of a file, ended by newlines so that no reader runs over its end.
class Buffer {
 public:
  static constexpr std::size_t kMargin = 64;
  void fill(const Bytes& bytes, std::uint64_t from, std::uint64_t to, char newline);
  /// Takes out what is no row; once after each fill().
  void close(std::span<const Gap> gaps);
  const char* begin() const { return room_.get() + kMargin; }
  const char* end() const { return begin() + size_; }
  /// What was taken out before each place.
  std::span<const Closed> closed() const { return closed_; }

 private:
  std::unique_ptr<char[]> room_;
  std::size_t size_ = 0, capacity_ = 0;
  char newline_ = '\n';
  std::vector<Closed> closed_;
};

}  // namespace lemma::csv
