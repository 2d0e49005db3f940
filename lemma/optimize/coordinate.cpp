// lemma/optimize/coordinate.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/optimize/coordinate.hpp>
#include <lemma/optimize/descend.hpp>
#include <limits>
#include <utility>

namespace lemma {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Vector filled(const Vector& given, Index n, double otherwise, const char* what) {
  require(given.size() == 0 || given.size() == n,
          fmt::format("the penalty has {} entries of {} for {} coordinates", given.size(), what, n));
  return given.size() ? given : Vector(Vector::Constant(n, otherwise));
}

class Problem {
 public:
  Problem(const MatrixView& q, const VectorView& b, const SeparablePenalty& penalty, Vector start)
      : q_(q), b_(b), x(std::move(start)) {
    const Index n = b.size();
    require(q.rows() == n && q.cols() == n && x.size() == n,
            fmt::format("Q is {} × {}, b has {} entries and the start {}", q.rows(), q.cols(), n, x.size()));
    l1_ = filled(penalty.l1, n, 0, "l1"), l2_ = filled(penalty.l2, n, 0, "l2");
    lower_ = filled(penalty.lower, n, -kInfinity, "lower"), upper_ = filled(penalty.upper, n, kInfinity, "upper");
    for (Index j = 0; j < n; ++j) {
      require(q(j, j) >= 0, fmt::format("Q has {} on its diagonal at {}: it is not positive semidefinite", q(j, j), j));
      require(l1_[j] >= 0 && l2_[j] >= 0, fmt::format("the penalty of coordinate {} is negative", j));
      require(lower_[j] <= upper_[j], fmt::format("the bounds of coordinate {} cross", j));
    }
    x = x.cwiseMax(lower_).cwiseMin(upper_);
    residual_.resize(n);
    refresh();
  }

  /// b − Qx anew, since updates gather rounding.
  void refresh() { residual_.noalias() = b_ - q_ * x; }

  double value() const {
    return -0.5 * x.dot(b_ + residual_) + l1_.dot(x.cwiseAbs()) + 0.5 * x.dot(l2_.cwiseProduct(x));
  }

  /// Coordinate j to its minimum; returns by how much its objective falls.
  double visit(Index j) {
    const double curvature = q_(j, j) + l2_[j];
    const double r = residual_[j] + q_(j, j) * x[j];
    const double shrunk = std::copysign(std::max(std::abs(r) - l1_[j], 0.0), r);
    double to = x[j];
    if (curvature > 0) to = shrunk / curvature;
    else if (shrunk != 0) to = shrunk > 0 ? upper_[j] : lower_[j];
    require(std::isfinite(to), fmt::format("the objective falls without end along coordinate {}", j));
    to = std::clamp(to, lower_[j], upper_[j]);
    const double change = to - x[j];
    if (change == 0) return 0;
    residual_.noalias() -= change * q_.row(j).transpose();  // Q is symmetric, and its rows lie together
    x[j] = to;
    return curvature * change * change;
  }

  /// The smallest subgradient in coordinate j, with what the bounds take away.
  double slope(Index j) const {
    const double smooth = l2_[j] * x[j] - residual_[j];
    double low = smooth - l1_[j], high = smooth + l1_[j];
    if (x[j] > 0) low = high;
    else if (x[j] < 0) high = low;
    if (x[j] <= lower_[j]) low = -kInfinity;
    if (x[j] >= upper_[j]) high = kInfinity;
    return low > 0 ? low : high < 0 ? high : 0.0;
  }
  bool active(Index j) const { return x[j] != 0 && x[j] != lower_[j] && x[j] != upper_[j]; }

 private:
  const MatrixView& q_;
  Vector b_, l1_, l2_, lower_, upper_, residual_;

 public:
  Vector x;
};

}  // namespace

Minimum coordinate_descent(const MatrixView& q, const VectorView& b, const SeparablePenalty& penalty, Vector start,
                           const MinimiseOptions& options) {
  Problem problem(q, b, penalty, std::move(start));
  const Index n = b.size();
  descent::State state;
  const auto look = [&] {
    problem.refresh();
    state.x = problem.x, state.value = problem.value();
    state.gradient.resize(n);
    for (Index j = 0; j < n; ++j) state.gradient[j] = problem.slope(j);
    ++state.evaluations;
  };
  look();
  Minimum out;
  std::vector<Index> active;
  while (!descent::note(state, options, out)) {
    for (Index j = 0; j < n; ++j) problem.visit(j);
    active.clear();
    for (Index j = 0; j < n; ++j)
      if (problem.active(j)) active.push_back(j);
    const double rest = options.tolerance * std::max(1.0, std::abs(state.value));
    for (int round = 0; round < 1000; ++round) {
      double worst = 0;
      for (const Index j : active) {
        worst = std::max(worst, std::abs(problem.slope(j)));
        problem.visit(j);
      }
      if (worst <= 0.5 * rest) break;
    }
    ++state.iteration;
    look();
  }
  return descent::finish(std::move(state), std::move(out));
}

}  // namespace lemma
