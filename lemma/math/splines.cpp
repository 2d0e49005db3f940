// lemma/math/splines.cpp
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/math/splines.hpp>
#include <limits>
#include <numeric>

namespace lemma {
namespace {

using Few = std::array<double, kMostSplineDegree + 1>;

/// y + t v with t = −v·y / v₀: the reflection that takes the column v came from to a multiple of the first axis.
void reflect(const std::vector<double>& v, double* y) {
  const double t = -std::inner_product(v.begin(), v.end(), y, 0.0) / v[0];
  for (std::size_t i = 0; i < v.size(); ++i) y[i] += t * v[i];
}

/// v = c / (± ‖c‖) + e₁, the sign that of c₀ so that nothing cancels (LINPACK's convention, and R's).
std::vector<double> reflection_of(std::vector<double> c) {
  const double length = std::sqrt(std::inner_product(c.begin(), c.end(), c.begin(), 0.0));
  const double norm = c[0] < 0 ? -length : length;
  require(std::isfinite(norm) && norm != 0, "the knots coincide with the ends");
  for (double& each : c) each /= norm;
  c[0] += 1;
  return c;
}

}  // namespace

SplineBasis::SplineBasis(SplineShape shape) : shape_(std::move(shape)) {
  const auto& [knots, low, high, degree, natural, intercept] = shape_;
  require(degree >= 1 && degree <= kMostSplineDegree,
          fmt::format("a spline has a degree from 1 to {}, not {}", kMostSplineDegree, degree));
  require(!natural || degree == 3, "a natural spline is cubic");
  require(std::isfinite(low) && std::isfinite(high) && std::isfinite(high - low) && low < high,
          "a spline needs two ends, the first before the last");
  require(std::is_sorted(knots.begin(), knots.end()) &&
              std::all_of(knots.begin(), knots.end(), [&](double k) { return k >= low && k <= high; }),
          "the knots of a spline rise from one end to the other");
  const auto repeated = static_cast<std::size_t>(degree + 1);
  t_.assign(repeated, low);
  t_.insert(t_.end(), knots.begin(), knots.end());
  t_.insert(t_.end(), repeated, high);
  functions_ = static_cast<Index>(t_.size() - repeated);
  width_ = functions_ - (intercept ? 0 : 1) - (natural ? 2 : 0);
  if (!natural) return;
  std::vector<double> conditions[2];
  const std::size_t skip = intercept ? 0 : 1;
  for (const int end : {0, 1}) {
    conditions[end].assign(static_cast<std::size_t>(functions_), 0.0);
    const double x = end == 0 ? low : high;
    add_derivatives(x, span_of(x), 2, 1.0, conditions[end].data());
    conditions[end].erase(conditions[end].begin(), conditions[end].begin() + static_cast<std::ptrdiff_t>(skip));
  }
  reflections_[0] = reflection_of(conditions[0]);
  reflect(reflections_[0], conditions[1].data());
  reflections_[1] = reflection_of({conditions[1].begin() + 1, conditions[1].end()});
}

/// The j with t_j ≤ x < t_{j+1}; beyond an end, the first or last interval that is one.
Index SplineBasis::span_of(double x) const {
  const auto upper = std::upper_bound(t_.begin(), t_.end(), std::clamp(x, shape_.low, shape_.high));
  auto j = static_cast<Index>(upper - t_.begin()) - 1;
  j = std::min(j, functions_ - 1);
  while (t_[static_cast<std::size_t>(j)] == shape_.high) --j;
  return j;
}

/// The derivative of this order of the p + 1 B-splines that are not 0 on the interval, as polynomials there, `times` each.
void SplineBasis::add_derivatives(double x, Index span, int order, double times, double* functions) const {
  const int p = shape_.degree, low = p - order;
  const double* t = t_.data() + span;  // t[0] ≤ x < t[1]
  Few value{};
  value[0] = 1;
  for (int d = 1; d <= low; ++d) {  // the recurrence; value[r] belongs to function span − d + r
    double carried = 0;
    for (int r = 0; r < d; ++r) {
      const double above = t[r + 1] - x, below = x - t[r + 1 - d],
                   share = value[static_cast<std::size_t>(r)] / (above + below);
      value[static_cast<std::size_t>(r)] = carried + above * share;
      carried = below * share;
    }
    value[static_cast<std::size_t>(d)] = carried;
  }
  for (int d = low + 1; d <= p; ++d) {  // N'ᵢ,d = d (Nᵢ,d₋₁ / (tᵢ₊d − tᵢ) − Nᵢ₊₁,d₋₁ / (tᵢ₊d₊₁ − tᵢ₊₁))
    double carried = 0;
    for (int r = 0; r < d; ++r) {
      const double share = d * value[static_cast<std::size_t>(r)] / (t[r + 1] - t[r + 1 - d]);
      value[static_cast<std::size_t>(r)] = carried - share;
      carried = share;
    }
    value[static_cast<std::size_t>(d)] = carried;
  }
  for (int r = 0; r <= p; ++r) functions[span - p + r] += times * value[static_cast<std::size_t>(r)];
}

void SplineBasis::add(double x, double* functions) const {
  const double inside = std::clamp(x, shape_.low, shape_.high);
  if (!shape_.natural || inside == x) return add_derivatives(x, span_of(x), 0, 1.0, functions);
  add_derivatives(inside, span_of(inside), 0, 1.0, functions);
  add_derivatives(inside, span_of(inside), 1, x - inside, functions);
}

void SplineBasis::columns(std::span<const double> x, double* out) const {
  const std::size_t n = x.size(), width = static_cast<std::size_t>(width_);
  std::vector<double> functions(static_cast<std::size_t>(functions_));
  double* const first = functions.data() + (shape_.intercept ? 0 : 1);
  for (std::size_t i = 0; i < n; ++i) {
    std::fill(functions.begin(), functions.end(), std::isnan(x[i]) ? std::numeric_limits<double>::quiet_NaN() : 0.0);
    if (!std::isnan(x[i])) add(x[i], functions.data());
    if (shape_.natural) {
      reflect(reflections_[0], first);
      reflect(reflections_[1], first + 1);
    }
    const double* from = first + (shape_.natural ? 2 : 0);
    for (std::size_t k = 0; k < width; ++k) out[k * n + i] = from[k];
  }
}

}  // namespace lemma
