// lemma/kernel/gp_classification/ep.hpp: expectation propagation. Inner header: use lemma/kernel/gp_classification.hpp.
//
// Each row's likelihood is taken as a site exp(ζ + ν f − ½ τ f²), so that the posterior is Gaussian, with Σ = (K⁻¹ + T)⁻¹. Without
// one copy of its own site a row has the cavity, of precision 1/Σᵢᵢ − τᵢ; the site is right when the cavity times it has the moments
// of the cavity times the likelihood. A weight w above 1 is w copies of a row, below 1 the likelihood to the power w.
#pragma once
#include <lemma/core/matrix.hpp>
#include <lemma/core/parallel.hpp>
#include <lemma/optimize/stop.hpp>
#include <optional>

namespace lemma::expectation_propagation {

/// Of the density that is proportional to (1 + e^(−sign f))^(−power) N(f; mean, variance).
struct Moments {
  double log_mass = 0, mean = 0, variance = 0;
};
/// By the trapezoidal rule about the mode; `fineness` times as many steps.
Moments tilted(double mean, double variance, double sign, double power, double fineness = 1);

struct Sites {
  Vector sign, copies, power;
  Vector precision, shift;  // τ and ν, of one copy

  Sites(const Vector& signs, const Vector& weights);  // that say nothing
  Vector all_precision() const { return copies.cwiseProduct(precision); }
  Vector all_shift() const { return copies.cwiseProduct(shift); }
};

struct Marginals {
  Vector mean, variance;
  double half_log_determinant = 0;  // ½ log |I + T^½ K T^½|
};
/// Nothing where I + T^½ K T^½ is not positive definite.
std::optional<Marginals> marginals_of(const Matrix& gram, const Sites& sites, const Execution& execution);

/// The sites that these marginals ask for.
struct Turn {
  Vector precision, shift;
  double change =
      0;  // the greatest, in what it does to the row's own marginal: its variance and its mean in deviations
  double log_evidence = 0;  // of the sites as they were
};
Turn turn(const Sites& sites, const Marginals& marginals, double fineness = 1);

struct Solution {
  Sites sites;
  Vector alpha;  // K⁻¹ mean
  double log_evidence = 0, change = 0;
  long long iterations = 0;
  Stop stopped = Stop::not_yet;
};
/// All sites at once, damped where they overshoot, until none changes by more than the tolerance. Nothing where the kernel's
/// values are too large to be factorised.
std::optional<Solution> propagate(const Matrix& gram, Sites sites, double tolerance, long long most_turns,
                                  const Execution& execution);

}  // namespace lemma::expectation_propagation
