// lemma/core/text.hpp: words and numbers for people: characters, numbers as R prints them, tables that line up.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

// ---- characters (UTF-8) ----

struct Character {
  char32_t code;
  std::size_t bytes;  // 0: the text is empty, or does not begin with a well-formed character
};
Character first_character(std::string_view text);
bool is_utf8(std::string_view text);
void append_utf8(std::string& text, char32_t code);
/// Columns a text takes on a terminal: combining marks none, East Asian and emoji two, a stray byte one. The escape
/// sequences that colour a terminal take none.
int display_width(std::string_view text);
/// The text brought to a width by blanks; a longer one stays as it is.
std::string pad_left(std::string_view text, int width);   // right-aligned
std::string pad_right(std::string_view text, int width);  // left-aligned

// ---- words ----

/// Paragraphs (separated by an empty line) broken at blanks into lines of at most `width`; each line after the first of
/// a paragraph begins with `hanging` blanks. A word longer than a line has one of its own.
std::string wrap(std::string_view text, int width = 79, int hanging = 0);

/// "a", "a and b", "a, b and c"; with more than `most`: "a, b and 7 more".
std::string join_words(const std::vector<std::string>& words, std::size_t most = 10);

/// "1 row", "2 rows", "1,000 rows", "3 classes".
std::string count_of(std::int64_t count, std::string_view noun);

// ---- numbers ----

/// As R prints one number with that many significant digits: 0.0001235, 1.235e-05, 123457. NaN is NA.
std::string format_significant(double number, int digits = 7);

/// As R prints a vector: the same number of decimals for all, the fewest that show each to `digits` significant digits,
/// or all in scientific form where that is narrower. Brought to one width.
std::vector<std::string> format_column(const std::vector<double>& numbers, int digits = 7);

/// `decimals` places after the point, NA for NaN, and no minus before a zero.
std::string format_fixed(double number, int decimals);

/// p-values as R's format.pval: those below the machine epsilon are written <2e-16.
std::vector<std::string> format_p_column(const std::vector<double>& p, int digits = 3);
std::string format_p(double p, int digits = 3);

/// *** up to 0.001, ** up to 0.01, * up to 0.05, . up to 0.1, else nothing.
std::string_view significance_mark(double p);
inline constexpr std::string_view kSignificanceLegend = "0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1";

std::string format_count(std::int64_t count);  // 1,234,567
std::string format_bytes(double bytes);        // 512 B, 1.2 GB (powers of 1000)
std::string format_duration(double seconds);   // 35 ms, 1.2 s, 42 s, 1 min 20 s, 2 h 5 min, 3 d 4 h

// ---- tables ----

/// Columns side by side under their headers. Numbers stand right, words left.
class TextTable {
 public:
  TextTable& words(std::string header, std::vector<std::string> cells);
  TextTable& right(std::string header, std::vector<std::string> cells);  // formatted already
  TextTable& numbers(std::string header, const std::vector<double>& numbers, int digits = 4);

  struct Layout {
    int indent = 0;
    int gap = 2;
    int width = 0;  // wider tables continue below, each part beginning with the first column; 0: any width
    bool header = true;
  };
  /// Lines that end in a newline and never in a blank.
  std::string str() const;
  std::string str(const Layout& layout) const;

 private:
  struct Column {
    std::vector<std::string> cells;  // the header first
    bool to_the_right;
    int width;
  };
  TextTable& add(std::string header, std::vector<std::string> cells, bool to_the_right);
  std::string part(const Layout& layout, const std::vector<const Column*>& columns) const;
  std::vector<Column> columns_;
};

}  // namespace lemma
