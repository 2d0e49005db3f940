// lemma/embed/smacof.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/embed/shared/scaling.hpp>
#include <lemma/embed/smacof.hpp>

namespace lemma {

void SmacofModel::check() const {
  check_embedded(Smacof::name, spec.input, spec.metric, spec.dimensions);
  require(std::isfinite(stress) && stress >= 0 && std::isfinite(raw_stress) && raw_stress >= 0,
          "smacof: the stress is not usable");
  require(line.size() == 2 && line.allFinite() && line(1) >= 0, "smacof: the line is not usable");
  require(spec.kind == SmacofKind::interval || (line(0) == 0 && line(1) == 1),
          "smacof: there is a line, but the kind is another");
  const bool has_spline = spec.kind == SmacofKind::spline;
  require(has_spline ? knots.size() >= 1 && spline.size() == (knots.size() > 1 ? knots.size() + 1 : 1) &&
                           knots.allFinite() && spline.allFinite() && (spline.array() >= 0).all()
                     : knots.size() + spline.size() == 0,
          "smacof: the spline does not fit the kind");
  check_trace(Smacof::name, trace, stress);
}

std::string SmacofModel::summary(const Names&) const {
  std::string out = fmt::format("Stress {} (raw {}), from {} at the start\n", format_significant(stress, 4),
                                format_significant(raw_stress, 4), format_significant(trace(0), 4));
  if (spec.kind == SmacofKind::interval)
    out += fmt::format("Distances follow {} + {} × dissimilarity\n", format_significant(line(0), 4),
                       format_significant(line(1), 4));
  if (spec.kind == SmacofKind::spline)
    out += fmt::format("Distances follow a spline that rises from {} at dissimilarity {} to {} at {}\n",
                       format_significant(spline(0), 4), format_significant(knots(0), 4),
                       format_significant(spline.sum(), 4), format_significant(knots(knots.size() - 1), 4));
  return out + "\n" + picture();
}

SmacofModel fit(const Valid<Smacof>& spec, const Rows& rows, const FitOptions& options) {
  const auto tell = [&](auto& model, const Stress& stress, const StressMinimum& found) {
    model.stress = found.trace.back();
    model.raw_stress = model.stress * stress.size();
    const Matrix places = stress.gathered(found.places) / stress.unit();
    if (model.spec.kind == SmacofKind::spline) {
      const auto& of = stress.spline().knots;
      model.knots = stress.unit() * Eigen::Map<const Vector>(of.data(), static_cast<Index>(of.size()));
      model.spline = stress.spline_coefficients(places, to_the_end(options.execution()));
    }
    const Stress::Line followed = stress.line(places, to_the_end(options.execution()));
    model.line = Vector{{followed.intercept * stress.unit(), followed.slope}};
  };
  return least_stress_model<SmacofModel>(*spec, spec->input == Input::pairs ? 10 : 6, rows, options, tell);
}

Certificate certify(const SmacofModel& model, const Rows& rows, const Execution& execution) {
  Comparison same;
  const Compared data =
      compared_again(Smacof::name, model, model.spec.input, model.spec.metric, rows, same, execution.part(0, 0.2));
  const StressLook look = look_at_stress(data, model.stress_kind(), model.places, execution.part(0.2, 0.6));
  same.number("stress", model.stress, look.value, 1e-6 + look.value, 1e-7);
  same.number("raw_stress", model.raw_stress / look.size, look.value, 1e-6 + look.value, 1e-7);
  if (model.spec.kind == SmacofKind::interval) {
    same.entry("line", 0, model.line(0), look.intercept, look.unit, 1e-7);
    same.entry("line", 1, model.line(1), look.slope, 1, 1e-7);
  }
  for (Index k = 0; k < model.spline.size(); ++k)
    same.entry("spline", k, model.spline(k), k < look.spline.size() ? look.spline(k) : 0, look.unit, 1e-6);
  for (Index k = 0; k < model.knots.size(); ++k)
    same.entry("knots", k, model.knots(k), k < look.knots.size() ? look.knots(k) : 0, look.unit, 1e-9);
  if (model.spec.kind != SmacofKind::ratio) same.number("coordinates", look.of_distances, look.size, look.size, 1e-7);
  compare_quality(same, model, data, execution.part(0.6, 1));
  Certificate out = stress_certificate(look, model.trace, model.spec.tolerance, false, "the stress");
  report(same, out);
  return out;
}

template const Method& method_of<Smacof>();

}  // namespace lemma
