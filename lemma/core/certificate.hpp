// lemma/core/certificate.hpp: the evidence a fit carries.
#pragma once
#include <optional>
#include <string>

namespace lemma {

/// How strong the claim is, strongest first.
enum class Strength {
  optimal,     // a gap to the optimum, or a closed form's excess
  stationary,  // the first-order conditions
  consistent,  // a fixed point, a likelihood that never fell
  none         // nothing is claimed; the message says why
};

/// Evidence that a fit is what it claims to be; `value` and `tolerance` share one unit. `lemma verify` computes it
/// again from the model and the data alone.
struct Certificate {
  Strength strength = Strength::none;
  std::string kind;  // owned: a certificate is also read back from a file
  double value = 0, tolerance = 0;
  long long iterations = 0;
  std::string stopped;                // why the work ended: "closed form", "converged", "iteration limit", "cancelled"
  std::string message;                // one sentence a person can read
  std::optional<double> error_bound;  // a bound on the error of the coefficients, where they are reported

  /// With strength `none` a certificate neither holds nor fails.
  bool claims() const { return strength != Strength::none; }
  bool holds() const { return claims() && value <= tolerance; }  // false for NaN
  bool fails() const { return claims() && !(value <= tolerance); }
};

}  // namespace lemma
