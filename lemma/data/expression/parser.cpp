// lemma/data/expression/parser.cpp
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/expression/parser.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr int kMaxNesting = 100;      // parentheses and calls inside each other
constexpr int kMaxOperations = 1000;  // in one expression: a chain a + b + c + … is as deep a tree as it is long

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool continues_name(char c) { return starts_name(c) || is_digit(c); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_reserved(std::string_view name) { return name == "TRUE" || name == "FALSE" || name == "Inf"; }

std::string describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::end: return "the end";
    case Token::Kind::string: return "the text \"" + token.text + "\"";
    case Token::Kind::number: return shortest(token.number);
    default: return "'" + token.text + "'";
  }
}

Expression operation(const Token& mark, std::vector<Expression> arguments) {
  Expression e;
  e.kind = arguments.size() == 1 ? Expression::Kind::unary : Expression::Kind::binary;
  e.text = mark.text;
  e.place = mark.place;
  e.arguments = std::move(arguments);
  return e;
}

Expression leaf(Expression::Kind kind, const Token& token) {
  Expression e;
  e.kind = kind;
  e.text = kind == Expression::Kind::number ? "" : token.text;
  e.number = token.number;
  e.place = token.place;
  return e;
}

}  // namespace

bool is_arithmetic_mark(std::string_view mark) {
  return mark == "+" || mark == "-" || mark == "*" || mark == "/" || mark == "^";
}

bool is_comparison_mark(std::string_view mark) {
  return mark == "==" || mark == "!=" || mark == "<" || mark == ">" || mark == "<=" || mark == ">=";
}

bool is_condition_mark(std::string_view mark) {
  return is_comparison_mark(mark) || mark == "&" || mark == "|" || mark == "!" || mark == "%in%";
}

bool is_plain_name(std::string_view name) {
  if (is_reserved(name)) return false;
  if (name.empty() || !starts_name(name[0]) || !std::all_of(name.begin(), name.end(), continues_name)) return false;
  return !(name[0] == '.' && name.size() > 1 && is_digit(name[1]));  // .5 is a number
}

Tokens::Tokens(std::string_view what, std::string_view text) : what_(what), text_(text) { read_all(); }

void Tokens::read_all() {
  std::size_t at = 0;
  do tokens_.push_back(read_token(at));
  while (tokens_.back().kind != Token::Kind::end);
}

Token Tokens::read_token(std::size_t& at) const {
  while (at < text_.size() && is_blank(text_[at])) ++at;
  Token token;
  token.place = at;
  if (at == text_.size()) return token;
  const char c = text_[at], following = at + 1 < text_.size() ? text_[at + 1] : '\0';
  if (is_digit(c) || (c == '.' && is_digit(following))) return read_number(at);
  if (c == '"' || c == '\'' || c == '`') return read_quoted(at, c);
  if (starts_name(c)) {
    token.kind = Token::Kind::name;
    while (at < text_.size() && continues_name(text_[at])) token.text += text_[at++];
    return token;
  }
  token.kind = Token::Kind::mark;
  if (text_.compare(at, 4, "%in%") == 0) {
    token.text = "%in%";
    at += 4;
    return token;
  }
  for (const std::string_view two : {"==", "!=", "<=", ">=", "&&", "||", "**"}) {
    if (text_.compare(at, 2, two) != 0) continue;
    at += 2;
    token.text = two == "&&" ? "&" : two == "||" ? "|" : two == "**" ? "^" : std::string(two);
    return token;
  }
  if (std::string_view("+-*/^:(),~=<>&|!").find(c) == std::string_view::npos)
    fail(at, static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? "a control character cannot stand here"
                                                               : fmt::format("'{}' cannot stand here", c));
  token.text = c;
  ++at;
  return token;
}

