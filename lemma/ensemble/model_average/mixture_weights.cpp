// lemma/ensemble/model_average/mixture_weights.cpp
#include <algorithm>
#include <cmath>
#include <lemma/ensemble/model_average/mixture_weights.hpp>

namespace lemma::ensemble {

MixtureLikelihood::MixtureLikelihood(const Matrix& log_density, Vector weight)
    : largest_(log_density.rowwise().maxCoeff()), weight_(std::move(weight)), mass_(weight_.sum()) {
  density_ = (log_density.colwise() - largest_).array().exp();
}

double MixtureLikelihood::at(const Vector& alpha) const {
  double sum = 0;
  for (Index i = 0; i < density_.rows(); ++i) sum += weight_(i) * (largest_(i) + std::log(density_.row(i).dot(alpha)));
  return sum / mass_;
}

Vector MixtureLikelihood::gradient(const Vector& alpha) const {
  Vector out = Vector::Zero(methods());
  for (Index i = 0; i < density_.rows(); ++i)
    out += weight_(i) / density_.row(i).dot(alpha) * density_.row(i).transpose();
  return out / mass_;
}

double MixtureLikelihood::gap(const Vector& alpha) const {
  const Vector g = gradient(alpha);
  return std::max(g.maxCoeff() - g.dot(alpha), 0.0);
}

/// The t in [0, α_from] of the largest ℓ(α + t (e_to − e_from)): Newton's steps on the derivative, which falls, kept between
/// bounds that close in.
double MixtureLikelihood::best_exchange(const Vector& alpha, Index to, Index from) const {
  const Vector now = density_ * alpha, change = density_.col(to) - density_.col(from);
  double low = 0, high = alpha(from), t = high;
  for (int step = 0; step < 100 && high > low; ++step) {
    double slope = 0, curvature = 0;
    for (Index i = 0; i < now.size(); ++i) {
      const double value = now(i) + t * change(i);
      const double relative = value > 0 ? change(i) / value : change(i) < 0 ? -1e300 : 0;
      slope += weight_(i) * relative;
      curvature += weight_(i) * relative * relative;
    }
    if (slope >= 0 && t == alpha(from)) return t;
    (slope > 0 ? low : high) = t;
    double next = std::isfinite(curvature) && curvature > 0 ? t + slope / curvature : low;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (next == t || std::abs(next - t) <= 1e-16 * alpha(from)) return next;
    t = next;
  }
  return t;
}

Vector MixtureLikelihood::best() const {
  constexpr int kMost = 10'000;
  constexpr double kEnough = 1e-13;  // nats per row
  Vector alpha = Vector::Constant(methods(), 1.0 / static_cast<double>(methods()));
  for (int step = 0; step < kMost; ++step) {
    const Vector g = gradient(alpha);
    Index to, from = -1;
    if (g.maxCoeff(&to) - g.dot(alpha) <= kEnough) break;
    for (Index m = 0; m < methods(); ++m)
      if (alpha(m) > 0 && (from < 0 || g(m) < g(from))) from = m;
    const double moved = best_exchange(alpha, to, from);
    if (!(moved > 0) || to == from) break;
    alpha(to) += moved;
    alpha(from) = moved >= alpha(from) ? 0 : alpha(from) - moved;
    alpha /= alpha.sum();
  }
  return alpha;
}

}  // namespace lemma::ensemble
