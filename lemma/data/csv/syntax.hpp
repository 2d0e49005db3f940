// lemma/data/csv/syntax.hpp: how one field, one record and one dialect of CSV are written.
#pragma once
#include <lemma/core/error.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/csv/bytes.hpp>
#include <lemma/data/csv/forms.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lemma::csv {

inline constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

/// How often something stands in the file, and where first.
struct Tally {
  Index count = 0;
  std::uint64_t first = kNowhere;
  void add(std::uint64_t offset) { merge({1, offset}); }
  void merge(const Tally& other) {
    count += other.count;
    first = other.first < first ? other.first : first;
  }
};

/// What a field holds. `infinite` is a spelling of infinity, or a number too large for a double; `formed` a number in another
/// form (forms.hpp), which is a label as long as not all of its column have that form.
enum class Kind { missing, number, infinite, label, formed };

/// The words that stand for a missing value.
class MissingWords {
 public:
  explicit MissingWords(const std::vector<std::string>& words);
  bool empty_is_missing() const { return empty_; }
  /// May a number of this value be written as one of the words? Of -999 that is so where "-999" is one.
  bool may_be(double value) const {
    if (numbers_.empty()) return false;
    return has_number(value);
  }
  /// Which word the text is; −1 when none.
  int which(std::string_view text) const {
    if (text.size() > longest_) return -1;
    return find(text);
  }
  const std::vector<std::string>& words() const { return words_; }

 private:
  int find(std::string_view text) const;
  bool has_number(double value) const;
  std::vector<std::string> words_;
  std::vector<double> numbers_;  // words that are numbers too
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
  char comment = '\0';  // a line that begins with it is no record; '\0': there are no such lines

  bool blank_separated() const { return delimiter == ' '; }
  bool is_blank(char c) const { return (c == ' ' || c == '\t') && c != delimiter; }
  /// At the end of a record? In a file of "\r\n", '\r' is part of the end.
  bool at_end(const char* p) const { return *p == newline || (*p == '\r' && p[1] == newline); }

  /// The first byte of the line at p that is no blank: where the line has nothing else, that of its end.
  const char* content(const char* p) const {
    while (is_blank(*p) || (blank_separated() && *p == ' ')) ++p;
    return p;
  }
  bool is_comment(const char* content) const { return comment != '\0' && *content == comment; }
  const char* after_line(const char* p) const {
    while (*p != newline) ++p;
    return p + 1;
  }

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

/// What the text of a field is, never `formed`; `value` is set for numbers.
Kind kind_of(std::string_view text, const MissingWords& missing, char decimal, double& value);
/// Narrows the forms of a column by one of its fields.
void narrow(Forms& forms, std::string_view text, const MissingWords& missing, char decimal);

/// A record as texts, with what was quoted.
struct Record {
  std::vector<std::string> fields;
  std::vector<bool> quoted;
  std::uint64_t offset = 0;  // in the file
};

/// Where the rows are, what they are called, and how they are written: all that the first records tell.
struct Layout {
  Syntax syntax;
  bool header = true;
  std::vector<std::string> names;
  std::vector<std::string> notes;
  std::uint64_t begin = 0, end = 0;  // bytes of the rows, without the header and without empty lines at the end
  std::vector<Forms> guess;        // how the numbers of each column are written by the first rows, if they are numbers
  std::uint64_t header_begin = 0;  // of the names, where there are some: behind a byte order mark
  bool trailing = false;  // every line ends with a delimiter: behind the last name stands an empty one, for nothing
  Tally blank_lines;      // before the names

  /// In a table of one column an empty line is a missing value.
  bool passes_over_blank_lines() const { return names.size() > 1; }
  std::size_t columns() const { return names.size() - (trailing ? 1 : 0); }
};

/// Looks at the start of the file (and its last bytes). Throws Error, or Mistake for one at a place in the file. Delimiters
/// at the ends of lines are believed to stand before nothing if the first records say so, and `believe_trailing`.
Layout find_layout(const Bytes& bytes, const CsvOptions& options, const MissingWords& missing,
                   const std::string& source, bool believe_trailing = true);

/// The mistake of a field that is not UTF-8: which of its bytes, and the way out. `offset` is the field's place.
Mistake not_utf8(std::string_view field, std::uint64_t offset, Index column);

/// The line (counted from 1) of a byte.
std::uint64_t line_of(const Bytes& bytes, std::uint64_t offset, char newline);

/// "crabs.csv, line 3, column 2 ('sex'): …"
Error error_at(const Bytes& bytes, const std::string& source, char newline, const std::vector<std::string>& names,
               const Mistake& mistake);

}  // namespace lemma::csv
