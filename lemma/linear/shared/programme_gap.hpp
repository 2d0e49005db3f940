// lemma/linear/shared/programme_gap.hpp: the optimum of a linear programme over planes, proved by a point of its dual. Inner header.
#pragma once
#include <lemma/core/certificate.hpp>
#include <lemma/core/matrix.hpp>
#include <string_view>

namespace lemma {

/// Multipliers within their bounds, found without the solver of the programme, and the largest entry of g + A x, which is
/// 0 for a feasible point of the dual.
struct DualPoint {
  Vector multipliers;
  double wrong = 0;
};
DualPoint dual_point(const Matrix& a, const Vector& g, const Vector& low, const Vector& high);

/// What a dual point leaves of an objective, relative to it; and the words for both.
struct ProgrammeGap {
  double objective, gap, tolerance;
  std::string_view planes = "coefficients have";  // "No … an objective below"
  std::string_view objective_name = "an objective";
};
Certificate certificate_of(const ProgrammeGap& found, long long iterations, std::string_view stopped);
/// The sentence of a certificate that does not hold on a second look.
std::string not_shown(const ProgrammeGap& found);

}  // namespace lemma
