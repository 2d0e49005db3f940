// lemma/linear/glm/profile.cpp: confidence limits from the profile likelihood.
#include <algorithm>
#include <cmath>
#include <lemma/linear/glm/parts.hpp>
#include <lemma/math/distributions.hpp>

namespace lemma::glm {
namespace {

/// The signed root of the drop in deviance, ζ(v) = sign(v − b̂) √((D(v) − D(b̂)) / φ), where one coefficient is held at v
/// and the others are the best beside it. It is nearly linear, so a secant finds where it reaches the normal quantile;
/// each evaluation begins where the last one ended.
class Profile {
 public:
  Profile(const Fit& fit, Index term, double estimate, Vector along, double dispersion, const Rows& rows,
          const Execution& execution)
      : fit_(fit),
        problem_(fit.problem),
        term_(term),
        estimate_(estimate),
        along_(std::move(along)),
        dispersion_(dispersion),
        rows_(rows),
        execution_(execution) {
    if (term < 0) problem_.intercept = false;
    else std::erase(problem_.columns, term);
  }

  /// `from`: the nearest place where the others are known.
  double root(double value, Held& from) const {
    const double held = term_ < 0 ? from.at.intercept : from.at.slopes(term_);
    Coefficients at =
        from.at;  // moved along the line on which the others would follow if the likelihood were quadratic
    at.slopes += (value - held) * along_.head(at.slopes.size());
    if (fit_.problem.intercept) at.intercept += (value - held) * along_(at.slopes.size());
    (term_ < 0 ? at.intercept : at.slopes(term_)) = value;
    Held found = minimise_deviance(problem_, at, rows_, execution_);
    if (!std::isfinite(found.deviance)) return GlmModel::kNone;
    from = std::move(found);
    return std::copysign(std::sqrt(std::max(0.0, from.deviance - fit_.deviance) / dispersion_), value - estimate_);
  }

  double limit(double target, double std_error) const {
    constexpr int kMost = 30;
    const double out_of_reach = 1e3 * std_error;  // ζ has a limit there, and it is below the target
    Held from{fit_.at, fit_.deviance};
    double v0 = estimate_, z0 = 0, v1 = estimate_ + target * std_error;
    for (int k = 0; k < kMost; ++k) {
      const double z1 = root(v1, from);
      if (!std::isfinite(z1)) return GlmModel::kNone;
      if (std::abs(z1 - target) <= 1e-9 * std::abs(target)) return v1;
      const double slope = (z1 - z0) / (v1 - v0);
      if (!(slope > 0)) return GlmModel::kNone;
      const double step = (target - z1) / slope, most = 2 * std::abs(v1 - estimate_);
      v0 = v1;
      z0 = z1;
      v1 += std::clamp(step, -most, most);
      if (std::abs(v1 - estimate_) > out_of_reach) return GlmModel::kNone;
    }
    return v1;
  }

 private:
  const Fit& fit_;
  Problem problem_;
  Index term_;
  double estimate_;
  Vector along_;
  double dispersion_;
  const Rows& rows_;
  Execution execution_;
};

}  // namespace

std::pair<double, double> profile_limits(const Fit& fit, Index term, double estimate, double std_error,
                                         const Vector& along, double dispersion, double level, const Rows& rows,
                                         const Execution& execution) {
  if (!(std_error > 0)) return {GlmModel::kNone, GlmModel::kNone};
  const double reach = -normal_quantile((1 - level) / 2);
  const Profile profile(fit, term, estimate, along, dispersion, rows, execution);
  return {profile.limit(-reach, std_error), profile.limit(reach, std_error)};
}

double profile_root(const Fit& fit, Index term, double estimate, double value, double dispersion, const Rows& rows,
                    const Execution& execution) {
  Held from{fit.at, fit.deviance};
  return Profile(fit, term, estimate, Vector::Zero(fit.at.slopes.size() + 1), dispersion, rows, execution)
      .root(value, from);
}

}  // namespace lemma::glm
