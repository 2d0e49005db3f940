// lemma/data/csv/syntax.hpp: how one field, one record and one dialect of CSV are written.
#pragma once
#include <lemma/core/error.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/csv/bytes.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lemma::csv {

/// What a field holds. `infinite` is a spelling of infinity, or a number too large for a double.
enum class Kind { missing, number, infinite, label };

/// The words that stand for a missing value.
class MissingWords {
 public:
  explicit MissingWords(const std::vector<std::string>& words);
  bool empty_is_missing() const { return empty_; }
  /// Which word the text is; −1 when none.
  int which(std::string_view text) const {
    if (text.size() > longest_) return -1;
    return find(text);
  }
  const std::vector<std::string>& words() const { return words_; }

 private:
  int find(std::string_view text) const;
  std::vector<std::string> words_;
  std::size_t longest_ = 0;
  bool empty_ = false;
};

/// A mistake in the file, at a byte of it. It becomes an Error once somebody counts the lines.
struct Mistake {
  std::uint64_t offset = 0;
  Index column = -1;  // −1: the whole record
  std::string message;
};

/// Where a field stands. A quoted one is given without its quotes; where `doubled`, its quotes are still doubled.
struct Field {
  const char* begin = nullptr;
  const char* end = nullptr;
  bool quoted = false;
  bool doubled = false;
  std::string_view raw() const { return {begin, static_cast<std::size_t>(end - begin)}; }
  /// The text itself; `scratch` is used where quotes have to be undoubled.
  std::string_view text(std::string& scratch) const;
};

/// The bytes that separate fields and records. Blanks around a field that is not quoted do not count.
struct Syntax {
  char delimiter = ',';
  char decimal = '.';
  char newline = '\n';  // '\r' in files without line feeds; before '\n' a '\r' is dropped

  bool blank_separated() const { return delimiter == ' '; }
  bool is_blank(char c) const { return (c == ' ' || c == '\t') && c != delimiter; }
  /// At the end of a record? In a file of "\r\n", '\r' is part of the end.
  bool at_end(const char* p) const { return *p == newline || (*p == '\r' && p[1] == newline); }

  /// Reads the field that starts at p; gives the place of what ends it, a delimiter or the newline. The byte at `end` must
  /// be a newline. Throws BadField.
  struct BadField {
    const char* place;
    const char* message;
  };
  const char* scan(const char* p, const char* end, Field& field, bool& stray_quote) const;
  /// From what ended a field to the next one; nullptr at the end of the record.
  const char* next(const char* p) const {
    if (*p != delimiter) return nullptr;
    ++p;
    if (!blank_separated()) return p;
    while (*p == ' ') ++p;
    return at_end(p) ? nullptr : p;
  }
  /// The first field of the record that starts at p.
  const char* first(const char* p) const {
    if (blank_separated())
      while (*p == ' ') ++p;
    return p;
  }
};

/// What the text of a field is; `value` is set for numbers.
Kind kind_of(std::string_view text, const MissingWords& missing, char decimal, double& value);

/// A record as texts, with what was quoted.
struct Record {
  std::vector<std::string> fields;
  std::vector<bool> quoted;
};

/// Where the rows are, what they are called, and how they are written: all that the first records tell.
struct Layout {
  Syntax syntax;
  bool header = true;
  std::vector<std::string> names;
  std::vector<std::string> notes;
  std::uint64_t begin = 0, end = 0;  // bytes of the rows, without the header and without empty lines at the end
  std::vector<Kind> guess;           // number or label, by the first rows
  std::uint64_t header_begin = 0;    // of the names, where there are some: behind a byte order mark
};

/// Looks at the start of the file (and its last bytes). Throws Error, or Mistake for one at a place in the file.
Layout find_layout(const Bytes& bytes, const CsvOptions& options, const MissingWords& missing,
                   const std::string& source);

/// The mistake of a field that is not UTF-8: which of its bytes, and the way out. `offset` is the field's place.
Mistake not_utf8(std::string_view field, std::uint64_t offset, Index column);

/// The line (counted from 1) of a byte.
std::uint64_t line_of(const Bytes& bytes, std::uint64_t offset, char newline);

/// "crabs.csv, line 3, column 2 ('sex'): …"
Error error_at(const Bytes& bytes, const std::string& source, char newline, const std::vector<std::string>& names,
               const Mistake& mistake);

}  // namespace lemma::csv
