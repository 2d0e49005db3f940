// lemma/data/expression/parser.hpp: tokens, and the grammar that formulas and `where` share.
#pragma once
#include <lemma/data/expression.hpp>
#include <optional>
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
  /// Does a comparison, & | or ! stand between here and the end of the text, or the parenthesis that is open here?
  bool condition_ahead() const;
  /// Does what stands here, a name, a call or a parenthesis, come before %in% and a list: x %in% c("a", "b")?
  bool membership_ahead() const;
  bool at_list() const { return list_at(next_); }  // %in% and a list
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
  std::size_t behind_parenthesis(std::size_t at) const;
  bool list_at(std::size_t at) const;
  Token read_token(std::size_t& at) const;
  std::size_t size_at(std::size_t at) const;
  Token read_number(std::size_t& at) const;
  Token read_quoted(std::size_t& at, char quote) const;

  std::string what_, text_;
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  int depth_ = 0;
};

bool is_plain_name(std::string_view name);  // needs no back-quotes
bool is_arithmetic_mark(std::string_view mark);
bool is_comparison_mark(std::string_view mark);  // == != < > <= >=
bool is_condition_mark(std::string_view mark);   // those, & | ! and %in%

/// Comparisons, & | ! and %in% over arithmetic, or arithmetic alone.
Expression parse_condition(Tokens& tokens);
/// NAME ( arguments ), each with an optional keyword; the caller checks the function.
Expression parse_call(Tokens& tokens);
/// x %in% c("a", "b")
Expression parse_membership(Tokens& tokens);

/// Error unless all of it makes sense whatever the columns are: known functions with the arguments they take, texts only
/// where they are compared. scale(x), which is learned from rows, is refused unless `learns`.
void check_expression(const Expression& expression, const Tokens& tokens, bool learns = true);
/// scale(x), scale(x, center = TRUE, scale = 2.5)
void check_scale(const Expression& call, const Tokens& tokens, bool learns = true);
bool is_truth(const Expression& expression);  // TRUE FALSE T F
bool is_true(const Expression& expression);
/// What scale() takes off and divides by; nothing where that is still to be learned.
struct ScaleConstants {
  std::optional<double> center, spread;
};
ScaleConstants constants_of(const Expression& scale);
/// The number that is written there: 2.5, -1; nothing where there is none.
std::optional<double> literal_number(const Expression& expression);

}  // namespace lemma
