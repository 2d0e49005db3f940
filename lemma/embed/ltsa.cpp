// lemma/embed/ltsa.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/embed/ltsa.hpp>
#include <lemma/embed/shared/tangent.hpp>

namespace lemma {
namespace {

/// An orthonormal basis of what is no affine function of the coordinates: I − 11ᵀ/k − UUᵀ is its projection.
Matrix outside_plane(const Matrix& tangent) {
  const Index k = tangent.rows(), d = tangent.cols();
  Matrix basis(k, k);
  basis << Vector::Ones(k), tangent, Matrix::Identity(k, k).leftCols(k - d - 1);
  return orthogonal_part(basis, d + 1);
}

LocalPlanes planes_of(const Ltsa& spec, const ComparedPoints& data, const Execution& execution) {
  if (!spec.radius && spec.neighbors < spec.dimensions + 1)
    throw Error(fmt::format("ltsa: neighbors is {}, must be at least {}: a plane of {} passes through {} rows exactly",
                            spec.neighbors, spec.dimensions + 1, count_of(spec.dimensions, "dimension"),
                            spec.dimensions + 1));
  return local_planes(Ltsa::name, data, spec.near(), spec.dimensions, outside_plane, execution);
}

Certificate certificate_of(const LtsaModel& model, const LocalPlanes& planes, const SpectralProblem& problem,
                           Comparison& same, const Execution& execution) {
  same.number("graph_pieces", static_cast<double>(model.graph_pieces), static_cast<double>(planes.near.parts), 1);
  const double root = std::sqrt(static_cast<double>(model.count()));
  return spectral_certificate(problem, {model.eigenvalues, model.places / root}, execution);
}

}  // namespace

void LtsaModel::check() const {
  check_embedded(Ltsa::name, Input::rows, spec.metric, spec.dimensions);
  require(eigenvalues.size() == dimensions() && eigenvalues.allFinite() && graph_pieces >= 1 &&
              std::is_sorted(eigenvalues.begin(), eigenvalues.end()),
          "ltsa: the eigenvalues do not fit the coordinates, or do not rise");
}

std::string LtsaModel::summary(const Names&) const {
  TextTable table;
  table.words("", dimension_names(dimensions())).numbers("eigenvalue", {eigenvalues.begin(), eigenvalues.end()});
  return table.str() + "\n" + picture();
}

LtsaModel fit(const Valid<Ltsa>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  LtsaModel model;
  model.spec = *spec;
  const ComparedPoints data = points_of(Ltsa::name, rows, spec->metric, execution.part(0, 0.05));
  model.spec.metric = data.metric.metric();
  const LocalPlanes planes = planes_of(model.spec, data, execution.part(0.05, 0.4));
  if (const auto warning = warning_of(planes.near, model.spec.near())) model.warnings.push_back(*warning);
  const SpectralProblem problem = problem_of(planes);
  const SpectralAxes axes = spectral_axes(Ltsa::name, problem, spec->dimensions, execution.part(0.4, 0.8));
  model.eigenvalues = axes.values;
  model.places = std::sqrt(static_cast<double>(data.points.rows())) * axes.vectors;
  model.graph_pieces = planes.near.parts;
  model.describe(data.points, data.metric, execution.part(0.8, 0.95, "quality of the picture"));
  Comparison same;
  model.certificate = certificate_of(model, planes, problem, same, execution.part(0.95, 1));
  return model;
}

Certificate certify(const LtsaModel& model, const Rows& rows, const Execution& execution) {
  Comparison same;
  const ComparedPoints data = points_again(Ltsa::name, model, rows, model.spec.metric, same, execution.part(0, 0.05));
  const LocalPlanes planes = planes_of(model.spec, data, execution.part(0.05, 0.4));
  const SpectralProblem problem = problem_of(planes);
  Certificate out = certificate_of(model, planes, problem, same, execution.part(0.4, 0.7));
  compare_quality(same, model, Dissimilarities::on_demand(data.points, data.metric), {}, execution.part(0.7, 1));
  report(same, out);
  return out;
}

template const Method& method_of<Ltsa>();

}  // namespace lemma
