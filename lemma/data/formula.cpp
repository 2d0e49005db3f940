// lemma/data/formula.cpp
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/expression/parser.hpp>
#include <lemma/data/formula/calls.hpp>
#include <lemma/data/formula/removed.hpp>
#include <lemma/data/formula/terms.hpp>
#include <set>
#include <unordered_map>

namespace lemma {
namespace {

constexpr std::size_t kMaxTerms = 100'000;       // of a formula after expansion
constexpr std::size_t kMaxResponses = 1000;      // of cbind()
constexpr std::size_t kMaxProducts = 4'000'000;  // pairs tried for one * : or ^

bool is_zero_or_one(const Token& token) {
  return token.kind == Token::Kind::number && (token.number == 0 || token.number == 1);
}

/// Recursive descent in R's order of binding: + -, then * /, %in%, :, ^. A part becomes its set of terms at once.
class FormulaParser {
 public:
  FormulaParser(std::string_view text, const std::vector<std::string>* columns)
      : text_(text), tokens_("formula", text), columns_(columns) {}

  Formula parse() {
    Formula f;
    f.text = text_;
    if (!tokens_.at("~")) f.response = response();
    tokens_.expect("~", f.response.empty() ? "" : "after the response");
    for (const auto& part : f.response) response_.push_back(to_text(part));
    const TermSet right = sum();
    if (tokens_.at("~")) tokens_.fail(tokens_.peek().place, "a second '~'");
    tokens_.expect_end();
    f.intercept = right.intercept.value_or(true);
    f.offsets = right.offsets;
    f.terms = in_order(right);
    for (const auto& term : f.terms) refuse_response(term);
    return f;
  }

  /// The variables of the terms that were taken away by what has been parsed.
  std::vector<Expression> removed() const {
    std::vector<Expression> all;
    for (const int bit : removed_) all.push_back(variables_[static_cast<std::size_t>(bit)]);
    return all;
  }

 private:
  // -- the left side

  std::vector<Expression> response() {
    std::vector<Expression> parts;
    do parts.push_back(response_part());
    while (tokens_.accept(":"));
    if (parts.size() == 1) return parts;
    for (const auto& part : parts)
      if (part.kind != Expression::Kind::name && !makes_levels(part))
        tokens_.fail(part.place, "a joint class u:v is made of columns or factor(…)");
    if (parts.size() > 8) tokens_.fail(parts[8].place, "a joint class of more than 8 columns");
    return parts;
  }

  Expression response_part() {
    const bool special = tokens_.at_call() && (makes_levels(tokens_.peek().text) || tokens_.peek().text == "cbind");
    if (!special) {
      if (const Token& second = tokens_.peek(1); second.kind == Token::Kind::mark && second.text == "=")
        tokens_.fail(second.place, "write '~' between what is predicted and what it is predicted from");
      Expression e = parse_condition(tokens_);
      check_expression(e, tokens_, !has_condition(e));
      if (columns_of(e).empty()) tokens_.fail(e.place, "the response names no column");
      return e;
    }
    Expression e = parse_call(tokens_);
    if (e.text != "cbind") {
      check_term(e, tokens_);
      return e;
    }
    if (e.arguments.size() < 2) tokens_.fail(e.place, "cbind() takes two columns or more: cbind(y1, y2)");
    if (e.arguments.size() > kMaxResponses)
      tokens_.fail(e.arguments[kMaxResponses].place, fmt::format("more than {} responses", kMaxResponses));
    for (std::size_t i = 0; i < e.arguments.size(); ++i) {
      const Expression& argument = e.arguments[i];
      if (!e.keywords[i].empty()) tokens_.fail(argument.place, "cbind() takes columns, not names for them");
      if (makes_levels(argument)) check_term(argument, tokens_);
      else check_numeric(argument);
    }
    return e;
  }

  // -- the right side

  TermSet sum() {
    const Tokens::Nest nest(tokens_);
    if (tokens_.condition_ahead()) return condition(parse_condition(tokens_));
    TermSet left;
    if (!tokens_.at("-") && !tokens_.at("+")) left = product();
    while (tokens_.at("+") || tokens_.at("-")) {
      const Token mark = tokens_.next();
      const TermSet right = product();
      if (mark.text == "+") {
        left.add(right);
        left.offsets.insert(left.offsets.end(), right.offsets.begin(), right.offsets.end());
        if (right.intercept) left.intercept = right.intercept;
      } else {
        refuse_offset(right);
        for (const auto& term : right.terms()) removed_.insert(term.begin(), term.end());
        left.remove(right);
        if (right.intercept) left.intercept = !*right.intercept;
      }
      check_size(left.size(), mark.place);
    }
    return left;
  }

