// fuzz/formula_fuzz.cpp: any text is an Error or a formula, whose terms written as a sum are the same formula; the same
// text as a condition is an Error or a list of rows.
#include <cstdint>
#include <cstdlib>
#include <lemma/core/error.hpp>
#include <lemma/data/formula.hpp>
#include <lemma/data/where.hpp>
#include <string>

namespace {

using namespace lemma;

void check_formula(std::string_view text) {
  Formula f;
  try {
    f = formula(text).expand({"y", "a", "b", "my column"});
  } catch (const Error&) { return; }
  if (f.terms.size() > 200) return;
  std::string sum = f.intercept ? "~ 1" : "~ 0";
  for (const auto& term : f.terms) sum += " + " + term.name();
  const Formula again = formula(sum);
  if (again.terms.size() != f.terms.size() || again.intercept != f.intercept) std::abort();
  for (std::size_t i = 0; i < f.terms.size(); ++i)
    if (again.terms[i].factors.size() != f.terms[i].factors.size()) std::abort();
}

void check_condition(std::string_view text) {
  static const Table table({numeric("a", {1, 2, 3}), categorical("b", {"k", "l", "k"}),
                            Column{"t", Texts{{"one", "", "two"}, {false, true, false}}}});
  try {
    for (const Index row : where(text, table))
      if (row < 0 || row >= table.rows()) std::abort();
  } catch (const Error&) {}
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_formula(text);
  check_condition(text);
  return 0;
}
