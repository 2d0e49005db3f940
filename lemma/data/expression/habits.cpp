// lemma/data/expression/habits.cpp
#include <lemma/data/expression/habits.hpp>

#include <algorithm>
#include <fmt/core.h>
#include <fmt/format.h>
#include <initializer_list>
#include <lemma/core/error.hpp>

namespace lemma {
namespace {

struct Habit {
  std::initializer_list<std::string_view> names;
  std::string_view instead;
};

const Habit kHabits[] = {
    {{"C", "as.character", "ordered", "as.ordered", "cat", "dummy", "one_hot", "get_dummies"}, "factor(x)"},
    {{"relevel", "Treatment"}, "factor(x, ref = \"b\")"},
    {{"interaction"}, "a:b"},
    {{"ifelse", "if_else", "where", "as.logical"},
     "the condition itself, I(x > 10), or as.numeric(x > 10) for 0 and 1"},
    {{"s", "te", "ti", "lo", "rcs", "cr", "cc", "spline"}, "bs(x, df = 5) or ns(x, df = 5)"},
    {{"as.integer", "as.double"}, "as.numeric(x)"},
    {{"ln"}, "log(x)"},
    {{"pow", "power"}, "I(x^2)"},
    {{"min"}, "pmin(x, z)"},
    {{"max"}, "pmax(x, z)"},
    {{"center", "centre", "standardize", "standardise", "zscore"}, "scale(x)"},
    {{"round", "floor", "ceiling", "bin", "findInterval"}, "cut(x, 3) or cut(x, c(0, 10, 20)), which make intervals"},
    {{"isnull", "isna", "is.nan"}, "is.na(x)"},
    {{"Q"}, "the name in back-quotes"},
};

}  // namespace

std::string written_here(std::string_view function) {
  for (const Habit& habit : kHabits)
    if (std::find(habit.names.begin(), habit.names.end(), function) != habit.names.end())
      return "; write " + std::string(habit.instead);
  for (const std::string_view module : {"np.", "numpy.", "math."}) {
    if (!function.starts_with(module)) continue;
    const std::string_view rest = function.substr(module.size());
    const std::string known = written_here(rest);
    return known.empty() ? "; write " + std::string(rest) + "(x)" : known;
  }
  return "";
}

void fail_unknown(const Tokens& tokens, const Expression& call, const std::vector<std::string>& known) {
  const std::string instead = written_here(call.text);
  tokens.fail(call.place,
              fmt::format("unknown function '{}'{}; known: {}", call.text,
                          instead.empty() ? did_you_mean(call.text, known) : instead, fmt::join(known, " ")));
}

}  // namespace lemma
