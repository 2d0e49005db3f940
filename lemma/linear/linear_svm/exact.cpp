// lemma/linear/linear_svm/exact.cpp: few columns: second-order methods, and the optimum itself at their end.
#include <algorithm>
#include <cmath>
#include <lemma/linear/shared/margin_problem.hpp>
#include <lemma/math/factorise.hpp>

namespace lemma::margin {
namespace {

constexpr double kFar = 1e-11;        // of P: how far the interior point method goes, whatever was asked for
constexpr int kPatience = 25;         // steps without progress
constexpr double kNearOne = 0.9995;   // share of the way to the boundary
constexpr Index kMostToPolish = 900;  // columns and rows on the margin

/// R + M with R the curvature of the penalty; solves for θ in columns of unit diagonal. A missing intercept stays 0.
class System {
 public:
  System(const Problem& problem, Matrix upper) : problem_(problem) {
    for (Index j = 1; j < upper.rows(); ++j) upper(j, j) += 1;
    if (!problem.intercept) {
      upper.row(0).setZero();
      upper(0, 0) = 1;
    } else if (problem.bias == Bias::penalised) {
      upper(0, 0) += 1;
    }
    unit_ = upper.diagonal().unaryExpr([](double h) { return h > 0 ? 1 / std::sqrt(h) : 1.0; });
    Matrix scaled = unit_.asDiagonal() * upper * unit_.asDiagonal();
    for (double ridge = 0; ridge < 1e-6; ridge = std::max(1e-15, 100 * ridge)) {
      scaled.diagonal().setConstant(1 + ridge);
      if (auto found = cholesky(scaled)) {
        triangle_ = std::move(*found);
        return;
      }
    }
  }
  bool usable() const { return triangle_.size() > 0; }
  Vector solve(Vector rhs) const {
    if (!problem_.intercept) rhs(0) = 0;
    const Vector scaled = rhs.cwiseProduct(unit_);
    return solve_upper(triangle_, solve_upper_transposed(triangle_, scaled)).col(0).cwiseProduct(unit_);
  }

 private:
  const Problem& problem_;
  Vector unit_;
  Matrix triangle_;
};

/// R θ
Vector penalty_slope(const Problem& problem, const Vector& theta) {
  Vector out = theta;
  if (!problem.intercept || problem.bias == Bias::free) out(0) = 0;
  return out;
}

/// The iterates of the interior point method: margins m = 1 − ξ + s with s, ξ > 0, and 0 < α < c with μ = c − α.
struct Interior {
  const Problem& problem;
  Vector theta, alpha, mu, s, xi, f;

