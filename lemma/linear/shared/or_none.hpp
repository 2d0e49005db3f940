// lemma/linear/shared/or_none.hpp: numbers that there are, or none. Inner header.
#pragma once
#include <cmath>
#include <lemma/model/comparison.hpp>
#include <limits>

namespace lemma {

/// NaN in the place of infinity: it is never in results.
inline double or_none(double value) { return std::isfinite(value) ? value : std::numeric_limits<double>::quiet_NaN(); }

/// The scatter of the scores of ols or glm, and the clusters it is by, beside those found anew; an entry in units of its two lengths.
template <class Model>
void compare_scatter(Comparison& same, const Model& model, const Model& fresh, double per_condition) {
  if (same.finding() || model.errors() == decltype(model.errors())::classical) return;
  same.number("clusters", static_cast<double>(model.clusters), static_cast<double>(fresh.clusters), 0);
  for (Index i = 0; i < fresh.scatter.rows(); ++i)
    for (Index j = 0; j < fresh.scatter.cols(); ++j)
      same.number("scatter", model.scatter(i, j), or_none(fresh.scatter(i, j)),
                  std::sqrt(fresh.scatter(i, i)) * std::sqrt(fresh.scatter(j, j)), per_condition);
}

}  // namespace lemma
