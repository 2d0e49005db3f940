// lemma/kernel/shared/support.hpp: multipliers of kept rows held against what the rows of the fit allow, in whatever order they come.
#pragma once
#include <lemma/core/certificate.hpp>
#include <lemma/geometry/kernel/bound.hpp>
#include <lemma/kernel/shared/rows.hpp>
#include <string>
#include <string_view>

namespace lemma {

/// Rows of equal features and sign are one row of the dual that may carry the sum of their bounds. By how much the multipliers
/// |βⱼ| of kept rows go beyond it, beside it: the largest, 0 where none does; infinity where a kept row is none of the rows.
/// `sign`: of the β that each row may carry, 1 or −1.
double beyond_bounds(const Kernel& kernel, const KeptRows& kept, const RowNumbers& places, const Vector& beta,
                     const Points& points, const Vector& sign, const Vector& bound);

/// The rows of multipliers that are not all 0, as a model keeps them; a row of multipliers for each machine.
struct Support {
  KeptRows rows;
  RowNumbers places;
  Matrix beta;
};
Support support_of(const Kernel& kernel, const Points& points, const Matrix& beta);

/// Of a machine with the objective ½‖w‖² − … whose multipliers leave a duality gap of `gap` beside ½‖w‖².
Certificate gap_certificate(double gap, double tolerance, long long steps, std::string stopped);
/// ½‖w − w*‖² is at most the gap, so ⟨w, φ(x)⟩ is known to √(2 gap) ‖φ(x)‖: rows nearer to a plane lie on it as far as is known.
double known_to(double tolerance, double objective, const BoundKernel& support);
/// Error where the kernel has no dual to prove anything by.
void require_positive(std::string_view method, const BoundKernel& kernel, const Execution& execution);

}  // namespace lemma
