// lemma/optimize/stochastic.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/random.hpp>
#include <lemma/optimize/descend.hpp>
#include <lemma/optimize/stochastic.hpp>
#include <limits>
#include <numeric>
#include <utility>

namespace lemma {
namespace {

void check(const SgdOptions& o, Index terms) {
  require(terms >= 1, "stochastic gradient descent needs at least one term");
  require(o.batch >= 1, fmt::format("a batch needs at least one term, not {}", o.batch));
  require(
      o.power > 0.5 && o.power <= 1,
      fmt::format("the steps fall as t^-{}: with a power outside (1/2, 1] they stop short or never settle", o.power));
  require(!o.step || *o.step > 0, "the first step must be above 0");
  require(!o.slow || *o.slow > 0, "the steps' time T must be above 0");
}

class Walk {
 public:
  Walk(const FiniteSum& f, Vector start, const SgdOptions& options)
      : f_(&f), options_(&options), x_(std::move(start)), gradient_(x_.size()) {}

  /// One pass over the terms in the order given; false when it left the finite numbers or was cancelled.
  bool pass(std::span<const Index> order, double step, double slow) {
    for (std::size_t first = 0; first < order.size();) {
      const std::size_t size = std::min(order.size() - first, static_cast<std::size_t>(options_->batch));
      gradient_.setZero(x_.size());
      f_->batch(x_, order.subspan(first, size), gradient_);
      const double epsilon = step * std::pow(1 + static_cast<double>(t_++) / slow, -options_->power);
      x_ -= (epsilon / static_cast<double>(size)) * gradient_;
      first += size;
      if (averaging_) mean_ += (x_ - mean_) / static_cast<double>(++averaged_);
      if (t_ % 64 == 0 && options_->execution.cancelled()) return false;
    }
    return x_.allFinite();
  }
  void begin_average() { averaging_ = true, averaged_ = 0, mean_ = x_; }
  const Vector& point() const { return averaged_ > 0 ? mean_ : x_; }

 private:
  const FiniteSum* f_;
  const SgdOptions* options_;
  Vector x_, gradient_, mean_;
  long long t_ = 0, averaged_ = 0;
  bool averaging_ = false;
};

double batches(Index terms, Index batch) { return std::ceil(static_cast<double>(terms) / static_cast<double>(batch)); }

/// ε₀ by a short walk over a sample for each of a few sizes: the one that ends lowest (Bottou 2012).
double choose_step(const FiniteSum& f, const Vector& start, const SgdOptions& options, RandomStream stream) {
  const Index size = std::min<Index>(f.terms(), std::max<Index>(20 * options.batch, 1000));
  const std::vector<Index> sample = sample_without_replacement(stream, f.terms(), size);
  Vector unused = Vector::Zero(start.size());
  double best = 0, least = f.batch(start, sample, unused);
  const double norm = std::max(unused.norm() / static_cast<double>(size), 1e-300);
  const double unit = std::max(1.0, start.norm()) / norm;  // a step of about the size of x
  for (double step = 100 * unit; step > 1e-9 * unit; step /= 4) {
    Walk walk(f, start, options);
    double value = std::numeric_limits<double>::infinity();
    if (walk.pass(sample, step, batches(size, options.batch))) value = f.batch(walk.point(), sample, unused);
    if (value < least) least = value, best = step;
    else if (best > 0) break;  // smaller ones only do less
  }
  return best > 0 ? best : 1e-9 * unit;
}

}  // namespace

Minimum stochastic_gradient(const FiniteSum& f, Vector start, const SgdOptions& options) {
  const Index n = f.terms();
  check(options, n);
  const RandomStream stream(options.seed);
  std::vector<Index> order(static_cast<std::size_t>(n)), all(order.size());
  std::iota(all.begin(), all.end(), Index{0});

  descent::State state;
  state.x = start;
  const auto evaluate = [&] {
    state.gradient.setZero(state.x.size());
    state.value = f.batch(state.x, all, state.gradient), ++state.evaluations;
  };
  evaluate();
  require(std::isfinite(state.value), fmt::format("the objective is {} at the start; start elsewhere", state.value));
  const double ceiling = state.value + std::max(1.0, std::abs(state.value));
  double step = options.step ? *options.step : choose_step(f, state.x, options, stream.split(0));
  const double slow = options.slow.value_or(batches(n, options.batch));
  const MinimiseOptions limits{options.passes, options.tolerance, options.keep_trace, options.stop};

  Minimum out;
  Walk walk(f, start, options);
  while (!descent::note(state, limits, out)) {
    options.execution.report(static_cast<double>(state.iteration) / static_cast<double>(options.passes), "passes");
    if (options.average && state.iteration == options.passes / 2) walk.begin_average();
    order = all;
    RandomStream of_pass = stream.split(static_cast<std::uint64_t>(state.iteration) + 1);
    of_pass.shuffle(std::span(order));
    const Walk before = walk;
    const bool finite = walk.pass(order, step, slow);
    if (options.execution.cancelled()) {
      out.stopped = Stop::by_caller;
      break;
    }
    ++state.iteration;
    const descent::State kept = state;
    state.x = walk.point();
    if (finite) evaluate();
    if (!finite || !(state.value <= ceiling)) {  // too long a step: back to the last pass, with a shorter one
      walk = before, step /= 10;
      state.x = kept.x, state.value = kept.value, state.gradient = kept.gradient;
    }
  }
  return descent::finish(std::move(state), std::move(out));
}

}  // namespace lemma
