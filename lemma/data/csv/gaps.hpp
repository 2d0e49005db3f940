// lemma/data/csv/gaps.hpp: lines of a CSV file that are no rows: blank ones, comments, and ragged ones where they are skipped.
#pragma once
#include <lemma/data/csv/cut.hpp>
#include <vector>

namespace lemma::csv {

/// What is left out of a file, and where it first was.
struct LeftOut {
  Tally blank, ragged;
  std::size_t fields = 0;  // of the first ragged line
  void merge(const LeftOut& other);
};

/// The gaps of a piece.
struct Gaps {
  std::vector<Gap> gaps;
  LeftOut why;
  /// Quotes stand where they do not belong, so that the piece may begin or end in the wrong place.
  bool stray_quote = false;
};

/// `exact`: quotes inside unquoted fields are taken as they are, which takes longer.
Gaps find_gaps(const Text& text, const Layout& layout, Ragged ragged, bool exact);

}  // namespace lemma::csv
