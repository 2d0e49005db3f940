// lemma/core/finite.hpp: whether numbers are finite, looked at in the order in which they lie.
#pragma once
#include <cmath>
#include <lemma/core/matrix.hpp>

namespace lemma {

/// Eigen's allFinite() goes column by column, which takes minutes on many wide rows.
inline bool all_finite(const MatrixView& x) {
  for (Index i = 0; i < x.rows(); ++i)
    for (const double each : x.row(i))
      if (!std::isfinite(each)) return false;
  return true;
}
inline bool none_infinite(const MatrixView& x) {
  for (Index i = 0; i < x.rows(); ++i)
    for (const double each : x.row(i))
      if (std::isinf(each)) return false;
  return true;
}

}  // namespace lemma
