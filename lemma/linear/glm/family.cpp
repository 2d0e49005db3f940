// lemma/linear/glm/family.cpp
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/linear/glm/family.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/math/simd.hpp>
#include <lemma/math/special.hpp>
#include <limits>
#include <numbers>
#include <vector>

namespace lemma {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

constexpr GlmLink kBinomial[] = {GlmLink::logit, GlmLink::probit, GlmLink::cloglog, GlmLink::log};
constexpr GlmLink kPoisson[] = {GlmLink::log, GlmLink::identity, GlmLink::sqrt};
constexpr GlmLink kGaussian[] = {GlmLink::identity, GlmLink::log, GlmLink::inverse};
constexpr GlmLink kGamma[] = {GlmLink::inverse, GlmLink::log, GlmLink::identity};
constexpr GlmLink kInverseGaussian[] = {GlmLink::inverse_square, GlmLink::log, GlmLink::identity, GlmLink::inverse};
constexpr GlmLink kNegativeBinomial[] = {GlmLink::log, GlmLink::identity, GlmLink::sqrt};
constexpr GlmLink kAll[] = {GlmLink::identity, GlmLink::log,     GlmLink::logit, GlmLink::probit,
                            GlmLink::cloglog,  GlmLink::inverse, GlmLink::sqrt,  GlmLink::inverse_square};

/// Beyond these a probability is 0 or 1 in every way that counts, and its logarithm would leave the numbers there are.
constexpr double kMostLogit = 700, kMostProbit = 30, kMostCloglog = 6.5;

/// y log(y / μ), 0 for y = 0.
double y_log_ratio(double y, double mean) { return y > 0 ? y * std::log(y / mean) : 0; }

/// A probability p with its complement q, slope and both logarithms.
struct Probability {
  double p, q, slope, log_p, log_q;
};
Probability logit_at(double eta, double e) {  // e = exp(−|η|)
  const double small = e / (1 + e), large = 1 / (1 + e), log_large = -std::log1p(e),
               log_small = -std::abs(eta) + log_large;
  if (eta > 0) return {large, small, small * large, log_large, log_small};
  return {small, large, small * large, log_small, log_large};
}
Probability probit_at(double eta) {
  const double p = normal_cdf(eta), q = normal_upper(eta);
  return {p, q, std::exp(normal_log_density(eta)), p > 0.5 ? std::log1p(-q) : std::log(p),
          q > 0.5 ? std::log1p(-p) : std::log(q)};
}
Probability cloglog_at(double eta) {
  const double hazard = std::exp(eta), p = -std::expm1(-hazard), q = std::exp(-hazard);
  return {p, q, hazard * q, std::log(p), -hazard};
}
Probability log_at(double eta) {
  const double p = std::exp(eta), q = -std::expm1(eta);
  return {p, q, p, eta, std::log(q)};
}

GlmPoint binomial_at(double y, const Probability& at) {
  GlmPoint out;
  out.mean = at.p;
  out.slope = at.slope;
  out.variance = at.p * at.q;
  out.information = at.slope * (at.slope / out.variance);
  out.residual = (y * at.q - (1 - y) * at.p) / at.slope;
  out.log_mean = at.log_p;
  out.log_rest = at.log_q;
  out.valid = at.p > 0 && at.q > 0;
  if (y == 0) out.deviance = -2 * at.log_q;
  else if (y == 1) out.deviance = -2 * at.log_p;
  else out.deviance = 2 * (y_log_ratio(y, at.p) + y_log_ratio(1 - y, at.q));
  return out;
}

struct MeanAndSlope {
  double mean, slope;
};
MeanAndSlope mean_at(GlmLink link, double eta, double exponential) {  // the exponential of exponent_of()
  const auto of = [](const Probability& at) { return MeanAndSlope{at.p, at.slope}; };
  switch (link) {
    case GlmLink::log: return {exponential, exponential};
    case GlmLink::logit: return of(logit_at(std::clamp(eta, -kMostLogit, kMostLogit), exponential));
    case GlmLink::probit: return of(probit_at(std::clamp(eta, -kMostProbit, kMostProbit)));
    case GlmLink::cloglog: return of(cloglog_at(std::clamp(eta, -kMostLogit, kMostCloglog)));
    case GlmLink::inverse: return {1 / eta, -1 / (eta * eta)};
    case GlmLink::sqrt: return {eta > 0 ? eta * eta : kNaN, 2 * eta};
    case GlmLink::inverse_square: {
      const double mean = eta > 0 ? 1 / std::sqrt(eta) : kNaN;
      return {mean, -0.5 * mean / eta};
    }
    case GlmLink::identity: break;
  }
  return {eta, 1};
}

double variance_at(const GlmLaw& law, double mean) {
  switch (law.base()) {
    case GlmFamily::poisson: return mean;
    case GlmFamily::negative_binomial: return mean * (1 + mean / law.theta);
    case GlmFamily::gamma: return mean * mean;
    case GlmFamily::inverse_gaussian: return mean * mean * mean;
    default: return 1;
  }
}

/// t − log(1 + t) = t²/2 − t³/3 + …, without cancellation where t is small.
double beyond_log(double t) {
  if (std::abs(t) > 0.1) return t - std::log1p(t);
  double sum = 0, power = t;
  for (int k = 2; k < 20; ++k) {
    power *= -t;
    sum -= power / k;
  }
  return sum;
}

/// (1 + t) log(1 + t) − t = t²/2 − t³/6 + …, the same.
double beyond_line(double t) { return std::max(0.0, t * std::log1p(t) - beyond_log(t)); }

/// y log(y/μ) − (y + θ) log((y + θ)/(μ + θ)): with y = μ (1 + t) = (μ + θ)(1 + s) − θ the difference of two squares nearly.
double negative_binomial_deviance(double y, double mean, double theta) {
  const double t = (y - mean) / mean, s = (y - mean) / (mean + theta);
  const double own = std::abs(t) <= 0.1 ? mean * beyond_line(t) : y_log_ratio(y, mean) - (y - mean);
  const double rest = std::abs(s) <= 0.1 ? (mean + theta) * beyond_line(s) : (y + theta) * std::log1p(s) - (y - mean);
  return std::max(0.0, 2 * (own - rest));
}

double deviance_at(const GlmLaw& law, double y, double mean) {
  const double t = (y - mean) / mean;
  switch (law.base()) {
    case GlmFamily::
        poisson:  // y log(y/μ) − (y − μ) = μ ((1 + t) log(1 + t) − t), of which little is left for large y near μ
      if (std::abs(t) <= 0.1) return 2 * mean * beyond_line(t);
      return std::max(0.0, 2 * (y_log_ratio(y, mean) - (y - mean)));
    case GlmFamily::negative_binomial: return negative_binomial_deviance(y, mean, law.theta);
    case GlmFamily::gamma: return std::max(0.0, 2 * beyond_log(t));
    case GlmFamily::inverse_gaussian: return t * t / y;
    default: return (y - mean) * (y - mean);
  }
}

GlmPoint point_at(const GlmLaw& law, double y, double eta, double e) {
  if (law.base() == GlmFamily::binomial) {
    switch (law.link) {
      case GlmLink::logit: return binomial_at(y, logit_at(std::clamp(eta, -kMostLogit, kMostLogit), e));
      case GlmLink::probit: return binomial_at(y, probit_at(std::clamp(eta, -kMostProbit, kMostProbit)));
      case GlmLink::cloglog: return binomial_at(y, cloglog_at(std::clamp(eta, -kMostLogit, kMostCloglog)));
      case GlmLink::log: return binomial_at(y, log_at(eta));
      default: break;
    }
    const auto [p, slope] = mean_at(law.link, eta, e);
    return binomial_at(y, {p, 1 - p, slope, std::log(p), std::log1p(-p)});
  }
  const auto [mean, slope] = mean_at(law.link, eta, e);
  GlmPoint out;
  out.mean = mean;
  out.slope = slope;
  out.valid = law.valid_mean(mean) && slope != 0 && std::isfinite(slope);
  if (!out.valid) return out;
  out.variance = variance_at(law, mean);
  out.information = slope * (slope / out.variance);
  out.residual = (y - mean) / slope;
  out.deviance = deviance_at(law, y, mean);
  return out;
}

/// What `point_at` wants to have the exponential of.
double exponent_of(const GlmLaw& law, double eta) {
  if (law.link == GlmLink::logit) return std::max(-std::abs(eta), -kMostLogit);
  return law.link == GlmLink::log && law.base() != GlmFamily::binomial ? eta : 0;
}

}  // namespace

