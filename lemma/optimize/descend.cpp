// lemma/optimize/descend.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/optimize/descend.hpp>
#include <limits>
#include <utility>

namespace lemma::descent {

bool is_stationary(double value, const Vector& gradient, double tolerance) {
  const double largest = gradient.size() ? gradient.cwiseAbs().maxCoeff() : 0.0;
  return gradient.allFinite() && largest <= tolerance * std::max(1.0, std::abs(value));
}

void begin(const Objective& f, State& state) {
  const Index n = state.x.size();
  state.gradient = Vector::Zero(n), state.direction = Vector::Zero(n);
  state.trial = state.x, state.trial_gradient = Vector::Zero(n);
  state.value = f.value(state.x, state.gradient);
  state.evaluations = 1;
  require(state.gradient.size() == n,
          fmt::format("the start has {} entries, the gradient {}", n, state.gradient.size()));
  require(std::isfinite(state.value) && state.gradient.allFinite(),
          fmt::format("the objective is {} at the start, or its gradient is not finite; start elsewhere", state.value));
}

namespace {

Slope look_at(const Objective& f, State& state, double t) {
  state.trial.noalias() = state.x + t * state.direction;
  state.trial_value = f.value(state.trial, state.trial_gradient);
  ++state.evaluations;
  return {state.trial_value, state.trial_gradient.dot(state.direction)};
}

void move(State& state, double t) {
  state.step = t;
  state.x.swap(state.trial), state.gradient.swap(state.trial_gradient), std::swap(state.value, state.trial_value);
}

}  // namespace

bool search(const Objective& f, State& state, const WolfeOptions& options) {
  const Slope at_zero{state.value, state.gradient.dot(state.direction)};
  if (!(at_zero.slope < 0) || !state.direction.allFinite()) return false;
  double last = -1;
  const auto look = [&f, &state, &last](double t) { return last = t, look_at(f, state, t); };
  const LineResult found = strong_wolfe(std::cref(look), at_zero, options);
  if (found.t <= 0) return false;
  if (last != found.t) look(found.t);
  move(state, found.t);
  return true;
}

LineResult backtrack_along(const Objective& f, State& state, const BacktrackOptions& options) {
  const Slope at_zero{state.value, state.gradient.dot(state.direction)};
  const auto look = [&f, &state, &at_zero](double t) {
    const Slope at = look_at(f, state, t);
    const bool turned = at.slope > -0.8 * at_zero.slope;  // overshot, which rounding hides from the values
    return turned ? std::numeric_limits<double>::infinity() : at.value;
  };
  const LineResult found = backtrack(std::cref(look), at_zero, options);
  if (found.converged) move(state, found.t);
  return found;
}

bool note(const State& state, const MinimiseOptions& options, Minimum& out) {
  if (options.keep_trace) out.trace.push_back(state.value);
  out.converged = is_stationary(state.value, state.gradient, options.tolerance);
  if (out.converged) out.stopped = Stop::converged;
  else if (options.stop && options.stop({state.iteration, state.x, state.value, state.gradient}))
    out.stopped = Stop::by_caller;
  else if (state.iteration >= options.most_iterations) out.stopped = Stop::iteration_limit;
  return out.stopped != Stop::not_yet;
}

Minimum finish(State&& state, Minimum&& out) {
  out.x = std::move(state.x), out.gradient = std::move(state.gradient), out.value = state.value;
  out.iterations = state.iteration, out.evaluations = state.evaluations;
  return std::move(out);
}

Minimum run(const Objective& f, Vector start, const MinimiseOptions& options, Method& method) {
  State state;
  state.x = std::move(start);
  begin(f, state);
  Minimum out;
  while (!note(state, options, out)) {
    bool moved = false;
    do {
      method.direct(f, state);
      moved = search(
          f, state, {.first = method.first_step(state), .curvature = method.curvature(), .rounding = options.rounding});
    } while (!moved && method.forget());
    if (!moved) {
      out.stopped = Stop::no_descent;
      break;
    }
    ++state.iteration;
    method.learn(state);
  }
  return finish(std::move(state), std::move(out));
}

}  // namespace lemma::descent
