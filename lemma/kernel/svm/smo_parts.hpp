// lemma/kernel/svm/smo_parts.hpp: what the ways to solve the dual problem share. Inner header: use lemma/kernel/svm/smo.hpp.
//
// With β = tα and c = −tp the signs are gone:
//
//     minimise  ½ βᵀKβ − c·β     subject to   low ≤ β ≤ high,   Σβ = total.
//
// v = c − Kβ is the direction of descent. β is optimal when no variable that may grow has a greater v than one that may
// fall: violation = max {v_i : β_i < high_i} − min {v_j : β_j > low_j} ≤ 0.
#pragma once
#include <lemma/kernel/svm/smo.hpp>
#include <limits>

namespace lemma::smo {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeastCurvature = 1e-12;  // in the place of K_ii + K_jj − 2K_ij where that is not positive

struct SignedDual {
  const BoundKernel* kernel = nullptr;        // at the points that are used, each once
  mutable std::shared_ptr<KernelCache> kept;  // its rows, once some were made
  std::vector<Index> point;                   // of each variable
  Vector c, low, high;

  Index size() const { return c.size(); }
  Index points() const { return kernel->count(); }
  /// k(point_i, point_i) of each variable.
  Vector diagonal() const;
  /// No variable has two finite bounds.
  bool is_without_bounds() const;
};

/// Where the descent is.
struct Descent {
  Vector beta, v;
  Index steps = 0;
  double violation = kInfinity;
  bool v_is_exact = false;  // up to the rounding of a sum
  enum class End { optimal, steps, unbounded, rounding, cancelled } end = End::optimal;
};

/// max {v_i : β_i < high_i} and min {v_j : β_j > low_j}.
struct Extremes {
  double up = -kInfinity, low = kInfinity;
  double violation() const { return up > -kInfinity && low < kInfinity ? std::max(up - low, 0.0) : 0.0; }
};
Extremes extremes(const SignedDual& dual, const Descent& descent);

/// Σ_j β_j K(point_j, ·) at every point, in double, from the kernel alone.
Vector exact_expansion(const SignedDual& dual, const Vector& beta, const Execution& execution);

/// Without bounds β may be stretched as a whole. By how much, for the least objective; infinity when no machine meets all
/// conditions: one would need ‖w‖ ≥ c·β / √(βᵀKβ), which is beyond all measure, and β is the proof.
double best_stretch(const SignedDual& dual, const Descent& descent, double greatest_diagonal);

/// Progress, on the scale of the logarithm of the violation.
void tell(double violation, double first_violation, const SmoOptions& options, const Execution& execution);

/// Two variables at a time, the second by the greatest fall of the objective (Fan, Chen and Lin 2005).
void descend_by_pairs(const SignedDual& dual, const SmoOptions& options, const Execution& execution, Descent& descent);

/// Some hundred variables at a time, for which the problem is solved by pairs; then one sweep over all points.
void descend_by_blocks(const SignedDual& dual, const SmoOptions& options, const Execution& execution, Descent& descent);

}  // namespace lemma::smo
