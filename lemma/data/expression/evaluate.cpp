// lemma/data/expression/evaluate.cpp: the value of an expression, row by row. A truth is 1, 0 or NaN: not known.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/expression/parser.hpp>
#include <lemma/data/expression/types.hpp>
#include <lemma/data/expression/words.hpp>
#include <limits>
#include <set>

namespace lemma {
namespace {

using Kind = Expression::Kind;
using Values = std::vector<double>;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// -- functions and arithmetic

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
    {"tan", [](double x) { return std::tan(x); }},     {"as.numeric", [](double x) { return x; }},
};

const Function* find_function(std::string_view name) {
  for (const auto& function : kFunctions)
    if (function.name == name) return &function;
  return nullptr;
}

double power(double x, double y) { return y == 2 ? x * x : std::pow(x, y); }  // as R does

/// As R has it: NA if one is missing.
double smaller(double a, double b) { return std::isnan(a) || b > a ? a : b; }
double larger(double a, double b) { return std::isnan(a) || b < a ? a : b; }

template <class F>
void combine(Index count, double* left, const double* right, F&& f) {
  for (Index i = 0; i < count; ++i) left[i] = f(left[i], right[i]);
}

void apply_arithmetic(const std::string& mark, Index count, double* left, const double* right) {
  if (mark == "+") return combine(count, left, right, [](double a, double b) { return a + b; });
  if (mark == "-") return combine(count, left, right, [](double a, double b) { return a - b; });
  if (mark == "*") return combine(count, left, right, [](double a, double b) { return a * b; });
  if (mark == "/") return combine(count, left, right, [](double a, double b) { return a / b; });
  if (mark == "^") return combine(count, left, right, power);
  throw Error("'" + mark + "' is not arithmetic");
}

template <class T>
bool compare(const std::string& mark, const T& a, const T& b) {
  if (mark == "==") return a == b;
  if (mark == "!=") return a != b;
  if (mark == "<") return a < b;
  if (mark == "<=") return a <= b;
  if (mark == ">") return a > b;
  return a >= b;
}

std::string mirrored(const std::string& mark) {
  if (mark == "<") return ">";
  if (mark == ">") return "<";
  if (mark == "<=") return ">=";
  if (mark == ">=") return "<=";
  return mark;
}

/// The value of an expression for all rows at once.
class Evaluation {
 public:
  explicit Evaluation(const RowColumns& rows) : rows_(rows) {}

  void value(const Expression& e, double* out) const {
    switch (e.kind) {
      case Kind::number:
      case Kind::logical: std::fill_n(out, rows_.count(), e.number); return;
      case Kind::name: return column(e, out);
      case Kind::call: return call(e, out);
      case Kind::unary: return unary(e, out);
      case Kind::binary: return binary(e, out);
      case Kind::string: throw Error("the text \"" + e.text + "\" cannot be used as a number");
    }
  }

  Values value(const Expression& e) const {
    Values out(static_cast<std::size_t>(rows_.count()));
    value(e, out.data());
    return out;
  }

 private:
  /// Its numbers; of words, TRUE and FALSE are truths.
  void column(const Expression& e, double* out) const {
    if (!words(e)) std::copy_n(rows_.numbers(e.text), rows_.count(), out);
    else each_word(e.text, out, [](const auto& word) { return word == "TRUE" ? 1 : word == "FALSE" ? 0 : kUnknown; });
  }

  void call(const Expression& e, double* out) const {
    require(!e.arguments.empty(), e.text + "() needs a value");
    if (e.text == "is.na") return missing(e.arguments[0], out);
    value(e.arguments[0], out);
    if (e.text == "I") return;
    if (e.text == "scale") return scale(e, out);
    if (e.text == "pmin" || e.text == "pmax") {
      for (std::size_t a = 1; a < e.arguments.size(); ++a)
        combine(rows_.count(), out, value(e.arguments[a]).data(), e.text == "pmin" ? smaller : larger);
      return;
    }
    const Function* function = find_function(e.text);
    require(function != nullptr, "unknown function '" + e.text + "'");
    for (Index i = 0; i < rows_.count(); ++i) out[i] = function->value(out[i]);
    if (e.arguments.size() < 2) return;  // log(x, base) = log(x) / log(base)
    combine(rows_.count(), out, value(e.arguments[1]).data(), [](double x, double b) { return x / std::log(b); });
  }

