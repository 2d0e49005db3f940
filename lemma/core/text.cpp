// lemma/core/text.cpp: characters, the width they take, and words.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <lemma/core/text.hpp>

namespace lemma {
namespace {

struct Interval {
  char32_t first, last;
};

// Sorted; the ranges of Unicode that texts about data are likely to meet.
constexpr Interval kZeroWidth[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},  {0x0610, 0x061A},
                                   {0x064B, 0x065F}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},  {0x200B, 0x200F},
                                   {0x2028, 0x202E}, {0x2060, 0x2064}, {0x20D0, 0x20FF},  {0xFE00, 0xFE0F},
                                   {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF}};
constexpr Interval kDoubleWidth[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
                                     {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
                                     {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},
                                     {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};

template <std::size_t N>
bool inside(const Interval (&table)[N], char32_t code) {
  const auto* above = std::upper_bound(std::begin(table), std::end(table), code,
                                       [](char32_t c, const Interval& interval) { return c < interval.first; });
  return above != std::begin(table) && code <= std::prev(above)->last;
}

int width_of(char32_t code) {
  if (code < 0x20 || (code >= 0x7F && code < 0xA0) || inside(kZeroWidth, code)) return 0;
  return inside(kDoubleWidth, code) ? 2 : 1;
}

/// Length of the sequence ESC [ digits and semicolons m that the text begins with, else 0.
std::size_t colour_sequence(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

std::string blanks(int count) { return std::string(static_cast<std::size_t>(std::max(count, 0)), ' '); }

}  // namespace

Character first_character(std::string_view text) {
  constexpr Character none{0, 0};
  if (text.empty()) return none;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const std::size_t bytes = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < bytes) return none;
  char32_t code = byte(0) & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return none;
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};  // a longer form than needed is not well-formed
  if (code < least[bytes] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return none;
  return {code, bytes};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = first_character(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

void append_utf8(std::string& text, char32_t code) {
  const auto put = [&](char32_t bits) { text += static_cast<char>(bits); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xE0 | code >> 12);
    } else {
      put(0xF0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3F));
    }
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    if (const std::size_t escape = colour_sequence(text)) {
      text.remove_prefix(escape);
      continue;
    }
    const Character c = first_character(text);
    width += c.bytes == 0 ? 1 : width_of(c.code);
    text.remove_prefix(std::max<std::size_t>(c.bytes, 1));
  }
  return width;
}

std::string pad_left(std::string_view text, int width) { return blanks(width - display_width(text)).append(text); }
std::string pad_right(std::string_view text, int width) {
  return std::string(text) + blanks(width - display_width(text));
}

std::string wrap(std::string_view text, int width, int hanging) {
  std::string out;
  int column = 0, line_breaks = 0;
  while (!text.empty()) {
    if (text[0] == ' ' || text[0] == '\n') {
      line_breaks += text[0] == '\n';
      text.remove_prefix(1);
      continue;
    }
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    const int word_width = display_width(word);
    if (line_breaks > 1 && !out.empty()) {
      out += "\n\n";
      column = 0;
    } else if (column > 0 && column + 1 + word_width > width) {
      out += '\n' + blanks(hanging);
      column = hanging;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word_width;
    line_breaks = 0;
    text.remove_prefix(word.size());
  }
  return out;
}

std::string join_words(const std::vector<std::string>& words, std::size_t most) {
  const std::size_t shown = words.size() <= most ? words.size() : std::max<std::size_t>(most, 1) - 1;
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) out += i + 1 == words.size() ? " and " : ", ";
    out += words[i];
  }
  if (shown == words.size()) return out;
  if (shown == 0) return format_count(static_cast<std::int64_t>(words.size()));
  return out + fmt::format(" and {} more", format_count(static_cast<std::int64_t>(words.size() - shown)));
}

std::string count_of(std::int64_t count, std::string_view noun) {
  const auto hisses = [&](std::string_view ending) { return noun.ends_with(ending); };
  const bool long_plural = hisses("s") || hisses("x") || hisses("ch") || hisses("sh");
  return fmt::format("{} {}{}", format_count(count), noun, count == 1 ? "" : long_plural ? "es" : "s");
}

}  // namespace lemma
