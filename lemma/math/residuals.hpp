// lemma/math/residuals.hpp: a linear fit looked at again: residuals, gradient, the gap to the optimum, refinement.
#pragma once
#include <lemma/core/rows.hpp>
#include <lemma/math/least_squares.hpp>

namespace lemma {

/// A second look at the rows with given coefficients: rᵢ = yᵢ − offsetᵢ − b₀ − xᵢ·b, and the gradient Σ wᵢ rᵢ [1 xᵢ],
/// in twice the working precision (products by fused multiply-add, sums compensated).
class Residuals {
 public:
  Residuals(double intercept, Vector coefficients);
  void accumulate(const Block& block);
  void merge(const Residuals& other);

  double sum_of_squares() const { return sum_of_squares_; }  // Σ w r²
  double sum() const { return sum_; }                        // Σ w r
  double sum_rest() const { return sum_rest_; }
  const Vector& gradient() const { return gradient_; }  // Σ w r x; `gradient_rest` is what rounding left out
  const Vector& gradient_rest() const { return gradient_rest_; }

 private:
  double intercept_;
  Vector coefficients_;
  double sum_of_squares_ = 0, sum_ = 0, sum_rest_ = 0;
  Vector gradient_, gradient_rest_;
};

/// How far coefficients are from the best ones.
///
///     gap = ½ ‖R⁻ᵀ Xᵀ W r‖² = J(b) − min J,    J = ½ Σ w r²,
///
/// found as a sum of squares, never as a difference. `relative` measures it in ½ (‖y‖ + Σⱼ ‖xⱼ‖ |bⱼ|)², the size of what
/// cancels in a residual: the slopes' part with columns and y centred when there is an intercept, the intercept's part
/// with them as they are. Rounding the coefficients moves it by 1e-32.
struct Excess {
  double gap = 0, relative = 0;
  double coefficient_error_bound = 0;  // √(2·gap) max √((XᵀWX)⁻¹ⱼⱼ) ≤ √(2·gap)/σ_min: no slope is further off
};
inline constexpr double kExcessTolerance = 1e-24;

/// The gap by another route than `solve`: the gradient from `residuals` (a fresh scan at those coefficients), R⁻ᵀ from a
/// QR with pivoting of `data`'s triangle, columns of unit length. Give it data scanned with Route::householder to share
/// nothing with the solver. Of `solution` it takes the coefficients and which columns are kept.
Excess excess(const LeastSquares& data, const LinearSolution& solution, const Residuals& residuals);

/// `solve`, then a look at the residuals (one more scan), and while that look shows that a coefficient is wrong by
/// more than 1e-12 of itself (and 1e-16 of its standard error): one step of corrected semi-normal equations
/// RᵀR d = XᵀW r and another look, as long as the gap falls.
struct RefinedSolution {
  LinearSolution solution;
  Residuals residuals;  // at the solution
  Excess excess;
  int refinements = 0;
};
RefinedSolution solve_refined(const Rows& rows, const LeastSquares& data, const Execution& execution = {},
                              double tolerance = kRankTolerance);

}  // namespace lemma
