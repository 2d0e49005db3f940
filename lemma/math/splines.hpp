// lemma/math/splines.hpp: bases of splines: piecewise polynomials that join smoothly at their knots.
#pragma once
#include <lemma/core/matrix.hpp>
#include <span>
#include <vector>

namespace lemma {

/// What a basis is made of. With knots t₀ ≤ t₁ ≤ …, the ends `low` and `high` each p + 1 times among them, the B-splines of
/// degree p follow from those of degree 0, which are 1 between two knots and 0 elsewhere (de Boor, Cox 1972):
///
///     Nᵢ,ₚ(x) = (x − tᵢ)/(tᵢ₊ₚ − tᵢ) Nᵢ,ₚ₋₁(x) + (tᵢ₊ₚ₊₁ − x)/(tᵢ₊ₚ₊₁ − tᵢ₊₁) Nᵢ₊₁,ₚ₋₁(x)
///
/// They are at least 0 and sum to 1. Without an intercept the first is left out: R's bs(). A natural spline is cubic with
/// second derivatives of 0 at both ends: the B-splines are turned by the reflections of QR of those two conditions, and
/// what lies in their span is left out: R's ns().
struct SplineShape {
  std::vector<double> knots;  // between low and high, rising
  double low = 0, high = 1;
  int degree = 3;
  bool natural = false, intercept = false;
};

constexpr int kMostSplineDegree = 20;

class SplineBasis {
 public:
  SplineBasis() = default;
  explicit SplineBasis(SplineShape shape);  // Error where the knots make no basis

  const SplineShape& shape() const { return shape_; }
  Index width() const { return width_; }
  /// Column k of value i at out[k · n + i]. Beyond the ends the last polynomials go on, those of a natural spline as
  /// lines. Time O(p²) a value, and O(width) when natural.
  void columns(std::span<const double> x, double* out) const;

 private:
  Index span_of(double x) const;
  void add(double x, double* functions) const;
  void add_derivatives(double x, Index span, int order, double times, double* functions) const;

  SplineShape shape_;
  std::vector<double> t_;  // all knots
  Index functions_ = 0, width_ = 0;
  std::vector<double> reflections_[2];  // of the conditions, first number 1 + |its share|; empty unless natural
};

}  // namespace lemma
