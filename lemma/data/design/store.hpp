// lemma/data/design/store.hpp: reading and writing the parts of a design. Only the files of the design include it.
#pragma once
#include <cmath>
#include <fmt/core.h>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/design/parts.hpp>

namespace lemma {

template <class Enum, std::size_t N>
Value text_of(Enum value, const std::pair<Enum, std::string_view> (&names)[N]) {
  for (const auto& [each, name] : names)
    if (each == value) return name;
  return nullptr;
}

template <class Enum, std::size_t N>
Enum enum_of(const Value& value, const std::pair<Enum, std::string_view> (&names)[N], std::string_view what) {
  const std::string& text = value.as_string(what);
  for (const auto& [each, name] : names)
    if (name == text) return each;
  throw Error(fmt::format("design: {} is '{}', which is not known", what, text));
}

inline Value numbers_of(const std::vector<double>& numbers) {
  return Value(Value::Array{{static_cast<Index>(numbers.size())}, numbers});
}

inline void check(bool condition, std::string_view otherwise) {
  if (!condition) throw Error(fmt::format("design: {}", otherwise));
}

inline double finite(const Value& value, std::string_view what) {
  const double number = value.as_double(what);
  check(std::isfinite(number), fmt::format("{} is not finite", what));
  return number;
}

inline std::vector<double> finite_numbers(const Value& value, std::string_view what) {
  const Vector v = value.as_vector(what);
  check(v.allFinite(), fmt::format("{} has a number that is not finite", what));
  return {v.data(), v.data() + v.size()};
}

/// Whole numbers in [low, high).
inline int whole(double value, Index low, Index high, std::string_view what) {
  check(value >= static_cast<double>(low) && value < static_cast<double>(high) && value == std::floor(value),
        fmt::format("{} is {}, outside {} … {}", what, shortest(value), low, high - 1));
  return static_cast<int>(value);
}

/// An empty list may come back from JSON as an array without numbers.
inline const Value::List& list_of(const Value& value, std::string_view what) {
  static const Value::List none;
  if (value.is_array() && value.as_array().data.empty()) return none;
  return value.as_list(what);
}

/// An expression over columns whose scale() calls have their constants.
Expression numeric_expression(const std::string& text);
Value save_variable(const Variable& variable);
Variable load_variable(const Value& value);

}  // namespace lemma
