// lemma/optimize/minimise.cpp: directions from gradients: steepest descent, conjugate gradients, BFGS in full and from memory.
#include <algorithm>
#include <cmath>
#include <lemma/optimize/descend.hpp>
#include <utility>

namespace lemma {
namespace {

using descent::State;

/// A length of about 1 for the first step, when nothing is known of the curvature.
double cautious_step(const State& state) { return std::min(1.0, 1.0 / state.direction.norm()); }

class ConjugateGradient : public descent::Method {
 public:
  void direct(const Objective&, State& state) override {
    const double square = state.gradient.squaredNorm();
    double beta = 0;
    if (square_ > 0) {
      const double along = state.gradient.dot(state.trial_gradient);  // the last two gradients
      beta = (square - along) / square_;
      if (std::abs(along) >= 0.2 * square) beta = 0;  // Powell: they are far from orthogonal
    }
    beta = std::max(beta, 0.0);
    state.direction = beta * state.direction - state.gradient;
    if (!(state.direction.dot(state.gradient) < 0)) state.direction = -state.gradient, beta = 0;
    since_restart_ = beta > 0 ? since_restart_ + 1 : 0;
    slope_ = state.gradient.dot(state.direction);
  }
  double first_step(const State& state) const override {
    // The first-order change of the objective will be what it was in the last iteration.
    return decrease_ < 0 ? std::min(1e3 * state.step, decrease_ / slope_) : cautious_step(state);
  }
  void learn(const State& state) override {
    square_ = state.trial_gradient.squaredNorm();
    decrease_ = state.step * slope_;
  }
  bool forget() override { return std::exchange(square_, 0.0) > 0 && since_restart_ > 0; }
  double curvature() const override { return 0.1; }

 private:
  double square_ = 0, slope_ = 0, decrease_ = 0;
  Index since_restart_ = 0;
};

class Bfgs : public descent::Method {
 public:
  void direct(const Objective&, State& state) override {
    if (inverse_.size() == 0) state.direction = -state.gradient;
    else state.direction.noalias() = -(inverse_ * state.gradient);
  }
  double first_step(const State& state) const override { return inverse_.size() == 0 ? cautious_step(state) : 1; }
  void learn(const State& state) override {
    s_ = state.x - state.trial, y_ = state.gradient - state.trial_gradient;
    const double sy = s_.dot(y_);
    if (!(sy > 1e-14 * s_.norm() * y_.norm())) return;
    if (inverse_.size() == 0) inverse_ = Matrix::Identity(s_.size(), s_.size()) * (sy / y_.squaredNorm());
    // H ← (I − ρ s yᵀ) H (I − ρ y sᵀ) + ρ s sᵀ
    hy_.noalias() = inverse_ * y_;
    const double factor = (1 + y_.dot(hy_) / sy) / sy;
    inverse_.noalias() += (factor * s_) * s_.transpose();
    inverse_.noalias() -= (hy_ / sy) * s_.transpose();
    inverse_.noalias() -= (s_ / sy) * hy_.transpose();
  }
  bool forget() override { return std::exchange(inverse_, Matrix()).size() > 0; }

 private:
  Matrix inverse_;
  Vector s_, y_, hy_;
};

/// The last steps in a ring; the direction by Nocedal's two loops.
class Lbfgs : public descent::Method {
 public:
  Lbfgs(Index n, int memory) : s_(n, memory), y_(n, memory), rho_(memory), alpha_(memory) {}

