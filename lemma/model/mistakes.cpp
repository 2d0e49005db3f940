// lemma/model/mistakes.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/mistakes.hpp>
#include <limits>

namespace lemma {

void require_whole_weight(std::string_view method, Index row, double weight) {
  require(
      weight == std::floor(weight),
      fmt::format("{}: the weight of row {} is {}; weights count copies and must be whole", method, row + 1, weight));
}

Sides::Sides(Index functions)
    : margin(Vector::Constant(functions, std::numeric_limits<double>::infinity())), wrong(Vector::Zero(functions)) {}

void compare(Comparison& same, const PathNumbers& margin, const PathNumbers& errors, const Sides& found) {
  for (Index k = 0; k < found.margin.size(); ++k) {
    same.entry("errors", k, errors.of(k), found.wrong(k), 1 + found.wrong(k));
    same.entry("margin", k, margin.of(k), found.margin(k), std::abs(found.margin(k)), 1e-6);
  }
}

std::string course_in_words(const std::string& name, double updates, double passes, double errors, double margin) {
  const std::string work =
      fmt::format("after {} updates in {} passes", format_significant(updates), format_significant(passes));
  if (errors == 0) return fmt::format("{}: separated {}, margin {}\n", name, work, format_significant(margin, 4));
  return fmt::format("{}: not separated {}, {} on the wrong side\n", name, work,
                     count_of(static_cast<Index>(errors), "row"));
}

std::string not_separated(int passes, double wrong, std::string_view border) {
  return fmt::format("the classes were not separated after {} passes: rows of weight {} are on the wrong side of a {}",
                     passes, format_significant(wrong), border);
}

}  // namespace lemma