  /// With the constants that were learned, or given.
  void scale(const Expression& e, double* out) const {
    const auto [center, spread] = constants_of(e);
    require(center && spread, to_text(e) + " has to be learned from rows");
    for (Index i = 0; i < rows_.count(); ++i) out[i] = (out[i] - *center) / *spread;
  }

  void unary(const Expression& e, double* out) const {
    const Expression& inner = e.arguments.at(0);
    if (e.text == "!") {
      value(inner, out);
      std::transform(out, out + rows_.count(), out, [](double t) { return 1 - t; });
      return;
    }
    value(inner, out);
    if (e.text == "-") std::transform(out, out + rows_.count(), out, [](double x) { return -x; });
  }

  void binary(const Expression& e, double* out) const {
    if (e.text == "&" || e.text == "|") return combined(e, out);
    if (e.text == "%in%") return membership(e, out);
    if (is_comparison_mark(e.text)) return comparison(e, out);
    value(e.arguments.at(0), out);
    apply_arithmetic(e.text, rows_.count(), out, value(e.arguments.at(1)).data());
  }

  // -- truths

  /// Of `|` one yes decides, of `&` one no; otherwise one unknown makes all unknown.
  void combined(const Expression& e, double* out) const {
    const double decisive = e.text == "|" ? 1 : 0;
    value(e.arguments[0], out);
    Values next(static_cast<std::size_t>(rows_.count()));
    for (std::size_t a = 1; a < e.arguments.size(); ++a) {
      value(e.arguments[a], next.data());
      combine(rows_.count(), out, next.data(), [=](double x, double y) {
        if (x == decisive || y == decisive) return decisive;
        return std::isnan(x) ? x : y;
      });
    }
  }

  void comparison(const Expression& e, double* out) const {
    const Expression &left = without_parentheses(e.arguments[0]), &right = without_parentheses(e.arguments[1]);
    if (words(left) && words(right)) return compare_columns(e.text, left.text, right.text, out);
    if (words(left)) return compare_word(e.text, left.text, right, out);
    if (words(right)) return compare_word(mirrored(e.text), right.text, left, out);
    number_side(left, out);
    Values others(static_cast<std::size_t>(rows_.count()));
    number_side(right, others.data());
    combine(rows_.count(), out, others.data(),
            [&](double a, double b) { return std::isnan(a) || std::isnan(b) ? kUnknown : compare(e.text, a, b); });
  }

  void number_side(const Expression& e, double* out) const {
    if (e.kind != Kind::string) return value(e, out);
    const auto number = number_or_date_in(e.text);
    require(number.has_value(), fmt::format("a number cannot be compared with \"{}\"", e.text));
    std::fill_n(out, rows_.count(), *number);
  }

  void compare_word(const std::string& mark, const std::string& name, const Expression& e, double* out) const {
    const auto word = literal_word(e);
    require(word.has_value(), fmt::format("'{}' can only be compared with a text", name));
    each_word(name, out, [&](const std::string& each) { return compare(mark, each, *word) ? 1.0 : 0.0; });
  }

  void compare_columns(const std::string& mark, const std::string& a, const std::string& b, double* out) const {
    for (Index i = 0; i < rows_.count(); ++i) {
      const auto x = word(a, i), y = word(b, i);
      out[i] = !x || !y ? kUnknown : compare(mark, *x, *y);
    }
  }

