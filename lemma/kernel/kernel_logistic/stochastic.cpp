// lemma/kernel/kernel_logistic/stochastic.cpp: one row a step, and the average of the functions on the way.
#include <algorithm>
#include <cmath>
#include <lemma/core/random.hpp>
#include <lemma/kernel/kernel_logistic/parts.hpp>
#include <lemma/math/special.hpp>

namespace lemma::kernel_logistic {
namespace {

constexpr Index kDrawn = 64;   // rows whose kernel values are made together; they are used one after the other
constexpr Index kTile = 1024;  // columns of them made by one thread
constexpr double kLate = 3;    // the function after batch t counts like t^kLate

/// k(xᵢ, ·) at all rows for the rows drawn.
void make_rows(const BoundKernel& kernel, const std::vector<Index>& drawn, Matrix& out, const Execution& execution) {
  const Index n = kernel.count();
  parallel_for((n + kTile - 1) / kTile, execution, [&](Index tile) {
    const Index first = tile * kTile;
    kernel.own_block(drawn, first, out.middleCols(first, std::min(kTile, n - first)));
  });
}

/// Row numbers, each as likely as its weight.
class Draws {
 public:
  Draws(const Vector& weight, std::uint64_t seed, std::uint64_t stream) : random_(seed, stream) {
    double sum = 0;
    for (const double w : weight) up_to_.push_back(sum += w);
  }
  Index next() {
    const double u = random_.uniform() * up_to_.back();
    const auto at = std::upper_bound(up_to_.begin(), up_to_.end() - 1, u);
    return static_cast<Index>(at - up_to_.begin());
  }

 private:
  RandomStream random_;
  std::vector<double> up_to_;
};

/// f and b on the way, and their average.
struct Walk {
  Vector alpha, mean_alpha;
  double b = 0, steps = 0, batches = 0;

  /// The rows drawn, one after the other. f at those rows is followed from step to step, so that the kernel is made once.
  void batch(const Problem& problem, const std::vector<Index>& drawn, const Matrix& k, double first_step) {
    const auto size = static_cast<Index>(drawn.size());
    const double shrink = problem.lambda / problem.data.mass();
    Vector f = k * alpha, change = Vector::Zero(size);
    double scale = 1;  // α is scale · alpha + the changes at the rows drawn
    for (Index i = 0; i < size; ++i, ++steps) {
      const double s = first_step / (1 + first_step * shrink * steps);
      const double slope = logistic(f(i) + b) - problem.y(drawn[static_cast<std::size_t>(i)]);
      f *= 1 - s * shrink;
      change *= 1 - s * shrink;
      scale *= 1 - s * shrink;
      for (Index j = 0; j < size; ++j) f(j) -= s * slope * k(j, drawn[static_cast<std::size_t>(i)]);
      change(i) -= s * slope;
      if (problem.intercept) b -= s * slope;
    }
    alpha *= scale;
    for (Index i = 0; i < size; ++i) alpha(drawn[static_cast<std::size_t>(i)]) += change(i);
    ++batches;
    mean_alpha += std::min(1.0, (kLate + 1) / (batches + kLate)) * (alpha - mean_alpha);
  }
};

}  // namespace

Solution stochastic(const KernelLogistic& spec, const Problem& problem, const BoundKernel& kernel, std::uint64_t seed,
                    std::uint64_t stream, const Execution& execution) {
  const Index n = problem.data.count(), a_pass = (n + kDrawn - 1) / kDrawn;
  const double largest = kernel.diagonal().cwiseAbs().maxCoeff() + (problem.intercept ? 1 : 0);
  const double first_step = 2 / std::max(largest, 1e-300);  // the loss of a row bends at most by a quarter of that
  Draws draws(problem.data.weight, seed, stream);
  Walk walk{Vector::Zero(n), Vector::Zero(n)};
  std::vector<Index> drawn(static_cast<std::size_t>(kDrawn));
  Matrix k(kDrawn, n);
  Execution still = execution;  // what has been found is judged, cancelled or not
  still.progress = nullptr;
  still.message.clear();
  const auto of_kernel = [&](const Vector& v) -> Vector { return kernel.expand_own(Matrix(v), still).col(0); };
  Solution at;
  const auto judge = [&] {
    at.alpha = walk.mean_alpha;
    const Vector f = of_kernel(at.alpha);
    at.intercept = best_intercept(problem, f);
    at.standing = standing_of(problem, at.alpha, f, at.intercept, of_kernel);
    return at.standing.gap <= tolerance_of(spec);
  };
  at.stopped = Stop::pass_limit;
  Execution quiet = execution;
  quiet.message.clear();
  long long look_after = 4;
  try {
    while (at.iterations < spec.max_iterations) {
      for (Index batch = 0; batch < a_pass; ++batch) {
        for (Index& each : drawn) each = draws.next();
        make_rows(kernel, drawn, k, quiet);
        walk.batch(problem, drawn, k, first_step);
      }
      ++at.iterations;
      execution.report(static_cast<double>(at.iterations) / spec.max_iterations, "passes");
      if (at.iterations < look_after) continue;
      look_after = at.iterations + std::max(4LL, at.iterations / 4);
      if (judge()) {
        at.stopped = Stop::converged;
        return at;
      }
    }
  } catch (const Cancelled&) { at.stopped = Stop::cancelled; }
  if (judge() && at.stopped == Stop::pass_limit) at.stopped = Stop::converged;
  return at;
}

}  // namespace lemma::kernel_logistic
