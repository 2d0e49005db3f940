// lemma/optimize/gradient_check.hpp: derivatives held against differences of the function itself.
#pragma once
#include <lemma/optimize/objective.hpp>

namespace lemma {

/// Largest error of the derivatives at x, relative to max(1, largest entry), and where it is. Right derivatives of smooth
/// functions give about 1e-9; a wrong one gives about its own size.
struct DerivativeCheck {
  double gradient = 0;         // against central differences of the value
  double hessian = 0;          // against central differences of the gradient; 0 when there is none
  double hessian_product = 0;  // against the same, along the directions
  double values = 0;           // value(x) against value(x, gradient)
  Index worst = -1;            // entry of the gradient with the largest error

  bool holds(double tolerance = 1e-6) const {
    return gradient <= tolerance && hessian <= tolerance && hessian_product <= tolerance && values <= tolerance;
  }
};
DerivativeCheck check_derivatives(const Objective& f, const VectorView& x);

}  // namespace lemma
