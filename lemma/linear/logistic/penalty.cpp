// lemma/linear/logistic/penalty.cpp
#include <algorithm>
#include <cmath>
#include <lemma/linear/logistic/parts.hpp>
#include <limits>

namespace lemma::logit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The x ≥ 0 with h (x − a) + k x^(ρ − 1) = 0, for a > 0 and 1 < ρ < 2: the left side is rising, −ha < 0 at 0 and
/// k a^(ρ−1) > 0 at a. In v = x^(ρ − 1) it is h v^(1/(ρ−1)) + k v = ha, convex: Newton's method from above never overshoots.
double bridge_root(double a, double h, double k, double rho) {
  const double power = 1 / (rho - 1);
  double v = std::min(std::pow(a, rho - 1), h * a / k);  // both are above the root
  for (int i = 0; i < 200; ++i) {
    const double bend = h * std::pow(v, power - 1);
    const double next = v - (bend * v + k * v - h * a) / (power * bend + k);
    if (!(next < v * (1 - 1e-16)) || !(next > 0)) break;
    v = next;
  }
  return std::pow(v, power);
}

}  // namespace

PenaltyTerm::PenaltyTerm(const Logistic& spec, double lambda) : lambda_(lambda) {
  const double alpha = spec.penalty == Penalty::l2 ? 0 : spec.penalty == Penalty::l1 ? 1 : spec.alpha;
  if (spec.penalty == Penalty::bridge && spec.rho > 1 && spec.rho < 2) {
    rho_ = spec.rho;
  } else if (spec.penalty == Penalty::bridge) {
    (spec.rho == 1 ? l1_ : l2_) = lambda;
  } else {
    l1_ = lambda * alpha;
    l2_ = lambda * (1 - alpha);
  }
  if (lambda == 0) rho_ = 0;
}

double PenaltyTerm::value(double beta, double factor) const {
  const double c = std::abs(factor * beta);
  if (rho_ != 0) return lambda_ / rho_ * std::pow(c, rho_);
  return l1_ * c + 0.5 * l2_ * c * c;
}

double PenaltyTerm::value(const Frame& frame, const Vector& beta) const {
  double sum = 0;
  for (Index j = 0; j < frame.width(); ++j)
    if (beta(j + 1) != 0) sum += value(beta(j + 1), frame.factor(j));
  return sum;
}

double PenaltyTerm::conjugate(double z, double factor) const {
  const double slope = std::abs(z) / factor;
  if (rho_ != 0) {
    const double other = rho_ / (rho_ - 1);  // 1/ρ + 1/other = 1
    return lambda_ / other * std::pow(slope / lambda_, other);
  }
  const double beyond = slope - l1_;
  if (beyond <= 0) return 0;
  return l2_ > 0 ? beyond * beyond / (2 * l2_) : kInfinity;
}

double PenaltyTerm::feasible_share(double z, double factor) const {
  if (rho_ != 0 || l2_ > 0 || std::abs(z) <= l1_ * factor) return 1;
  return l1_ * factor / std::abs(z);
}

double PenaltyTerm::mismatch(double beta, double z, double factor) const {
  if (smooth() && l2_ > 0) {
    const double d = z / factor - l2_ * factor * beta;
    return d * d / (2 * l2_);
  }
  if (rho_ == 0 && beta != 0 && l2_ > 0) {  // with the slope z' = z − l1 on β's side: (z' − l2 c)² / 2 l2
    const double c = std::abs(factor * beta), slope = (beta > 0 ? z : -z) / factor - l1_;
    if (slope >= 0) return (slope - l2_ * c) * (slope - l2_ * c) / (2 * l2_);
  }
  if (beta == 0) return conjugate(z, factor);
  return std::max(0.0, value(beta, factor) + conjugate(z, factor) - z * beta);
}

double PenaltyTerm::shrink(double a, double h, double factor) const {
  if (a == 0) return 0;
  const double size = std::abs(a);
  if (rho_ != 0) return std::copysign(bridge_root(size, h, lambda_ * std::pow(factor, rho_), rho_), a);
  const double rest = h * size - l1_ * factor;
  return rest <= 0 ? 0.0 : std::copysign(rest / (h + quadratic(factor)), a);
}

Gap duality_gap(const Loss& loss, const PenaltyTerm& penalty, const Vector& beta, const DualParts& parts) {
  const Frame& frame = loss.frame();
  Gap out;
  out.objective = parts.loss + penalty.value(frame, beta);
  // The larger side is scaled down until Σu = 0: the intercept is free, so that a dual point must be orthogonal to 1.
  double t_positive = 1, t_negative = 1;
  if (frame.intercept) {
    const double up = parts.positive(0), down = -parts.negative(0);
    if (up > down) t_positive = down / up;
    else if (down > up) t_negative = up / down;
  }
  const Vector z = t_positive * parts.positive + t_negative * parts.negative;
  double share = 1;
  for (Index j = 0; j < frame.width(); ++j)
    if (frame.inverse_scale(j) > 0) share = std::min(share, penalty.feasible_share(z(j + 1), frame.factor(j)));
  t_positive *= share;
  t_negative *= share;
  double of_penalty = 0;
  for (Index j = 0; j < frame.width(); ++j) {
    if (frame.inverse_scale(j) > 0) {
      // At the bound itself rounding must not make the cost infinite.
      const double bounded = share < 1 ? share * z(j + 1) * (1 - 1e-15) : z(j + 1);
      of_penalty += penalty.mismatch(beta(j + 1), bounded, frame.factor(j));
    } else {
      of_penalty += penalty.value(beta(j + 1), 1);
    }
  }
  // KL(q ‖ p) is at most (q − p)² / (p (1 − p)): good enough where q is nearly p.
  const auto square = [](double t, double sum) { return t == 1 ? 0.0 : (1 - t) * (1 - t) * sum; };
  const double at_most = square(t_positive, parts.pearson_positive) + square(t_negative, parts.pearson_negative);
  const bool good_enough = at_most + of_penalty <= 1e-12 * out.objective;
  out.absolute = of_penalty + (good_enough ? at_most : loss.mismatch(beta, t_positive, t_negative));
  return out;
}

}  // namespace lemma::logit
