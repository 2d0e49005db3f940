// lemma/data/csv.hpp: CSV files as they lie on disk, read in parallel into a Table, and written back.
#pragma once
#include <lemma/core/parallel.hpp>
#include <lemma/data/table.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lemma {

/// What a column is read as, where the user says so.
enum class ReadAs { numeric, categorical, text, date };
std::string_view name_of(ReadAs type);
/// As what a column has to be read again.
ReadAs read_as(const Column& column);
/// What becomes of a line with too few or too many fields.
enum class Ragged { error, skip };
/// How the characters of a file are written. utf16 is either order, as its byte order mark says.
enum class Encoding { utf8, latin1, windows1252, utf16, utf16le, utf16be };

/// How to read a CSV file. What is left empty is found out from the file.
struct CsvOptions {
  std::optional<char> delimiter;                           // , ; tab | or blank (a run of blanks is one delimiter)
  std::optional<bool> header;                              // does the first row hold names?
  std::optional<char> decimal;                             // '.' or ','
  std::map<std::string, ReadAs> types;                     // overrides by column name
  std::map<std::string, std::vector<std::string>> levels;  // the user's order of the levels; others are errors
  std::vector<std::string> missing = {"", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"};  // spellings of missing
  std::optional<Encoding> encoding;  // UTF-8, or UTF-16 where the file begins with a mark of it
  Index skip = 0;                    // so many lines at the start are no part of the table
  std::optional<char> comment;       // lines that begin with it are passed over
  Ragged ragged = Ragged::error;
  std::size_t block_bytes = std::size_t{1} << 19;  // how the file is cut for the threads; the table never depends on it
  Execution execution;
};

/// What a file was found to be.
struct CsvDialect {
  char delimiter = ',';
  bool header = true;
  char decimal = '.';
  bool operator==(const CsvDialect&) const = default;
};

/// Reads a CSV file (RFC 4180) on all threads; the table is the same for any number of them.
///
/// - Types are found from the whole column: numeric when every field that is not missing is a number, else categorical, or
///   text when more than half of the fields that are not missing are different from each other and more than 20 are (or
///   more than 2²⁰). Levels are ordered by their bytes. TRUE, n, 0x1F are labels. A column without any value is numeric.
/// - A column all of whose values are dates or times as ISO 8601 writes them is numeric: days since 1970-01-01 (Quantity).
///   So is one all of whose numbers are written with thousands separators (1,234), a sign of currency ($5, 5 €) or % (12 %,
///   which is 12), the same for all. A note says so; ReadAs::categorical leaves them labels.
/// - Blanks around a field do not count unless it is quoted. What is quoted is never missing among labels: "NA" is the
///   label NA, and "" the empty text. Among numbers, quotes make no difference.
/// - inf, or a number too large for a double, in a column of numbers is an error that names its place.
/// - A row with too few or too many fields is an error, unless they are skipped. Blank lines are no rows (but missing values
///   in a table of one column, until the last value); a delimiter at the end of every line is followed by no column.
/// - What the user should know (names made unique, NA read as missing among labels, …) stands in the table's notes().
/// - Cost: two passes over the file, which is never in memory as a whole; a third over the columns whose first rows
///   looked like numbers and others did not.
///
/// `path` "-" is standard input; packed files (gzip, xz, Zstandard) are unpacked in memory.
Table read_csv(const std::string& path, const CsvOptions& options = {});
Table parse_csv(std::string_view text, const CsvOptions& options = {}, std::string source = "text");
/// What the first records say about how the file is written.
CsvDialect detect_csv(const std::string& path, const CsvOptions& options = {});

/// Quotes stand where they are needed: around the delimiter, quotes, line ends, blanks at either end, texts that would be
/// read as missing, and empty texts. A missing value is an empty field, or NA in a table of one column (where an empty line
/// would be lost at the end). Numbers are the shortest that read back to the same double; the file is written under a
/// temporary name and renamed; .gz is packed. Reading it with the table's types and levels gives the same table.
void write_csv(const Table& table, const std::string& path);
std::string format_csv(const Table& table, bool header = true);

}  // namespace lemma
