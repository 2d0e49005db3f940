// lemma/linear/glm/again.hpp: the coefficients of a fitted model once more, on the same rows counted otherwise.
#pragma once
#include <lemma/linear/glm.hpp>

namespace lemma {

/// For the bootstrap and the jackknife, which fit one model a thousand times: the rows lie in memory in columns of mean 0 and
/// spread 1, each fit begins at the model's own coefficients and takes Fisher's steps by the normal equations,
///
///     (ZᵀWZ) d = ZᵀW r,
///
/// until one would gain less than 1e-18 of the deviance. The likelihood is concave, so that where the steps settle is its
/// maximum. Without what a fit says besides: standard errors, certificate, warnings.
///
/// Cost  O(n p²) a step, about 4 of them.
class GlmAgain {
 public:
  /// Looks at the model, which must outlive it, and copies the rows it was fitted on.
  GlmAgain(const GlmModel& model, const Rows& rows, const Execution& execution = {});
  /// Whether it can say anything: the likelihood is concave, has a maximum, and no column is left out.
  bool usable() const { return usable_; }
  /// The intercept (0 where there is none), then one for each column, with each row counted `times` as often. Nothing where the
  /// steps do not settle (a sample may be separated, or have dependent columns): then a fit tells why.
  std::optional<Vector> operator()(std::span<const double> times) const;

 private:
  Vector in_users_units(const Vector& theta) const;
  const GlmModel& model_;
  GlmLaw law_;
  bool usable_ = false;
  Matrix z_;  // [1 (x − mean) / spread], the 1 where there is an intercept
  std::vector<double> y_, mass_, offset_;
  Vector mean_, spread_, start_;
};

}  // namespace lemma
