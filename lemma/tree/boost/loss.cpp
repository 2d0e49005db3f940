// lemma/tree/boost/loss.cpp
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/math/simd.hpp>
#include <lemma/math/simd/logistic.hpp>
#include <lemma/tree/boost/loss.hpp>

namespace lemma::boost {
namespace {

double less_by(double g, double l1) { return g > l1 ? g - l1 : g < -l1 ? g + l1 : 0.0; }

/// y log(y / μ), 0 for y = 0.
double entropy_term(double y, double mean) { return y > 0 ? y * std::log(y / mean) : 0.0; }

double tweedie_loss(double y, double f, double p) {
  const double own = y > 0 ? std::pow(y, 2 - p) / ((1 - p) * (2 - p)) : 0.0;
  return own - y * std::exp((1 - p) * f) / (1 - p) + std::exp((2 - p) * f) / (2 - p);
}

double pinball(double r, double level) { return r >= 0 ? level * r : (level - 1) * r; }

double log_1_plus_exp(double f) { return f > 0 ? f + std::log1p(std::exp(-f)) : std::log1p(std::exp(f)); }

/// log(a / b) within the longest step; 0 where there is nothing to tell.
double log_ratio(double a, double b) {
  a = std::max(a, 0.0);
  b = std::max(b, 0.0);
  if (a == 0 && b == 0) return 0;
  if (a == 0) return -kLongestStep;
  if (b == 0) return kLongestStep;
  return std::clamp(std::log(a) - std::log(b), -kLongestStep, kLongestStep);
}

}  // namespace

double Loss::largest_curvature() const {
  if (has_unit_curvature()) return 1;
  if (kind == BoostLoss::logistic) return 0.25;
  if (kind == BoostLoss::softmax) return 0.25 * static_cast<double>(classes) / static_cast<double>(classes - 1);
  return 0;
}

double Loss::of(double y, double f) const {
  const double r = y - f;
  switch (kind) {
    case BoostLoss::squared: return 0.5 * r * r;
    case BoostLoss::absolute: return std::abs(r);
    case BoostLoss::huber: return std::abs(r) <= delta ? 0.5 * r * r : delta * (std::abs(r) - 0.5 * delta);
    case BoostLoss::quantile: return pinball(r, alpha);
    case BoostLoss::logistic: return log_1_plus_exp(f) - y * f;
    case BoostLoss::exponential: return std::exp(y > 0.5 ? -f : f);
    case BoostLoss::poisson: return entropy_term(y, std::exp(f)) - (y - std::exp(f));
    case BoostLoss::gamma: return y * std::exp(-f) - 1 - std::log(y) + f;
    case BoostLoss::tweedie: return tweedie_loss(y, f, power);
    case BoostLoss::softmax: break;
  }
  throw Error("boost: softmax has a score for each class");
}

double Loss::of_scores(int label, const double* scores) const {
  const double top = *std::max_element(scores, scores + classes);
  double sum = 0;
  for (Index k = 0; k < classes; ++k) sum += std::exp(scores[k] - top);
  return std::log(sum) + top - scores[label];
}

void softmax(const double* scores, Index classes, double* out) {
  const double top = *std::max_element(scores, scores + classes);
  double sum = 0;
  for (Index k = 0; k < classes; ++k) sum += out[k] = std::exp(scores[k] - top);
  for (Index k = 0; k < classes; ++k) out[k] /= sum;
}

void Loss::slopes_of_class(double p, bool is_it, double w, double& g, double& h) const {
  g = w * (is_it ? p - 1 : p);
  h = w * p * (1 - p) * (static_cast<double>(classes) / static_cast<double>(classes - 1));
}

void Loss::slopes(std::span<const double> y, std::span<const double> f, std::span<const double> w, std::span<double> g,
                  std::span<double> h) const {
  if (kind == BoostLoss::logistic) {
    simd::logistic_loss(f, y, w, g, h);
    return;
  }
  if (kind == BoostLoss::exponential || has_log_link()) {  // h holds e^(± f) for the while
    for (std::size_t i = 0; i < f.size(); ++i)
      g[i] = kind == BoostLoss::exponential ? (y[i] > 0.5 ? -f[i] : f[i]) : kind == BoostLoss::gamma ? -f[i] : f[i];
    simd::exp(g, h);
  }
  const auto each = [&](auto&& slope) {
    for (std::size_t i = 0; i < f.size(); ++i) {
      const double weight = w.empty() ? 1.0 : w[i];
      slope(i, weight);
    }
  };
  switch (kind) {
    case BoostLoss::squared: each([&](std::size_t i, double v) { g[i] = v * (f[i] - y[i]), h[i] = v; }); break;
    case BoostLoss::absolute:
      each([&](std::size_t i, double v) { g[i] = f[i] > y[i] ? v : f[i] < y[i] ? -v : 0.0, h[i] = v; });
      break;
    case BoostLoss::huber:
      each([&](std::size_t i, double v) { g[i] = v * std::clamp(f[i] - y[i], -delta, delta), h[i] = v; });
      break;
    case BoostLoss::quantile:
      each([&](std::size_t i, double v) { g[i] = f[i] > y[i] ? v * (1 - alpha) : -v * alpha, h[i] = v; });
      break;
    case BoostLoss::exponential:
      each([&](std::size_t i, double v) { h[i] *= v, g[i] = y[i] > 0.5 ? -h[i] : h[i]; });
      break;
    case BoostLoss::poisson: each([&](std::size_t i, double v) { g[i] = v * (h[i] - y[i]), h[i] *= v; }); break;
    case BoostLoss::gamma:
      each([&](std::size_t i, double v) {
        h[i] *= v * y[i];
        g[i] = v - h[i];
      });
      break;
    case BoostLoss::tweedie:
      each([&](std::size_t i, double v) {
        const double a = v * y[i] * std::pow(h[i], 1 - power), b = v * std::pow(h[i], 2 - power);
        g[i] = b - a;
        h[i] = (power - 1) * a + (2 - power) * b;
      });
      break;
    case BoostLoss::logistic:
    case BoostLoss::softmax: break;
  }
}

double Loss::slopes_and_loss(std::span<const double> y, std::span<const double> f, std::span<const double> w,
                             std::span<double> g, std::span<double> h) const {
  if (kind == BoostLoss::logistic) return simd::logistic_loss(f, y, w, g, h);
  slopes(y, f, w, g, h);
  double sum = 0;
  for (std::size_t i = 0; i < f.size(); ++i) sum += (w.empty() ? 1.0 : w[i]) * of(y[i], f[i]);
  return sum;
}

double Loss::step(double g, double h, double l1, double l2) const {
  const bool penalised = l1 > 0 || l2 > 0;
  if (!penalised) {
    if (kind == BoostLoss::exponential) return 0.5 * log_ratio(h - g, h + g);
    if (kind == BoostLoss::poisson) return log_ratio(h - g, h);
    if (kind == BoostLoss::gamma) return log_ratio(h, g + h);
    if (kind == BoostLoss::tweedie) {
      const double a = h - (2 - power) * g;
      return log_ratio(a, a + g);
    }
  }
  const double down = less_by(g, l1);
  if (down == 0 || !(h + l2 > 0)) return 0;
  const double newton = -down / (h + l2);
  return has_unit_curvature() ? newton : std::clamp(newton, -kLongestStep, kLongestStep);
}

double Loss::gain(double g, double h, double l1, double l2) {
  const double down = less_by(g, l1);
  return h + l2 > 0 ? 0.5 * down * down / (h + l2) : 0.0;
}

double Loss::start_of_mean(double mean) const {
  constexpr double kFar = 30;  // beyond, e^score says nothing more
  if (kind == BoostLoss::logistic) return std::clamp(std::log(mean) - std::log1p(-mean), -kFar, kFar);
  if (kind == BoostLoss::exponential) return std::clamp(0.5 * (std::log(mean) - std::log1p(-mean)), -kFar, kFar);
  if (kind == BoostLoss::softmax) return std::max(std::log(mean), -kFar);
  if (has_log_link()) return std::log(mean);
  return mean;
}

double Loss::mean_of(double score) const {
  if (kind == BoostLoss::logistic) return 1 / (1 + std::exp(-score));
  if (kind == BoostLoss::exponential) return 1 / (1 + std::exp(-2 * score));
  return has_log_link() ? std::exp(score) : score;
}

bool Loss::takes(double y) const {
  if (kind == BoostLoss::gamma) return y > 0;
  return !has_log_link() || y >= 0;
}

std::string_view Loss::wants() const { return kind == BoostLoss::gamma ? "above 0" : "at least 0"; }

double weighted_quantile(std::span<Weighted> values, double level) {
  std::sort(values.begin(), values.end(), [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  double total = 0, below = 0;
  for (const Weighted& each : values) total += each.weight;
  for (const Weighted& each : values) {
    below += each.weight;
    if (below >= level * total * (1 - 1e-12) && each.weight > 0) return each.value;
  }
  return values.empty() ? 0.0 : values.back().value;
}

}  // namespace lemma::boost
