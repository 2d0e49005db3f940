// lemma/data/csv/parse.hpp: the records of a piece of a file, each field straight to its place in its column.
#pragma once
#include <algorithm>
#include <lemma/data/csv/labels.hpp>
#include <lemma/data/csv/syntax.hpp>
#include <span>

namespace lemma::csv {

/// Where the fields of one column go, and what was found on the way.
struct Sink {
  enum class Mode {
    skip,    // nobody asks
    number,  // to `numbers`; a label ends it (`failed`) or is a mistake (`strict`)
    label,   // to `codes`, numbered by `labels`
    level,   // to `codes` of `levels`; anything else is a mistake
    text,    // to `texts`
    empty    // nowhere: nothing may stand there, or it has failed
  };
  Mode mode = Mode::skip;
  bool strict = false;  // what is no number is a mistake
  double* numbers = nullptr;
  Index stride = 1;  // of a row to the next in `numbers`
  Form form;         // in which the numbers are written
  std::int32_t* codes = nullptr;
  Dictionary* labels = nullptr;
  const Dictionary* levels = nullptr;
  bool levels_win = false;  // over the spellings of missing: the user asked for a level NA
  Texts* texts = nullptr;

  bool failed = false;
  bool formed = false;         // was any number, in a form that is not plain?
  bool missing = false;        // was any value?
  std::vector<Index> spelled;  // how often each spelling of missing was met (not among numbers)
  std::uint64_t infinite_at = kNowhere;
  std::string infinite;  // the first infinity among numbers, as written
};

/// From a place of a text on, so many bytes of the file were taken out before it.
struct Closed {
  std::size_t place = 0, bytes = 0;
};

/// A piece of the file in memory. Between `begin` and `end` stand whole records; before and after them there must be room
/// for 64 bytes that may be read, and those after must be newlines.
struct Text {
  const char* begin;
  const char* end;
  std::uint64_t offset;  // of `begin` in the file
  Index rows;            // how many records there are
  std::span<const Closed> closed = {};

  /// The place of a byte in the file.
  std::uint64_t place(const char* p) const {
    const auto at = static_cast<std::size_t>(p - begin);
    const auto after = std::upper_bound(closed.begin(), closed.end(), at,
                                        [](std::size_t each, const Closed& gap) { return each < gap.place; });
    return offset + at + (after == closed.begin() ? 0 : (after - 1)->bytes);
  }
};

/// The first `skip` records are passed over, the next `take` go to rows `first`, first + 1, … of the sinks.
struct RowRange {
  Index skip = 0, take = 0, first = 0;
};

/// What the parser has to know about the file.
struct Grammar {
  const Layout& layout;
  const MissingWords& missing;
  bool odd_quotes = false;  // quotes stand inside unquoted fields: only the slow way is right
};

/// Parses the records of a piece; one sink a column. `stray_quote` is set when an unquoted field holds a quote, or when
/// there are fewer records than asked for. Throws Mistake.
void parse_records(const Grammar& grammar, const Text& text, const RowRange& rows, std::span<Sink> sinks,
                   bool& stray_quote);

/// The same field after field, for any file: the meaning of parse_records, and its way out when anything is odd.
void parse_slowly(const Grammar& grammar, const Text& text, const RowRange& rows, std::span<Sink> sinks,
                  bool& stray_quote);

/// The same column after column, with the separators found first. False when the records are not as expected or hold a
/// mistake; the sinks are then of no use. Columns that nobody asks for are not looked into.
bool parse_columns(const Grammar& grammar, const Text& text, const RowRange& rows, std::span<Sink> sinks);

}  // namespace lemma::csv