  TermSet product() {
    TermSet left = nested();
    while (tokens_.at("*") || tokens_.at("/")) {
      const Token mark = tokens_.next();
      const TermSet right = nested();
      if (mark.text == "*") {
        const TermSet crossed = interaction(left, right, mark.place);
        left.add(right);
        left.add(crossed);
      } else {  // a/b = a + a:b, with all of the left in every product: (a + b)/c = a + b + a:b:c
        Bits all;
        for (const auto& term : left.terms()) all = united(all, term);
        TermSet whole;
        whole.add(all);
        left.add(interaction(whole, right, mark.place));
      }
      check_size(left.size(), mark.place);
      keep_intercept(left, right);
    }
    return left;
  }

  /// b %in% a is b:a, as in R; but with a list, x %in% c("a", "b"), it is a condition.
  TermSet nested() {
    if (tokens_.membership_ahead()) return condition(parse_membership(tokens_));
    return chain("%in%", [this] { return chain(":", [this] { return power(); }); });
  }

  template <class Rule>
  TermSet chain(std::string_view mark, Rule&& rule) {
    TermSet left = rule();
    while (tokens_.at(mark)) {
      if (tokens_.at_list())
        tokens_.fail(tokens_.peek().place, "before %in% c(…) one column is expected; write a:(x %in% c(\"k\", \"l\"))");
      const Token token = tokens_.next();
      const TermSet right = rule();
      TermSet both = interaction(left, right, token.place);
      keep_intercept(both, left);
      keep_intercept(both, right);
      left = std::move(both);
    }
    return left;
  }

  TermSet power() {
    TermSet base = primary();
    while (tokens_.at("^")) {
      const Token mark = tokens_.next();
      const Token exponent = tokens_.peek();
      if (exponent.kind != Token::Kind::number || exponent.number < 1 || exponent.number != std::floor(exponent.number))
        tokens_.fail_expected("a whole number of at least 1 after '^' (for a power of x write I(x^2))");
      tokens_.next();
      TermSet all = base;
      for (double k = 1; k < exponent.number; ++k) {  // once nothing new comes, nothing ever will
        const std::size_t before = all.size();
        all.add(interaction(all, base, mark.place));
        check_size(all.size(), mark.place);
        if (all.size() == before) break;
      }
      base = std::move(all);
    }
    return base;
  }

  TermSet condition(Expression e) {
    check_expression(e, tokens_);
    if (columns_of(e).empty()) tokens_.fail(e.place, fmt::format("{} names no column", to_text(e)));
    TermSet set;
    set.add(bits_of(std::move(e)));
    return set;
  }

  TermSet primary() {
    TermSet set;
    const Token token = tokens_.peek();
    if (tokens_.at("(")) {
      const Tokens::Nest nest(tokens_);
      tokens_.next();
      set = sum();
      tokens_.expect(")", "to close the parenthesis");
    } else if (is_zero_or_one(token)) {
      set.intercept = tokens_.next().number == 1;
    } else if (token.kind == Token::Kind::number) {
      tokens_.fail(token.place, "of numbers only 0 and 1 can be a term; arithmetic goes inside I(…)");
    } else if (tokens_.at_call()) {
      add_call(set);
    } else if (token.kind == Token::Kind::name) {
      if (token.text == "." && !token.quoted) add_dot(set);
      else set.add(bits_of(name(tokens_.next())));
    } else {
      tokens_.fail_expected("a column, a function or '('");
    }
    return set;
  }

  void add_dot(TermSet& set) {
    const Token token = tokens_.next();
    if (!columns_) return set.add(bits_of(name(token)));
    if (columns_->empty()) tokens_.fail(token.place, "no column is left for '.' to stand for");
    for (const auto& column : *columns_) {
      Token each = token;
      each.text = column;
      set.add(bits_of(name(each)));
    }
  }

  void add_call(TermSet& set) {
    Expression e = parse_call(tokens_);
    if (e.text == "offset") {
      if (e.arguments.size() != 1) tokens_.fail(e.place, "offset() takes one value");
      check_numeric(e.arguments[0]);
      set.offsets.push_back(std::move(e.arguments[0]));
      return;
    }
    if (e.text == "cbind") tokens_.fail(e.place, "cbind() is of responses: it stands left of '~'");
    check_term(e, tokens_);
    set.add(bits_of(std::move(e)));
  }

  void check_numeric(const Expression& e) const {
    check_expression(e, tokens_, false);
    if (columns_of(e).empty()) tokens_.fail(e.place, fmt::format("{} names no column", to_text(e)));
  }

  // -- terms

  static Expression name(const Token& token) {
    Expression e;
    e.kind = Expression::Kind::name;
    e.text = token.text;
    e.place = token.place;
    return e;
  }