  /// In the middle of all bounds, with w = 0.
  Interior(const Problem& of, Index terms) : problem(of), theta(Vector::Zero(terms)) {
    const Index n = of.c.size();
    alpha = mu = of.c.unaryExpr([](double c) { return c > 0 ? 0.5 * c : 1.0; });
    f = Vector::Zero(n);
    s = Vector::Ones(n);
    xi = Vector::Constant(n, 2.0);
  }
  bool used(Index i) const { return problem.c(i) > 0; }
  double complementarity() const {
    double sum = 0;
    for (Index i = 0; i < s.size(); ++i)
      if (used(i)) sum += alpha(i) * s(i) + mu(i) * xi(i);
    return sum;
  }
  Vector dual_point() const {
    return alpha.binaryExpr(problem.c, [](double a, double c) { return c > 0 ? a : 0.0; });
  }
};

struct Direction {
  Vector theta, f, alpha, s, xi;
};

/// Newton's direction for α s = rs, μ ξ = rx (as changes), with the system factorised.
Direction direction(const Interior& at, const RowProducts& rows, const System& system, const Vector& d,
                    const Vector& dual_residual, const Vector& rs, const Vector& rx) {
  const Problem& problem = at.problem;
  const Index n = d.size();
  Vector h(n), pull(n);
  for (Index i = 0; i < n; ++i) {
    const double rp = 1 - problem.t(i) * at.f(i) - at.xi(i) + at.s(i);
    h(i) = rp - rx(i) / at.mu(i) + rs(i) / at.alpha(i);
    pull(i) = d(i) * h(i) * problem.t(i);
  }
  Direction out;
  out.theta = system.solve(dual_residual + rows.add_up(pull));
  out.f = rows.times(out.theta);
  out.alpha = out.s = out.xi = Vector::Zero(n);
  for (Index i = 0; i < n; ++i) {
    if (!at.used(i)) continue;
    out.alpha(i) = d(i) * (h(i) - problem.t(i) * out.f(i));
    out.s(i) = (rs(i) - at.s(i) * out.alpha(i)) / at.alpha(i);
    out.xi(i) = (rx(i) + at.xi(i) * out.alpha(i)) / at.mu(i);
  }
  return out;
}

/// The longest step, at most 1, with which all of s, ξ, α and μ stay above 0.
double longest_step(const Interior& at, const Direction& by) {
  double step = 1;
  const auto keep = [&](double value, double change) {
    if (value + step * change < 0) step = -value / change;
  };
  for (Index i = 0; i < at.s.size(); ++i) {
    if (!at.used(i)) continue;
    keep(at.s(i), by.s(i));
    keep(at.xi(i), by.xi(i));
    keep(at.alpha(i), by.alpha(i));
    keep(at.mu(i), -by.alpha(i));
  }
  return step;
}

void move(Interior& at, const Direction& by, double step) {
  at.theta += step * by.theta;
  at.f += step * by.f;
  at.s += step * by.s;
  at.xi += step * by.xi;
  at.alpha += step * by.alpha;
  at.mu -= step * by.alpha;
}

/// The optimum itself, once it is known which rows lie on the margin (F), within it (U) and beyond (the others):
///
///     R θ = Σ_U c z + Σ_F α z,      z·θ = 1 for F,       z = t [1 x].
std::optional<Point> from_the_margin(const Interior& at, const RowProducts& rows) {
  const Problem& problem = at.problem;
  std::vector<Index> on;
  Vector alpha = Vector::Zero(at.s.size());
  for (Index i = 0; i < at.s.size(); ++i) {
    if (!at.used(i) || at.s(i) > at.alpha(i) / problem.c(i)) continue;
    if (at.xi(i) > at.mu(i) / problem.c(i)) alpha(i) = problem.c(i);
    else on.push_back(i);
  }
  const Index first = problem.intercept ? 0 : 1, terms = at.theta.size() - first;
  const auto m = static_cast<Index>(on.size()), size = terms + m;
  if (size > kMostToPolish) return {};
  Matrix system = Matrix::Zero(size, size);
  Vector rhs(size);
  rhs << rows.add_up(alpha.cwiseProduct(problem.t)).tail(terms), Vector::Ones(m);
  system.diagonal().head(terms).setOnes();
  if (problem.free_bias()) system(0, 0) = 0;
  for (Index k = 0; k < m; ++k) {
    const Index i = on[static_cast<std::size_t>(k)];
    const Vector z = problem.t(i) * rows.row(i).tail(terms);
    system.row(terms + k).head(terms) = z.transpose();
    system.col(terms + k).head(terms) = -z;
  }
  Vector found = least_squares(system, rhs).w;
  found += least_squares(system, rhs - system * found).w;
  if (!found.allFinite()) return {};
  Point out;
  out.theta = Vector::Zero(at.theta.size());
  out.theta.tail(terms) = found.head(terms);
  for (Index k = 0; k < m; ++k) alpha(on[static_cast<std::size_t>(k)]) = found(terms + k);
  out.alpha = std::move(alpha);
  return out;
}

/// With the bias that is best for its w.
void settle_bias(const Problem& problem, const RowProducts& rows, Point& point) {
  if (!problem.free_bias()) return;
  Vector slopes = point.theta;
  slopes(0) = 0;
  point.theta(0) = problem.best_bias(rows.times(slopes));
}

}  // namespace

Point interior_point(const Problem& problem, const RowProducts& rows, const SolveOptions& options) {
  const Index n = problem.c.size();
  const double used = static_cast<double>((problem.c.array() > 0).count());
  Interior at(problem, rows.width() + 1);
  Stop stopped = Stop::iteration_limit;
  long long iterations = 0;
  double best = std::numeric_limits<double>::infinity(), least = best;
  int idle = 0;
  Vector d(n), rs(n), rx(n);
  for (; iterations < options.max_iterations; ++iterations) {
    if (options.execution.cancelled()) {
      stopped = Stop::cancelled;
      break;
    }
    const Vector dual_residual =
        rows.add_up(at.dual_point().cwiseProduct(problem.t)) - penalty_slope(problem, at.theta);
    const double primal = problem.penalty(at.theta) + problem.losses(at.f), complementarity = at.complementarity();
    Vector residual = dual_residual;
    residual(0) *= problem.intercept ? 1 + std::abs(at.theta(0)) : 0.0;
    const double distance =
        (complementarity + 0.5 * residual.tail(residual.size() - 1).squaredNorm() + std::abs(residual(0))) / primal;
    options.execution.report(std::clamp(std::log10(std::max(distance, kFar)) / std::log10(kFar), 0.0, 1.0),
                             "interior point method");
    if (distance <= kFar) {
      stopped = Stop::converged;
      break;
    }
    idle = distance < 0.9 * best || complementarity < 0.9 * least ? 0 : idle + 1;
    best = std::min(best, distance);
    least = std::min(least, complementarity);
    if (idle >= kPatience || !std::isfinite(distance)) {
      stopped = Stop::no_progress;
      break;
    }
    for (Index i = 0; i < n; ++i) {
      d(i) = at.used(i) ? 1 / (at.xi(i) / at.mu(i) + at.s(i) / at.alpha(i)) : 0.0;
      rs(i) = -at.alpha(i) * at.s(i);
      rx(i) = -at.mu(i) * at.xi(i);
    }
    const System system(problem, rows.gram(d));
    if (!system.usable()) {
      stopped = Stop::no_progress;
      break;
    }
    const Direction straight = direction(at, rows, system, d, dual_residual, rs, rx);
    Interior ahead = at;
    move(ahead, straight, longest_step(at, straight));
    const double mean = complementarity / (2 * used), share = std::max(0.0, ahead.complementarity()) / complementarity;
    const double aim = share * share * share * mean;
    for (Index i = 0; i < n; ++i) {  // Mehrotra's corrector
      rs(i) += aim - straight.alpha(i) * straight.s(i);
      rx(i) += aim + straight.alpha(i) * straight.xi(i);
    }
    const Direction by = direction(at, rows, system, d, dual_residual, rs, rx);
    const double longest = longest_step(at, by);
    move(at, by, longest < 1 ? kNearOne * longest : 1.0);
  }
  Point point;
  point.theta = at.theta;
  point.alpha = at.dual_point();
  settle_bias(problem, rows, point);
  judge(problem, rows, point);
  if (stopped != Stop::cancelled) {
    if (auto exact = from_the_margin(at, rows)) {
      settle_bias(problem, rows, *exact);
      judge(problem, rows, *exact);
      if (exact->gap() <= std::max(point.gap(), 1e-12)) point = std::move(*exact);
    }
  }
  point.iterations = iterations;
  point.stopped = point.gap() <= options.tolerance ? Stop::converged
                  : stopped == Stop::converged     ? Stop::no_progress
                                                   : stopped;
  return point;
}

Point newton(const Problem& problem, const RowProducts& rows, const SolveOptions& options) {
  const Index n = problem.c.size();
  Point point;
  point.theta = Vector::Zero(rows.width() + 1);
  Vector f = Vector::Zero(n), slack(n), d(n), last = Vector::Constant(n, -1.0);
  point.stopped = Stop::iteration_limit;
  for (; point.iterations < options.max_iterations; ++point.iterations) {
    if (options.execution.cancelled()) {
      point.stopped = Stop::cancelled;
      break;
    }
    options.execution.report(std::min(0.9, 0.05 * static_cast<double>(point.iterations)), "Newton's method");
    slack = (1 - problem.t.array() * f.array()).max(0.0);
    for (Index i = 0; i < n; ++i) d(i) = slack(i) > 0 ? 2 * problem.c(i) : 0.0;
    const Vector slope =
        penalty_slope(problem, point.theta) - rows.add_up(d.cwiseProduct(slack).cwiseProduct(problem.t));
    const System system(problem, rows.gram(d));
    if (!system.usable()) {
      point.stopped = Stop::no_progress;
      break;
    }
    const Vector by = system.solve(-slope), along = rows.times(by);
    const double promised = -0.5 * slope.dot(by), value = problem.penalty(point.theta) + problem.losses(f);
    const bool same = d == last;
    last = d;
    // P along the direction is convex: where a whole step does not lower it, its derivative is brought to 0.
    double step = 1;
    if (problem.penalty(point.theta + by) + problem.losses(f + along) > value - 1e-4 * promised + 1e-14 * value) {
      const auto derivative = [&](double a) {
        const Vector m = f + a * along;
        return penalty_slope(problem, point.theta + a * by).dot(by) -
               (2 * problem.c.array() * (1 - problem.t.array() * m.array()).max(0.0) * problem.t.array() *
                along.array())
                   .sum();
      };
      double low = 0, high = 1;
      for (int k = 0; k < 60 && high - low > 1e-12; ++k)
        (derivative(step = 0.5 * (low + high)) < 0 ? low : high) = step;
    }
    point.theta += step * by;
    f = rows.times(point.theta);
    if ((same && step == 1) || promised <= 1e-16 * value) {
      point.stopped = Stop::converged;
      ++point.iterations;
      break;
    }
  }
  point.alpha = 2 * problem.c.array() * (1 - problem.t.array() * f.array()).max(0.0);
  judge(problem, rows, point);
  return point;
}

}  // namespace lemma::margin
