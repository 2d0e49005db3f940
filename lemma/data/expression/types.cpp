// lemma/data/expression/types.cpp
#include <algorithm>
#include <fmt/format.h>
#include <lemma/data/expression/parser.hpp>
#include <lemma/data/expression/types.hpp>
#include <lemma/data/expression/words.hpp>

namespace lemma {
namespace {

using Kind = Expression::Kind;

class Types {
 public:
  Types(const FindColumn& find, const FailAt& fail) : find_(find), fail_(fail) {}

  ValueType of(const Expression& e) const {
    switch (e.kind) {
      case Kind::number: return ValueType::number;
      case Kind::logical: return ValueType::logical;
      case Kind::string: return ValueType::words;
      case Kind::name: return find_(e).type() == ColumnType::numeric ? ValueType::number : ValueType::words;
      case Kind::call: return of_call(e);
      case Kind::unary:
      case Kind::binary: return of_operation(e);
    }
    return ValueType::number;
  }

  void number(const Expression& e) const {
    if (of(e) != ValueType::words) return;
    const Expression& inner = without_parentheses(e);
    if (inner.kind != Kind::name) return fail_(inner.place, "a text cannot be used as a number");
    const Column& column = find_(inner);
    fail_(inner.place, fmt::format("a number is needed here, but '{}' is {}{}", inner.text, name_of(column.type()),
                                   some_levels(column)));
  }

  /// A condition, or a column of TRUE and FALSE.
  void condition(const Expression& e) const {
    const ValueType type = of(e);
    const Expression& inner = without_parentheses(e);
    if (type == ValueType::logical) return;
    if (type == ValueType::words && inner.kind == Kind::name && holds_truths(find_(inner))) return;
    const bool of_groups = inner.kind == Kind::number;  // (1 | g), as lme4 writes it
    fail_(inner.place, fmt::format("{} is not a condition; compare it: == != < <= > >= %in%{}", to_text(inner),
                                   of_groups ? " (random effects of groups, (1 | g), are not fitted: factor(g) gives "
                                               "each group a level of its own)"
                                             : ""));
  }

 private:
  ValueType of_call(const Expression& e) const {
    if (e.text == "is.na") {
      of(e.arguments[0]);
      return ValueType::logical;
    }
    if (e.text == "I" && is_condition(e.arguments[0])) return of(e.arguments[0]);
    const std::size_t values = e.text == "scale" ? 1 : e.arguments.size();  // its other arguments say how
    for (std::size_t i = 0; i < values; ++i) number(e.arguments[i]);
    return ValueType::number;
  }

  ValueType of_operation(const Expression& e) const {
    if (e.text == "(") return of(e.arguments[0]);
    if (e.text == "%in%") check_membership(e);
    else if (is_comparison_mark(e.text))
      check_sides(without_parentheses(e.arguments[0]), without_parentheses(e.arguments[1]));
    else
      for (const auto& argument : e.arguments) is_condition_mark(e.text) ? condition(argument) : number(argument);
    return is_condition_mark(e.text) ? ValueType::logical : ValueType::number;
  }

  const Column* words(const Expression& e) const {
    if (e.kind != Kind::name || of(e) != ValueType::words) return nullptr;
    return &find_(e);
  }

  void check_sides(const Expression& left, const Expression& right) const {
    if (words(left) && words(right)) return;
    if (const Column* column = words(left)) return check_word(right, *column);
    if (const Column* column = words(right)) return check_word(left, *column);
    check_number_side(left, right);
    check_number_side(right, left);
  }

  void check_membership(const Expression& e) const {
    const Expression &left = without_parentheses(e.arguments[0]), &list = without_parentheses(e.arguments[1]);
    const Column* column = words(left);
    if (!column) number(left);
    for (const Expression& member : members_of(list)) column ? check_word(member, *column) : check_member(member, left);
  }

  /// What a column of words is compared with: a text, or a number or TRUE as it is written.
  void check_word(const Expression& e, const Column& with) const {
    if (!literal_word(e))
      fail_(e.place, fmt::format("'{}' is {}; compare it with a text in quotes", with.name, name_of(with.type())));
  }

  void check_number_side(const Expression& e, const Expression& with) const {
    if (e.kind == Kind::string) check_text(e, with);
    else number(e);
  }

  /// A text that is compared with numbers: a number in quotes, or a date where they are dates.
  void check_text(const Expression& e, const Expression& with) const {
    if (holds_dates(with)) {
      if (!parse_moment(e.text))
        fail_(e.place, fmt::format("\"{}\" is no date such as \"2024-02-29\" or \"2024-02-29T12:30\"", e.text));
    } else if (!number_in(e.text)) {
      fail_(e.place, fmt::format("a number cannot be compared with \"{}\"", e.text));
    }
  }

  bool holds_dates(const Expression& e) const {
    if (e.kind == Kind::name) {
      const Column& column = find_(e);
      return column.type() == ColumnType::numeric && column.numbers().quantity != Quantity::number;
    }
    return std::any_of(e.arguments.begin(), e.arguments.end(), [&](const auto& inner) { return holds_dates(inner); });
  }

  void check_member(const Expression& e, const Expression& of) const {
    if (e.kind == Kind::string) check_text(e, of);
    else if (!literal_number(e) && e.kind != Kind::logical) fail_(e.place, "in this list numbers are expected");
  }

  const FindColumn& find_;
  const FailAt& fail_;
};

}  // namespace

ValueType type_of(const Expression& e, const FindColumn& find, const FailAt& fail) { return Types(find, fail).of(e); }
void require_condition(const Expression& e, const FindColumn& find, const FailAt& fail) {
  Types(find, fail).condition(e);
}
void require_number(const Expression& e, const FindColumn& find, const FailAt& fail) { Types(find, fail).number(e); }

std::string some_levels(const Column& column) {
  if (column.type() != ColumnType::categorical) return "";
  const auto& levels = column.categories().levels;
  const std::size_t shown = std::min<std::size_t>(levels.size(), 3);
  return fmt::format(" ({}{})", fmt::join(levels.begin(), levels.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                     levels.size() > shown ? ", …" : "");
}

}  // namespace lemma
