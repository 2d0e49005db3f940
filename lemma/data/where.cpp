// lemma/data/where.cpp
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/dates.hpp>
#include <lemma/data/expression/parser.hpp>
#include <lemma/data/where.hpp>
#include <limits>
#include <optional>
#include <set>

namespace lemma {
namespace {

using Kind = Expression::Kind;
enum class Truth : char { no, yes, unknown };
using Truths = std::vector<Truth>;

Truth truth(bool b) { return b ? Truth::yes : Truth::no; }

bool is_comparison(const Expression& e) {
  return e.kind == Kind::binary &&
         (e.text == "==" || e.text == "!=" || e.text == "<" || e.text == ">" || e.text == "<=" || e.text == ">=");
}

const Expression& without_parentheses(const Expression& e) {
  return e.kind == Kind::unary && e.text == "(" ? without_parentheses(e.arguments[0]) : e;
}

bool is_literal_truth(const Expression& e) { return e.kind == Kind::name && (e.text == "TRUE" || e.text == "FALSE"); }

template <class T>
bool compare(const std::string& mark, const T& a, const T& b) {
  if (mark == "==") return a == b;
  if (mark == "!=") return a != b;
  if (mark == "<") return a < b;
  if (mark == "<=") return a <= b;
  if (mark == ">") return a > b;
  return a >= b;
}

std::optional<double> as_number(const std::string& text) {
  double number = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || stop != text.data() + text.size()) return {};
  return number;
}

/// Evaluates a condition for all rows at once. A truth value may be unknown, as in R: unknown & no is no.
class Condition {
 public:
  Condition(std::string_view text, const Table& table) : tokens_("condition", text), table_(table) {}

  std::vector<Index> rows() {
    const Expression e = parse_condition(tokens_);
    tokens_.expect_end();
    const Truths truths = decide(e);
    std::vector<Index> found;
    for (std::size_t i = 0; i < truths.size(); ++i)
      if (truths[i] == Truth::yes) found.push_back(static_cast<Index>(i));
    return found;
  }

 private:
  std::size_t count() const { return static_cast<std::size_t>(table_.rows()); }

  Truths decide(const Expression& e) {
    if (e.kind == Kind::unary && e.text == "(") return decide(e.arguments[0]);
    if (e.kind == Kind::unary && e.text == "!") return negated(decide(e.arguments[0]));
    if (e.kind == Kind::binary && (e.text == "&" || e.text == "|")) return combined(e);
    if (e.kind == Kind::binary && e.text == "%in%") return membership(e);
    if (is_comparison(e)) return comparison(e);
    if (e.kind == Kind::call && e.text == "is.na") return missing(e);
    if (is_literal_truth(e)) return Truths(count(), truth(e.text == "TRUE"));
    if (e.kind == Kind::name) return flag(e);
    tokens_.fail(e.place, fmt::format("{} is not a condition; compare it: == != < <= > >= %in%", to_text(e)));
  }

  static Truths negated(Truths truths) {
    for (auto& t : truths)
      if (t != Truth::unknown) t = truth(t == Truth::no);
    return truths;
  }

