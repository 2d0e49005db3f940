// lemma/embed/sammon.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/embed/sammon.hpp>
#include <lemma/embed/shared/scaling.hpp>

namespace lemma {

void SammonModel::check() const {
  check_embedded(Sammon::name, spec.input, spec.metric, spec.dimensions);
  require(std::isfinite(stress) && stress >= 0, "sammon: the stress is not usable");
  check_trace(Sammon::name, trace, stress);
}

std::string SammonModel::summary(const Names&) const {
  return fmt::format("Sammon's stress {}, from {} at the start\n\n", format_significant(stress, 4),
                     format_significant(trace(0), 4)) +
         picture();
}

SammonModel fit(const Valid<Sammon>& spec, const Rows& rows, const FitOptions& options) {
  const auto tell = [](auto& model, const Stress& stress, const StressMinimum& found) {
    model.stress = found.trace.back();
    if (stress.places() < stress.things())
      model.warnings.push_back(fmt::format("{} of {} share their place with one that they equal",
                                           stress.things() - stress.places(), count_of(stress.things(), "thing")));
  };
  return least_stress_model<SammonModel>(*spec, 10, rows, options, tell);
}

Certificate certify(const SammonModel& model, const Rows& rows, const Execution& execution) {
  Comparison same;
  const Compared data =
      compared_again(Sammon::name, model, model.spec.input, model.spec.metric, rows, same, execution.part(0, 0.2));
  const StressLook look = look_at_stress(data, SammonModel::stress_kind(), model.places, execution.part(0.2, 0.6));
  same.number("stress", model.stress, look.value, 1e-6 + look.value, 1e-7);
  compare_quality(same, model, data, execution.part(0.6, 1));
  Certificate out = stress_certificate(look, model.trace, model.spec.tolerance, false, "Sammon's stress");
  report(same, out);
  return out;
}

template const Method& method_of<Sammon>();

}  // namespace lemma