  Bits bits_of(Expression e) {
    const std::string text = to_text(e);
    const auto [found, is_new] = number_.try_emplace(text, static_cast<int>(variables_.size()));
    if (is_new) variables_.push_back(std::move(e));
    return {found->second};
  }

  TermSet interaction(const TermSet& left, const TermSet& right, std::size_t place) const {
    refuse_offset(left);
    refuse_offset(right);
    if (left.size() * right.size() > kMaxProducts) too_many(place);
    TermSet all;
    for (const auto& a : left.terms())
      for (const auto& b : right.terms()) {
        all.add(united(a, b));
        check_size(all.size(), place);
      }
    return all;
  }

  void refuse_response(const Term& term) const {
    for (const auto& factor : term.factors)
      if (std::find(response_.begin(), response_.end(), to_text(factor)) != response_.end())
        tokens_.fail(factor.place, fmt::format("the response {} cannot also be a term", to_text(factor)));
  }
  void refuse_offset(const TermSet& set) const {
    if (!set.offsets.empty()) tokens_.fail(set.offsets[0].place, "offset() can only be added");
  }
  static void keep_intercept(TermSet& to, const TermSet& from) {
    if (from.intercept) to.intercept = from.intercept;
  }
  void check_size(std::size_t size, std::size_t place) const {
    if (size > kMaxTerms) too_many(place);
  }
  [[noreturn]] void too_many(std::size_t place) const {
    tokens_.fail(place, fmt::format("this makes more than {} terms", kMaxTerms));
  }

  std::vector<Term> in_order(const TermSet& set) const {
    auto all = set.terms();
    std::erase_if(all, [](const Bits& bits) { return bits.empty(); });
    std::stable_sort(all.begin(), all.end(), [](const Bits& a, const Bits& b) { return a.size() < b.size(); });
    std::vector<Term> terms(all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      for (const int bit : all[i]) terms[i].factors.push_back(variables_[static_cast<std::size_t>(bit)]);
    return terms;
  }

  std::string text_;
  Tokens tokens_;
  const std::vector<std::string>* columns_;  // what `.` stands for; nullptr: not known yet
  std::vector<std::string> response_;
  std::vector<Expression> variables_;
  std::unordered_map<std::string, int> number_;
  std::set<int> removed_;
};

bool is_dot(const Expression& e) { return e.kind == Expression::Kind::name && e.text == "."; }

/// The columns in an expression, where they stand. What has a keyword (ref = "b") says how, not of what.
void add_names(const Expression& e, std::vector<Expression>& names) {
  if (e.kind == Expression::Kind::name && !is_dot(e)) names.push_back(e);
  for (std::size_t i = 0; i < e.arguments.size(); ++i)
    if (i >= e.keywords.size() || e.keywords[i].empty()) add_names(e.arguments[i], names);
}

}  // namespace

std::vector<Expression> removed_names(const Formula& formula) {
  if (formula.text.empty()) return {};
  FormulaParser parser(formula.text, nullptr);
  parser.parse();
  std::vector<Expression> names;
  for (const auto& e : parser.removed()) add_names(e, names);
  return names;
}

void check_removed(const Formula& formula, const Table& table) {
  for (const auto& name : removed_names(formula))
    if (!table.find(name.text)) throw Error(point_at("formula", formula.text, name.place, no_column(name.text, table)));
}

std::string no_column(const std::string& name, const Table& table) {
  return fmt::format("there is no column '{}' in {}{}", name, table.source().empty() ? "the table" : table.source(),
                     did_you_mean(name, table.names()));
}

std::string Term::name() const {
  std::string out;
  for (const auto& factor : factors) {
    const bool loose = factor.kind == Expression::Kind::binary || factor.kind == Expression::Kind::unary;
    out += (out.empty() ? "" : ":") + (loose ? "(" + to_text(factor) + ")" : to_text(factor));
  }
  return out;
}

bool Formula::has_dot() const {
  return std::any_of(terms.begin(), terms.end(),
                     [](const Term& term) { return std::any_of(term.factors.begin(), term.factors.end(), is_dot); });
}

Formula Formula::expand(const std::vector<std::string>& columns) const {
  if (!has_dot()) return *this;
  std::vector<std::string> used;
  for (const auto* side : {&response, &offsets})
    for (const auto& e : *side)
      for (auto& column : columns_of(e)) used.push_back(std::move(column));
  std::vector<std::string> rest;
  for (const auto& column : columns)
    if (std::find(used.begin(), used.end(), column) == used.end()) rest.push_back(column);
  return FormulaParser(text, &rest).parse();
}

Formula formula(std::string_view text) { return FormulaParser(text, nullptr).parse(); }

}  // namespace lemma
