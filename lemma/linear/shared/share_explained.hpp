// lemma/linear/shared/share_explained.hpp: how much of a sum of squares, or of a deviance, a fit explains.
#pragma once
#include <cmath>

namespace lemma {

/// 1 − rest/whole. What rounding makes of nothing explained (±2e-16) is nothing.
inline double share_explained(double rest, double whole) {
  const double share = 1 - rest / whole;
  return std::abs(share) < 1e-13 ? 0.0 : share;
}

}  // namespace lemma