/// 16x24 as an argument: how many digits, x and digits stand there; 0: something else.
std::size_t Tokens::size_at(std::size_t at) const {
  std::size_t before = at;
  while (before > 0 && is_blank(text_[before - 1])) --before;
  if (before == 0 || (text_[before - 1] != ',' && text_[before - 1] != '=')) return 0;
  const auto digits = [&](std::size_t from) {
    std::size_t to = from;
    while (to < text_.size() && is_digit(text_[to])) ++to;
    return to;
  };
  const std::size_t x = digits(at);
  if (x == at || x == text_.size() || text_[x] != 'x') return 0;
  const std::size_t end = digits(x + 1);
  return end == x + 1 || (end < text_.size() && continues_name(text_[end])) ? 0 : end - at;
}

Token Tokens::read_number(std::size_t& at) const {
  Token token;
  if (const std::size_t size = size_at(at); size > 0) {  // of an image: a text without its quotes
    token.kind = Token::Kind::string;
    token.place = at;
    token.text = text_.substr(at, size);
    at += size;
    return token;
  }
  token.kind = Token::Kind::number;
  token.place = at;
  const char* begin = text_.data() + at;
  const char* end = text_.data() + text_.size();
  const auto [stop, status] = std::from_chars(begin, end, token.number);
  if (status != std::errc()) fail(at, "this number is too large or too small");
  at += static_cast<std::size_t>(stop - begin);
  if (at < text_.size() && text_[at] == 'L') ++at;  // R's whole numbers: 2L
  if (at < text_.size() && continues_name(text_[at]))
    fail(at,
         "a name cannot begin with a digit; write it in back-quotes: `" + std::string(begin, stop) + text_[at] + "…`");
  return token;
}

Token Tokens::read_quoted(std::size_t& at, char quote) const {
  Token token;
  token.place = at++;
  token.kind = quote == '`' ? Token::Kind::name : Token::Kind::string;
  token.quoted = true;
  while (at < text_.size() && text_[at] != quote) {
    if (text_[at] == '\\' && at + 1 < text_.size()) {
      const char c = text_[++at];
      token.text += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    } else {
      token.text += text_[at];
    }
    ++at;
  }
  if (at == text_.size()) fail(token.place, fmt::format("this {} is never closed by another one", quote));
  ++at;
  if (token.kind == Token::Kind::name && token.text.empty()) fail(token.place, "a name cannot be empty");
  return token;
}

const Token& Tokens::peek(std::size_t ahead) const { return tokens_[std::min(next_ + ahead, tokens_.size() - 1)]; }

Token Tokens::next() {
  Token token = peek();
  if (next_ + 1 < tokens_.size()) ++next_;
  return token;
}

bool Tokens::at_call() const {
  return peek().kind == Token::Kind::name && !peek().quoted && peek(1).kind == Token::Kind::mark && peek(1).text == "(";
}

/// The token behind the parenthesis that closes the one at `at`, or the last one.
std::size_t Tokens::behind_parenthesis(std::size_t at) const {
  int open = 0;
  for (; at + 1 < tokens_.size(); ++at) {
    if (tokens_[at].kind != Token::Kind::mark) continue;
    if (tokens_[at].text == "(") ++open;
    if (tokens_[at].text == ")" && --open == 0) return at + 1;
  }
  return at;
}

bool Tokens::condition_ahead() const {
  for (std::size_t at = next_; at + 1 < tokens_.size(); ++at) {
    const Token& token = tokens_[at];
    if (token.kind != Token::Kind::mark) continue;
    if (token.text == ")" || token.text == "," || token.text == "~") return false;
    if (token.text == "(") at = behind_parenthesis(at) - 1;
    else if (is_condition_mark(token.text) && token.text != "%in%") return true;
  }
  return false;
}

