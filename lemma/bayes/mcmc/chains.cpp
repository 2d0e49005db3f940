// lemma/bayes/mcmc/chains.cpp: a Hamiltonian chain with a no-U-turn criterion, and a random walk.
#include <algorithm>
#include <cmath>
#include <lemma/bayes/mcmc/chains.hpp>
#include <lemma/core/hearing.hpp>

namespace lemma::mcmc {
namespace {

constexpr int kMostDoublings = 10;
constexpr double kDivergent = 1000;  // of the energy, which leapfrog keeps

struct Point {
  Vector q, p, gradient;
  double potential = 0;
  double hamiltonian() const { return potential + 0.5 * p.squaredNorm(); }
};

double log_add(double a, double b) {
  const double most = std::max(a, b);
  return std::isfinite(most) ? most + std::log(std::exp(a - most) + std::exp(b - most)) : most;
}

/// Nesterov's dual averaging of log ε towards the acceptance asked for (Hoffman & Gelman 2014, section 3.2).
class StepSize {
 public:
  StepSize(double first, double target) : target_(target), toward_(std::log(10 * first)), log_(std::log(first)) {}
  void learn(double acceptance) {
    const double t = ++count_;
    error_ += (target_ - acceptance - error_) / (t + 10);
    log_ = toward_ - std::sqrt(t) / 0.05 * error_;
    mean_ += std::pow(t, -0.75) * (log_ - mean_);
  }
  double now() const { return std::exp(log_); }
  double settled() const { return std::exp(mean_); }

 private:
  double target_, toward_, log_, mean_ = 0, error_ = 0, count_ = 0;
};

/// A stretch of the path: its ends in the order of time, and the one of its points that was taken.
struct Stretch {
  Point first, last, taken;
  Vector momentum;    // sum over its points
  double log_weight;  // log Σ e^(H₀ − H)
  bool whole = true;  // it neither turns back nor diverges
};

class Nuts {
 public:
  Nuts(const Energy& energy, RandomStream& random) : energy_(energy), random_(random) {}
  double acceptance() const { return accepted_ / std::max(1.0, points_); }
  bool diverged() const { return diverged_; }

  void move(Point& at, double step) {
    for (double& each : at.p) each = random_.normal();
    start_ = at.hamiltonian();
    accepted_ = points_ = 0;
    diverged_ = false;
    Stretch path{at, at, at, at.p, 0};
    for (int doubling = 0; doubling < kMostDoublings && path.whole; ++doubling) {
      const bool forward = random_.uniform() < 0.5;
      Stretch more = grown(forward ? path.last : path.first, forward ? step : -step, doubling);
      if (!more.whole) break;
      if (random_.uniform() < std::exp(more.log_weight - path.log_weight)) path.taken = more.taken;
      path = joined(forward ? std::move(path) : std::move(more), forward ? std::move(more) : std::move(path), forward);
    }
    at = path.taken;
  }

 private:
  /// 2^depth points beyond `edge`.
  Stretch grown(const Point& edge, double step, int depth) {
    if (depth == 0) {
      Point next = leap(edge, step);
      const double gain = start_ - next.hamiltonian();
      accepted_ += std::isfinite(gain) ? std::min(1.0, std::exp(gain)) : 0;
      points_ += 1;
      const bool fine = gain > -kDivergent;  // not of NaN
      diverged_ = diverged_ || !fine;
      return {next, next, next, next.p, gain, fine};
    }
    Stretch near = grown(edge, step, depth - 1);
    if (!near.whole) return near;
    Stretch far = grown(step > 0 ? near.last : near.first, step, depth - 1);
    if (!far.whole) return far;
    const bool swap = random_.uniform() < std::exp(far.log_weight - log_add(near.log_weight, far.log_weight));
    const Point taken = swap ? far.taken : near.taken;
    Stretch out =
        step > 0 ? joined(std::move(near), std::move(far), true) : joined(std::move(far), std::move(near), true);
    out.taken = taken;
    return out;
  }

