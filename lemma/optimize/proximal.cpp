// lemma/optimize/proximal.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <functional>
#include <lemma/optimize/descend.hpp>
#include <lemma/optimize/proximal.hpp>
#include <limits>
#include <utility>

namespace lemma {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One proximal step from `from`, whose value and gradient of f are known, with the longest step not above `step` for which
/// f(to) ≤ f(from) + ∇f·(to − from) + ‖to − from‖²/(2 step).
struct ProximalStep {
  const Objective& f;
  const ProximalTerm& g;
  double step = 1;
  long long evaluations = 0;
  double value = 0;  // f at `to`
  Vector gradient;   // ∇f at `to`

  void take(const Vector& from, double from_value, const Vector& from_gradient, Vector& to) {
    while (true) {
      to = from - step * from_gradient;
      g.prox(to, step);
      value = f.value(to, gradient), ++evaluations;
      const double square = (to - from).squaredNorm(), linear = from_gradient.dot(to - from);
      // Near the minimum the difference of the values is mostly rounding; then the same bound is asked of the slopes,
      // which is the same for a quadratic (Becker, Candès and Grant 2011).
      const bool fine = std::abs(value - from_value) <= 1e-8 * std::abs(from_value)
                            ? (gradient - from_gradient).dot(to - from) <= square / step
                            : value - from_value - linear <= square / (2 * step);
      if ((fine && std::isfinite(value)) || square == 0 || step < 1e-300) return;
      step /= 2;
    }
  }
};

}  // namespace

double L1::value(const Vector& x) const {
  return lambda.size() == 1 ? lambda[0] * x.lpNorm<1>() : lambda.dot(x.cwiseAbs());
}
void L1::prox(Vector& x, double step) const {
  for (Index j = 0; j < x.size(); ++j) {
    const double by = step * lambda[lambda.size() == 1 ? 0 : j];
    x[j] = x[j] > by ? x[j] - by : x[j] < -by ? x[j] + by : 0.0;
  }
}

double Box::value(const Vector& x) const {
  return (x.array() >= lower.array()).all() && (x.array() <= upper.array()).all() ? 0.0 : kInfinity;
}

double SimplexSet::value(const Vector& x) const {
  const double rounding = 1e-12 * std::max(1.0, sum) * std::sqrt(static_cast<double>(x.size()));
  return (x.array() >= 0).all() && std::abs(x.sum() - sum) <= rounding ? 0.0 : kInfinity;
}
void SimplexSet::prox(Vector& x, double) const {
  Vector sorted = x;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double total = 0, threshold = 0;
  for (Index k = 0; k < sorted.size(); ++k) {  // the k + 1 largest stay above the threshold while they exceed it
    total += sorted[k];
    const double candidate = (total - sum) / static_cast<double>(k + 1);
    if (k > 0 && sorted[k] <= candidate) break;
    threshold = candidate;
  }
  x = (x.array() - threshold).cwiseMax(0.0);
}

Minimum proximal_gradient(const Objective& f, const ProximalTerm& g, Vector start, const MinimiseOptions& options) {
  descent::State state;  // gradient: the gradient map; trial: the point pushed ahead
  state.x = std::move(start);
  g.prox(state.x, 1);  // into the set, if g is one
  descent::begin(f, state);
  ProximalStep proximal{f, g, 1 / std::max(1.0, state.gradient.norm()), 0, 0, state.gradient};
  const Vector first = state.x;
  Vector x_gradient = state.gradient, next = state.x, map = state.x;
  double smooth = state.value;  // f at x
  state.value += g.value(state.x);

  const auto measure = [&] {  // the gradient map at x
    map = state.x - proximal.step * x_gradient;
    g.prox(map, proximal.step);
    state.gradient = (state.x - map) / proximal.step;
  };
  measure();
  Vector ahead = state.x, ahead_gradient = x_gradient;
  double ahead_value = smooth, theta = 1;
  Minimum out;
  while (!descent::note(state, options, out)) {
    proximal.step *= 1.1;  // it may grow again where f is flatter
    proximal.take(ahead, ahead_value, ahead_gradient, next);
    const bool uphill = (ahead - next).dot(next - state.x) > 0;
    state.direction = next - state.x;
    state.x.swap(next), x_gradient = proximal.gradient, smooth = proximal.value;
    state.value = smooth + g.value(state.x);
    const double theta_next = uphill ? 1 : 0.5 * (1 + std::sqrt(1 + 4 * theta * theta));
    const double push = uphill ? 0 : (theta - 1) / theta_next;
    theta = theta_next;
    if (push > 0) {
      ahead = state.x + push * state.direction;
      ahead_value = f.value(ahead, ahead_gradient), ++state.evaluations;
    } else {
      ahead = state.x, ahead_gradient = x_gradient, ahead_value = smooth;
    }
    measure();
    ++state.iteration;
  }
  state.evaluations += proximal.evaluations;
  return descent::finish(std::move(state), std::move(out));
}

}  // namespace lemma
