// lemma/embed/hessian_lle.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/embed/hessian_lle.hpp>
#include <lemma/embed/shared/tangent.hpp>

namespace lemma {
namespace {

/// The products of coordinates, orthonormal to 1, to the coordinates and to each other: second derivatives.
Matrix second_derivatives(const Matrix& tangent) {
  const Index k = tangent.rows(), d = tangent.cols();
  const Index terms = 1 + d + d * (d + 1) / 2;
  if (k < terms)
    throw Error(fmt::format(
        "hessian_lle: a row has {} within the radius, must have {}: a quadratic function of {} has {} terms",
        count_of(k - 1, "row"), terms - 1, count_of(d, "coordinate"), terms));
  Matrix basis(k, terms);
  basis.col(0).setOnes();
  basis.middleCols(1, d) = tangent;
  for (Index a = 0, at_column = 1 + d; a < d; ++a)
    for (Index b = a; b < d; ++b) basis.col(at_column++) = tangent.col(a).cwiseProduct(tangent.col(b));
  return orthogonal_part(basis, 1 + d);
}

LocalPlanes planes_of(const HessianLle& spec, const ComparedPoints& data, const Execution& execution) {
  const int terms = 1 + spec.dimensions + spec.dimensions * (spec.dimensions + 1) / 2;
  if (!spec.radius && spec.neighbors + 1 < terms)
    throw Error(
        fmt::format("hessian_lle: neighbors is {}, must be at least {}: a quadratic function of {} has {} terms",
                    spec.neighbors, terms - 1, count_of(spec.dimensions, "coordinate"), terms));
  return local_planes(HessianLle::name, data, spec.near(), spec.dimensions, second_derivatives, execution);
}

Certificate certificate_of(const HessianLleModel& model, const LocalPlanes& planes, const SpectralProblem& problem,
                           Comparison& same, const Execution& execution) {
  same.number("graph_pieces", static_cast<double>(model.graph_pieces), static_cast<double>(planes.near.parts), 1);
  const double root = std::sqrt(static_cast<double>(model.count()));
  return spectral_certificate(problem, {model.eigenvalues, model.places / root}, execution);
}

}  // namespace

void HessianLleModel::check() const {
  check_embedded(HessianLle::name, Input::rows, spec.metric, spec.dimensions);
  require(eigenvalues.size() == dimensions() && eigenvalues.allFinite() && graph_pieces >= 1 &&
              std::is_sorted(eigenvalues.begin(), eigenvalues.end()),
          "hessian_lle: the eigenvalues do not fit the coordinates, or do not rise");
}

std::string HessianLleModel::summary(const Names&) const {
  TextTable table;
  table.words("", dimension_names(dimensions())).numbers("eigenvalue", {eigenvalues.begin(), eigenvalues.end()});
  return table.str() + "\n" + picture();
}

HessianLleModel fit(const Valid<HessianLle>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  HessianLleModel model;
  model.spec = *spec;
  const ComparedPoints data = points_of(HessianLle::name, rows, spec->metric, execution.part(0, 0.05));
  model.spec.metric = data.metric.metric();
  const LocalPlanes planes = planes_of(model.spec, data, execution.part(0.05, 0.4));
  if (const auto warning = warning_of(planes.near, model.spec.near())) model.warnings.push_back(*warning);
  const SpectralProblem problem = problem_of(planes);
  const SpectralAxes axes = spectral_axes(HessianLle::name, problem, spec->dimensions, execution.part(0.4, 0.8));
  model.eigenvalues = axes.values;
  model.places = std::sqrt(static_cast<double>(data.points.rows())) * axes.vectors;
  model.graph_pieces = planes.near.parts;
  model.describe(data.points, data.metric, execution.part(0.8, 0.95, "quality of the picture"));
  Comparison same;
  model.certificate = certificate_of(model, planes, problem, same, execution.part(0.95, 1));
  return model;
}

Certificate certify(const HessianLleModel& model, const Rows& rows, const Execution& execution) {
  Comparison same;
  const ComparedPoints data =
      points_again(HessianLle::name, model, rows, model.spec.metric, same, execution.part(0, 0.05));
  const LocalPlanes planes = planes_of(model.spec, data, execution.part(0.05, 0.4));
  const SpectralProblem problem = problem_of(planes);
  Certificate out = certificate_of(model, planes, problem, same, execution.part(0.4, 0.7));
  compare_quality(same, model, Dissimilarities::on_demand(data.points, data.metric), {}, execution.part(0.7, 1));
  report(same, out);
  return out;
}

template const Method& method_of<HessianLle>();

}  // namespace lemma
