// lemma/embed/shared/scaling.hpp: smacof, sammon and nonmetric_mds minimise a stress one way. Inner header.
#pragma once
#include <lemma/core/hearing.hpp>
#include <lemma/embed/shared/embedded.hpp>
#include <lemma/embed/shared/stress.hpp>
#include <lemma/model/options.hpp>

namespace lemma {

/// Places of least stress, their picture and certificate. `pairs`: numbers kept for each pair of things, for the room they take;
/// tell(model, stress, found) takes over what the method says of the minimum.
template <class Model, class Spec>
Model least_stress_model(const Spec& spec, int pairs, const Rows& rows, const FitOptions& options, auto&& tell) {
  const Execution execution = options.execution();
  require_room(Spec::name, rows, spec.input, spec.gigabytes, pairs);
  const Compared data = compare_known(Spec::name, spec.input, spec.metric, rows, execution.part(0, 0.1));
  Model model;
  model.spec = spec;
  if (spec.input == Input::rows) model.spec.metric = data.metric;
  const Stress stress(Spec::name, data, model.stress_kind(), execution.part(0.1, 0.15));
  const StressMinimum found = least_stress(Spec::name, stress, data,
                                           {.most_iterations = spec.max_iterations,
                                            .tolerance = spec.tolerance,
                                            .restarts = spec.restarts,
                                            .dimensions = spec.dimensions,
                                            .seed = options.seed},
                                           execution.part(0.15, 0.9));
  const Execution rest = found.cancelled ? to_the_end(execution) : execution;
  const Hearing hearing(rest);
  model.places = found.places;
  model.trace = Eigen::Map<const Vector>(found.trace.data(), static_cast<Index>(found.trace.size()));
  tell(model, stress, found);
  model.describe(data, rows.width(), rest.part(0.9, 0.95, "quality of the picture"));
  model.certificate = certify(model, rows, rest.part(0.95, 1));
  if (found.cancelled) say_cancelled(model.certificate, model.trace.size() - 1);
  return model;
}

}  // namespace lemma
