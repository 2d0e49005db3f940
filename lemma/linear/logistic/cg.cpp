// lemma/linear/logistic/cg.cpp: Newton's method for so many columns that the Hessian is only ever multiplied.
#include <algorithm>
#include <cmath>
#include <lemma/linear/logistic/parts.hpp>
#include <lemma/linear/logistic/sparse.hpp>
#include <lemma/linear/shared/conjugate_gradients.hpp>

namespace lemma::logit {
namespace {

constexpr int kMostProducts = 200, kMostHalvings = 40;
constexpr double kBelowRounding = 1e-13;

/// J = loss + ½ Σ k β², where it stands.
struct Place {
  Vector beta, gradient, residual, curvature;
  double objective = 0;
};

class TruncatedNewton {
 public:
  TruncatedNewton(const SparseLoss& loss, const PenaltyTerm& penalty) : loss_(loss), penalty_(penalty) {
    const Frame& frame = loss.frame();
    ridge_ = Vector::Zero(loss.size());
    for (Index j = 0; j < frame.width(); ++j)
      ridge_(j + 1) = frame.inverse_scale(j) > 0 ? penalty.quadratic(frame.factor(j)) : 1.0;
    if (!frame.intercept) ridge_(0) = 1;
  }

  Place look(Vector beta, bool slopes) const {
    Place out;
    out.beta = std::move(beta);
    out.objective = loss_.rows_loss(loss_.predictor(out.beta), out.residual, out.curvature) +
                    penalty_.value(loss_.frame(), out.beta);
    if (slopes) add_slopes(out);
    return out;
  }
  void add_slopes(Place& place) const {
    place.gradient = loss_.add_up(place.residual) + ridge_.cwiseProduct(place.beta);
    if (!loss_.frame().intercept) place.gradient(0) = 0;
  }

  /// (H + ridge) d ≈ −g by conjugate gradients with the diagonal of the Hessian as preconditioner, until the residual is
  /// `forcing` of g in its norm.
  Vector direction(const Place& at, double forcing, long long& products) const {
    Vector diagonal = (loss_.add_up_squares(at.curvature) + ridge_).cwiseMax(1e-300);
    if (!loss_.frame().intercept) diagonal(0) = 1;
    return conjugate_gradients(diagonal, -at.gradient, forcing * forcing, kMostProducts,
                               [&](const Vector& q, Vector& hq) {
                                 hq = loss_.hessian_times(at.curvature, q) + ridge_.cwiseProduct(q);
                                 ++products;
                               });
  }

 private:
  const SparseLoss& loss_;
  const PenaltyTerm& penalty_;
  Vector ridge_;
};

}  // namespace

Solution newton_cg(const SparseLoss& loss, const PenaltyTerm& penalty, Vector start, const SolveOptions& options) {
  const TruncatedNewton problem(loss, penalty);
  Solution out;
  Place at = problem.look(std::move(start), true);
  const double first = at.gradient.norm();
  out.stopped = Stop::iteration_limit;
  double wanted = options.tolerance;
  long long products = 0;
  while (true) {
    out.trace.push_back(at.objective);
    const double gap = slope_gap(loss.frame(), penalty, at.gradient);
    const bool still = at.gradient.norm() <= 1e-14 * (first + std::abs(at.objective));
    if ((penalty.lambda() > 0 && gap <= wanted * at.objective) || still) {
      out.gap = duality_gap(loss, penalty, at.beta, loss.split(at.beta));
      if (out.gap.relative() <= options.tolerance || still) {
        out.stopped = out.gap.relative() <= options.tolerance ? Stop::converged : Stop::no_descent;
        break;
      }
      wanted *= 0.1;
    }
    if (out.iterations >= options.max_iterations) break;
    options.execution.report(0.5, "Newton's method by conjugate gradients");
    const double forcing = std::min(0.25, std::sqrt(at.gradient.norm() / first));
    const Vector d = problem.direction(at, forcing, products);
    const double slope = at.gradient.dot(d);
    double step = 1;
    Place next;
    for (int halvings = 0; halvings < kMostHalvings; ++halvings, step /= 2) {
      next = problem.look(at.beta + step * d, false);
      if (next.objective <= at.objective + 1e-4 * step * slope + kBelowRounding * std::abs(at.objective)) break;
    }
    problem.add_slopes(next);
    ++out.iterations;
    if (!(next.gradient - at.gradient).cwiseAbs().maxCoeff()) {
      out.stopped = Stop::no_descent;
      break;
    }
    at = std::move(next);
    if (penalty.lambda() == 0 && -slope <= options.tolerance * at.objective) {
      out.decrement = -0.5 * slope / std::max(at.objective, 1e-300);
      out.stopped = Stop::converged;
      break;
    }
  }
  out.beta = std::move(at.beta);
  out.objective = at.objective;
  return out;
}

}  // namespace lemma::logit
