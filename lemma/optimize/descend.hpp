// lemma/optimize/descend.hpp: the loop that all descent methods share. Inner header: use minimise.hpp.
#pragma once
#include <lemma/optimize/line_search.hpp>
#include <lemma/optimize/minimise.hpp>

namespace lemma::descent {

/// The state of a descent. All vectors are made once and exchanged, never copied.
struct State {
  Vector x, gradient;
  double value = 0;
  Vector direction;
  Vector trial, trial_gradient;  // after a step: where it came from
  double trial_value = 0;
  double step = 0;  // of the last iteration
  long long iteration = 0, evaluations = 0;
};

/// What a method is: how it finds a direction and a step.
class Method {
 public:
  virtual ~Method() = default;
  /// Fills state.direction. Called again after forget() when the direction led nowhere.
  virtual void direct(const Objective& f, State& state) = 0;
  /// The step that the search along the direction tries first.
  virtual double first_step(const State& state) const = 0;
  /// Learns from the step state.trial → state.x.
  virtual void learn(const State&) {}
  /// Drops what it has learnt; false when there is nothing to drop.
  virtual bool forget() { return false; }
  virtual double curvature() const { return 0.9; }
};

bool is_stationary(double value, const Vector& gradient, double tolerance);

/// Value and gradient at the start. Error when they are not finite.
void begin(const Objective& f, State& state);
/// One search along state.direction by the strong Wolfe conditions, which moves the state; false when there is no descent.
bool search(const Objective& f, State& state, const WolfeOptions& options);
/// One search by Armijo's rule; where values differ by rounding alone the slope must not have turned round either.
LineResult backtrack_along(const Objective& f, State& state, const BacktrackOptions& options);

/// Tells the trace and the caller about an iteration; true when the work is over, and then `out.stopped` says why.
bool note(const State& state, const MinimiseOptions& options, Minimum& out);
Minimum finish(State&& state, Minimum&& out);

Minimum run(const Objective& f, Vector start, const MinimiseOptions& options, Method& method);

}  // namespace lemma::descent