bool Tokens::list_at(std::size_t at) const {
  const auto token = [&](std::size_t i) -> const Token& { return tokens_[std::min(i, tokens_.size() - 1)]; };
  const auto is_mark = [&](std::size_t i, std::string_view mark) {
    return token(i).kind == Token::Kind::mark && token(i).text == mark;
  };
  if (!is_mark(at, "%in%")) return false;
  const Token& list = token(at + 1);
  return list.kind == Token::Kind::string || list.kind == Token::Kind::number ||
         (list.kind == Token::Kind::name && list.text == "c" && !list.quoted && is_mark(at + 2, "("));
}

bool Tokens::membership_ahead() const {
  if (this->at("(")) return list_at(behind_parenthesis(next_));
  if (at_call()) return list_at(behind_parenthesis(next_ + 1));
  return peek().kind == Token::Kind::name && list_at(next_ + 1);
}

bool Tokens::accept(std::string_view mark) {
  if (!at(mark)) return false;
  next();
  return true;
}

void Tokens::expect(std::string_view mark, std::string_view why) {
  if (!accept(mark)) fail_expected(fmt::format("'{}' {}", mark, why));
}

void Tokens::expect_end() {
  if (peek().kind != Token::Kind::end)
    fail_expected(at(")") ? "the end: no '(' is open here" : "an operator or the end");
}

void Tokens::fail(std::size_t place, const std::string& message) const {
  throw Error(point_at(what_, text_, place, message));
}

void Tokens::fail_expected(std::string_view expected) const {
  fail(peek().place, fmt::format("expected {}, found {}{}", expected, describe(peek()), written_as_a_word()));
}

/// The hint for who writes SQL or Python: and, or, in, not.
std::string_view Tokens::written_as_a_word() const {
  const auto is = [](const Token& token, std::string_view lower, std::string_view upper) {
    return token.kind == Token::Kind::name && !token.quoted && (token.text == lower || token.text == upper);
  };
  if (is(peek(), "and", "AND")) return "; write & for and";
  if (is(peek(), "or", "OR")) return "; write | for or";
  if (is(peek(), "in", "IN")) return "; write %in% c(\"a\", \"b\") for in";
  if (next_ > 0 && is(tokens_[next_ - 1], "not", "NOT")) return "; write ! for not";
  return "";
}

Tokens::Nest::Nest(Tokens& tokens) : tokens_(tokens) {
  if (tokens_.depth_ >= kMaxNesting)
    tokens_.fail(tokens_.peek().place, fmt::format("nested more than {} deep", kMaxNesting));
  ++tokens_.depth_;
}

namespace {

/// Recursive descent in R's order, loosest binding first: | & ! comparison, + -, * /, %in%, unary -, ^, primary.
class Parser {
 public:
  explicit Parser(Tokens& tokens) : tokens_(tokens) {}

  Expression any_of() { return flat_chain("|", &Parser::all_of); }

  Expression call() {
    Expression e = leaf(Expression::Kind::call, tokens_.next());
    tokens_.expect("(", "after the function's name");
    const Tokens::Nest nest(tokens_);
    if (tokens_.accept(")")) return e;
    do {
      e.keywords.push_back(keyword());
      e.arguments.push_back(any_of());
    } while (tokens_.accept(","));
    tokens_.expect(")", "to close " + e.text + "(");
    return e;
  }

  Expression membership() { return chain({"%in%"}, &Parser::sign); }

 private:
  using Rule = Expression (Parser::*)();

  std::string keyword() {
    const bool has = tokens_.peek().kind == Token::Kind::name && tokens_.peek(1).kind == Token::Kind::mark &&
                     tokens_.peek(1).text == "=";
    if (!has) return "";
    std::string name = tokens_.next().text;
    tokens_.next();
    return name;
  }

  Expression chain(std::initializer_list<std::string_view> marks, Rule rule) {
    Expression left = (this->*rule)();
    while (std::any_of(marks.begin(), marks.end(), [&](auto mark) { return tokens_.at(mark); })) {
      const Token mark = tokens_.next();
      if (++operations_ > kMaxOperations)
        tokens_.fail(mark.place, fmt::format("more than {} operations in one expression", kMaxOperations));
      std::vector<Expression> both;
      both.push_back(std::move(left));
      both.push_back((this->*rule)());
      left = operation(mark, std::move(both));
    }
    return left;
  }

