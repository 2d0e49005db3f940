// lemma/optimize/minimise.hpp: smooth functions without constraints.
#pragma once
#include <functional>
#include <lemma/optimize/objective.hpp>
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
  /// Looks at each iterate; true ends the work with "stopped by the caller": a duality gap that is small enough, Ctrl-C.
  std::function<bool(const Iterate&)> stop;
};

struct Minimum {
  Vector x;
  double value = 0;
  Vector gradient;
  long long iterations = 0;
  long long evaluations = 0;  // of value and gradient
  bool converged = false;
  std::string stopped;        // "converged", "iteration limit", "stopped by the caller", "no further descent"
  std::vector<double> trace;  // objective at the start and after each iteration, when asked for
};

/// x ← x − s ∇f, with the step s by backtracking.
Minimum gradient_descent(const Objective& f, Vector start, const MinimiseOptions& options = {});
/// x ← x + d, H d = −∇f; H is shifted by a multiple of the identity until it is positive definite.
Minimum newton(const Objective& f, Vector start, const MinimiseOptions& options = {});
/// Directions d ← −∇f + β d with Polak and Ribière's β, or 0 where that is negative.
Minimum conjugate_gradient(const Objective& f, Vector start, const MinimiseOptions& options = {});
/// H⁻¹ by Broyden, Fletcher, Goldfarb and Shanno's update.
Minimum bfgs(const Objective& f, Vector start, const MinimiseOptions& options = {});
/// The same from the last `memory` steps alone.
Minimum lbfgs(const Objective& f, Vector start, const MinimiseOptions& options = {}, int memory = 10);

}  // namespace lemma
