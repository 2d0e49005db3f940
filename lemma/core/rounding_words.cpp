// lemma/core/rounding_words.cpp
#include <cctype>
#include <charconv>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr double kFloor = 1e-12;
constexpr double kNotSaid = std::numeric_limits<double>::infinity();
constexpr std::string_view kAllowed = "allowed ";

/// The floor, or the power of ten that is just allowed: the bound is what is printed.
double bound_for(double allowed) {
  return allowed < kFloor ? std::pow(10.0, std::floor(std::log10(allowed) + 1e-9)) : kFloor;
}
bool is_below(double residue, double allowed) { return residue >= 0 && residue < bound_for(allowed); }
std::string bound_text(double allowed) { return fmt::format("<{:.0e}", bound_for(allowed)); }

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

/// The number at the beginning of the text and how many characters it has, 0 where there is none.
std::size_t number_at(std::string_view text, double& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? static_cast<std::size_t>(end - text.data()) : 0;
}

/// As {:.1e} writes it: 2.1e-15, 0.0e+00.
std::size_t residue_at(std::string_view text, double& residue) {
  if (text.size() < 7 || text[1] != '.' || text[3] != 'e') return 0;
  return number_at(text, residue);
}

/// The place of the next residue at or after `from`; the end where there is none.
std::size_t next_residue(std::string_view text, std::size_t from, double& residue, std::size_t& length) {
  for (std::size_t at = from; at < text.size(); ++at) {
    if (at > 0 && (is_word(text[at - 1]) || text[at - 1] == '-')) continue;
    length = residue_at(text.substr(at), residue);
    if (length > 0) return at;
  }
  length = 0;
  return text.size();
}

/// What "allowed" says in a part of the sentence.
double allowed_in(std::string_view part) {
  double allowed = kNotSaid;
  const auto at = part.find(kAllowed);
  if (at != std::string_view::npos) number_at(part.substr(at + kAllowed.size()), allowed);
  return allowed;
}

}  // namespace

std::string residue_text(double residue, double allowed, int digits) {
  return is_below(residue, allowed) ? bound_text(allowed) : format_significant(residue, digits);
}

std::string residues_bounded(std::string_view sentence) {
  double residue = 0, following = 0;
  std::size_t length = 0;
  std::size_t at = next_residue(sentence, 0, residue, length);
  std::string out(sentence.substr(0, at));
  while (at < sentence.size()) {
    std::size_t next_length = 0;
    const std::size_t end = at + length, next = next_residue(sentence, end, following, next_length);
    const std::string_view rest = sentence.substr(end, next - end);
    const double allowed = allowed_in(rest);
    out += is_below(residue, allowed) ? bound_text(allowed) : std::string(sentence.substr(at, length));
    out += rest;
    at = next, length = next_length, residue = following;
  }
  return out;
}

}  // namespace lemma
