// lemma/data/words.cpp
#include <algorithm>
#include <lemma/core/letters.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/design/parts.hpp>
#include <lemma/data/words.hpp>

namespace lemma {
namespace {

bool is_blank(char32_t code) {
  return code == ' ' || (code >= '\t' && code <= '\r') || code == 0x85 || code == 0xA0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F ||
         code == 0x3000;
}

/// The character at a place of the text; none where the byte is no UTF-8.
Character character_at(std::string_view text, std::size_t place) {
  const auto byte = static_cast<unsigned char>(text[place]);
  if (byte < 0x80) return {byte, 1};
  return first_character(text.substr(place));
}

void append(std::string& text, char32_t code) {
  if (code < 0x80) text += static_cast<char>(code);
  else append_utf8(text, code);
}

/// Of the bytes of ASCII that words are made of themselves, or their lower case; 0 for all else.
using WordBytes = std::array<char, 256>;
constexpr WordBytes word_bytes(bool lower) {
  WordBytes out{};
  for (char c = 'a'; c <= 'z'; ++c) {
    const char upper = static_cast<char>(c - 'a' + 'A');
    out[static_cast<std::size_t>(c)] = c;
    out[static_cast<std::size_t>(upper)] = lower ? c : upper;
  }
  for (char c = '0'; c <= '9'; ++c) out[static_cast<std::size_t>(c)] = c;
  out['_'] = '_';
  return out;
}
constexpr WordBytes kKept = word_bytes(false), kLower = word_bytes(true);

bool is_header_name(char c) { return c > ' ' && c < 0x7F && c != ':'; }

/// The next line, without its end, and the place after it.
std::string_view line_at(std::string_view text, std::size_t& place) {
  const std::size_t end = std::min(text.find('\n', place), text.size());
  std::string_view line = text.substr(place, end - place);
  place = std::min(end + 1, text.size());
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

bool is_header(std::string_view line) {
  const std::size_t colon = line.find(':');
  return colon != std::string_view::npos && colon > 0 &&
         std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(colon), is_header_name);
}

}  // namespace

Tokeniser::Tokeniser(const Wording& wording) : wording_(wording) {
  stop_.insert(wording_.stop.begin(), wording_.stop.end());
}

void Tokeniser::operator()(std::string_view text, TextTokens& out) const {
  out.text.clear();
  out.tokens.clear();
  out.begin.clear();
  out.end.clear();
  if (wording_.mail) text = without_mail_headers(text);
  out.text.reserve(text.size() + 4);
  if (wording_.letters) cut_letters(text, out);
  else cut_words(text, out);
  const std::string_view whole = out.text;
  for (int many = wording_.shortest; many <= wording_.longest; ++many) {
    const auto last = static_cast<std::size_t>(many) - 1;
    for (std::size_t i = 0; i + last < out.begin.size(); ++i)
      out.tokens.push_back(whole.substr(out.begin[i], out.end[i + last] - out.begin[i]));
  }
}

void Tokeniser::cut_words(std::string_view text, TextTokens& out) const {
  out.text.resize(2 * text.size() + 4);  // a letter of two bytes or more has a lower case of at most four
  char *const base = out.text.data(), *to = base;
  std::size_t start = 0, letters = 0;  // of the word that is being made
  const auto finish = [&] {
    const auto end = static_cast<std::size_t>(to - base);
    if (letters < 2 || (!stop_.empty() && stop_.contains({base + start, end - start}))) {
      to = base + start;
    } else {
      out.begin.push_back(start);
      out.end.push_back(end);
      *to++ = ' ';
      start = end + 1;
    }
    letters = 0;
  };
  const WordBytes& kept = wording_.lower ? kLower : kKept;
  std::string letter;
  for (std::size_t place = 0; place < text.size();) {
    const std::size_t first = place;
    char c = 0;  // most letters of most texts
    while (place < text.size() && (c = kept[static_cast<unsigned char>(text[place])]) != 0) *to++ = c, ++place;
    letters += place - first;
    if (place == text.size()) break;
    if (static_cast<unsigned char>(text[place]) < 0x80) {
      ++place;
      if (letters > 0) finish();
      continue;
    }
    const Character far = first_character(text.substr(place));
    place += std::max<std::size_t>(far.bytes, 1);
    if (far.bytes > 0 && is_word_character(far.code)) {
      letter.clear();
      append(letter, wording_.lower ? lower_case(far.code) : far.code);
      to = std::copy(letter.begin(), letter.end(), to);
      ++letters;
    } else if (letters > 0) {
      finish();
    }
  }
  if (letters > 0) finish();
  out.text.resize(static_cast<std::size_t>(to - base));
}

void Tokeniser::cut_letters(std::string_view text, TextTokens& out) const {
  bool after_blank = false;
  for (std::size_t place = 0; place < text.size();) {
    const Character c = character_at(text, place);
    place += std::max<std::size_t>(c.bytes, 1);
    if (c.bytes == 0) continue;
    const bool blank = is_blank(c.code);
    if (blank && after_blank) continue;
    after_blank = blank;
    out.begin.push_back(out.text.size());
    append(out.text, blank ? U' ' : wording_.lower ? lower_case(c.code) : c.code);
    out.end.push_back(out.text.size());
  }
}

std::string_view without_mail_headers(std::string_view text) {
  std::size_t place = 0;
  bool any = false;
  while (place < text.size()) {
    const bool first = place == 0;
    const std::string_view line = line_at(text, place);
    if (line.empty()) return any ? text.substr(place) : text;
    const bool folded = any && (line.front() == ' ' || line.front() == '\t');
    const bool envelope = first && line.starts_with("From ");
    if (!folded && !envelope && !is_header(line)) return text;
    any = any || !envelope;
  }
  return text;
}

const std::vector<std::string>& english_stop_words() {
  static const std::vector<std::string> words = [] {
    const std::string_view all =
        "a about above after again against all also am an and any are aren as at be because been before being below "
        "between both but by can cannot could couldn did didn do does doesn doing don down during each few for from "
        "further had hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn "
        "it its itself just let ll me more most mustn my myself no nor not now of off on once only or other our ours "
        "ourselves out over own re same shall shan she should shouldn so some such than that the their theirs them "
        "themselves then there these they this those through to too under until up upon us ve very was wasn we were "
        "weren what when where which while who whom whose why will with won would wouldn you your yours yourself "
        "yourselves";
    std::vector<std::string> out;
    for (std::size_t from = 0; from < all.size();) {
      const std::size_t to = std::min(all.find(' ', from), all.size());
      out.emplace_back(all.substr(from, to - from));
      from = to + 1;
    }
    std::sort(out.begin(), out.end());
    return out;
  }();
  return words;
}

std::vector<TokenColumn> token_columns(const Design& design) {
  const DesignParts& parts = design.parts();
  if (!parts.counts_words()) return {};
  std::vector<TokenColumn> out(parts.features.size(), TokenColumn::none);
  for (const auto& term : parts.terms) {
    const Variable& variable = parts.variables[static_cast<std::size_t>(term.factors[0].variable)];
    if (term.factors.size() > 1 || !variable.words()) continue;
    std::fill_n(out.begin() + term.first, term.width,
                variable.wording.weight == TokenWeight::binary ? TokenColumn::binary : TokenColumn::counts);
  }
  return out;
}

}  // namespace lemma
