// lemma/linear/shared/golden_test.hpp: what the comparisons with R's lm and glm share.
#pragma once
#include <lemma/model/concepts.hpp>
#include <tests/golden.hpp>

namespace lemma {

/// The intercept before the slopes, as R has its coefficients.
inline Vector with(double intercept, const Vector& slopes) {
  Vector out(slopes.size() + 1);
  out << intercept, slopes;
  return out;
}

inline const Vector& diagnostic(const std::vector<NamedColumn>& all, std::string_view name) {
  for (const auto& each : all)
    if (each.name == name) return each.values;
  throw Error(fmt::format("there is no diagnostic '{}'", name));
}

}  // namespace lemma
