// lemma/linear/glm_separation.cpp: directions along which the likelihood grows without end.
#include <algorithm>
#include <cmath>
#include <lemma/linear/glm_parts.hpp>

namespace lemma::glm {
namespace {

/// Of the largest share that a column has in a direction: less is rounding.
constexpr double kNoPart = 1e-5;

/// How far a row lies on the side where its likelihood only grows: for a sure outcome the margin towards it, for any other
/// the linear predictor must stay where it is.
double signed_margin(const GlmLaw& law, double y, double margin) {
  const bool two_sided = law.family == GlmFamily::binomial && law.link != GlmLink::log;
  if (y == 0) return -margin;
  if (y == 1 && two_sided) return margin;
  return -std::abs(margin);
}

/// Without the columns that have next to no part in it; scaled so that its largest share is 1.
Vector cleaned(Vector direction, const Vector& spread, bool intercept) {
  const Index p = spread.size();
  const Vector share = direction.head(p).cwiseAbs().cwiseProduct(spread);
  const double largest = p > 0 ? share.maxCoeff() : 0;
  if (!(largest > 0) || !direction.allFinite()) return {};
  for (Index j = 0; j < p; ++j)
    if (share(j) < kNoPart * largest) direction(j) = 0;
  if (!intercept || std::abs(direction(p)) < kNoPart * largest) direction(p) = 0;
  return direction / largest;
}

}  // namespace

void Separation::accumulate(const Block& block) {
  const Index p = block.x.cols();
  const Vector margin = (block.x * direction.head(p)).array() + direction(p);
  for (Index i = 0; i < block.rows(); ++i) {
    if (block.weight_of(i) * block.precision_of(i) == 0) continue;
    const auto k = static_cast<std::size_t>(i);
    const double towards = signed_margin(problem->law, block.label.empty() ? block.y[k] : block.label[k], margin(i));
    least = any ? std::min(least, towards) : towards;
    most = any ? std::max(most, towards) : towards;
    any = true;
  }
}

void Separation::merge(const Separation& other) {
  if (!other.any) return;
  least = any ? std::min(least, other.least) : other.least;
  most = any ? std::max(most, other.most) : other.most;
  any = true;
}

bool can_be_separated(const GlmLaw& law) {
  return law.family == GlmFamily::binomial || (law.family == GlmFamily::poisson && law.link == GlmLink::log);
}

std::optional<Separation> find_separation(const Fit& fit, const std::vector<Vector>& candidates, const Vector& spread,
                                          const Rows& rows, const Execution& execution) {
  for (const Vector& candidate : candidates) {
    const Vector direction = cleaned(candidate, spread, fit.problem.intercept);
    if (direction.size() == 0) continue;
    const Separation found = scan(rows, Separation{&fit.problem, direction, 0, 0, false}, execution);
    if (found.holds()) return found;
  }
  return {};
}

}  // namespace lemma::glm
