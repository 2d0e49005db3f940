// lemma/kernel/kernel_logistic/newton.cpp: Newton's method, a kernel ridge regression each step.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/kernel/kernel_logistic/parts.hpp>
#include <lemma/math/tiled_cholesky.hpp>

namespace lemma::kernel_logistic {
namespace {

constexpr double kRounding = 1e-18;  // a gap that no step makes smaller
constexpr double kSteps = 12;        // of Newton's, about: for the progress bar

struct Direction {
  Vector alpha, f;
  double intercept = 0;
};

/// λδα + W (Kδα + δb) = −λ(α − α̃), 1ᵀ(α + δα) = 0, by (λ + WK)⁻¹ q = (q − S (λI + SKS)⁻¹ S K q) / λ with S = W^½, which
/// divides by no curvature. Nothing when λI + SKS is not positive definite.
std::optional<Direction> newton_direction(const Problem& problem, GramAndFactor& gram, const Vector& alpha,
                                          const Vector& off, const Vector& curvature, const Execution& execution) {
  const Vector s = curvature.cwiseSqrt();
  if (!gram.factorise(s, problem.lambda, execution)) return {};
  const auto solved = [&](const Vector& q) -> Vector {
    return (q - s.cwiseProduct(gram.solve(s.cwiseProduct(gram.times(q))))) / problem.lambda;
  };
  Direction out;
  out.alpha = solved(-problem.lambda * off);
  if (problem.intercept) {
    const Vector of_one = solved(-curvature);
    const double slope = of_one.sum();
    out.intercept = slope < 0 ? -(alpha.sum() + out.alpha.sum()) / slope : 0;
    out.alpha += out.intercept * of_one;
  }
  out.f = gram.times(out.alpha);
  return out;
}

}  // namespace

GramAndFactor::GramAndFactor(const BoundKernel& kernel, const Execution& execution)
    : n_(kernel.count()), both_(n_, n_ + kCholeskyTile) {
  kernel.gram_upper(both_.rightCols(n_), execution);
  for (Index i = 0; i < n_; ++i)
    for (Index j = 0; j <= i; ++j) both_(i, j) = both_(j, kCholeskyTile + i);
}

Vector GramAndFactor::times(const Vector& v) const { return both_.leftCols(n_).selfadjointView<Eigen::Lower>() * v; }

bool GramAndFactor::factorise(const Vector& s, double lambda, const Execution& execution) {
  constexpr Index kRows = 64;
  parallel_for((n_ + kRows - 1) / kRows, Execution{execution.threads, execution.progress, 0, 1, {}}, [&](Index block) {
    const Index first = block * kRows, rows = std::min(kRows, n_ - first);
    for (Index to = first; to < n_; to += kRows) {
      const Index columns = std::min(kRows, n_ - to);
      auto tile = both_.block(first, kCholeskyTile + to, rows, columns);
      tile = both_.block(to, first, columns, rows).transpose();  // of the first tile what is below is never read
      tile.array().colwise() *= s.segment(first, rows).array();
      tile.array().rowwise() *= s.segment(to, columns).transpose().array();
    }
  });
  auto factor = both_.rightCols(n_);
  factor.diagonal().array() += lambda;
  return tiled_cholesky(factor, execution);
}

Vector GramAndFactor::solve(const Vector& v) const { return solve_factored(both_.rightCols(n_), v); }

Solution newton(const KernelLogistic& spec, const Problem& problem, GramAndFactor& gram, const Execution& execution) {
  const Index n = problem.data.count();
  const double lambda = problem.lambda;
  Vector f = Vector::Zero(n);
  Solution at;
  at.alpha = Vector::Zero(n);
  at.intercept = best_intercept(problem, f);
  at.stopped = Stop::iteration_limit;
  double last = 1e300;
  bool polished = false;
  const auto of_kernel = [&](const Vector& v) { return gram.times(v); };
  try {
    for (; at.iterations < spec.max_iterations; ++at.iterations) {
      at.standing = standing_of(problem, at.alpha, f, at.intercept, of_kernel);
      const double gap = at.standing.gap;
      if (gap <= spec.tolerance && (gap <= kRounding || polished || gap > 0.01 * last)) {  // one step more costs little
        at.stopped = Stop::converged;
        break;
      }
      polished = gap <= spec.tolerance;
      last = gap;
      const Loss loss = loss_at(problem, f.array() + at.intercept);
      const Vector off = at.alpha + loss.residual / lambda;  // α − α̃
      const auto to = newton_direction(
          problem, gram, at.alpha, off, loss.curvature,
          execution.part(std::min(0.95, static_cast<double>(at.iterations) / kSteps),
                         std::min(0.95, (static_cast<double>(at.iterations) + 1) / kSteps), "Newton's method"));
      if (!to) {
        at.stopped = Stop::indefinite;
        break;
      }
      const double slope = loss.residual.dot((to->f.array() + to->intercept).matrix()) + lambda * at.alpha.dot(to->f);
      const double cross = at.alpha.dot(to->f), square = to->alpha.dot(to->f);
      const auto objective_at = [&](double t) {
        const Vector eta = (f + t * to->f).array() + (at.intercept + t * to->intercept);
        return loss_at(problem, eta).value + 0.5 * lambda * (at.standing.squared_norm + t * (2 * cross + t * square));
      };
      const double noise = 1e-13 * at.standing.objective;
      double t = 1;
      while (t > 1e-10 && !(objective_at(t) <= at.standing.objective + 1e-4 * t * slope + noise)) t /= 2;
      if (t <= 1e-10) {
        at.stopped = Stop::no_step;
        break;
      }
      at.alpha += t * to->alpha;
      f = t == 1 ? gram.times(at.alpha) : Vector(f + t * to->f);
      at.intercept = best_intercept(problem, f);
    }
  } catch (const Cancelled&) { at.stopped = Stop::cancelled; }
  at.standing = standing_of(problem, at.alpha, f, at.intercept, of_kernel);
  return at;
}

}  // namespace lemma::kernel_logistic
