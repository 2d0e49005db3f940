// lemma/kernel/nu_svm/solve.hpp: the dual of the ν-machine. Inner header: use lemma/kernel/nu_svm.hpp.
//
//     minimise  ½ βᵀKβ     subject to   0 ≤ tᵢ βᵢ ≤ boundᵢ,   Σ |β| = ν/2 over the rows of either class.
#pragma once
#include <lemma/core/matrix.hpp>
#include <lemma/core/parallel.hpp>
#include <string>

namespace lemma::nu_svm {

/// The plane of multipliers β, `values` = Kβ.
struct Plane {
  double rho = 0, bias = 0;
};
/// On free rows t (value + b) = ρ, for either class; where it has none, the middle of what the others allow.
Plane plane_of(const Vector& target, const Vector& bound, const Vector& beta, const Vector& values);

/// (P − D) beside ½‖w‖²; 0 of 0.
double relative_gap(double nu, const Vector& target, const Vector& bound, const Vector& values, const Plane& plane,
                    double squared_norm);

struct Solution {
  Vector beta, values;
  Plane plane;
  double gap = 1;
  long long steps = 0;
  std::string stopped;
};
/// A cancel gives back what there is.
Solution solve(const Matrix& gram, const Vector& target, const Vector& bound, double nu, double tolerance,
               const Execution& execution);

}  // namespace lemma::nu_svm
