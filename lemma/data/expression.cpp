// lemma/data/expression.cpp
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/expression.hpp>
#include <lemma/data/expression/parser.hpp>
#include <limits>

namespace lemma {
namespace {

struct Function {
  const char* name;
  double (*value)(double);
};

constexpr Function kFunctions[] = {
    {"log", [](double x) { return std::log(x); }},     {"exp", [](double x) { return std::exp(x); }},
    {"sqrt", [](double x) { return std::sqrt(x); }},   {"abs", [](double x) { return std::abs(x); }},
    {"log2", [](double x) { return std::log2(x); }},   {"log10", [](double x) { return std::log10(x); }},
    {"log1p", [](double x) { return std::log1p(x); }}, {"expm1", [](double x) { return std::expm1(x); }},
    {"sin", [](double x) { return std::sin(x); }},     {"cos", [](double x) { return std::cos(x); }},
    {"tan", [](double x) { return std::tan(x); }},
};

const Function* find_function(std::string_view name) {
  for (const auto& function : kFunctions)
    if (function.name == name) return &function;
  return nullptr;
}

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

double power(double x, double y) { return y == 2 ? x * x : std::pow(x, y); }  // as R does

void apply_binary(const std::string& mark, Index count, double* left, const double* right) {
  const auto each = [&](auto&& f) {
    for (Index i = 0; i < count; ++i) left[i] = f(left[i], right[i]);
  };
  if (mark == "+") return each([](double a, double b) { return a + b; });
  if (mark == "-") return each([](double a, double b) { return a - b; });
  if (mark == "*") return each([](double a, double b) { return a * b; });
  if (mark == "/") return each([](double a, double b) { return a / b; });
  if (mark == "^") return each(power);
  throw Error("'" + mark + "' is not arithmetic");
}

void apply_call(const Expression& e, Index count, const ColumnNumbers& column, double* out) {
  require(!e.arguments.empty(), e.text + "() needs a value");
  evaluate(e.arguments[0], count, column, out);
  if (e.text == "I") return;
  const Function* function = find_function(e.text);
  require(function != nullptr, "unknown function '" + e.text + "'");
  for (Index i = 0; i < count; ++i) out[i] = function->value(out[i]);
  if (e.arguments.size() < 2) return;  // log(x, base) = log(x) / log(base)
  std::vector<double> base(static_cast<std::size_t>(count));
  evaluate(e.arguments[1], count, column, base.data());
  for (Index i = 0; i < count; ++i) out[i] /= std::log(base[static_cast<std::size_t>(i)]);
}

void collect_columns(const Expression& e, std::vector<std::string>& names) {
  if (e.kind == Expression::Kind::name && std::find(names.begin(), names.end(), e.text) == names.end())
    names.push_back(e.text);
  for (const auto& argument : e.arguments) collect_columns(argument, names);
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
    case Expression::Kind::number: return shortest(e.number);
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
  Expression e = parse_arithmetic(tokens);
  tokens.expect_end();
  check_arithmetic(e, tokens);
  return e;
}

const std::vector<std::string>& known_functions() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& function : kFunctions) all.emplace_back(function.name);
    return all;
  }();
  return names;
}

std::vector<std::string> columns_of(const Expression& e) {
  std::vector<std::string> names;
  collect_columns(e, names);
  return names;
}

void evaluate(const Expression& e, Index count, const ColumnNumbers& column, double* out) {
  switch (e.kind) {
    case Expression::Kind::number: std::fill_n(out, count, e.number); return;
    case Expression::Kind::name: std::copy_n(column(e.text), count, out); return;
    case Expression::Kind::call: apply_call(e, count, column, out); return;
    case Expression::Kind::unary:
      evaluate(e.arguments.at(0), count, column, out);
      if (e.text == "-") std::transform(out, out + count, out, [](double x) { return -x; });
      return;
    case Expression::Kind::binary: {
      evaluate(e.arguments.at(0), count, column, out);
      std::vector<double> right(static_cast<std::size_t>(count));
      evaluate(e.arguments.at(1), count, column, right.data());
      return apply_binary(e.text, count, out, right.data());
    }
    case Expression::Kind::string: throw Error("the text \"" + e.text + "\" cannot be used as a number");
  }
}

std::vector<double> evaluate(const Expression& e, const Table& table) {
  std::vector<double> out(static_cast<std::size_t>(table.rows()));
  const auto numbers = [&](const std::string& name) {
    const Column& column = table.column(name);
    require(column.type() == ColumnType::numeric,
            fmt::format("column '{}' is {}; {} needs numbers", name, name_of(column.type()), to_text(e)));
    return column.numbers().values.data();
  };
  evaluate(e, table.rows(), numbers, out.data());
  return out;
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