GlmFamily GlmLaw::base() const {
  if (family == GlmFamily::quasibinomial) return GlmFamily::binomial;
  if (family == GlmFamily::quasipoisson) return GlmFamily::poisson;
  if (family != GlmFamily::quasi) return family;
  switch (variance) {
    case GlmVariance::constant: break;
    case GlmVariance::mu: return GlmFamily::poisson;
    case GlmVariance::mu_rest: return GlmFamily::binomial;
    case GlmVariance::mu2: return GlmFamily::gamma;
    case GlmVariance::mu3: return GlmFamily::inverse_gaussian;
  }
  return GlmFamily::gaussian;
}

bool GlmLaw::has_likelihood() const {
  return family != GlmFamily::quasi && family != GlmFamily::quasibinomial && family != GlmFamily::quasipoisson;
}

GlmLink GlmLaw::canonical(GlmFamily family) { return links_of(family).front(); }

std::span<const GlmLink> GlmLaw::links_of(GlmFamily family) {
  switch (family) {
    case GlmFamily::binomial:
    case GlmFamily::quasibinomial: return kBinomial;
    case GlmFamily::poisson:
    case GlmFamily::quasipoisson: return kPoisson;
    case GlmFamily::negative_binomial: return kNegativeBinomial;
    case GlmFamily::quasi: return kAll;
    case GlmFamily::gaussian: return kGaussian;
    case GlmFamily::gamma: return kGamma;
    case GlmFamily::inverse_gaussian: return kInverseGaussian;
  }
  return {};
}

