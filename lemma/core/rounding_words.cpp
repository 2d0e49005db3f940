// lemma/core/rounding_words.cpp
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fmt/core.h>
#include <lemma/core/rounding_words.hpp>

namespace lemma {
namespace {

constexpr int kResidue = 12;  // below 1e-12

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

/// Length of "2.05e-15" at the beginning of the text, 0 when there is no such number; its mantissa and exponent.
std::size_t small_number(std::string_view text, std::string_view& mantissa, int& exponent) {
  std::size_t at = 0;
  while (at < text.size() && (is_digit(text[at]) || text[at] == '.')) ++at;
  mantissa = text.substr(0, at);
  if (at == 0 || !is_digit(text[0]) || text.substr(at, 2) != "e-") return 0;
  std::size_t end = at + 2;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (end == at + 2 || end - at > 6) return 0;
  exponent = std::atoi(std::string(text.substr(at + 2, end - at - 2)).c_str());
  return end;
}

bool is_one(std::string_view mantissa) {
  return mantissa[0] == '1' && mantissa.find_first_not_of("0.", 1) == std::string_view::npos;
}

}  // namespace

std::string residues_as_powers(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::string_view mantissa;
    int exponent = 0;
    const bool starts = is_digit(text[at]) && (at == 0 || !is_word(text[at - 1]));
    const std::size_t length = starts ? small_number(text.substr(at), mantissa, exponent) : 0;
    if (length == 0 || exponent <= kResidue || is_one(mantissa)) {
      out += text[at++];
      continue;
    }
    out += fmt::format("<1e-{:02}", exponent - 1);
    at += length;
  }
  return out;
}

}  // namespace lemma
