// lemma/optimize/line_search.hpp: functions of one number: how far to go along a line, and where a function is zero.
#pragma once
#include <functional>
#include <limits>

namespace lemma {

/// A function of one number and its derivative there.
struct Slope {
  double value = 0, slope = 0;
};
using LineFunction = std::function<double(double)>;
using SlopeFunction = std::function<Slope(double)>;

/// What a search found. `converged` is false when it gave up; t is then the best it saw.
struct LineResult {
  double t = 0;
  double value = 0;
  long long evaluations = 0;
  bool converged = false;
};

struct BacktrackOptions {
  double first = 1;        // the step that is tried first
  double decrease = 1e-4;  // c₁
  double shrink = 0.5;
  int most_evaluations = 60;
};
/// Armijo's rule: the first t = first, first·shrink, … with φ(t) ≤ φ(0) + c₁ t φ′(0). φ at 0 is given; φ′(0) < 0.
/// Differences within the rounding of φ(0) count as descent.
LineResult backtrack(const LineFunction& phi, const Slope& at_zero, const BacktrackOptions& options = {});

/// Values that differ by less than this share of their size cannot be told apart, unless they are computed less exactly.
inline constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();

struct WolfeOptions {
  double first = 1;
  double decrease = 1e-4;  // c₁
  double curvature = 0.9;  // c₂; 0.1 for conjugate gradients
  int most_evaluations = 40;
  double rounding = kRounding;  // relative, of φ
};
/// The strong Wolfe conditions: φ(t) ≤ φ(0) + c₁ t φ′(0) and |φ′(t)| ≤ c₂ |φ′(0)|, by a bracket that shrinks through cubic
/// interpolation. Where φ(t) and φ(0) differ by rounding alone, the first is judged by slopes (Hager and Zhang 2005):
/// φ′(t) ≤ (2c₁ − 1) φ′(0).
LineResult strong_wolfe(const SlopeFunction& phi, const Slope& at_zero, const WolfeOptions& options = {});

struct RootOptions {
  double tolerance = 1e-12;  // on |f|, and relative on the last step
  int most_evaluations = 100;
};
/// A zero of f by the secant through the last two points; `value` is f there. On the slope of a function: its
/// stationary point.
LineResult secant(const LineFunction& f, double a, double b, const RootOptions& options = {});
/// A zero of f by t ← t − f(t)/f′(t), the step halved while |f| does not fall.
LineResult newton_raphson(const SlopeFunction& f, double start, const RootOptions& options = {});
/// The minimum of a function with one valley between a and b. Values alone can tell two points apart to √ε |t| at best, which
/// is where the default tolerance stops.
LineResult golden_section(const LineFunction& phi, double a, double b, double tolerance = 1.5e-8);

}  // namespace lemma
