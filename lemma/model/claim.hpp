// lemma/model/claim.hpp: how loose a certificate may be.
#pragma once
#include <algorithm>
#include <fmt/core.h>
#include <string>

namespace lemma {

/// Who gives a looser tolerance gets an answer sooner, and a certificate that does not hold: a share of a thousandth is the
/// most that is still called an optimum or a fixed point, whatever was asked for.
inline constexpr double kLoosestClaim = 1e-3;

/// What a certificate allows where the work ends at `asked`. Another ceiling is for methods whose own way ends sooner.
inline double claimed(double asked, double ceiling = kLoosestClaim) { return std::min(asked, ceiling); }

/// The sentence that a certificate adds when it does not hold and this is why; else nothing.
inline std::string ended_too_soon(double asked) {
  if (asked <= kLoosestClaim) return {};
  return fmt::format(
      " The work ended at the tolerance of {:g} that was given; nothing looser than {:g} is called optimal.", asked,
      kLoosestClaim);
}

}  // namespace lemma
