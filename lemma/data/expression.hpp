// lemma/data/expression.hpp: arithmetic and comparisons over columns, as they stand inside a formula or a condition.
#pragma once
#include <functional>
#include <lemma/core/matrix.hpp>
#include <lemma/data/table.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

/// An expression over columns: a name, a number, TRUE, a text, a call such as log(x), or an operation.
struct Expression {
  enum class Kind { name, number, logical, string, call, unary, binary };
  Kind kind = Kind::number;
  std::string text;  // the name, TRUE or FALSE, the function, the operator ("(" for parentheses), or the string
  double number = 0;
  std::vector<Expression> arguments;               // of a call or operation
  std::vector<std::string> keywords;               // of a call: keywords[i] names arguments[i] ("ref"), or is empty
  std::size_t place = 0;                           // byte offset in the formula, for messages
  bool operator==(const Expression& other) const;  // the place does not count
};

std::string to_text(const Expression& expression);  // as R deparses it: "I(x^2)", "log(FL)", "x > 10", "poly(c, 2)"

/// Arithmetic with + - * / ^, comparisons (== != < <= > >= %in% c(…)), & | !, parentheses and the functions of
/// known_functions(). An error shows the text with a caret.
Expression expression(std::string_view text);

/// The functions that give a number for a row: log exp sqrt abs … pmin pmax
const std::vector<std::string>& known_functions();

/// The columns an expression uses, each once, in the order of their first use.
std::vector<std::string> columns_of(const Expression& expression);

const Expression& without_parentheses(const Expression& expression);
/// Is its value TRUE or FALSE: a comparison, & | !, %in% or is.na(), perhaps inside I()?
bool is_condition(const Expression& expression);
/// Does one stand anywhere in it? Then a missing column need not make it missing: NA | TRUE is TRUE.
bool has_condition(const Expression& expression);

/// Some consecutive rows of a table, as an expression looks at them.
class RowColumns {
 public:
  RowColumns(Index first, Index count) : first_(first), count_(count) {}
  virtual ~RowColumns() = default;
  Index first() const { return first_; }
  Index count() const { return count_; }
  /// The numbers from the first row on; NaN is missing.
  virtual const double* numbers(const std::string& name) const = 0;
  /// The whole column where it holds words (levels or texts); nullptr: it holds numbers.
  virtual const Column* words(const std::string& name) const = 0;
  /// What stands in for a missing word; nullptr: nothing does.
  virtual const std::string* stand_in(const std::string& /*name*/) const { return nullptr; }
  /// The same rows with nothing filled in: what is.na() looks at.
  virtual const RowColumns& as_they_are() const { return *this; }

 private:
  Index first_, count_;
};

/// The value for each row; NaN where a value is missing and it cannot be told. TRUE is 1, FALSE 0.
void evaluate(const Expression& expression, const RowColumns& rows, double* out);
/// The same for every row of the table.
std::vector<double> evaluate(const Expression& expression, const Table& table);

/// A number as it is written shortest: "1", "2.5". Levels made from numbers are named so.
std::string shortest(double number);

/// The message, and below it the text with a caret under byte `place`; `what` says what kind of text it is.
std::string point_at(std::string_view what, std::string_view text, std::size_t place, std::string_view message);

}  // namespace lemma
