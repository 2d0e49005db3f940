// lemma/math/wishart.hpp: what Wishart's distribution and Student's t in several columns have in common.
#pragma once
#include <cmath>
#include <lemma/math/special.hpp>
#include <numbers>

namespace lemma {

/// log Γ_p(x) = p (p − 1)/4 log π + Σ log Γ(x − (j − 1)/2).
inline double log_multigamma(Index p, double x) {
  double out = 0.25 * static_cast<double>(p * (p - 1)) * std::log(std::numbers::pi);
  for (Index j = 0; j < p; ++j) out += log_gamma(x - 0.5 * static_cast<double>(j));
  return out;
}

/// log of the density of a t in p columns: `squared` is (x − m)ᵀ Σ⁻¹ (x − m), and log_det that of its scale matrix Σ.
inline double t_log_density(Index p, double df, double log_det, double squared) {
  const auto columns = static_cast<double>(p);
  return log_gamma(0.5 * (df + columns)) - log_gamma(0.5 * df) - 0.5 * columns * std::log(df * std::numbers::pi) -
         0.5 * log_det - 0.5 * (df + columns) * std::log1p(squared / df);
}

}  // namespace lemma
