// lemma/data/words.hpp: texts as tokens: words or letters, one or several in a row.
#pragma once
#include <array>
#include <lemma/core/matrix.hpp>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace lemma {

class Design;

/// What a token counts for in its text: how often it is there, whether it is, or how often times how rare it is in the
/// training texts, log((1 + n) / (1 + d)) + 1 for d of n texts, each row then of length 1.
enum class TokenWeight { counts, binary, tfidf };
constexpr auto names_of(TokenWeight) { return std::array<std::string_view, 3>{"counts", "binary", "tfidf"}; }

/// How text(column, …) cuts texts into tokens, and what it makes of them.
struct Wording {
  bool letters = false;           // tokens are runs of letters, not of words
  int shortest = 1, longest = 1;  // how many in a row make a token
  bool lower = true;
  bool mail = false;              // the headers of a mail are left out
  std::vector<std::string> stop;  // words that are passed over, by their bytes, in lower case where `lower`
  Index least_texts = 1;          // a token that fewer training texts have gets no column
  Index columns = 0;              // tokens share so many columns by their hash; 0: each has its own
  TokenWeight weight = TokenWeight::counts;
};
constexpr int kMostInARow = 12;
constexpr Index kMostHashedColumns = 1'000'000;

/// Tokens of one text. They look at `text`, the text as it was cut: words separated by single blanks.
struct TextTokens {
  std::string text;
  std::vector<std::string_view> tokens;

 private:
  friend class Tokeniser;
  std::vector<std::size_t> begin, end;  // of each word or letter
};

/// A word is a run of letters, digits and _ of any script, two or more of them; a word of one is passed over. Tokens of several
/// words are these separated by blanks, stop words left out before. Letters are characters, each run of white space counting
/// as one blank. Bytes that are no UTF-8 separate words and are no letters.
class Tokeniser {
 public:
  explicit Tokeniser(const Wording& wording);
  Tokeniser(const Tokeniser&) = delete;
  Tokeniser& operator=(const Tokeniser&) = delete;
  void operator()(std::string_view text, TextTokens& out) const;

 private:
  void cut_words(std::string_view text, TextTokens& out) const;
  void cut_letters(std::string_view text, TextTokens& out) const;
  Wording wording_;
  std::unordered_set<std::string_view> stop_;  // looks at wording_
};

/// Without its headers: the lines `Name: value`, folded ones too, before the first empty line, perhaps after a line `From …`.
/// A text that does not begin so is given back whole.
std::string_view without_mail_headers(std::string_view text);

/// The English words that say least: articles, pronouns, prepositions, auxiliaries. By their bytes.
const std::vector<std::string>& english_stop_words();

/// Of each column of the design what text() makes of it; empty where no column is of a text, and a column's entry where it is
/// of something else.
enum class TokenColumn { none, counts, binary };
std::vector<TokenColumn> token_columns(const Design& design);

}  // namespace lemma
