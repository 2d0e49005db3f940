// lemma/data/expression.hpp: arithmetic over columns, as it stands inside a formula or a condition.
#pragma once
#include <functional>
#include <lemma/core/matrix.hpp>
#include <lemma/data/table.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

/// An arithmetic expression over columns: a name, a number, a call such as log(x), or an operation inside I().
struct Expression {
  enum class Kind { name, number, string, call, unary, binary };
  Kind kind = Kind::number;
  std::string text;  // the name, the function, the operator ("(" for parentheses), or the string
  double number = 0;
  std::vector<Expression> arguments;               // of a call or operation
  std::vector<std::string> keywords;               // of a call: keywords[i] names arguments[i] ("ref"), or is empty
  std::size_t place = 0;                           // byte offset in the formula, for messages
  bool operator==(const Expression& other) const;  // the place does not count
};

std::string to_text(const Expression& expression);  // as R deparses it: "I(x^2)", "log(FL)", "poly(c, 2)"

/// Arithmetic with + - * / ^, parentheses and the functions of known_functions(). An error shows the text with a caret.
Expression expression(std::string_view text);

/// The functions of one number that arithmetic knows: log exp sqrt abs …
const std::vector<std::string>& known_functions();

/// The columns an expression uses, each once, in the order of their first use.
std::vector<std::string> columns_of(const Expression& expression);

/// The value for every row of the table; NaN where a column is missing. Its columns must be numeric.
std::vector<double> evaluate(const Expression& expression, const Table& table);

/// The same for `count` rows whose numbers `column(name)` points at.
using ColumnNumbers = std::function<const double*(const std::string& name)>;
void evaluate(const Expression& expression, Index count, const ColumnNumbers& column, double* out);

/// A number as it is written shortest: "1", "2.5". Levels made from numbers are named so.
std::string shortest(double number);

/// The message, and below it the text with a caret under byte `place`; `what` says what kind of text it is.
std::string point_at(std::string_view what, std::string_view text, std::size_t place, std::string_view message);

}  // namespace lemma
