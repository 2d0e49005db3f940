// lemma/data/csv/sample.hpp: where the table begins in a file, and its first records.
#pragma once
#include <lemma/data/csv/syntax.hpp>

namespace lemma::csv {

/// What stands before the table.
struct Lead {
  std::uint64_t begin = 0;  // behind a byte order mark and the lines that are skipped
  std::uint64_t table = 0;  // the first line that is neither blank nor a comment
  Tally blank;              // lines between the two
};
Lead find_lead(const Bytes& bytes, const CsvOptions& options, const std::string& source);

/// The first bytes of a table, with room behind them.
struct Sample {
  std::string text;  // ends in newlines that are not counted in `size`
  std::size_t size = 0;
  std::uint64_t offset = 0;  // of its first byte in the file
  bool whole = false;        // nothing follows in the file
};
/// At least the first record, unless that is monstrous. `newline` is the byte that ends lines in it.
Sample take_sample(const Bytes& bytes, std::uint64_t from, char& newline);

/// Its first records under a syntax, without blank lines and comments; what is cut off by the end of the sample or malformed
/// ends the list. `after_first` is where the line of the first one ends.
std::vector<Record> records_of(const Sample& sample, const Syntax& syntax, std::uint64_t* after_first = nullptr);

/// The end of the last line that holds something.
std::uint64_t end_of_rows(const Bytes& bytes, std::uint64_t begin, const Syntax& syntax);

}  // namespace lemma::csv