  void direct(const Objective&, State& state) override {
    Vector& d = state.direction;
    d = -state.gradient;
    for (Index k = 0; k < kept_; ++k) {  // newest first
      const Index i = slot(k);
      alpha_[i] = rho_[i] * s_.col(i).dot(d);
      d -= alpha_[i] * y_.col(i);
    }
    if (kept_ > 0) d *= 1 / (rho_[slot(0)] * y_.col(slot(0)).squaredNorm());
    for (Index k = kept_ - 1; k >= 0; --k) {
      const Index i = slot(k);
      d += (alpha_[i] - rho_[i] * y_.col(i).dot(d)) * s_.col(i);
    }
  }
  double first_step(const State& state) const override { return kept_ == 0 ? cautious_step(state) : 1; }
  void learn(const State& state) override {
    s_.col(next_) = state.x - state.trial, y_.col(next_) = state.gradient - state.trial_gradient;
    const double sy = s_.col(next_).dot(y_.col(next_));
    if (!(sy > 1e-14 * s_.col(next_).norm() * y_.col(next_).norm())) return;
    rho_[next_] = 1 / sy;
    next_ = (next_ + 1) % rho_.size();
    kept_ = std::min(kept_ + 1, rho_.size());
  }
  bool forget() override { return std::exchange(kept_, 0) > 0; }

 private:
  Index slot(Index age) const { return (next_ - 1 - age + 2 * rho_.size()) % rho_.size(); }
  Eigen::MatrixXd s_, y_;
  Vector rho_, alpha_;
  Index next_ = 0, kept_ = 0;
};

}  // namespace

Minimum gradient_descent(const Objective& f, Vector start, const MinimiseOptions& options) {
  State state;
  state.x = std::move(start);
  descent::begin(f, state);
  Minimum out;
  double first = 1 / std::max(1.0, state.gradient.norm());
  while (!descent::note(state, options, out)) {
    state.direction = -state.gradient;
    const LineResult found = descent::backtrack_along(f, state, {.first = first, .decrease = 0.1});
    if (!found.converged) {
      out.stopped = Stop::no_descent;
      break;
    }
    first = found.evaluations == 1 ? 2 * found.t : found.t;
    ++state.iteration;
  }
  return descent::finish(std::move(state), std::move(out));
}

Minimum momentum(const Objective& f, Vector start, const MinimiseOptions& options, const Momentum& how) {
  require(how.beta >= 0 && how.beta < 1, "momentum keeps a share of the velocity in [0, 1)");
  require(!how.step || *how.step > 0, "the step of momentum must be above 0");
  State state;
  state.x = std::move(start);
  descent::begin(f, state);
  Minimum out;
  Vector velocity = Vector::Zero(state.x.size());
  double step = how.step.value_or(0);
  while (!descent::note(state, options, out)) {
    if (step ==
        0) {  // the first iteration is one of gradient descent; half its step is safe where the slope is steeper
      state.direction = -state.gradient;
      const LineResult found = descent::backtrack_along(f, state, {.first = 1, .decrease = 0.5});
      step = found.t;
      if (step == 0) break;
    } else {
      velocity = how.beta * velocity - step * state.gradient;
      state.trial = state.x + velocity;
      state.trial_value = f.value(state.trial, state.trial_gradient), ++state.evaluations;
      if (state.trial_value <= state.value && state.trial_gradient.allFinite()) {
        state.x.swap(state.trial), state.gradient.swap(state.trial_gradient);
        std::swap(state.value, state.trial_value);
      } else {
        const bool at_rest = velocity.dot(state.gradient) == -step * state.gradient.squaredNorm();
        velocity.setZero();
        if (at_rest) step /= 2;  // a plain gradient step went uphill
        if (step < 1e-300) break;
      }
    }
    ++state.iteration;
  }
  if (out.stopped == Stop::not_yet) out.stopped = Stop::no_descent;
  return descent::finish(std::move(state), std::move(out));
}

Minimum conjugate_gradient(const Objective& f, Vector start, const MinimiseOptions& options) {
  ConjugateGradient method;
  return descent::run(f, std::move(start), options, method);
}

Minimum bfgs(const Objective& f, Vector start, const MinimiseOptions& options) {
  Bfgs method;
  return descent::run(f, std::move(start), options, method);
}

Minimum lbfgs(const Objective& f, Vector start, const MinimiseOptions& options, int memory) {
  require(memory >= 1, "L-BFGS needs a memory of at least 1 step");
  Lbfgs method(start.size(), memory);
  return descent::run(f, std::move(start), options, method);
}

}  // namespace lemma
