// lemma/embed/shared/rising_spline.cpp
#include <algorithm>
#include <lemma/embed/shared/rising_spline.hpp>

namespace lemma {

RisingSpline::RisingSpline(std::vector<double> deltas, int inner) {
  std::sort(deltas.begin(), deltas.end());
  const double last = static_cast<double>(deltas.size()) - 1;
  for (int k = 0; k <= inner + 1; ++k) {
    const double place = last * k / (inner + 1);
    const auto below = static_cast<std::size_t>(place), above = std::min(below + 1, deltas.size() - 1);
    const double knot = deltas[below] + (place - static_cast<double>(below)) * (deltas[above] - deltas[below]);
    if (knots.empty() || knot > knots.back()) knots.push_back(knot);
  }
}

void RisingSpline::basis(double delta, double* out) const {
  out[0] = 1;
  if (knots.size() < 2) return;
  const double x = std::clamp(delta, knots.front(), knots.back());
  for (std::size_t k = 0; k < knots.size(); ++k) {
    const double a = knots[k > 0 ? k - 1 : 0], b = knots[k], c = knots[std::min(k + 1, knots.size() - 1)];
    double& value = out[k + 1];
    if (x <= a && k > 0) value = 0;
    else if (x >= c && k + 1 < knots.size()) value = 1;
    else if (x < b) value = (x - a) * (x - a) / ((b - a) * (c - a));
    else value = c > b ? 1 - (c - x) * (c - x) / ((c - b) * (c - a)) : 1;
  }
}

}  // namespace lemma