  /// As in R a missing value is in no list.
  void membership(const Expression& e, double* out) const {
    const Expression &left = without_parentheses(e.arguments[0]), &list = without_parentheses(e.arguments[1]);
    const auto members = members_of(list);
    if (words(left)) {
      std::set<std::string> wanted;
      for (const auto& member : members)
        if (auto word = literal_word(member)) wanted.insert(std::move(*word));
      each_word(left.text, out, [&](const std::string& word) { return wanted.contains(word) ? 1.0 : 0.0; });
      std::replace_if(
          out, out + rows_.count(), [](double t) { return std::isnan(t); }, 0.0);
      return;
    }
    std::set<double> wanted;
    for (const auto& member : members) {
      const auto number = member.kind == Kind::string    ? number_or_date_in(member.text)
                          : member.kind == Kind::logical ? std::optional(member.number)
                                                         : literal_number(member);
      if (number) wanted.insert(*number);
    }
    value(left, out);
    std::transform(out, out + rows_.count(), out,
                   [&](double x) { return !std::isnan(x) && wanted.contains(x) ? 1.0 : 0.0; });
  }

  void missing(const Expression& e, double* out) const {
    const Expression& inner = without_parentheses(e);
    const RowColumns& raw = rows_.as_they_are();
    if (const Column* column = words(inner)) {
      for (Index i = 0; i < rows_.count(); ++i) out[i] = column->is_missing(raw.first() + i) ? 1 : 0;
      return;
    }
    Evaluation(raw).value(inner, out);
    std::transform(out, out + rows_.count(), out, [](double x) { return std::isnan(x) ? 1.0 : 0.0; });
  }

  // -- words

  const Column* words(const Expression& e) const { return e.kind == Kind::name ? rows_.words(e.text) : nullptr; }

  std::optional<std::string> word(const std::string& name, Index i) const {
    const Column& column = *rows_.words(name);
    if (!column.is_missing(rows_.first() + i)) return column.text(rows_.first() + i);
    const std::string* other = rows_.stand_in(name);
    return other ? std::optional(*other) : std::nullopt;
  }

  /// A test of the words of a column; of levels it is made once for each.
  template <class Test>
  void each_word(const std::string& name, double* out, Test&& test) const {
    const Column& column = *rows_.words(name);
    const std::string* other = rows_.stand_in(name);
    const double missing = other ? test(*other) : kUnknown;
    if (column.type() == ColumnType::categorical) {
      const auto& [codes, levels] = column.categories();
      Values by_level;
      for (const auto& level : levels) by_level.push_back(test(level));
      for (Index i = 0; i < rows_.count(); ++i) {
        const auto code = codes[static_cast<std::size_t>(rows_.first() + i)];
        out[i] = code < 0 ? missing : by_level[static_cast<std::size_t>(code)];
      }
      return;
    }
    for (Index i = 0; i < rows_.count(); ++i) {
      const Index row = rows_.first() + i;
      out[i] = column.is_missing(row) ? missing : test(column.text(row));
    }
  }

  const RowColumns& rows_;
};

class TableRows final : public RowColumns {
 public:
  explicit TableRows(const Table& table) : RowColumns(0, table.rows()), table_(table) {}
  const double* numbers(const std::string& name) const override { return table_.column(name).numbers().values.data(); }
  const Column* words(const std::string& name) const override {
    const Column& column = table_.column(name);
    return column.type() == ColumnType::numeric ? nullptr : &column;
  }

 private:
  const Table& table_;
};

}  // namespace

const std::vector<std::string>& known_functions() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& function : kFunctions) all.emplace_back(function.name);
    all.insert(all.end(), {"pmin", "pmax"});
    return all;
  }();
  return names;
}

void evaluate(const Expression& e, const RowColumns& rows, double* out) { Evaluation(rows).value(e, out); }

std::vector<double> evaluate(const Expression& e, const Table& table) {
  type_of(
      e, [&](const Expression& name) -> const Column& { return table.column(name.text); },
      [&](std::size_t, const std::string& message) { throw Error(to_text(e) + ": " + message); });
  const TableRows rows(table);
  return Evaluation(rows).value(e);
}

}  // namespace lemma