bool GlmLaw::estimates_dispersion() const {
  return family != GlmFamily::binomial && family != GlmFamily::poisson && family != GlmFamily::negative_binomial;
}

bool GlmLaw::concave() const {
  const GlmFamily of = base();
  const auto links = links_of(of);
  if (std::find(links.begin(), links.end(), link) == links.end()) return false;
  if (link == canonical(of)) return !theta_learned;  // of the negative binomial y η − (y + θ) log(θ + e^η)
  switch (of) {
    case GlmFamily::binomial:  // log F and log(1 − F) are concave; with the log link log(1 − e^η) is too
    case GlmFamily::poisson: return true;                // y log η − η, 2 y log η − η²
    case GlmFamily::gamma: return link == GlmLink::log;  // −η − y e^−η
    default: return false;
  }
}

std::string GlmLaw::family_in_r() const {
  if (family == GlmFamily::gamma) return "Gamma";
  if (family == GlmFamily::inverse_gaussian) return "inverse.gaussian";
  if (family == GlmFamily::negative_binomial)
    return "Negative Binomial(" + format_significant(std::round(theta * 1e4) / 1e4) + ")";
  return std::string(names_of(family)[static_cast<std::size_t>(family)]);
}

double GlmLaw::mean(double eta) const { return at(0.5, eta).mean; }

double GlmLaw::eta(double mean) const {
  switch (link) {
    case GlmLink::logit: return std::log(mean / (1 - mean));
    case GlmLink::probit: return mean > 0 && mean < 1 ? normal_quantile(mean) : kNaN;
    case GlmLink::cloglog: return std::log(-std::log1p(-mean));
    case GlmLink::log: return mean > 0 ? std::log(mean) : kNaN;
    case GlmLink::inverse: return mean != 0 ? 1 / mean : kNaN;
    case GlmLink::sqrt: return mean > 0 ? std::sqrt(mean) : kNaN;
    case GlmLink::inverse_square: return mean > 0 ? 1 / (mean * mean) : kNaN;
    case GlmLink::identity: return mean;
  }
  return kNaN;
}

