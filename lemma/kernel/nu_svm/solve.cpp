// lemma/kernel/nu_svm/solve.cpp
#include <algorithm>
#include <cmath>
#include <lemma/kernel/nu_svm/solve.hpp>
#include <limits>

namespace lemma::nu_svm {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeastCurvature = 1e-12;
constexpr long long kMostSteps = 2'000'000, kMostStepsARow = 500, kBetweenLooks = 512;

/// The first rows of each class, as much as they may carry, until their sum is ν/2.
Vector first_rows(const Vector& target, const Vector& bound, double nu) {
  Vector beta = Vector::Zero(bound.size());
  double left[] = {nu / 2, nu / 2};
  for (Index i = 0; i < bound.size(); ++i) {
    double& of_class = left[target(i) > 0 ? 1 : 0];
    const double alpha = std::min(bound(i), of_class);
    beta(i) = target(i) * alpha;
    of_class -= alpha;
  }
  return beta;
}

class Descent {
 public:
  Descent(const Matrix& gram, const Vector& target, const Vector& bound, Vector beta)
      : gram_(gram), target_(target), bound_(bound), beta_(std::move(beta)), values_(gram * beta_) {}

  const Vector& beta() const { return beta_; }
  const Vector& values() const { return values_; }
  long long steps() const { return steps_; }
  /// What rounding has added up in Kβ is gone.
  void refresh() { values_ = gram_ * beta_; }

  enum class End { optimal, steps, rounding, cancelled };
  End run(double tolerance, const Execution& execution) {
    while (true) {
      const Pair one = best_pair(-1), two = best_pair(1);
      const Pair& pair = one.fall > two.fall ? one : two;
      if (std::max(one.violation, two.violation) <= tolerance) return End::optimal;
      if (steps_ >= std::max(kMostSteps, kMostStepsARow * beta_.size())) return End::steps;
      if (!step(pair)) return End::rounding;
      if (++steps_ % kBetweenLooks == 0 && execution.cancelled()) return End::cancelled;
    }
  }

 private:
  struct Pair {
    Index grows = -1, falls = -1;
    double fall = 0, violation = 0;
  };
  double alpha(Index i) const { return std::abs(beta_(i)); }
  /// −∂/∂αᵢ of the objective.
  double slope(Index i) const { return -target_(i) * values_(i); }

  /// Of one class: the row that would grow most, and the one whose fall with it lowers the objective most.
  Pair best_pair(double of_class) const {
    Pair out;
    double greatest = -kInfinity, least = kInfinity;
    for (Index i = 0; i < beta_.size(); ++i)
      if (target_(i) == of_class && alpha(i) < bound_(i) && slope(i) > greatest) {
        greatest = slope(i);
        out.grows = i;
      }
    if (out.grows < 0) return out;
    for (Index j = 0; j < beta_.size(); ++j) {
      if (target_(j) != of_class || !(alpha(j) > 0)) continue;
      least = std::min(least, slope(j));
      const double apart = greatest - slope(j);
      if (!(apart > 0)) continue;
      const double fall = apart * apart / curvature(out.grows, j);
      if (fall > out.fall) {
        out.fall = fall;
        out.falls = j;
      }
    }
    out.violation = least < kInfinity ? std::max(greatest - least, 0.0) : 0;
    return out;
  }
  double curvature(Index i, Index j) const {
    return std::max(gram_(i, i) + gram_(j, j) - 2 * gram_(i, j), kLeastCurvature);
  }
  /// False when the step is too small to be seen.
  bool step(const Pair& pair) {
    if (pair.falls < 0) return false;
    const Index i = pair.grows, j = pair.falls;
    const double t = target_(i), before_i = alpha(i), before_j = alpha(j);
    const double wanted = (slope(i) - slope(j)) / curvature(i, j);
    const double size = std::min({wanted, bound_(i) - before_i, before_j});
    const double after_i = size == bound_(i) - before_i ? bound_(i) : before_i + size,
                 after_j = size == before_j ? 0.0 : before_j - size;
    if (after_i == before_i || after_j == before_j) return false;
    beta_(i) = t * after_i;
    beta_(j) = t * after_j;
    values_ += t * size * (gram_.row(i) - gram_.row(j)).transpose();
    return true;
  }

  const Matrix& gram_;
  const Vector &target_, &bound_;
  Vector beta_, values_;
  long long steps_ = 0;
};

/// ρ ± b as one class sees it.
double margin_of(double of_class, const Vector& target, const Vector& bound, const Vector& beta, const Vector& values) {
  double sum = 0, low = -kInfinity, high = kInfinity;
  Index free = 0;
  for (Index i = 0; i < beta.size(); ++i) {
    if (target(i) != of_class) continue;
    const double seen = target(i) * values(i), alpha = std::abs(beta(i));
    if (alpha > 0 && alpha < bound(i)) {
      sum += seen;
      ++free;
    } else if (alpha > 0) {
      low = std::max(low, seen);
    } else {
      high = std::min(high, seen);
    }
  }
  if (free > 0) return sum / static_cast<double>(free);
  if (low > -kInfinity && high < kInfinity) return (low + high) / 2;
  return low > -kInfinity ? low : high;
}

}  // namespace

Plane plane_of(const Vector& target, const Vector& bound, const Vector& beta, const Vector& values) {
  const double second = margin_of(1, target, bound, beta, values), first = margin_of(-1, target, bound, beta, values);
  return {(second + first) / 2, (first - second) / 2};
}

double relative_gap(double nu, const Vector& target, const Vector& bound, const Vector& values, const Plane& plane,
                    double squared_norm) {
  double above = squared_norm - nu * plane.rho;
  for (Index i = 0; i < values.size(); ++i)
    above += bound(i) * std::max(0.0, plane.rho - target(i) * (values(i) + plane.bias));
  if (above == 0 || std::isnan(above)) return above;
  return squared_norm > 0 ? std::max(above, 0.0) / (squared_norm / 2) : 1;
}

Solution solve(const Matrix& gram, const Vector& target, const Vector& bound, double nu, double tolerance,
               const Execution& execution) {
  Descent descent(gram, target, bound, first_rows(target, bound, nu));
  const double unit = std::max(gram.diagonal().cwiseAbs().maxCoeff(), 1e-300);
  Solution out;
  constexpr int kRounds = 14;
  for (int round = 0; round < kRounds; ++round) {
    execution.report(static_cast<double>(round) / kRounds, "moving pairs of rows");
    const auto end = descent.run(unit * std::min(tolerance, 1e-3) * std::pow(0.1, round), execution);
    descent.refresh();
    out.beta = descent.beta();
    out.values = descent.values();
    out.plane = plane_of(target, bound, out.beta, out.values);
    out.gap = relative_gap(nu, target, bound, out.values, out.plane, out.beta.dot(out.values));
    out.steps = descent.steps();
    out.stopped = end == Descent::End::cancelled  ? "cancelled"
                  : end == Descent::End::steps    ? "iteration limit"
                  : end == Descent::End::rounding ? "rounding allows no further progress"
                                                  : "converged";
    if (out.gap <= tolerance || end != Descent::End::optimal) break;
  }
  return out;
}

}  // namespace lemma::nu_svm
