// lemma/embed/laplacian_eigenmaps.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/embed/laplacian_eigenmaps.hpp>
#include <lemma/embed/shared/spectral.hpp>
#include <lemma/math/eigen.hpp>

namespace lemma {
namespace {

double affinity_of(const LaplacianEigenmaps& spec, double distance) {
  if (spec.affinity == Affinity::binary) return 1;
  return std::exp(-0.5 * distance * distance / (*spec.sigma * *spec.sigma));
}

struct Affinities {
  Neighborhood near;
  Graph graph;  // of affinities
  Vector degree;
};

double mean_edge(const Graph& graph) {
  double sum = 0;
  for (const double each : graph.matrix().value) sum += each;
  return sum / static_cast<double>(graph.entries());
}

Affinities affinities_of(LaplacianEigenmaps& spec, const Placed& placed, const Execution& execution) {
  Affinities out;
  out.near = neighborhood(LaplacianEigenmaps::name, placed.things, spec.near(), execution);
  out.near.parts = std::max(out.near.parts, placed.parts);
  if (spec.affinity == Affinity::heat && !spec.sigma) spec.sigma = mean_edge(out.near.graph);
  out.graph = out.near.graph.reweighted([&](double d) { return affinity_of(spec, d); });
  out.degree = out.graph.degrees();
  for (Index i = 0; i < out.degree.size(); ++i)
    if (!(out.degree(i) > 1e-200))
      throw Error(
          fmt::format("laplacian_eigenmaps: row {} has no affinity to any other: sigma {:g} is too small for its "
                      "distances",
                      i + 1, spec.sigma.value_or(0)));
  return out;
}

/// L, or D^−½ L D^−½, and the constant vector in its coordinates.
SpectralProblem problem_of(const Affinities& of, bool normalised) {
  const Index n = of.graph.count();
  SpectralProblem out;
  out.matrix = laplacian(of.graph, normalised ? Laplacian::symmetric : Laplacian::unnormalised);
  out.trivial = normalised ? Vector(of.degree.cwiseSqrt()) : Vector::Ones(n).eval();
  out.trivial.normalize();
  out.times = [&of, normalised, n](const Matrix& v) -> Matrix {
    const Vector root = normalised ? Vector(of.degree.cwiseSqrt()) : Vector::Ones(n).eval();
    const Matrix y = root.cwiseInverse().asDiagonal() * v;
    Matrix sum = Matrix::Zero(n, v.cols());  // Σ_j w_ij (y_i − y_j)
    for (Index i = 0; i < n; ++i) {
      const auto to = of.graph.neighbors_of(i);
      const auto w = of.graph.weights_of(i);
      for (std::size_t k = 0; k < to.size(); ++k) sum.row(i) += w[k] * (y.row(i) - y.row(to[k]));
    }
    return root.cwiseInverse().asDiagonal() * sum;
  };
  return out;
}

/// Places are the vectors divided by this: Σ d y² = Σ d, or Σ y² = n.
Vector scale_of(const Affinities& of, bool normalised) {
  const double n = static_cast<double>(of.degree.size());
  return normalised ? Vector((of.degree / of.degree.sum()).cwiseSqrt())
                    : Vector::Constant(of.degree.size(), 1 / std::sqrt(n));
}

Certificate certificate_of(const LaplacianEigenmapsModel& model, const Affinities& of, Comparison& same,
                           const Execution& execution) {
  same.number("graph_pieces", static_cast<double>(model.graph_pieces), static_cast<double>(of.near.parts), 1);
  same.relative("degree_sum", model.degree_sum, of.degree.sum());
  const Matrix vectors = scale_of(of, model.spec.normalised).asDiagonal() * model.places;
  return spectral_certificate(problem_of(of, model.spec.normalised), {model.eigenvalues, vectors}, execution);
}

}  // namespace

void LaplacianEigenmaps::check() const {
  if (sigma && affinity == Affinity::binary)
    throw Error(
        "laplacian_eigenmaps: sigma is the width of '--affinity heat'; with binary affinities it takes no part");
}

void LaplacianEigenmapsModel::check() const {
  check_embedded(LaplacianEigenmaps::name, spec.input, spec.metric, spec.dimensions,
                 static_cast<Index>(left_out.of.size()));
  check_left_out(LaplacianEigenmaps::name, left_out, count(), spec.pieces);
  require(eigenvalues.size() == dimensions() && eigenvalues.allFinite() && graph_pieces >= 1 &&
              std::is_sorted(eigenvalues.begin(), eigenvalues.end()) && std::isfinite(degree_sum) && degree_sum > 0,
          "laplacian_eigenmaps: the eigenvalues do not fit the coordinates, or do not rise");
  require(spec.affinity == Affinity::binary || spec.sigma, "laplacian_eigenmaps: there is no sigma");
}

void LaplacianEigenmapsModel::place(std::span<const std::int32_t> which, std::span<const double> far,
                                    Eigen::Ref<Matrix> out, Index row) const {
  double degree = 0;
  std::vector<double> w;
  const double least = *std::min_element(far.begin(), far.end());  // beyond all of them only the shares count
  for (const double d : far) {
    w.push_back(spec.affinity == Affinity::binary ? 1.0
                : spec.normalised ? std::exp(-0.5 * (d - least) * (d + least) / (*spec.sigma * *spec.sigma))
                                  : affinity_of(spec, d));
    degree += w.back();
  }
  for (Index k = 0; k < dimensions(); ++k) {
    double sum = 0;
    for (std::size_t j = 0; j < which.size(); ++j) sum += w[j] * places(which[j], k);
    const double share = spec.normalised ? (1 - eigenvalues(k)) * degree : degree - eigenvalues(k);
    if (!(share > 1e-8 * degree && share > 0))
      throw Error(
          fmt::format("laplacian_eigenmaps: row {} cannot be placed in dimension {}: its affinities do not exceed "
                      "the eigenvalue {:g}; take the normalised Laplacian, or fewer dimensions",
                      row + 1, k + 1, eigenvalues(k)));
    out(row, k) = sum / share;
  }
}

Matrix LaplacianEigenmapsModel::transform(const MatrixView& x) const {
  require_width(LaplacianEigenmaps::name, columns, x.cols());
  Matrix out(x.rows(), dimensions());
  if (x.rows() == 0) return out;
  if (spec.input != Input::rows) {
    for_each_new(
        LaplacianEigenmaps::name, *this, spec.input, spec.metric, x,
        [&](Index i, std::span<const double> far) {
          const NearThings near = near_things(far, spec.near());
          place(near.which, near.far, out, i);
        },
        left_out.of);
    return out;
  }
  const Neighbors rows(points, BoundMetric(spec.metric, columns));
  const NeighborLists near = spec.radius ? rows.within(x, *spec.radius) : rows.nearest(x, spec.neighbors);
  const NeighborLists nearest = spec.radius ? rows.nearest(x, 1) : NeighborLists();
  for (Index i = 0; i < x.rows(); ++i) {
    const NeighborLists& lists = near.rows_of(i).empty() ? nearest : near;
    place(lists.rows_of(i), lists.distances_of(i), out, i);
  }
  return out;
}

std::string LaplacianEigenmapsModel::summary(const Names&) const {
  TextTable table;
  table.words("", dimension_names(dimensions())).numbers("eigenvalue", {eigenvalues.begin(), eigenvalues.end()});
  return table.str() + "\n" + picture();
}

LaplacianEigenmapsModel fit(const Valid<LaplacianEigenmaps>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  LaplacianEigenmapsModel model;
  model.spec = *spec;
  Compared data = things_of(LaplacianEigenmaps::name, spec->input, rows, spec->metric, execution.part(0, 0.05));
  if (spec->input == Input::rows) model.spec.metric = data.metric;
  const Placed placed = placed_of(LaplacianEigenmaps::name, std::move(data), spec->input, rows.width(), spec->near(),
                                  execution.part(0.05, 0.1));
  if (const auto warning = warning_of(placed, spec->near())) model.warnings.push_back(*warning);
  model.left_out = placed.left_out;
  const Affinities of = affinities_of(model.spec, placed, execution.part(0.1, 0.4));
  if (const auto warning = warning_of(of.near, model.spec.near())) model.warnings.push_back(*warning);
  const SpectralAxes axes = spectral_axes(LaplacianEigenmaps::name, problem_of(of, spec->normalised), spec->dimensions,
                                          execution.part(0.4, 0.8));
  model.eigenvalues = axes.values;
  model.places = scale_of(of, spec->normalised).cwiseInverse().asDiagonal() * axes.vectors;
  turn_columns(model.places);
  model.degree_sum = of.degree.sum();
  model.graph_pieces = of.near.parts;
  model.describe(placed.things, rows.width(), execution.part(0.8, 0.95, "quality of the picture"));
  Comparison same;
  model.certificate = certificate_of(model, of, same, execution.part(0.95, 1));
  return model;
}

Certificate certify(const LaplacianEigenmapsModel& model, const Rows& rows, const Execution& execution) {
  Comparison same;
  const Placed placed = placed_again(LaplacianEigenmaps::name, model, model.left_out, model.spec.input, rows,
                                     model.spec.metric, model.spec.near(), same, execution.part(0, 0.05));
  LaplacianEigenmaps spec = model.spec;
  const Affinities of = affinities_of(spec, placed, execution.part(0.05, 0.4));
  Certificate out = certificate_of(model, of, same, execution.part(0.4, 0.7));
  compare_quality(same, model, placed.things, execution.part(0.7, 1));
  report(same, out);
  return out;
}

template const Method& method_of<LaplacianEigenmaps>();

}  // namespace lemma
