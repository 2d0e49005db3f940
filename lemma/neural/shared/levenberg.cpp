// lemma/neural/shared/levenberg.cpp
#include <algorithm>
#include <cmath>
#include <lemma/math/blas.hpp>
#include <lemma/neural/shared/levenberg.hpp>

namespace lemma::neural {
namespace {

constexpr double kFirstDamping = 1e-3;  // of the largest curvature
constexpr double kMostDamping = 1e20;   // times that of the start: no step gains anything

/// (H + μ I)⁻¹ (−g), or nothing where the matrix is not positive definite to working precision.
bool damped_step(const Matrix& curvature, double damping, const Vector& gradient, Vector& step) {
  Matrix factor = curvature;
  factor.diagonal().array() += damping;
  if (!blas::cholesky(factor)) return false;
  step = -gradient;
  blas::solve_upper(blas::Op::transposed, factor, step);
  blas::solve_upper(blas::Op::plain, factor, step);
  return step.allFinite();
}

}  // namespace

Minimum levenberg_marquardt(const Objective& f, Vector start, const MinimiseOptions& options) {
  Minimum out;
  out.x = std::move(start);
  out.value = f.value(out.x, out.gradient);
  double damping = 0, most = 0, growth = 2;
  for (;; ++out.iterations) {
    if (options.stop && options.stop({out.iterations, out.x, out.value, out.gradient})) out.stopped = Stop::by_caller;
    else if (out.iterations == options.most_iterations) out.stopped = Stop::iteration_limit;
    if (out.stopped != Stop::not_yet) return out;
    const Matrix curvature = f.gauss_newton(out.x);
    if (out.iterations == 0) {
      damping = kFirstDamping * std::max(curvature.diagonal().maxCoeff(), 1e-300);
      most = kMostDamping * damping;
    }
    for (bool better = false; !better;) {
      Vector step, gradient;
      if (damped_step(curvature, damping, out.gradient, step)) {
        const Vector x = out.x + step;
        const double value = f.value(x, gradient), gain = out.value - value;
        const double promised = 0.5 * step.dot(damping * step - out.gradient);
        const bool is_rounding = std::abs(gain) <= options.rounding * std::abs(out.value);
        better = std::isfinite(value) && gradient.allFinite() &&
                 (is_rounding ? gradient.stableNorm() < out.gradient.stableNorm() : gain > 0);
        if (better) {
          const double share = is_rounding ? 1 : gain / promised;
          damping *= std::max(1.0 / 3, 1 - std::pow(2 * share - 1, 3));
          growth = 2;
          out.x = x;
          out.value = value;
          out.gradient = std::move(gradient);
        }
      }
      if (better) break;
      damping *= growth;
      growth *= 2;
      if (damping > most) {
        out.stopped = Stop::no_descent;
        return out;
      }
    }
  }
}

}  // namespace lemma::neural
