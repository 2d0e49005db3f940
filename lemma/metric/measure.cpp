// lemma/metric/measure.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/metric/measure.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr double kZ = 1.9599639845400545;  // Φ⁻¹(0.975)

std::string number(double value) { return std::isnan(value) ? "NA" : fmt::format("{:.4g}", value); }

}  // namespace

std::optional<Bounds> wilson(double p, double n) {
  if (!(n > 0) || std::isnan(p)) return {};
  const double shrink = 1 / (1 + kZ * kZ / n);
  const double centre = shrink * (p + kZ * kZ / (2 * n));
  const double half = shrink * kZ * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n));
  // at the ends centre and half are equal but for rounding
  return Bounds{p <= 0 ? 0.0 : std::max(0.0, centre - half), p >= 1 ? 1.0 : std::min(1.0, centre + half)};
}

std::optional<Bounds> clopper_pearson(double p, double n) {
  if (!(n > 0) || std::isnan(p)) return {};
  const double k = p * n, m = n - k;  // quantiles of Beta(k, m + 1) and Beta(k + 1, m), by F
  Bounds out{0, 1};
  if (k > 0) out.lower = k / (k + (m + 1) * f_quantile(0.975, 2 * (m + 1), 2 * k));
  if (m > 0) {
    const double f = f_quantile(0.975, 2 * (k + 1), 2 * m);
    out.upper = (k + 1) * f / (m + (k + 1) * f);
  }
  return out;
}

std::optional<Bounds> hoeffding(double p, double n) {
  if (!(n > 0) || std::isnan(p)) return {};
  const double half = std::sqrt(std::log(2 / 0.05) / (2 * n));
  return Bounds{std::max(0.0, p - half), std::min(1.0, p + half)};
}

std::optional<Bounds> bounds_of_rate(double p, double n, RateInterval kind) {
  switch (kind) {
    case RateInterval::exact: return clopper_pearson(p, n);
    case RateInterval::hoeffding: return hoeffding(p, n);
    default: return wilson(p, n);
  }
}

std::optional<Bounds> bounds_of_mean(const VectorView& values, const VectorView& weights) {
  const Vector w = detail::frequencies(values.size(), weights);
  const double n = w.sum(), mean = detail::mean(values, w);
  if (!(n > 1)) return {};
  const double variance = (w.array() * (values.array() - mean).square()).sum() / (n - 1);
  const double half = kZ * std::sqrt(variance / n);
  return Bounds{mean - half, mean + half};
}

std::string text_of(const Measure& measure) {
  std::string out = measure.name + " " + number(measure.value);
  if (measure.bounds) out += fmt::format(" [{}, {}]", number(measure.bounds->lower), number(measure.bounds->upper));
  return out;
}

Value to_value(const std::vector<Measure>& measures) {
  Value out = Value::object(), bounds = Value::object();
  for (const auto& measure : measures) {
    out.set(measure.name, measure.value);
    if (measure.bounds) bounds.set(measure.name, std::vector<double>{measure.bounds->lower, measure.bounds->upper});
  }
  out.set("bounds", std::move(bounds));
  return out;
}

const Measure* find_measure(const std::vector<Measure>& measures, std::string_view name) {
  const auto found = std::find_if(measures.begin(), measures.end(), [&](const Measure& m) { return m.name == name; });
  return found == measures.end() ? nullptr : &*found;
}

namespace detail {

Vector frequencies(Index n, const VectorView& weights) {
  require(n > 0, "there are no rows to evaluate");
  if (weights.size() == 0) return Vector::Ones(n);
  if (weights.size() != n) throw Error(fmt::format("there are {} weights for {}", weights.size(), count_of(n, "row")));
  require_numbers(weights, "the weight");
  require((weights.array() >= 0).all(), "a weight is negative; weights are frequencies, at least 0");
  require(weights.sum() > 0, "all weights are 0, so there are no rows to evaluate");
  return weights;
}

void require_numbers(const VectorView& values, std::string_view what) {
  for (Index i = 0; i < values.size(); ++i)
    if (!std::isfinite(values(i)))
      throw Error(fmt::format("{} of row {} is {}; only numbers can be evaluated", what, i + 1, values(i)));
}

double mean(const VectorView& values, const VectorView& weights) { return values.dot(weights) / weights.sum(); }

double share(double a, double b) { return b > 0 ? a / b : std::numeric_limits<double>::quiet_NaN(); }

}  // namespace detail
}  // namespace lemma
