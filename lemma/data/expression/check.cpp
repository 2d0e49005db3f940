// lemma/data/expression/check.cpp: whether an expression makes sense, whatever the columns are.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/expression/habits.hpp>
#include <lemma/data/expression/parser.hpp>

namespace lemma {
namespace {

using Kind = Expression::Kind;

class Checker {
 public:
  Checker(const Tokens& tokens, bool learns) : tokens_(tokens), learns_(learns) {}

  void check(const Expression& e) const {
    if (e.kind == Kind::string) tokens_.fail(e.place, "a text cannot be used as a number");
    if (e.kind == Kind::name && e.text == ".")
      tokens_.fail(e.place, "'.' stands for whole columns; inside a function or I() name the column");
    if (e.kind == Kind::name && e.text == "NA") tokens_.fail(e.place, "nothing equals NA; write is.na(x)");
    if (e.kind == Kind::binary && is_comparison_mark(e.text)) return check_sides(e);
    if (e.kind == Kind::binary && e.text == "%in%") return check_membership(e);
    if (e.kind == Kind::call && e.text == "scale") return check_scale(e);
    if (e.kind == Kind::call) check_call(e);
    for (const auto& argument : e.arguments) check(argument);
  }

  void check_scale(const Expression& e) const {
    if (!learns_)
      tokens_.fail(e.place, "scale() is learned from the rows of a fit: here write (x - mean)/sd with numbers");
    if (e.arguments.empty() || !e.keywords[0].empty()) tokens_.fail(e.place, "scale() takes a value: scale(x)");
    check(e.arguments[0]);
    for (std::size_t i = 1; i < e.arguments.size(); ++i) {
      const auto number = literal_number(e.arguments[i]);
      const bool spread = e.keywords[i] == "scale";
      if ((!spread && e.keywords[i] != "center") || !(number || is_truth(e.arguments[i])))
        tokens_.fail(
            e.arguments[i].place,
            "after the value, scale() takes center = TRUE, FALSE or a number, scale = TRUE, FALSE or a number");
      if (number && (!std::isfinite(*number) || (spread && !(*number > 0))))
        tokens_.fail(e.arguments[i].place,
                     spread ? "scale() divides by a number above 0" : "scale() takes a finite number off");
      for (std::size_t j = 1; j < i; ++j)
        if (e.keywords[j] == e.keywords[i])
          tokens_.fail(e.arguments[i].place, fmt::format("scale() is told its {} twice", e.keywords[i]));
    }
  }

 private:
  /// A side may be a text; what it can be compared with, the columns decide.
  void check_sides(const Expression& e) const {
    for (const auto& side : e.arguments)
      if (without_parentheses(side).kind != Kind::string) check(side);
  }

  void check_membership(const Expression& e) const {
    const Expression& list = without_parentheses(e.arguments[1]);
    check(e.arguments[0]);
    if (list.kind == Kind::string || literal_number(list)) return;
    if (list.kind != Kind::call || list.text != "c")
      tokens_.fail(list.place, "after %in% a list is expected: c(\"a\", \"b\")");
    for (std::size_t i = 0; i < list.arguments.size(); ++i) {
      const Expression& member = list.arguments[i];
      if (!list.keywords[i].empty() ||
          !(member.kind == Kind::string || member.kind == Kind::logical || literal_number(member)))
        tokens_.fail(member.place, "in this list texts or numbers are expected");
    }
  }

  void check_call(const Expression& e) const {
    for (const std::string_view outer :
         {"poly", "bs", "ns", "cut", "factor", "as.factor", "kmers", "text", "image", "hog", "offset", "cbind"})
      if (e.text == outer)
        tokens_.fail(e.place, fmt::format("{}() must be a term of its own, not part of another", outer));
    auto known = known_functions();
    known.insert(known.end(), {"I", "is.na", "scale"});
    if (e.text == "c") tokens_.fail(e.place, "a list c(…) can only stand after %in%");
    if (std::find(known.begin(), known.end(), e.text) == known.end()) fail_unknown(tokens_, e, known);
    const bool any = e.text == "pmin" || e.text == "pmax";
    const std::size_t most = any ? e.arguments.size() : e.text == "log" ? 2 : 1;
    if (e.arguments.empty() || e.arguments.size() > most)
      tokens_.fail(e.place, fmt::format("{}() takes {}, not {}", e.text,
                                        any         ? "one value or more"
                                        : most == 2 ? "a value and perhaps a base"
                                                    : "one value",
                                        e.arguments.size()));
    for (std::size_t i = 0; i < e.keywords.size(); ++i)
      if (!e.keywords[i].empty() && !(e.text == "log" && i == 1 && e.keywords[i] == "base"))
        tokens_.fail(e.arguments[i].place, fmt::format("{}() knows no argument '{}'", e.text, e.keywords[i]));
  }

  const Tokens& tokens_;
  bool learns_;
};

}  // namespace

void check_expression(const Expression& e, const Tokens& tokens, bool learns) { Checker(tokens, learns).check(e); }
void check_scale(const Expression& call, const Tokens& tokens, bool learns) {
  Checker(tokens, learns).check_scale(call);
}

bool is_truth(const Expression& e) {
  return e.kind == Kind::logical || (e.kind == Kind::name && (e.text == "T" || e.text == "F"));
}

bool is_true(const Expression& e) { return e.text == "TRUE" || e.text == "T"; }

ScaleConstants constants_of(const Expression& scale) {
  ScaleConstants out;
  for (std::size_t i = 1; i < scale.arguments.size(); ++i) {
    const bool center = scale.keywords[i] == "center";
    auto number = literal_number(scale.arguments[i]);
    if (!number && !is_true(scale.arguments[i])) number = center ? 0 : 1;
    (center ? out.center : out.spread) = number;
  }
  return out;
}

std::optional<double> literal_number(const Expression& e) {
  const Expression& inner = without_parentheses(e);
  if (inner.kind == Kind::number) return inner.number;
  if (inner.kind != Kind::unary || (inner.text != "-" && inner.text != "+")) return {};
  const auto number = literal_number(inner.arguments[0]);
  if (!number) return {};
  return inner.text == "-" ? -*number : *number;
}

}  // namespace lemma
