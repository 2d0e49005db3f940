// lemma/data/expression/types.hpp: what an expression is made of, given the columns: numbers, words, or truths.
#pragma once
#include <functional>
#include <lemma/data/expression.hpp>

namespace lemma {

enum class ValueType { number, logical, words };

/// The column of that name, or an Error that points at it.
using FindColumn = std::function<const Column&(const Expression& name)>;
/// Raises an Error with a caret under the place.
using FailAt = std::function<void(std::size_t place, const std::string& message)>;

/// What the checked expression gives. Error where a column of the wrong type stands: words in arithmetic, a number
/// compared with a text that is none, a number where a condition is needed.
ValueType type_of(const Expression& expression, const FindColumn& find, const FailAt& fail);
/// The same, of an expression that must be a condition, or a number (TRUE is 1).
void require_condition(const Expression& expression, const FindColumn& find, const FailAt& fail);
void require_number(const Expression& expression, const FindColumn& find, const FailAt& fail);

/// " (a, b, …)" for a column with levels, to be added to a message.
std::string some_levels(const Column& column);

}  // namespace lemma
