// lemma/embed/shared/tangent_fit.hpp: a picture made of planes is fitted and certified one way, whatever the planes tell. Inner header.
#pragma once
#include <cmath>
#include <lemma/embed/shared/planes_model.hpp>
#include <lemma/embed/shared/tangent.hpp>

namespace lemma {

/// What a spec makes of the rows.
template <class Spec>
using PlanesOf = LocalPlanes (*)(const Spec& spec, const ComparedPoints& data, const Execution& execution);

template <class Spec>
Certificate planes_certificate(const PlanesModel<Spec>& model, const LocalPlanes& planes,
                               const SpectralProblem& problem, Comparison& same, const Execution& execution) {
  same.number("graph_pieces", static_cast<double>(model.graph_pieces), static_cast<double>(planes.near.parts), 1);
  const double root = std::sqrt(static_cast<double>(model.count()));
  return spectral_certificate(problem, {model.eigenvalues, model.places / root}, execution);
}

template <class Spec>
PlanesModel<Spec> fit_planes(const Spec& spec, PlanesOf<Spec> planes_of, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  PlanesModel<Spec> model;
  model.spec = spec;
  const ComparedPoints data = points_of(Spec::name, rows, spec.metric, execution.part(0, 0.05));
  model.spec.metric = data.metric.metric();
  const LocalPlanes planes = planes_of(model.spec, data, execution.part(0.05, 0.4));
  if (const auto warning = warning_of(planes.near, model.spec.near())) model.warnings.push_back(*warning);
  const SpectralProblem problem = problem_of(planes);
  const SpectralAxes axes = spectral_axes(Spec::name, problem, spec.dimensions, execution.part(0.4, 0.8));
  model.eigenvalues = axes.values;
  model.places = std::sqrt(static_cast<double>(data.points.rows())) * axes.vectors;
  model.graph_pieces = planes.near.parts;
  model.describe(data.points, data.metric, execution.part(0.8, 0.95, "quality of the picture"));
  Comparison same;
  model.certificate = planes_certificate(model, planes, problem, same, execution.part(0.95, 1));
  return model;
}

template <class Spec>
Certificate certify_planes(const PlanesModel<Spec>& model, PlanesOf<Spec> planes_of, const Rows& rows,
                           const Execution& execution) {
  Comparison same;
  const ComparedPoints data = points_again(Spec::name, model, rows, model.spec.metric, same, execution.part(0, 0.05));
  const LocalPlanes planes = planes_of(model.spec, data, execution.part(0.05, 0.4));
  const SpectralProblem problem = problem_of(planes);
  Certificate out = planes_certificate(model, planes, problem, same, execution.part(0.4, 0.7));
  compare_quality(same, model, Dissimilarities::on_demand(data.points, data.metric), {}, execution.part(0.7, 1));
  report(same, out);
  return out;
}

}  // namespace lemma
