// lemma/data/csv/syntax.cpp
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <lemma/core/text.hpp>
#include <lemma/data/csv/number.hpp>
#include <lemma/data/csv/syntax.hpp>

namespace lemma::csv {
namespace {

bool equal_but_for_case(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(), [](char a, char b) { return (a | 0x20) == b; });
}

bool is_infinity(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return equal_but_for_case(text, "inf") || equal_but_for_case(text, "infinity");
}

/// read_number needs a byte after the number that ends it.
bool is_number(std::string_view text, char decimal, double& value) {
  char copy[64];
  if (text.empty()) return false;
  if (text.size() < sizeof copy) {
    std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = '\0';
    return read_number(copy, decimal, value) == copy + text.size();
  }
  const std::string longer(text);
  return read_number(longer.c_str(), decimal, value) == longer.c_str() + longer.size();
}

}  // namespace

MissingWords::MissingWords(const std::vector<std::string>& words) : words_(words) {
  for (const auto& word : words_) {
    longest_ = std::max(longest_, word.size());
    double value = 0;
    for (const char decimal : {'.', ','})
      if (is_number(word, decimal, value)) numbers_.push_back(value);
  }
  empty_ = find("") >= 0;
}

bool MissingWords::has_number(double value) const {
  return std::find(numbers_.begin(), numbers_.end(), value) != numbers_.end();
}

int MissingWords::find(std::string_view text) const {
  const auto found = std::find(words_.begin(), words_.end(), text);
  return found == words_.end() ? -1 : static_cast<int>(found - words_.begin());
}

std::string_view Field::text(std::string& scratch) const {
  if (!doubled) return raw();
  scratch.clear();
  for (const char* p = begin; p < end; ++p) {
    scratch += *p;
    if (*p == '"') ++p;
  }
  return scratch;
}

const char* Syntax::scan(const char* p, const char* end, Field& field, bool& stray_quote) const {
  field = {};
  while (is_blank(*p)) ++p;
  if (*p != '"') {
    field.begin = p;
    while (*p != delimiter && *p != newline) {
      stray_quote |= *p == '"';
      ++p;
    }
    field.end = p;
    if (*p == newline && newline == '\n' && field.end > field.begin && field.end[-1] == '\r') --field.end;
    while (field.end > field.begin && is_blank(field.end[-1])) --field.end;
    return p;
  }
  const char* const opening = p++;
  field.quoted = true;
  field.begin = p;
  while (true) {
    const auto* quote =
        p < end ? static_cast<const char*>(std::memchr(p, '"', static_cast<std::size_t>(end - p))) : nullptr;
    if (!quote) throw BadField{opening, "the quote that opens this field is never closed"};
    if (quote + 1 < end && quote[1] == '"') {
      field.doubled = true;
      p = quote + 2;
      continue;
    }
    field.end = quote;
    p = quote + 1;
    break;
  }
  while (is_blank(*p)) ++p;
  if (*p == '\r' && newline == '\n' && p[1] == '\n') ++p;
  if (*p != delimiter && *p != newline)
    throw BadField{
        p, "after a closing quote comes the next field or the end of the line (a quote inside is written twice)"};
  return p;
}

Kind kind_of(std::string_view text, const MissingWords& missing, char decimal, double& value) {
  if (missing.which(text) >= 0) return Kind::missing;
  if (is_number(text, decimal, value)) return std::isinf(value) ? Kind::infinite : Kind::number;
  return is_infinity(text) ? Kind::infinite : Kind::label;
}

void narrow(Forms& forms, std::string_view text, const MissingWords& missing, char decimal) {
  if (forms.none()) return;
  double value = 0;
  const Kind kind = kind_of(text, missing, decimal, value);
  if (kind != Kind::missing) forms.add(text, decimal, kind != Kind::label);
}

Mistake not_utf8(std::string_view field, std::uint64_t offset, Index column) {
  std::size_t good = 0;
  while (const std::size_t bytes = first_character(field.substr(good)).bytes) good += bytes;
  return {offset + good, column,
          fmt::format("byte 0x{:02X} is not UTF-8; --encoding says how the file is written (latin-1, windows-1252 …)",
                      static_cast<unsigned char>(field[good]))};
}

std::uint64_t line_of(const Bytes& bytes, std::uint64_t offset, char newline) {
  std::string piece;
  std::uint64_t line = 1;
  for (std::uint64_t from = 0; from < offset;) {
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(std::uint64_t{1} << 20, offset - from)));
    bytes.read(from, piece.size(), piece.data());
    line += static_cast<std::uint64_t>(std::count(piece.begin(), piece.end(), newline));
    from += piece.size();
  }
  return line;
}

Error error_at(const Bytes& bytes, const std::string& source, char newline, const std::vector<std::string>& names,
               const Mistake& mistake) {
  std::string place = fmt::format("{}, line {}", source, line_of(bytes, mistake.offset, newline));
  if (mistake.column >= 0) {
    place += fmt::format(", column {}", mistake.column + 1);
    if (mistake.column < static_cast<Index>(names.size()))
      place += fmt::format(" ('{}')", names[static_cast<std::size_t>(mistake.column)]);
  }
  return Error(place + ": " + mistake.message);
}

}  // namespace lemma::csv
