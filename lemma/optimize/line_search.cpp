// lemma/optimize/line_search.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/optimize/line_search.hpp>
#include <limits>

namespace lemma {
namespace {

void require_descent(const Slope& at_zero) {
  require(std::isfinite(at_zero.value) && at_zero.slope < 0,
          fmt::format("a line search needs a direction of descent; here the function is {} and its slope {}",
                      at_zero.value, at_zero.slope));
}

/// A point seen on the line.
struct Point {
  double t, value, slope;
};

/// Where the cubic through two points with their slopes has its minimum (Nocedal and Wright 3.59); NaN when nowhere.
double cubic_minimum(const Point& a, const Point& b) {
  const double d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.t - b.t);
  const double d2 = std::copysign(std::sqrt(d1 * d1 - a.slope * b.slope), b.t - a.t);
  return b.t - (b.t - a.t) * (b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2);
}

/// Inside the bracket, but not at its ends.
double interpolate(const Point& low, const Point& high) {
  const double width = high.t - low.t, guess = cubic_minimum(low, high);
  if (!std::isfinite(guess)) return low.t + 0.5 * width;
  return std::clamp(guess, low.t + 0.1 * width, low.t + 0.9 * width);
}

/// Beyond the point `now`, which is still going down.
double extrapolate(const Point& before, const Point& now) {
  const double guess = cubic_minimum(before, now);
  if (!std::isfinite(guess) || guess <= now.t) return 4 * now.t;
  return std::clamp(guess, 1.5 * now.t, 10 * now.t);
}

}  // namespace

LineResult backtrack(const LineFunction& phi, const Slope& at_zero, const BacktrackOptions& options) {
  require_descent(at_zero);
  const double rounding = kRounding * std::abs(at_zero.value);
  LineResult out{options.first, 0, 0, false};
  while (out.evaluations < options.most_evaluations) {
    out.value = phi(out.t), ++out.evaluations;
    out.converged = out.value <= at_zero.value + options.decrease * out.t * at_zero.slope + rounding;
    if (out.converged) return out;
    out.t *= options.shrink;
  }
  return {0, at_zero.value, out.evaluations, false};
}

LineResult strong_wolfe(const SlopeFunction& phi, const Slope& at_zero, const WolfeOptions& options) {
  require_descent(at_zero);
  const double rounding = options.rounding * std::abs(at_zero.value), slope0 = at_zero.slope;
  const auto too_far = [&](const Point& p) {
    if (!std::isfinite(p.value) || !std::isfinite(p.slope)) return true;
    if (std::abs(p.value - at_zero.value) <= rounding) return p.slope > (2 * options.decrease - 1) * slope0;
    return p.value > at_zero.value + options.decrease * p.t * slope0;
  };
  // At `low` the first condition holds and the slope is negative; beyond `high`, if there is one, nothing is sought:
  // so a point with both conditions lies between.
  Point low{0, at_zero.value, slope0}, high{0, 0, 0};
  bool bracketed = false;
  double t = options.first;
  for (long long evaluations = 1; evaluations <= options.most_evaluations; ++evaluations) {
    const Slope at = phi(t);
    const Point now{t, at.value, at.slope};
    const bool far = too_far(now);
    if (!far && std::abs(now.slope) <= -options.curvature * slope0) return {t, now.value, evaluations, true};
    if (far || now.slope > 0) {
      high = now, bracketed = true;
    } else {
      if (!bracketed) t = extrapolate(low, now);
      low = now;
    }
    if (bracketed) t = interpolate(low, high);
    if (!std::isfinite(t) || (bracketed && high.t - low.t <= 1e-15 * high.t))
      return {low.t, low.value, evaluations, false};
  }
  return {low.t, low.value, options.most_evaluations, false};
}

LineResult secant(const LineFunction& f, double a, double b, const RootOptions& options) {
  require(a != b, "the secant method needs two different points");
  double fa = f(a), fb = f(b);
  LineResult out{b, fb, 2, false};
  if (std::abs(fa) < std::abs(fb)) std::swap(a, b), std::swap(fa, fb);
  while (true) {
    out.t = b, out.value = fb;
    out.converged = std::abs(fb) <= options.tolerance || std::abs(b - a) <= options.tolerance * std::abs(b);
    if (out.converged || fa == fb || out.evaluations >= options.most_evaluations) return out;
    const double next = b - fb * (b - a) / (fb - fa);
    a = b, fa = fb, b = next, fb = f(next), ++out.evaluations;
    if (!std::isfinite(fb)) return out;
  }
}

LineResult newton_raphson(const SlopeFunction& f, double start, const RootOptions& options) {
  Slope now = f(start);
  LineResult out{start, now.value, 1, false};
  while (true) {
    out.converged = std::abs(now.value) <= options.tolerance;
    if (out.converged || now.slope == 0 || !std::isfinite(now.slope)) return out;
    double step = -now.value / now.slope;
    while (true) {
      if (std::abs(step) <= options.tolerance * std::abs(out.t)) return out.converged = true, out;
      if (out.evaluations >= options.most_evaluations) return out;
      const Slope next = f(out.t + step);
      ++out.evaluations;
      if (std::abs(next.value) < std::abs(now.value)) {
        now = next, out.t += step, out.value = now.value;
        break;
      }
      step *= 0.5;
    }
  }
}

LineResult golden_section(const LineFunction& phi, double a, double b, double tolerance) {
  require(a < b, fmt::format("golden section needs a < b, not {} and {}", a, b));
  const double ratio = (std::sqrt(5.0) - 1) / 2;  // each step keeps this share of the interval
  double left = b - ratio * (b - a), right = a + ratio * (b - a);
  double f_left = phi(left), f_right = phi(right);
  LineResult out{0, 0, 2, true};
  while (b - a > tolerance * std::max(1.0, std::abs(a) + std::abs(b))) {
    if (f_left <= f_right) {
      b = right, right = left, f_right = f_left;
      left = b - ratio * (b - a), f_left = phi(left);
    } else {
      a = left, left = right, f_left = f_right;
      right = a + ratio * (b - a), f_right = phi(right);
    }
    ++out.evaluations;
  }
  out.t = f_left <= f_right ? left : right, out.value = std::min(f_left, f_right);
  return out;
}

}  // namespace lemma
