// lemma/kernel/gp_classification/ep.cpp
#include <algorithm>
#include <cmath>
#include <lemma/kernel/gp_classification/ep.hpp>
#include <lemma/math/special.hpp>
#include <lemma/math/tiled_cholesky.hpp>
#include <limits>

namespace lemma::expectation_propagation {
namespace {

/// h²/2P − ½ log P: up to ½ log 2π the logarithm of ∫ exp(h f − ½ P f²) df.
double log_mass(double precision, double shift) { return 0.5 * shift * shift / precision - 0.5 * std::log(precision); }

/// Where power · log σ(sign f) − (f − mean)² / 2 variance is greatest: its slope falls, and the mode lies between the mean and what
/// the steepest slope of the likelihood can move it to.
double mode_of(double mean, double variance, double sign, double power) {
  double low = std::min(mean, mean + sign * power * variance), high = std::max(mean, mean + sign * power * variance);
  double f = mean;
  for (int step = 0; step < 100 && low < high; ++step) {
    const double p = logistic(-sign * f), slope = sign * power * p - (f - mean) / variance,
                 bend = power * p * (1 - p) + 1 / variance;
    (slope > 0 ? low : high) = f;
    double next = f + slope / bend;
    if (!(next >= low && next <= high)) next = 0.5 * (low + high);
    if (std::abs(next - f) <= 1e-3 * std::sqrt(variance)) return next;  // near is enough
    f = next;
  }
  return f;
}

constexpr double kLeastDamping = 0.05;

}  // namespace

Moments tilted(double mean, double variance, double sign, double power, double fineness) {
  const double sd = std::sqrt(variance), mode = mode_of(mean, variance, sign, power);
  const double step = std::min(0.25 * sd, 0.5) / fineness;
  const auto each_side = static_cast<Index>(std::ceil(std::min(9 * sd / step, 1e6)));
  const auto log_value = [&](double f) {
    return -power * log1p_exp(-sign * f) - 0.5 * (f - mean) * (f - mean) / variance;
  };
  const double top = log_value(mode);
  double mass = 0, first = 0, second = 0;
  for (Index i = -each_side; i <= each_side; ++i) {
    const double off = static_cast<double>(i) * step, value = std::exp(log_value(mode + off) - top);
    mass += value;
    first += off * value;
    second += off * off * value;
  }
  first /= mass;
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  return {top + std::log(mass * step / sd) - kHalfLogTwoPi, mode + first, second / mass - first * first};
}

Sites::Sites(const Vector& signs, const Vector& weights)
    : sign(signs),
      copies(weights.cwiseMax(1.0)),
      power(weights.cwiseMin(1.0)),
      precision(Vector::Zero(signs.size())),
      shift(Vector::Zero(signs.size())) {}

/// With RᵀR = I + T^½ K T^½ and V = R⁻ᵀ T^½ K:  Σ = K − VᵀV.
std::optional<Marginals> marginals_of(const Matrix& gram, const Sites& sites, const Execution& execution) {
  const Index n = gram.rows();
  const Vector root = sites.all_precision().cwiseSqrt(), shift = sites.all_shift();
  Matrix seen = gram;
  seen.array().colwise() *= root.array();
  Matrix r = seen;
  r.array().rowwise() *= root.transpose().array();
  r.diagonal().array() += 1;
  if (!tiled_cholesky(r, execution)) return {};
  tiled_solve_upper_transposed(r, seen, execution);
  Marginals out{gram * shift - seen.transpose() * (seen * shift), gram.diagonal(), r.diagonal().array().log().sum()};
  for (Index i = 0; i < n; ++i) out.variance -= seen.row(i).cwiseAbs2().transpose();
  if (!out.variance.allFinite() || !out.mean.allFinite()) return {};
  return out;
}

Turn turn(const Sites& sites, const Marginals& marginals, double fineness) {
  const Index n = marginals.mean.size();
  Turn out{Vector(n), Vector(n), 0, 0};
  for (Index i = 0; i < n; ++i) {
    const double variance = marginals.variance(i), mean = marginals.mean(i), copies = sites.copies(i);
    if (!(variance > 0)) {  // f is known there, and the row says nothing of it
      out.precision(i) = out.shift(i) = 0;
      out.log_evidence -= copies * sites.power(i) * log1p_exp(-sites.sign(i) * mean);
      continue;
    }
    const double precision = 1 / variance, shift = mean / variance;
    const double cavity = precision - sites.precision(i), cavity_shift = shift - sites.shift(i);
    const Moments found = tilted(cavity_shift / cavity, 1 / cavity, sites.sign(i), sites.power(i), fineness);
    out.precision(i) = std::max(0.0, 1 / found.variance - cavity);
    out.shift(i) = found.mean / found.variance - cavity_shift;
    const double wider = copies * std::abs(out.precision(i) - sites.precision(i)) * variance;
    const double moved = copies * std::sqrt(variance) *
                         std::abs(out.shift(i) - sites.shift(i) - mean * (out.precision(i) - sites.precision(i)));
    for (const double change : {wider, moved})
      if (!(change <= out.change)) out.change = change;
    out.log_evidence += copies * (found.log_mass - log_mass(precision, shift) + log_mass(cavity, cavity_shift));
  }
  out.log_evidence += 0.5 * sites.all_shift().dot(marginals.mean) - marginals.half_log_determinant;
  return out;
}

std::optional<Solution> propagate(const Matrix& gram, Sites sites, double tolerance, long long most_turns,
                                  const Execution& execution) {
  Solution at{std::move(sites), {}, 0, 0, 0, Stop::iteration_limit};
  double last = std::numeric_limits<double>::infinity(), damping = 1;
  const Execution quiet{.threads = execution.threads};
  while (true) {
    execution.report(std::min(0.95, static_cast<double>(at.iterations) / 30), "turns of the sites");
    const auto marginals = marginals_of(gram, at.sites, quiet);
    if (!marginals) return {};
    const Turn next = turn(at.sites, *marginals);
    at.alpha = at.sites.all_shift() - at.sites.all_precision().cwiseProduct(marginals->mean);
    at.log_evidence = next.log_evidence;
    at.change = next.change;
    if (next.change <= 0.01 * tolerance || (next.change <= 0.5 * tolerance && next.change > 0.5 * last)) {
      at.stopped = Stop::converged;
      return at;
    }
    if (at.iterations >= most_turns) return at;
    if (execution.cancelled()) {
      at.stopped = Stop::cancelled;
      return at;
    }
    if (next.change > 0.9 * last) damping = std::max(kLeastDamping, 0.7 * damping);
    last = next.change;
    at.sites.precision += damping * (next.precision - at.sites.precision);
    at.sites.shift += damping * (next.shift - at.sites.shift);
    ++at.iterations;
  }
}

}  // namespace lemma::expectation_propagation
