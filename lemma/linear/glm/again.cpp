// lemma/linear/glm/again.cpp
#include <algorithm>
#include <cmath>
#include <lemma/linear/glm/again.hpp>
#include <lemma/math/factorise.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr int kMostSteps = 12;      // from nearby; under separation there is no end
constexpr double kSettled = 1e-18;  // of the deviance, gained by one more step
constexpr double kLeastPivot =
    1e-4;  // of the normal equations in unit columns: better conditioned ones keep 8 digits and more

/// The rows of one sample, and the normal equations of a step.
struct Sample {
  Matrix z;
  std::vector<double> y, mass, offset, eta;
  std::vector<GlmPoint> at;
  Matrix normal;
  Vector slope;
  double deviance = 0;

  /// At these coefficients; false where a mean is not one that the family can have.
  bool look(const GlmLaw& law, const Vector& theta) {
    const Index k = z.cols();
    Eigen::Map<Vector> predictor(eta.data(), z.rows());
    predictor.noalias() = z * theta;
    for (std::size_t i = 0; i < eta.size(); ++i) eta[i] += offset[i];
    law.at(y, eta, at);
    normal.setZero(k, k);
    slope.setZero(k);
    deviance = 0;
    for (Index i = 0; i < z.rows(); ++i) {
      const GlmPoint& point = at[static_cast<std::size_t>(i)];
      const double m = mass[static_cast<std::size_t>(i)], w = m * point.information;
      if (!point.valid || !(w > 0)) return false;
      deviance += m * point.deviance;
      const double* row = z.row(i).data();
      for (Index a = 0; a < k; ++a) {
        const double wa = w * row[a];
        slope(a) += wa * point.residual;
        for (Index b = a; b < k; ++b) normal(a, b) += wa * row[b];
      }
    }
    return std::isfinite(deviance);
  }
};

}  // namespace

GlmAgain::GlmAgain(const GlmModel& model, const Rows& rows, const Execution& execution)
    : model_(model), law_(model.law()) {
  const Index n = rows.count(), p = rows.width(), lead = model.spec.intercept ? 1 : 0;
  usable_ = law_.concave() && !model.theta_learned && model.certificate.holds() && model.separating.size() == 0 &&
            static_cast<Index>(model.kept.size()) == p && p + lead > 0 && n > 0;
  if (!usable_) return;
  const Matrix x = gather(rows, execution);
  mean_ = lead == 1 ? Vector(x.colwise().mean()) : Vector::Zero(p);
  spread_.resize(p);
  z_.resize(n, p + lead);
  if (lead == 1) z_.col(0).setOnes();
  for (Index j = 0; j < p; ++j) {
    const Vector centred = x.col(j).array() - mean_(j);
    spread_(j) = centred.norm() / std::sqrt(static_cast<double>(n));
    usable_ = usable_ && spread_(j) > 0;
    z_.col(j + lead) = centred / spread_(j);
  }
  start_.resize(p + lead);
  start_.tail(p) = model.slopes.cwiseProduct(spread_);
  if (lead == 1) start_(0) = model.base + mean_.dot(model.slopes);
  BlockBuffer buffer;
  const Block all = rows.outcome(0, n, buffer);
  for (Index i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    y_.push_back(all.label.empty() ? all.y[at] : all.label[at]);
    mass_.push_back(all.weight_of(i) * all.precision_of(i));
    offset_.push_back(all.offset_of(i));
  }
}

Vector GlmAgain::in_users_units(const Vector& theta) const {
  const Index p = mean_.size();
  Vector out(p + 1);
  out.tail(p) = theta.tail(p).cwiseQuotient(spread_);
  out(0) = theta.size() > p ? theta(0) - mean_.dot(out.tail(p)) : 0;
  return out;
}

std::optional<Vector> GlmAgain::operator()(std::span<const double> times) const {
  if (!usable_ || times.size() != y_.size()) return {};
  Sample sample;
  std::vector<Index> rows;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!(times[i] * mass_[i] > 0)) continue;
    rows.push_back(static_cast<Index>(i));
    sample.y.push_back(y_[i]);
    sample.mass.push_back(times[i] * mass_[i]);
    sample.offset.push_back(offset_[i]);
  }
  if (static_cast<Index>(rows.size()) < z_.cols()) return {};
  sample.z = z_(rows, Eigen::all);
  sample.eta.resize(rows.size());
  sample.at.resize(rows.size());
  Vector theta = start_;
  double before = std::numeric_limits<double>::infinity();
  for (int k = 0; k < kMostSteps; ++k) {
    if (!sample.look(law_, theta) || sample.deviance > before + 1e-8 * (std::abs(before) + 0.1)) return {};
    before = sample.deviance;
    const Vector unit = sample.normal.diagonal().cwiseSqrt().cwiseInverse();
    const auto r = cholesky(Matrix(unit.asDiagonal() * sample.normal * unit.asDiagonal()));
    if (!r || !(r->diagonal().minCoeff() > kLeastPivot)) return {};
    const Matrix half = solve_upper_transposed(*r, unit.cwiseProduct(sample.slope));
    theta += unit.cwiseProduct(Vector(solve_upper(*r, half).col(0)));
    if (half.squaredNorm() <= kSettled * (std::abs(before) + 0.1)) return in_users_units(theta);
  }
  return {};
}

}  // namespace lemma
