// lemma/data/expression/words.hpp: texts and levels in comparisons. Only the files of expressions include it.
#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <lemma/data/dates.hpp>
#include <lemma/data/expression.hpp>
#include <lemma/data/expression/parser.hpp>
#include <optional>
#include <vector>

namespace lemma {

inline std::optional<double> number_in(const std::string& text) {
  double number = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || stop != text.data() + text.size() || std::isnan(number)) return {};
  return number;
}

/// A text that is compared with numbers: a number in quotes, or a date.
inline std::optional<double> number_or_date_in(const std::string& text) {
  if (const auto number = number_in(text)) return number;
  if (const auto moment = parse_moment(text)) return moment->days;
  return {};
}

/// What a column of words can be compared with: a text, or a number or TRUE as it is written.
inline std::optional<std::string> literal_word(const Expression& e) {
  if (e.kind == Expression::Kind::string || e.kind == Expression::Kind::logical) return e.text;
  if (const auto number = literal_number(e)) return shortest(*number);
  return {};
}

/// The list after %in%: c(a, b), or one alone.
inline std::vector<Expression> members_of(const Expression& list) {
  return list.kind == Expression::Kind::call ? list.arguments : std::vector<Expression>{list};
}

/// A column of TRUE and FALSE is a condition by itself.
inline bool holds_truths(const Column& column) {
  if (column.type() != ColumnType::categorical) return false;
  const auto& levels = column.categories().levels;
  return std::all_of(levels.begin(), levels.end(), [](const auto& l) { return l == "TRUE" || l == "FALSE"; });
}

}  // namespace lemma
