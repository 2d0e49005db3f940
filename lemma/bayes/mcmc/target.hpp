// lemma/bayes/mcmc/target.hpp: the energy U(θ) of the rows, its gradient, its mode. Inner header: use lemma/bayes/mcmc.hpp.
#pragma once
#include <lemma/bayes/mcmc/chains.hpp>

namespace lemma::mcmc {

constexpr double kInterceptPrecision = 0.01;

/// How the columns, and a Gaussian response, are brought to a common size.
struct Sizes {
  Vector mean, scale;
  double centre = 0, unit = 1, rows = 0;  // rows: by weight
};
Sizes sizes_of(const Mcmc& spec, const Rows& rows, const Execution& execution);

/// The family asked for or that of the response, and Error where the rows cannot have it.
McmcFamily family_of(const Mcmc& spec, const Rows& rows);
Index planes_of(McmcFamily family, std::size_t classes);

/// θ is [c₀ c] of each plane, and log σ where it is drawn.
class Target {
 public:
  Target(const Mcmc& spec, const Sizes& sizes, const Rows& rows, const Execution& execution);
  Index size() const { return planes_ * terms_ + (draws_noise_ ? 1 : 0); }
  /// U, and its gradient where one is asked for.
  double operator()(const Vector& theta, Vector* gradient) const;
  Matrix curvature(const Vector& theta) const;

  // ---- Gibbs (gibbs.cpp) ----
  /// Error where a conditional is none that is known.
  void require_conditionals() const;
  /// Each part of θ anew, from its conditional given the others.
  void sweep(Vector& theta, RandomStream& random) const;

 private:
  Matrix precision_of(const Vector& omega) const;
  void sweep_gaussian(Vector& theta, RandomStream& random) const;
  void sweep_plane(Eigen::Ref<Vector> c, Index k, const Vector& elsewhere, RandomStream& random) const;
  double of_classes(const Vector& theta, Vector* gradient) const;
  double of_plane(const Vector& theta, Vector* gradient) const;
  double prior(const Vector& theta, Vector* gradient) const;
  McmcFamily family_;
  Index planes_, terms_, lead_;
  bool draws_noise_;
  double alpha_, sigma_ = 1, rows_ = 0;
  Matrix z_;  // [1 z]; gaussian: of the triangle of [1 z t]
  Vector t_, weight_;
  Labels label_;
};

/// The mode, and the coordinates in which the posterior is nearly round: θ = mode + from_q q, with U's curvature RᵀR there and
/// from_q = R⁻¹.
struct Round {
  Vector mode;
  Matrix from_q;
};
Round round_about_the_mode(const Target& target, const Execution& execution);
/// U where chains move, of a target and coordinates that outlive it.
Energy rounded(const Target& target, const Round& round);

struct Draws {
  Matrix theta;  // chain after chain
  Vector energy;
  double step = 0, acceptance = 0;
  Index divergences = 0;
};
/// Chains side by side; chain k has the stream (seed, k).
Draws drawn(const Mcmc& spec, const Target& target, const Round& round, std::uint64_t seed, const Execution& execution);

/// The model of these draws, without its certificate.
McmcModel model_of(const Mcmc& spec, const Sizes& sizes, Index planes, const Draws& draws);
/// Everything of the model that follows from its draws.
void tell(McmcModel& model);
/// Draws in the user's units: intercept and coefficients of each plane, then sigma.
Matrix user_draws(const McmcModel& model, const Matrix& theta);
/// Quantity j of these draws: a row for each chain.
Matrix chains_of(const Matrix& draws, Index j, Index chains);

}  // namespace lemma::mcmc
