// lemma/linear/shared/programme_gap.cpp
#include <fmt/core.h>
#include <lemma/linear/shared/bounded_least_squares.hpp>
#include <lemma/linear/shared/programme_gap.hpp>

namespace lemma {

DualPoint dual_point(const Matrix& a, const Vector& g, const Vector& low, const Vector& high) {
  DualPoint out{bounded_least_squares(a, g, low, high)};
  out.wrong = (g + a * out.multipliers).cwiseAbs().maxCoeff();
  return out;
}

Certificate certificate_of(const ProgrammeGap& found, long long iterations, std::string_view stopped) {
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "relative duality gap";
  out.value = found.gap;
  out.tolerance = found.tolerance;
  out.iterations = iterations;
  out.stopped = stopped;
  out.message = fmt::format(
      "No {} {} below {:.7g} by more than {:.1e} of it (allowed {:.0e}): a feasible point of the dual programme shows "
      "it.",
      found.planes, found.objective_name, found.objective, found.gap, found.tolerance);
  return out;
}

std::string not_shown(const ProgrammeGap& found) {
  const std::string_view name = found.objective_name.substr(found.objective_name.find(' ') + 1);  // without its article
  return fmt::format("The {} {:.7g} is not shown to be the least: the best bound leaves {:.1e} of it (allowed {:.0e}).",
                     name, found.objective, found.gap, found.tolerance);
}

}  // namespace lemma