  /// Of `|` one yes decides, of `&` one no; otherwise one unknown makes all unknown.
  Truths combined(const Expression& e) {
    const Truth decisive = e.text == "|" ? Truth::yes : Truth::no;
    Truths all = decide(e.arguments[0]);
    for (std::size_t a = 1; a < e.arguments.size(); ++a) {
      const Truths next = decide(e.arguments[a]);
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i] == decisive || next[i] == decisive) all[i] = decisive;
        else if (next[i] == Truth::unknown) all[i] = Truth::unknown;
      }
    }
    return all;
  }

  // -- columns

  const Column& column(const Expression& name) const {
    if (name.text == "NA") tokens_.fail(name.place, "nothing equals NA; write is.na(x)");
    if (const Column* found = table_.find(name.text)) return *found;
    tokens_.fail(name.place, fmt::format("there is no column '{}' in {}{}", name.text,
                                         table_.source().empty() ? "the table" : table_.source(),
                                         did_you_mean(name.text, table_.names())));
  }

  /// The column when the expression is nothing but one that holds words.
  const Column* words(const Expression& e) const {
    const Expression& inner = without_parentheses(e);
    if (inner.kind != Kind::name || is_literal_truth(inner)) return nullptr;
    const Column& found = column(inner);
    return found.type() == ColumnType::numeric ? nullptr : &found;
  }

  std::vector<double> numbers(const Expression& e) const {
    if (e.kind != Kind::name) check_arithmetic(e, tokens_);
    std::vector<double> out(count());
    const auto values = [&](const std::string& name) { return number_column(e, name).numbers().values.data(); };
    evaluate(e, table_.rows(), values, out.data());
    return out;
  }

  const Column& number_column(const Expression& e, const std::string& name) const {
    Expression at;
    at.kind = Kind::name;
    at.text = name;
    at.place = e.place;
    const Column& found = column(at);
    if (found.type() != ColumnType::numeric)
      tokens_.fail(e.place, fmt::format("'{}' is {}, a number is needed here", name, name_of(found.type())));
    return found;
  }

  Truths flag(const Expression& e) {
    const Column& found = column(e);
    if (found.type() == ColumnType::categorical) {
      const auto& levels = found.categories().levels;
      const bool logical =
          std::all_of(levels.begin(), levels.end(), [](const auto& l) { return l == "TRUE" || l == "FALSE"; });
      if (logical) return each_word(found, [](const std::string& word) { return word == "TRUE"; });
    }
    tokens_.fail(e.place, fmt::format("'{}' is not a condition; compare it: == != < <= > >= %in%", e.text));
  }

  /// A test of the words of a column; of levels it is made once for each.
  template <class Test>
  Truths each_word(const Column& column, Test&& test) const {
    Truths out(count(), Truth::unknown);
    if (column.type() == ColumnType::categorical) {
      const auto& [codes, levels] = column.categories();
      Truths by_level;
      for (const auto& level : levels) by_level.push_back(truth(test(level)));
      for (std::size_t i = 0; i < out.size(); ++i)
        if (codes[i] >= 0) out[i] = by_level[static_cast<std::size_t>(codes[i])];
      return out;
    }
    for (std::size_t i = 0; i < out.size(); ++i)
      if (!column.is_missing(static_cast<Index>(i))) out[i] = truth(test(column.text(static_cast<Index>(i))));
    return out;
  }

  // -- comparisons

  Truths comparison(const Expression& e) {
    const Expression &left = without_parentheses(e.arguments[0]), &right = without_parentheses(e.arguments[1]);
    if (words(left) && words(right)) return compare_words(e.text, *words(left), *words(right));
    if (const Column* column = words(left)) return compare_word(e.text, *column, literal(right, *column));
    if (const Column* column = words(right)) return compare_word(mirrored(e.text), *column, literal(left, *column));
    return compare_numbers(e.text, number_side(left, right), number_side(right, left));
  }

  static std::string mirrored(const std::string& mark) {
    if (mark == "<") return ">";
    if (mark == ">") return "<";
    if (mark == "<=") return ">=";
    if (mark == ">=") return "<=";
    return mark;
  }

  /// What a column of words is compared with: a text, or a number or TRUE as it is written.
  std::string literal(const Expression& e, const Column& with) const {
    if (e.kind == Kind::string || is_literal_truth(e)) return e.text;
    if (e.kind == Kind::number) return shortest(e.number);
    tokens_.fail(e.place, fmt::format("'{}' is {}; compare it with a text in quotes", with.name, name_of(with.type())));
  }

  std::vector<double> number_side(const Expression& e, const Expression& with) const {
    if (e.kind != Kind::string) return numbers(e);
    return std::vector<double>(count(), number_of(e, with));
  }

  /// A text that is compared with numbers: a number in quotes, or a date where they are dates.
  double number_of(const Expression& e, const Expression& with) const {
    if (holds_dates(with)) {
      if (const auto moment = parse_moment(e.text)) return moment->days;
      tokens_.fail(e.place, fmt::format("\"{}\" is no date such as \"2024-02-29\" or \"2024-02-29T12:30\"", e.text));
    }
    if (const auto number = as_number(e.text)) return *number;
    tokens_.fail(e.place, fmt::format("a number cannot be compared with \"{}\"", e.text));
  }

  bool holds_dates(const Expression& e) const {
    const auto names = columns_of(e);
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      const Column* found = table_.find(name);
      return found && found->type() == ColumnType::numeric && found->numbers().quantity != Quantity::number;
    });
  }

  Truths compare_word(const std::string& mark, const Column& column, const std::string& word) const {
    return each_word(column, [&](const std::string& each) { return compare(mark, each, word); });
  }

  Truths compare_words(const std::string& mark, const Column& a, const Column& b) const {
    Truths out(count(), Truth::unknown);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto row = static_cast<Index>(i);
      if (!a.is_missing(row) && !b.is_missing(row)) out[i] = truth(compare(mark, a.text(row), b.text(row)));
    }
    return out;
  }

  static Truths compare_numbers(const std::string& mark, const std::vector<double>& a, const std::vector<double>& b) {
    Truths out(a.size(), Truth::unknown);
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!std::isnan(a[i]) && !std::isnan(b[i])) out[i] = truth(compare(mark, a[i], b[i]));
    return out;
  }

  // -- %in% and is.na

  Truths membership(const Expression& e) {
    const Expression& left = without_parentheses(e.arguments[0]);
    const Expression& list = without_parentheses(e.arguments[1]);
    std::vector<Expression> members = list.arguments;
    if (list.kind == Kind::string || list.kind == Kind::number) members = {list};
    else if (list.kind != Kind::call || list.text != "c")
      tokens_.fail(list.place, "after %in% a list is expected: c(\"a\", \"b\")");
    Truths out = words(left) ? among_words(*words(left), members) : among_numbers(left, members);
    std::replace(out.begin(), out.end(), Truth::unknown, Truth::no);  // as in R: a missing value is in no list
    return out;
  }

  Truths among_words(const Column& column, const std::vector<Expression>& members) const {
    std::set<std::string> words;
    for (const auto& member : members) words.insert(literal(member, column));
    return each_word(column, [&](const std::string& word) { return words.contains(word); });
  }

  Truths among_numbers(const Expression& left, const std::vector<Expression>& members) const {
    std::set<double> wanted;
    for (const auto& member : members) {
      const bool negative = member.kind == Kind::unary && member.text == "-";
      const Expression& given = negative ? member.arguments[0] : member;
      if (given.kind != Kind::number && given.kind != Kind::string)
        tokens_.fail(member.place, "in this list numbers are expected");
      const double number = given.kind == Kind::number ? given.number : number_of(given, left);
      wanted.insert(negative ? -number : number);
    }
    const auto values = numbers(left);
    Truths out(values.size(), Truth::no);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!std::isnan(values[i])) out[i] = truth(wanted.contains(values[i]));
    return out;
  }

  Truths missing(const Expression& e) {
    if (e.arguments.size() != 1 || !e.keywords[0].empty()) tokens_.fail(e.place, "is.na() takes one column");
    Truths out(count());
    if (const Column* column = words(e.arguments[0])) {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = truth(column->is_missing(static_cast<Index>(i)));
      return out;
    }
    const auto values = numbers(e.arguments[0]);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = truth(std::isnan(values[i]));
    return out;
  }

  Tokens tokens_;
  const Table& table_;
};

}  // namespace

std::vector<Index> where(std::string_view condition, const Table& table) { return Condition(condition, table).rows(); }

}  // namespace lemma
