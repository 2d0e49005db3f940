// lemma/data/expression/habits.hpp: functions of R's and Python's formulas that are written otherwise here.
#pragma once
#include <lemma/data/expression/parser.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

/// What to write in the place of a function of this name, to follow an error: "; write factor(x)". Empty for a name of nowhere.
std::string written_here(std::string_view function);

/// The error at a call of a function that there is not.
[[noreturn]] void fail_unknown(const Tokens& tokens, const Expression& call, const std::vector<std::string>& known);

}  // namespace lemma
