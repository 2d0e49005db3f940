// lemma/embed/nonmetric_mds.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/embed/nonmetric_mds.hpp>
#include <lemma/embed/shared/scaling.hpp>

namespace lemma {

void NonmetricMdsModel::check() const {
  check_embedded(NonmetricMds::name, spec.input, spec.metric, spec.dimensions);
  require(std::isfinite(stress) && stress >= 0, "nonmetric_mds: the stress is not usable");
  check_trace(NonmetricMds::name, trace, stress);
}

std::string NonmetricMdsModel::summary(const Names&) const {
  return fmt::format("Stress-1 {}, from {} at the start\n\n", format_significant(stress, 4),
                     format_significant(trace(0), 4)) +
         picture();
}

NonmetricMdsModel fit(const Valid<NonmetricMds>& spec, const Rows& rows, const FitOptions& options) {
  const auto tell = [](auto& model, const Stress&, const StressMinimum& found) {
    model.trace = model.trace.cwiseSqrt().eval();
    model.stress = std::sqrt(found.trace.back());
  };
  return least_stress_model<NonmetricMdsModel>(*spec, 10, rows, options, tell);
}

Certificate certify(const NonmetricMdsModel& model, const Rows& rows, const Execution& execution) {
  Comparison same;
  const Compared data = compared_again(NonmetricMds::name, model, model.spec.input, model.spec.metric, rows, same,
                                       execution.part(0, 0.2));
  const StressLook look = look_at_stress(data, model.stress_kind(), model.places, execution.part(0.2, 0.6));
  same.number("stress", model.stress, std::sqrt(look.value), 1e-6 + std::sqrt(look.value), 1e-7);
  same.number("coordinates", look.of_distances, look.size, look.size, 1e-7);
  compare_quality(same, model, data, execution.part(0.6, 1));
  Certificate out = stress_certificate(look, model.trace, model.spec.tolerance, true, "stress-1");
  report(same, out);
  return out;
}

template const Method& method_of<NonmetricMds>();

}  // namespace lemma
