// lemma/embed/shared/rising_spline.hpp: smooth functions that rise: disparities between a line and any order.
#pragma once
#include <lemma/core/matrix.hpp>
#include <vector>

namespace lemma {

/// t(δ) = c_0 + Σ_k c_k I_k(δ) with c ≥ 0: quadratic I-splines (Ramsay 1988), each the integral of a hat over three knots that follow each
/// other, the first and the last knot counted twice. I_k rises from 0 to 1. The knots are the least and the greatest δ and quantiles between.
struct RisingSpline {
  std::vector<double> knots;  // rising; those that coincide count once

  RisingSpline() = default;
  RisingSpline(std::vector<double> deltas, int inner);

  Index size() const { return knots.size() < 2 ? 1 : static_cast<Index>(knots.size()) + 1; }
  /// 1, I_1(δ), …
  void basis(double delta, double* out) const;
};

}  // namespace lemma
