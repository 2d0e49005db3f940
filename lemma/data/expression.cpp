// lemma/data/expression.cpp
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/expression.hpp>
#include <lemma/data/expression/parser.hpp>

namespace lemma {
namespace {

std::string quoted(std::string_view text, char quote) {
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') out += '\\';
    out += c;
  }
  return out + quote;
}

std::string call_text(const Expression& e) {
  std::string out = e.text + "(";
  for (std::size_t i = 0; i < e.arguments.size(); ++i) {
    if (i > 0) out += ", ";
    if (i < e.keywords.size() && !e.keywords[i].empty()) {
      out += is_plain_name(e.keywords[i]) ? e.keywords[i] : quoted(e.keywords[i], '`');
      out += " = ";
    }
    out += to_text(e.arguments[i]);
  }
  return out + ")";
}

/// R writes a + b, a * b but a/b, x^2.
std::string binary_text(const Expression& e) {
  const bool tight = e.text == "/" || e.text == "^";
  const std::string between = tight ? e.text : " " + e.text + " ";
  std::string out = to_text(e.arguments.front());
  for (std::size_t i = 1; i < e.arguments.size(); ++i) out += between + to_text(e.arguments[i]);
  return out;
}

void collect_columns(const Expression& e, std::vector<std::string>& names) {
  if (e.kind == Expression::Kind::name && std::find(names.begin(), names.end(), e.text) == names.end())
    names.push_back(e.text);
  for (std::size_t i = 0; i < e.arguments.size(); ++i)
    if (i >= e.keywords.size() || e.keywords[i].empty() || !is_truth(e.arguments[i]))  // center = T names no column
      collect_columns(e.arguments[i], names);
}

bool continues_letter(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }  // inside a UTF-8 letter

}  // namespace

bool Expression::operator==(const Expression& other) const {
  return kind == other.kind && text == other.text && number == other.number && keywords == other.keywords &&
         arguments == other.arguments;
}

std::string to_text(const Expression& e) {
  switch (e.kind) {
    case Expression::Kind::name: return is_plain_name(e.text) ? e.text : quoted(e.text, '`');
    case Expression::Kind::number: return std::isinf(e.number) ? "Inf" : shortest(e.number);
    case Expression::Kind::logical: return e.text;
    case Expression::Kind::string: return quoted(e.text, '"');
    case Expression::Kind::call: return call_text(e);
    case Expression::Kind::unary:
      return e.text == "(" ? "(" + to_text(e.arguments.front()) + ")" : e.text + to_text(e.arguments.front());
    case Expression::Kind::binary: return binary_text(e);
  }
  return "";
}

Expression expression(std::string_view text) {
  Tokens tokens("expression", text);
  Expression e = parse_condition(tokens);
  tokens.expect_end();
  check_expression(e, tokens);
  return e;
}

std::vector<std::string> columns_of(const Expression& e) {
  std::vector<std::string> names;
  collect_columns(e, names);
  return names;
}

const Expression& without_parentheses(const Expression& e) {
  return e.kind == Expression::Kind::unary && e.text == "(" ? without_parentheses(e.arguments[0]) : e;
}

bool is_condition(const Expression& e) {
  const Expression& inner = without_parentheses(e);
  switch (inner.kind) {
    case Expression::Kind::logical: return true;
    case Expression::Kind::unary: return inner.text == "!";
    case Expression::Kind::binary: return !is_arithmetic_mark(inner.text);
    case Expression::Kind::call:
      return inner.text == "is.na" ||
             (inner.text == "I" && !inner.arguments.empty() && is_condition(inner.arguments[0]));
    default: return false;
  }
}

bool has_condition(const Expression& e) {
  return is_condition(e) || std::any_of(e.arguments.begin(), e.arguments.end(), has_condition);
}

std::string shortest(double number) { return fmt::format("{}", number == 0 ? 0.0 : number); }

std::string point_at(std::string_view what, std::string_view text, std::size_t place, std::string_view message) {
  constexpr std::size_t kBefore = 70, kAfter = 40;  // bytes shown of a long text
  place = std::min(place, text.size());
  std::size_t from = place > kBefore ? place - kBefore : 0, to = std::min(text.size(), place + kAfter);
  while (from > 0 && continues_letter(text[from])) --from;
  while (to < text.size() && continues_letter(text[to])) ++to;
  std::string shown = from > 0 ? "…" : "", caret = from > 0 ? " " : "";
  for (std::size_t i = from; i < to; ++i) {
    const bool control = static_cast<unsigned char>(text[i]) < 0x20 || text[i] == 0x7f;
    shown += control ? ' ' : text[i];
    if (i < place && !continues_letter(text[i])) caret += ' ';
  }
  return fmt::format("{}: {}\n  {}{}\n  {}^", what, message, shown, to < text.size() ? "…" : "", caret);
}

}  // namespace lemma
