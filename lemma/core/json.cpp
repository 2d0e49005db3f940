// lemma/core/json.cpp: JSON (RFC 8259), written and read.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/core/value.hpp>
#include <numeric>
#include <optional>

namespace lemma {
namespace {

// ---- writing ----

constexpr std::size_t kLineWidth = 110;

/// Shortest digits that read back to the same double; a whole one has no point: 3, 1e+300.
void write_number(std::string& out, double number) {
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  fmt::format_to(std::back_inserter(out), "{}", number);
  if (out.ends_with(".0")) out.resize(out.size() - 2);
}

void write_text(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const Character c = first_character(text);
    if (c.bytes == 0) out += "\xEF\xBF\xBD";  // U+FFFD
    else if (c.code == '"') out += "\\\"";
    else if (c.code == '\\') out += "\\\\";
    else if (c.code == '\n') out += "\\n";
    else if (c.code == '\t') out += "\\t";
    else if (c.code == '\r') out += "\\r";
    else if (c.code < 0x20 || c.code == 0x7F) out += fmt::format("\\u{:04x}", static_cast<unsigned>(c.code));
    else out += text.substr(0, c.bytes);
    text.remove_prefix(std::max<std::size_t>(c.bytes, 1));
  }
  out += '"';
}

class Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}
  std::string take() { return std::move(out_); }

  void write(const Value& value, int level) {
    std::visit([&](const auto& v) { write_kind(v, level); }, value.variant());
  }

 private:
  void write_kind(std::monostate, int) { out_ += "null"; }
  void write_kind(bool b, int) { out_ += b ? "true" : "false"; }
  void write_kind(std::int64_t i, int) { fmt::format_to(std::back_inserter(out_), "{}", i); }
  void write_kind(double d, int) { write_number(out_, d); }
  void write_kind(const std::string& s, int) { write_text(out_, s); }

  void enter(std::size_t level) const {
    if (level > kDeepestNesting) throw Error(fmt::format("JSON: nested deeper than {} levels", kDeepestNesting));
  }

  void write_kind(const Value::Array& a, int level) {
    enter(static_cast<std::size_t>(level) + a.shape.size());
    write_numbers(a, 0, 0, level);
  }

  /// The part of an array with the first `dimension` indices fixed; `begin` is its first number.
  void write_numbers(const Value::Array& a, std::size_t dimension, std::size_t begin, int level) {
    const auto count = static_cast<std::size_t>(a.shape[dimension]);
    if (dimension + 1 == a.shape.size()) {
      write_flat(count, level, [&](std::size_t i) { write_number(out_, a.data[begin + i]); });
    } else {
      const auto next = a.shape.begin() + static_cast<std::ptrdiff_t>(dimension) + 1;
      const auto size = static_cast<std::size_t>(std::accumulate(next, a.shape.end(), Index{1}, std::multiplies<>()));
      write_lines('[', ']', count, level,
                  [&](std::size_t i) { write_numbers(a, dimension + 1, begin + i * size, level + 1); });
    }
  }

  void write_kind(const Value::List& list, int level) {
    enter(static_cast<std::size_t>(level) + 1);
    const bool flat = std::none_of(list.begin(), list.end(),
                                   [](const Value& v) { return v.is_list() || v.is_object() || v.is_array(); });
    const auto one = [&](std::size_t i) { write(list[i], level + 1); };
    flat ? write_flat(list.size(), level, one) : write_lines('[', ']', list.size(), level, one);
  }

  void write_kind(const Value::Object& object, int level) {
    enter(static_cast<std::size_t>(level) + 1);
    write_lines('{', '}', object.size(), level, [&](std::size_t i) {
      write_text(out_, object[i].first);
      out_ += indent_ < 0 ? ":" : ": ";
      write(object[i].second, level + 1);
    });
  }

  /// Items one after the other, with a new line where one would pass the margin.
  void write_flat(std::size_t count, int level, auto&& one) {
    out_ += '[';
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) out_ += indent_ < 0 ? "," : ", ";
      const std::size_t begin = out_.size();
      one(i);
      if (indent_ < 0 || out_.size() - line_ <= kLineWidth || i == 0) continue;
      const std::string item = out_.substr(begin);
      out_.resize(begin - 1);  // without the space
      new_line(level + 1);
      out_ += item;
    }
    out_ += ']';
  }

  void write_lines(char open, char close, std::size_t count, int level, auto&& one) {
    out_ += open;
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) out_ += ',';
      new_line(level + 1);
      one(i);
    }
    if (count > 0) new_line(level);
    out_ += close;
  }

  void new_line(int level) {
    if (indent_ < 0) return;
    out_ += '\n';
    line_ = out_.size();
    out_.append(static_cast<std::size_t>(indent_) * static_cast<std::size_t>(level), ' ');
  }

  const int indent_;
  std::string out_;
  std::size_t line_ = 0;  // where the current line begins
};

