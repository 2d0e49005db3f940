// lemma/data/expression/parser.hpp: tokens, and the grammar that formulas and `where` share.
#pragma once
#include <lemma/data/expression.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

struct Token {
  enum class Kind { end, name, number, string, mark };
  Kind kind = Kind::end;
  std::string text;  // the name, the string, or the mark: + - * / ^ : ( ) , ~ = == != < > <= >= & | ! %in%
  double number = 0;
  std::size_t place = 0;  // byte offset in the text
  bool quoted = false;    // a name in back-quotes
};

/// The tokens of a text, read one by one. Errors point at the place.
class Tokens {
 public:
  Tokens(std::string_view what, std::string_view text);  // what: "formula", "condition"

  const Token& peek(std::size_t ahead = 0) const;
  Token next();
  bool at(std::string_view mark) const { return peek().kind == Token::Kind::mark && peek().text == mark; }
  bool at_call() const;  // a name and "("
  bool accept(std::string_view mark);
  void expect(std::string_view mark, std::string_view why);
  void expect_end();
  [[noreturn]] void fail(std::size_t place, const std::string& message) const;
  /// "expected X, found 'Y'" at the next token.
  [[noreturn]] void fail_expected(std::string_view expected) const;

  /// Counts how deep the parser is in parentheses and calls; hostile input cannot overflow the stack.
  class Nest {
   public:
    explicit Nest(Tokens& tokens);
    ~Nest() { --tokens_.depth_; }
    Nest(const Nest&) = delete;
    Nest& operator=(const Nest&) = delete;

   private:
    Tokens& tokens_;
  };

 private:
  std::string_view written_as_a_word() const;
  void read_all();
  Token read_token(std::size_t& at) const;
  Token read_number(std::size_t& at) const;
  Token read_quoted(std::size_t& at, char quote) const;

  std::string what_, text_;
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  int depth_ = 0;
};

bool is_plain_name(std::string_view name);  // needs no back-quotes

/// Arithmetic: + - * / ^ and functions. No comparison.
Expression parse_arithmetic(Tokens& tokens);
/// Comparisons, %in%, & | ! and is.na() over arithmetic.
Expression parse_condition(Tokens& tokens);
/// NAME ( arguments ), each with an optional keyword; the caller checks the function. Arguments are arithmetic.
Expression parse_call(Tokens& tokens);
/// Error unless the call, and each inside it, is one of known_functions() with the arguments it takes.
void check_arithmetic(const Expression& expression, const Tokens& tokens);

}  // namespace lemma