  /// Two stretches, the earlier one first. Of the whole and of each half with the next point of the other none may turn back.
  static Stretch joined(Stretch a, Stretch b, bool keep_first) {
    const auto onward = [](const Vector& sum, const Vector& begin, const Vector& end) {
      return sum.dot(begin) > 0 && sum.dot(end) > 0;
    };
    Stretch out;
    out.momentum = a.momentum + b.momentum;
    out.whole = onward(out.momentum, a.first.p, b.last.p) && onward(a.momentum + b.first.p, a.first.p, b.first.p) &&
                onward(b.momentum + a.last.p, a.last.p, b.last.p);
    out.log_weight = log_add(a.log_weight, b.log_weight);
    out.taken = keep_first ? a.taken : b.taken;
    out.first = std::move(a.first);
    out.last = std::move(b.last);
    return out;
  }

  Point leap(const Point& from, double step) {
    Point out;
    out.p = from.p - 0.5 * step * from.gradient;
    out.q = from.q + step * out.p;
    out.potential = energy_(out.q, &out.gradient);
    out.p -= 0.5 * step * out.gradient;
    return out;
  }

  const Energy& energy_;
  RandomStream& random_;
  double start_ = 0, accepted_ = 0, points_ = 0;
  bool diverged_ = false;
};

Chain run_nuts(const Mcmc& spec, const Energy& energy, const Vector& start, RandomStream& random) {
  const Index d = start.size();
  Chain out{Matrix(spec.draws, d), Vector(spec.draws)};
  Point at{start, Vector::Zero(d), Vector(d)};
  at.potential = energy(at.q, &at.gradient);
  Nuts nuts(energy, random);
  StepSize step(1 / std::pow(static_cast<double>(d), 0.25), spec.target);
  for (int i = 0; i < spec.warmup; ++i) {
    ask();
    nuts.move(at, step.now());
    step.learn(nuts.acceptance());
  }
  out.step = step.settled();
  for (Index i = 0; i < spec.draws; ++i) {
    ask();
    nuts.move(at, out.step);
    out.q.row(i) = at.q;
    out.energy(i) = at.potential;
    out.acceptance += nuts.acceptance() / spec.draws;
    out.divergences += nuts.diverged() ? 1 : 0;
  }
  return out;
}

Chain run_walk(const Mcmc& spec, const Energy& energy, const Vector& start, RandomStream& random) {
  const Index d = start.size(), each = 5 * d;
  const double target = d == 1 ? 0.44 : 0.234;
  Chain out{Matrix(spec.draws, d), Vector(spec.draws)};
  Vector q = start, next(d);
  double here = energy(q, nullptr), log_step = std::log(2.4 / std::sqrt(static_cast<double>(d)));
  const auto walk = [&] {  // whether the step was taken
    for (Index j = 0; j < d; ++j) next(j) = q(j) + std::exp(log_step) * random.normal();
    const double there = energy(next, nullptr);
    const double chance = std::exp(std::min(0.0, here - there));  // NaN is never taken
    const bool taken = random.uniform() < chance;
    if (taken) {
      q = next;
      here = there;
    }
    return std::isfinite(chance) ? chance : 0.0;
  };
  double steps = 0;
  for (int i = 0; i < spec.warmup; ++i) {
    ask();
    for (Index k = 0; k < each; ++k) log_step += (walk() - target) / std::pow(++steps, 0.6);
  }
  out.step = std::exp(log_step);
  for (Index i = 0; i < spec.draws; ++i) {
    ask();
    for (Index k = 0; k < each; ++k) out.acceptance += walk() / static_cast<double>(spec.draws * each);
    out.q.row(i) = q;
    out.energy(i) = here;
  }
  return out;
}

}  // namespace

Chain run_chain(const Mcmc& spec, const Energy& energy, const Vector& start, RandomStream& random) {
  return spec.sampler == McmcSampler::nuts ? run_nuts(spec, energy, start, random)
                                           : run_walk(spec, energy, start, random);
}

}  // namespace lemma::mcmc
