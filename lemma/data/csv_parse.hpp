// lemma/data/csv_parse.hpp: the records of a piece of a file, each field straight to its place in its column.
#pragma once
#include <lemma/data/csv_labels.hpp>
#include <lemma/data/csv_syntax.hpp>
#include <span>

namespace lemma::csv {

inline constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

/// Where the fields of one column go, and what was found on the way.
struct Sink {
  enum class Mode {
    skip,    // nobody asks
    number,  // to `numbers`; a label ends it (`failed`) or, where numbers were asked for, is a mistake
    label,   // to `codes`, numbered by `labels`
    level,   // to `codes` of `levels`; anything else is a mistake
    text     // to `texts`
  };
  Mode mode = Mode::skip;
  bool asked = false;
  double* numbers = nullptr;
  std::int32_t* codes = nullptr;
  Dictionary* labels = nullptr;
  const Dictionary* levels = nullptr;
  bool levels_win = false;        // over the spellings of missing: the user asked for a level NA
  Texts* texts = nullptr;

  bool failed = false;
  Index present = 0;              // labels that are not missing
  std::vector<Index> spelled;     // how often each spelling of missing was met (labels only)
  std::uint64_t infinite_at = kNowhere;
  std::string infinite;           // the first infinity among numbers, as written
};

/// What the parser has to know about the file.
struct Grammar {
  const Layout& layout;
  const MissingWords& missing;
};

/// Parses records from `begin` (at byte `offset` of the file) to `end`, where a newline must stand. The first `skip` are
/// passed over, the next `take` go to rows `first`, first + 1, … of the sinks, one sink a column. `stray_quote` is set
/// when an unquoted field holds a quote. Throws Mistake.
struct RowRange {
  Index skip = 0, take = 0, first = 0;
};
void parse_records(const Grammar& grammar, const char* begin, const char* end, std::uint64_t offset, const RowRange& rows,
                   std::span<Sink> sinks, bool& stray_quote);

}  // namespace lemma::csv
