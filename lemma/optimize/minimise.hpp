// lemma/optimize/minimise.hpp: smooth functions without constraints.
#pragma once
#include <functional>
#include <lemma/optimize/line_search.hpp>
#include <lemma/optimize/objective.hpp>
#include <lemma/optimize/stop.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lemma {

/// Where an iteration stands.
struct Iterate {
  long long iteration = 0;
  const Vector& x;
  double value;
  const Vector& gradient;
};

struct MinimiseOptions {
  long long most_iterations = 1000;
  double tolerance = 1e-10;  // stop when no entry of the gradient is larger than this times max(1, |value|)
  bool keep_trace = false;   // the objective after each iteration, for a plot
  /// Looks at each iterate; true ends the work (Stop::by_caller): a duality gap that is small enough, Ctrl-C.
  std::function<bool(const Iterate&)> stop;
  double rounding = kRounding;  // relative, of the objective: of smaller differences the gradient decides
};

struct Minimum {
  Vector x;
  double value = 0;
  Vector gradient;
  long long iterations = 0;
  long long evaluations = 0;  // of value and gradient
  bool converged = false;
  Stop stopped = Stop::not_yet;  // converged, iteration_limit, by_caller or no_descent
  std::vector<double> trace;     // objective at the start and after each iteration, when asked for
};

/// x ← x − s ∇f, with the step s by backtracking.
Minimum gradient_descent(const Objective& f, Vector start, const MinimiseOptions& options = {});
struct Momentum {
  double beta = 0.9;           // the share of the velocity that is kept
  std::optional<double> step;  // empty: found by backtracking at the start, and halved whenever the objective rises
};
/// Polyak's heavy ball: v ← β v − s ∇f, x ← x + v. When the objective rises, the ball stops (v = 0) and goes on from the
/// best point.
Minimum momentum(const Objective& f, Vector start, const MinimiseOptions& options = {}, const Momentum& how = {});
/// x ← x + d, H d = −∇f; H is shifted by a multiple of the identity until it is positive definite. Where the objective
/// has only products with H, the system is solved by conjugate gradients, as exactly as the iteration needs it.
Minimum newton(const Objective& f, Vector start, const MinimiseOptions& options = {});
/// Directions d ← −∇f + β d with Polak and Ribière's β, or 0 where that is negative.
Minimum conjugate_gradient(const Objective& f, Vector start, const MinimiseOptions& options = {});
/// H⁻¹ by Broyden, Fletcher, Goldfarb and Shanno's update.
Minimum bfgs(const Objective& f, Vector start, const MinimiseOptions& options = {});
/// The same from the last `memory` steps alone.
Minimum lbfgs(const Objective& f, Vector start, const MinimiseOptions& options = {}, int memory = 10);

}  // namespace lemma