// ---- reading ----

constexpr std::int64_t kExactInDouble = std::int64_t{1} << 53;

bool is_exact_number(const Value& v) {
  if (const auto* i = std::get_if<std::int64_t>(&v.variant())) return -kExactInDouble <= *i && *i <= kExactInDouble;
  return v.is_number();
}

/// Numbers become an array, arrays of one shape an array with one more dimension; anything else stays a list.
Value collapse(Value::List list) {
  if (list.empty()) return list;
  if (std::all_of(list.begin(), list.end(), is_exact_number)) {
    Value::Array numbers{{static_cast<Index>(list.size())}, {}};
    numbers.data.reserve(list.size());
    for (const Value& v : list) numbers.data.push_back(v.as_double());
    return numbers;
  }
  const bool alike = std::all_of(list.begin(), list.end(), [&](const Value& v) {
    return v.is_array() && list[0].is_array() && v.as_array().shape == list[0].as_array().shape;
  });
  if (!alike) return list;
  Value::Array stacked{list[0].as_array().shape, {}};
  stacked.shape.insert(stacked.shape.begin(), static_cast<Index>(list.size()));
  stacked.data.reserve(list.size() * list[0].as_array().data.size());
  for (const Value& v : list)
    stacked.data.insert(stacked.data.end(), v.as_array().data.begin(), v.as_array().data.end());
  return stacked;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), rest_(text) {}

  Value document() {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
    Value value = parse(0);
    skip_space();
    if (!rest_.empty()) fail("there is something after the end of the document");
    return value;
  }

 private:
  [[noreturn]] void fail(std::string_view problem) const { fail_at(rest_, problem); }
  [[noreturn]] void fail_at(std::string_view place, std::string_view problem) const {
    const std::string_view before = text_.substr(0, text_.size() - place.size());
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t column = before.size() - (before.rfind('\n') + 1);  // npos + 1 is 0
    throw Error(fmt::format("JSON, line {}, column {}: {}", line, column + 1, problem));
  }

  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  bool accept(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  Value parse(int level) {
    skip_space();
    if (rest_.empty()) fail("the text ends where a value should be");
    if (rest_[0] == '{' || rest_[0] == '[')
      if (level >= kDeepestNesting) fail(fmt::format("nested deeper than {} levels", kDeepestNesting));
    if (accept("{")) return object(level);
    if (accept("[")) return list(level);
    if (rest_[0] == '"') return string();
    if (rest_[0] == '-' || (rest_[0] >= '0' && rest_[0] <= '9')) return number();
    if (accept("true")) return true;
    if (accept("false")) return false;
    if (accept("null")) return nullptr;
    fail("a value should be here: an object, a list, a text in double quotes, a number, true, false or null");
  }

  Value list(int level) {
    Value::List items;
    if (accept("]")) return items;
    do items.push_back(parse(level + 1));
    while (accept(","));
    if (!accept("]")) fail("',' or ']' should follow here");
    return collapse(std::move(items));
  }

  Value object(int level) {
    Value::Object entries;
    std::vector<std::pair<std::string_view, std::string_view>> places;  // of each key, for the message
    if (accept("}")) return entries;
    do {
      skip_space();
      const std::string_view place = rest_;
      if (!rest_.starts_with('"')) fail("a key in double quotes should be here");
      std::string key = string();
      if (!accept(":")) fail("':' should follow the key");
      entries.emplace_back(std::move(key), parse(level + 1));
      places.emplace_back(std::string_view(), place);
    } while (accept(","));
    if (!accept("}")) fail("',' or '}' should follow here");
    refuse_doubles(entries, places);
    return entries;
  }

  void refuse_doubles(const Value::Object& entries,
                      std::vector<std::pair<std::string_view, std::string_view>>& places) const {
    for (std::size_t i = 0; i < entries.size(); ++i) places[i].first = entries[i].first;
    std::stable_sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto twice = std::adjacent_find(places.begin(), places.end(),
                                          [](const auto& a, const auto& b) { return a.first == b.first; });
    if (twice == places.end()) return;
    fail_at(std::next(twice)->second, fmt::format("the key '{}' is given twice", twice->first));
  }

  Value number() {
    const std::string_view place = rest_;
    const std::string_view digits = rest_.substr(0, rest_.find_first_not_of("+-.0123456789eE"));
    const bool whole = scan_number(digits);
    rest_.remove_prefix(digits.size());
    std::int64_t i = 0;
    const auto read_into = [&](auto& to) {
      return std::from_chars(digits.data(), digits.data() + digits.size(), to).ec == std::errc();
    };
    if (whole && digits != "-0" && read_into(i)) return i;
    double d = 0;
    if (read_into(d)) return d;
    // Out of range: below it the nearest double is zero. Only the size matters here, so the locale's point does not.
    if (!std::isinf(std::strtod(std::string(digits).c_str(), nullptr))) return digits[0] == '-' ? -0.0 : 0.0;
    fail_at(place, fmt::format("the number {} is too large", digits.substr(0, 40)));
  }

  /// Checks −?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)? and says whether it is a whole number as it is written.
  bool scan_number(std::string_view digits) const {
    std::size_t i = digits.starts_with('-') ? 1 : 0;
    const auto run = [&] {
      const std::size_t begin = i;
      while (i < digits.size() && digits[i] >= '0' && digits[i] <= '9') ++i;
      return i - begin;
    };
    const std::size_t first = i, whole = run();
    bool good = whole > 0 && (whole == 1 || digits[first] != '0'), fraction = false;
    if (i < digits.size() && digits[i] == '.') {
      fraction = true;
      ++i;
      good = good && run() > 0;
    }
    if (i < digits.size() && (digits[i] == 'e' || digits[i] == 'E')) {
      fraction = true;
      ++i;
      if (i < digits.size() && (digits[i] == '+' || digits[i] == '-')) ++i;
      good = good && run() > 0;
    }
    if (!good || i != digits.size()) fail(fmt::format("'{}' is not a number in JSON", digits.substr(0, 40)));
    return !fraction;
  }

  std::string string() {
    std::string out;
    const std::string_view place = rest_;
    rest_.remove_prefix(1);
    while (true) {
      if (rest_.empty()) fail_at(place, "the text that begins here does not end");
      const Character c = first_character(rest_);
      if (c.bytes == 0) fail("this byte is not UTF-8");
      if (c.code < 0x20) fail("a control character must be written as an escape, such as \\n or \\u0001");
      if (c.code == '\\') {
        append_escape(out);
        continue;
      }
      if (c.code != '"') out += rest_.substr(0, c.bytes);
      rest_.remove_prefix(c.bytes);
      if (c.code == '"') return out;
    }
  }

  void append_escape(std::string& out) {
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    const std::size_t which = rest_.size() > 1 ? letters.find(rest_[1]) : std::string_view::npos;
    if (which != std::string_view::npos) {
      out += meanings[which];
      rest_.remove_prefix(2);
      return;
    }
    const std::string_view place = rest_;
    char32_t code = hexadecimal();
    if (code >= 0xD800 && code < 0xDC00 && rest_.starts_with("\\u"))  // a character beyond U+FFFF comes as a pair
      if (const char32_t low = hexadecimal(); low >= 0xDC00 && low < 0xE000)
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    if (code >= 0xD800 && code < 0xE000) fail_at(place, "half of a surrogate pair stands alone");
    append_utf8(out, code);
  }

  char32_t hexadecimal() {
    unsigned code = 0;
    const std::string_view digits = rest_.substr(std::min<std::size_t>(2, rest_.size()), 4);
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (!rest_.starts_with("\\u") || digits.size() != 4 || result.ptr != digits.data() + 4)
      fail("an escape is one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u with four hexadecimal digits");
    rest_.remove_prefix(6);
    return code;
  }

  const std::string_view text_;
  std::string_view rest_;
};

}  // namespace

std::string to_json(const Value& value, int indent) {
  Writer writer(indent);
  writer.write(value, 0);
  return writer.take();
}

Value from_json(std::string_view text) { return Parser(text).document(); }

}  // namespace lemma