bool GlmLaw::admits(double y) const {
  switch (base()) {
    case GlmFamily::binomial: return y >= 0 && y <= 1;
    case GlmFamily::negative_binomial:
    case GlmFamily::poisson: return y >= 0;
    case GlmFamily::gaussian: return true;
    default: return y > 0;
  }
}

bool GlmLaw::valid_mean(double mean) const {
  if (base() == GlmFamily::binomial) return mean > 0 && mean < 1;
  return std::isfinite(mean) && (base() == GlmFamily::gaussian || mean > 0);
}

double GlmLaw::first_mean(double y, double prior) const {
  if (family == GlmFamily::quasi && base() == GlmFamily::binomial) return std::clamp(y, 0.001, 0.999);
  if (family == GlmFamily::quasi && base() == GlmFamily::poisson) return y == 0 ? 0.1 : y;
  if (base() == GlmFamily::binomial) return (prior * y + 0.5) / (prior + 1);
  if (base() == GlmFamily::negative_binomial) return y == 0 ? 1.0 / 6 : y;
  return base() == GlmFamily::poisson ? y + 0.1 : y;
}

GlmPoint GlmLaw::at(double y, double eta) const { return point_at(*this, y, eta, std::exp(exponent_of(*this, eta))); }

void GlmLaw::at(std::span<const double> y, std::span<const double> eta, std::span<GlmPoint> out) const {
  std::vector<double> e(eta.size());
  std::transform(eta.begin(), eta.end(), e.begin(), [&](double each) { return exponent_of(*this, each); });
  simd::exp(e, e);
  for (std::size_t i = 0; i < eta.size(); ++i) out[i] = point_at(*this, y[i], eta[i], e[i]);
}

double GlmLaw::log_likelihood(double y, double prior, const GlmPoint& point, double dispersion) const {
  switch (family) {
    case GlmFamily::binomial: {  // s = m y successes in m trials
      const double s = prior * y, f = prior * (1 - y);
      const double ways = log_gamma(prior + 1) - log_gamma(s + 1) - log_gamma(f + 1);
      return ways + (s > 0 ? s * point.log_mean : 0) + (f > 0 ? f * point.log_rest : 0);
    }
    case GlmFamily::poisson: return prior * ((y > 0 ? y * std::log(point.mean) : 0) - point.mean - log_gamma(y + 1));
    case GlmFamily::gaussian:  // n (log(2π φ) + 1) / 2 with φ = deviance / n, over the rows
      return 0.5 * (std::log(prior) - std::log(2 * std::numbers::pi * dispersion) - 1);
    case GlmFamily::gamma: {
      const double shape = 1 / dispersion, scaled = y / point.mean;
      return prior * (shape * (std::log(shape * scaled) - scaled) - std::log(y) - log_gamma(shape));
    }
    case GlmFamily::inverse_gaussian:
      return -0.5 * prior * (std::log(2 * std::numbers::pi * dispersion) + 1 + 3 * std::log(y));
    case GlmFamily::negative_binomial: {
      // Γ(θ + y) / (Γ(θ) θ^y) = Π (1 + k/θ) over k < y: of a large θ the two gammas would leave no digit.
      constexpr double kMostFactors = 1000;
      double ways = -log_gamma(y + 1);
      if (y == std::floor(y) && y <= kMostFactors)
        for (double k = 1; k < y; ++k) ways += std::log1p(k / theta);
      else ways += log_gamma(theta + y) - log_gamma(theta) - y * std::log(theta);
      return prior * (ways - (theta + y) * std::log1p(point.mean / theta) + (y > 0 ? y * std::log(point.mean) : 0));
    }
    case GlmFamily::quasi:
    case GlmFamily::quasibinomial:
    case GlmFamily::quasipoisson: return kNaN;
  }
  return kNaN;
}

}  // namespace lemma