  /// a & b & c as one node, so that a long list of alternatives is not a deep tree.
  Expression flat_chain(std::string_view mark, Rule rule) {
    Expression first = (this->*rule)();
    if (!tokens_.at(mark)) return first;
    const Token token = tokens_.peek();
    std::vector<Expression> all;
    all.push_back(std::move(first));
    while (tokens_.accept(mark)) all.push_back((this->*rule)());
    return operation(token, std::move(all));
  }

  Expression all_of() { return flat_chain("&", &Parser::negation); }

  Expression negation() {
    if (!tokens_.at("!")) return comparison();
    const Tokens::Nest nest(tokens_);
    const Token mark = tokens_.next();
    std::vector<Expression> one;
    one.push_back(negation());
    return operation(mark, std::move(one));
  }

  Expression comparison() {
    Expression left = arithmetic();
    for (const std::string_view mark : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (!tokens_.at(mark)) continue;
      const Token token = tokens_.next();
      std::vector<Expression> both;
      both.push_back(std::move(left));
      both.push_back(arithmetic());
      return operation(token, std::move(both));
    }
    if (tokens_.at("=")) tokens_.fail(tokens_.peek().place, "write '==' to compare");
    return left;
  }

  Expression arithmetic() {
    const Tokens::Nest nest(tokens_);
    return chain({"+", "-"}, &Parser::product);
  }

  Expression product() { return chain({"*", "/"}, &Parser::membership); }

  Expression sign() {
    if (!tokens_.at("-") && !tokens_.at("+")) return power();
    const Tokens::Nest nest(tokens_);
    const Token mark = tokens_.next();
    std::vector<Expression> one;
    one.push_back(sign());
    return operation(mark, std::move(one));
  }

  Expression power() {
    Expression base = primary();
    if (!tokens_.at("^")) return base;
    const Tokens::Nest nest(tokens_);
    const Token mark = tokens_.next();
    std::vector<Expression> both;
    both.push_back(std::move(base));
    both.push_back(sign());  // 2^-1, and right to left: 2^3^2 is 2^(3^2)
    return operation(mark, std::move(both));
  }

  Expression primary() {
    const Token& token = tokens_.peek();
    if (tokens_.at("(")) return parenthesised();
    if (tokens_.at_call()) return call();
    switch (token.kind) {
      case Token::Kind::number: return leaf(Expression::Kind::number, tokens_.next());
      case Token::Kind::string: return leaf(Expression::Kind::string, tokens_.next());
      case Token::Kind::name: return named();
      default: tokens_.fail_expected("a column, a number or a function");
    }
  }

  /// A column, unless the name is one of R's words for a value.
  Expression named() {
    const Token token = tokens_.next();
    if (token.quoted || !is_reserved(token.text)) return leaf(Expression::Kind::name, token);
    Expression e = leaf(token.text == "Inf" ? Expression::Kind::number : Expression::Kind::logical, token);
    e.number = token.text == "Inf" ? std::numeric_limits<double>::infinity() : token.text == "TRUE" ? 1 : 0;
    return e;
  }

  Expression parenthesised() {
    const Tokens::Nest nest(tokens_);
    const Token mark = tokens_.next();
    std::vector<Expression> one;
    one.push_back(any_of());
    tokens_.expect(")", "to close the parenthesis");
    return operation(mark, std::move(one));
  }

  Tokens& tokens_;
  int operations_ = 0;
};

}  // namespace

Expression parse_condition(Tokens& tokens) { return Parser(tokens).any_of(); }
Expression parse_call(Tokens& tokens) { return Parser(tokens).call(); }
Expression parse_membership(Tokens& tokens) { return Parser(tokens).membership(); }

}  // namespace lemma
