// lemma/embed/isomap.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/embed/isomap.hpp>
#include <lemma/embed/shared/centred.hpp>
#include <lemma/math/left_out.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/math/partial_eigen.hpp>
#include <lemma/math/simd/relax.hpp>
#include <numeric>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-8;
constexpr Index kMostDense = 500;  // beyond it a few eigenvalues come by Krylov spaces

/// The graph, its ways, and what follows from them.
struct Ground {
  Compared things;
  Neighborhood near;
  std::vector<Index> sources;  // landmarks, or all rows
  Matrix ways;                 // a row for each source
  bool all() const { return static_cast<Index>(sources.size()) == things.count(); }
};

void require_room(const Isomap& spec, Index n, Index sources) {
  const double bytes =
      8.0 * static_cast<double>(sources) * (static_cast<double>(n) + 2.0 * static_cast<double>(sources));
  if (bytes > 1e9 * spec.gigabytes)
    throw Error(
        fmt::format("isomap: the ways between {} take {} of memory, and {} are allowed; set --landmarks, or raise "
                    "--gigabytes",
                    count_of(n, "row"), format_bytes(bytes), format_bytes(1e9 * spec.gigabytes)));
}

Ground ground_of(const Isomap& spec, Placed placed, std::vector<Index> sources, const Execution& execution) {
  Compared& things = placed.things;
  require_room(spec, things.count(), static_cast<Index>(sources.size()));
  Neighborhood near = neighborhood(Isomap::name, things, spec.near(), execution.part(0, 0.3));
  near.parts = std::max(near.parts, placed.parts);
  Matrix ways = shortest_paths(near.graph, sources, execution.part(0.3, 1, "shortest ways"));
  return {std::move(things), std::move(near), std::move(sources), std::move(ways)};
}

/// Each edge once: two things, from < to, and its length.
Matrix edges_of(const Graph& graph) {
  Matrix out(graph.entries() / 2, 3);
  Index next = 0;
  for (Index i = 0; i < graph.count(); ++i)
    for (std::size_t k = 0; k < graph.neighbors_of(i).size(); ++k)
      if (const Index j = graph.neighbors_of(i)[k]; i < j)
        out.row(next++) << static_cast<double>(i), static_cast<double>(j), graph.weights_of(i)[k];
  return out;
}

Graph graph_from(const Matrix& edges, Index things) {
  std::vector<Edge> all;
  for (Index e = 0; e < edges.rows(); ++e)
    all.push_back({static_cast<Index>(edges(e, 0)), static_cast<Index>(edges(e, 1)), edges(e, 2)});
  return Graph::of_edges(things, all);
}

/// −½ J G² J of the ways between the sources, in units of the longest; of two directions of a way the one from the first counts.
struct CentredWays {
  Centred squares;
  double unit;
};
CentredWays centred_ways(const Ground& ground, const Execution& execution) {
  const auto count = static_cast<Index>(ground.sources.size());
  std::vector<double> packed;
  packed.reserve(at(count * (count - 1) / 2));
  for (Index a = 0; a < count; ++a)
    for (Index b = a + 1; b < count; ++b) packed.push_back(ground.ways(a, ground.sources[at(b)]));
  const Dissimilarities ways = Dissimilarities::of_triangle(std::move(packed));
  const double unit = largest_dissimilarity(Isomap::name, ways);
  return {centred_squares(ways, unit, 0, execution), unit};
}

/// Gower's triangle rule.
void place(const IsomapModel& model, const Matrix& of_sources, const std::function<double(Index)>& way,
           Eigen::Ref<Matrix> out, Index row) {
  for (Index k = 0; k < of_sources.cols(); ++k) {
    double sum = 0;
    for (Index s = 0; s < of_sources.rows(); ++s) {
      const double far = way(s);
      sum += of_sources(s, k) * ((model.mean_squares(s) - far * far) / model.eigenvalues(k));
    }
    out(row, k) = 0.5 * sum;
  }
}

Matrix source_places(const IsomapModel& model) {
  return model.landmarks.of.empty() ? model.places : Matrix(model.places(model.sources(), Eigen::all));
}

/// 1 − r² of the ways and the distances of the picture, in 1, 2, … dimensions, over the pairs of a source and another row.
Vector residual_variance(const Ground& ground, const Matrix& places, const Execution& execution) {
  const Index count = ground.ways.rows(), n = ground.ways.cols(), k = places.cols();
  const bool all = ground.all();
  Matrix sums =
      Matrix::Zero(count, 3 + 3 * k);  // pairs, Σg, Σg²; of each dimension Σd, Σd², Σgd, about a common middle
  const double middle = ground.ways.mean();
  parallel_for(count, execution, [&](Index s) {
    const Index i = ground.sources[at(s)];
    for (Index j = all ? i + 1 : 0; j < n; ++j) {
      if (j == i) continue;
      const double g = ground.ways(s, j) - middle;
      sums(s, 0) += 1, sums(s, 1) += g, sums(s, 2) += g * g;
      double square = 0;
      for (Index l = 0; l < k; ++l) {
        square += (places(i, l) - places(j, l)) * (places(i, l) - places(j, l));
        const double d = std::sqrt(square) - middle;
        sums(s, 3 + 3 * l) += d, sums(s, 4 + 3 * l) += d * d, sums(s, 5 + 3 * l) += g * d;
      }
    }
  });
  const Vector total = sums.colwise().sum();
  Vector out(k);
  for (Index l = 0; l < k; ++l) {
    const double w = total(0), gg = total(2) - total(1) * total(1) / w;
    const double dd = total(4 + 3 * l) - total(3 + 3 * l) * total(3 + 3 * l) / w;
    const double gd = total(5 + 3 * l) - total(1) * total(3 + 3 * l) / w;
    out(l) = gg > 0 && dd > 0 ? std::max(0.0, 1 - gd * gd / (gg * dd)) : 0;
  }
  return out;
}

/// How far the ways are from Bellman's equations g_s(j) = min over edges (i, j) of g_s(i) + w_ij, in units of the longest.
double bellman_residual(const Ground& ground, const Execution& execution) {
  const Index count = ground.ways.rows(), n = ground.ways.cols(),
              blocks = (count + simd::kSources - 1) / simd::kSources;
  Vector worst = Vector::Zero(blocks);
  parallel_for(blocks, execution, [&](Index block) {
    const Index first = block * simd::kSources, last = std::min(count, first + simd::kSources);
    std::vector<double> ways(at(n * simd::kSources), HUGE_VAL), least(ways.size(), HUGE_VAL), passed;
    for (Index s = first; s < last; ++s) {
      for (Index j = 0; j < n; ++j) ways[at(j * simd::kSources + s - first)] = ground.ways(s, j);
      least[at(ground.sources[at(s)] * simd::kSources + s - first)] = 0;
    }
    for (Index i = 0; i < n; ++i) {
      const auto to = ground.near.graph.neighbors_of(i);
      passed.resize(to.size());
      simd::relax(&ways[at(i * simd::kSources)], to, ground.near.graph.weights_of(i), least.data(), passed.data());
    }
    for (Index s = first; s < last; ++s)
      for (Index j = 0; j < n; ++j)
        worst(block) = std::max(worst(block), std::abs(ground.ways(s, j) - least[at(j * simd::kSources + s - first)]));
  });
  return worst.maxCoeff() / ground.ways.maxCoeff();
}

Certificate certificate_of(const IsomapModel& model, const Ground& ground, const CentredWays& centred, Comparison& same,
                           const Execution& execution) {
  const double squared = centred.unit * centred.unit;
  const Index kept = model.dimensions();
  const Vector values = model.eigenvalues / squared;
  const Matrix places = source_places(model) / centred.unit;
  const Matrix vectors = places * values.cwiseSqrt().cwiseInverse().asDiagonal();
  const Matrix& inner = centred.squares.inner;
  const Matrix left = multiply(inner, vectors, execution.part(0, 0)) - vectors * values.asDiagonal();
  const double worst = std::max({left.colwise().norm().maxCoeff() / values(0),
                                 (vectors.transpose() * vectors - Matrix::Identity(kept, kept)).cwiseAbs().maxCoeff(),
                                 bellman_residual(ground, execution.part(0, 0.4))});
  const bool complete =
      nothing_above(inner, values, vectors, values(kept - 1) + kTolerance * values(0), execution.part(0.4, 0.7));
  execution.report(0.7, "looking at the axes again");
  same.number("graph_pieces", static_cast<double>(model.graph_pieces), static_cast<double>(ground.near.parts), 1);
  same.number("longest_way", model.longest_way, ground.ways.maxCoeff(), ground.ways.maxCoeff());
  for (Index s = 0; s < model.mean_squares.size(); ++s)
    same.entry("mean_squares", s, model.mean_squares(s) / squared, centred.squares.means(s), 1, kTolerance);
  if (model.spec.input == Input::square) {
    const Matrix edges = edges_of(ground.near.graph);
    if (edges.rows() != model.edges.rows())
      same.number("edges", static_cast<double>(model.edges.rows()), static_cast<double>(edges.rows()), 1);
    for (Index e = 0; e < std::min(edges.rows(), model.edges.rows()); ++e)
      for (Index k = 0; k < 3; ++k)
        same.entry("edges", 3 * e + k, model.edges(e, k), edges(e, k), k < 2 ? 1 : centred.unit);
  }
  const Vector residual = residual_variance(ground, model.places, execution.part(0.7, 0.8));
  for (Index l = 0; l < kept; ++l)
    same.entry("residual_variance", l, model.residual_variance(l), residual(l), 1, kTolerance);
  if (!model.landmarks.of.empty()) {
    Matrix expected = model.places;
    const Matrix of_sources = source_places(model);
    for (Index i = 0; i < model.count(); ++i)
      if (!std::binary_search(ground.sources.begin(), ground.sources.end(), i))
        place(
            model, of_sources, [&](Index s) { return ground.ways(s, i); }, expected, i);
    for (Index i = 0; i < model.count(); ++i)
      for (Index l = 0; l < kept; ++l)
        same.entry("coordinates", i * kept + l, model.places(i, l), expected(i, l), centred.unit, kTolerance);
  }
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "residual of the ways and the eigenvectors";
  out.value = complete ? worst : 1;
  out.tolerance = kTolerance;
  out.iterations = 1;
  out.stopped = "closed form";
  out.message =
      complete
          ? fmt::format(
                "The ways are shortest and the coordinates are eigenvectors of their centred squares to "
                "{:.1e} (allowed {:.0e}), and no larger eigenvalue is left out.",
                worst, out.tolerance)
          : std::string("The centred squares of the ways have an eigenvalue that is larger than one that is kept.");
  return out;
}

}  // namespace

void Isomap::check() const {
  if (landmarks && *landmarks <= dimensions)
    throw Error(fmt::format("isomap: landmarks is {}, must be above the {} of the picture", *landmarks,
                            count_of(dimensions, "dimension")));
}

void IsomapModel::check() const {
  const auto left = static_cast<Index>(left_out.of.size());
  check_embedded(Isomap::name, spec.input, spec.metric, spec.dimensions, left);
  check_left_out(Isomap::name, left_out, count(), spec.pieces);
  const Index sources = landmarks.of.empty() ? count() : static_cast<Index>(landmarks.of.size());
  require(spec.landmarks ? sources == *spec.landmarks : landmarks.of.empty(),
          "isomap: the landmarks are not as many as told");
  for (std::size_t s = 0; s < landmarks.of.size(); ++s)
    require(landmarks.of[s] >= 0 && landmarks.of[s] < count() + left &&
                (s == 0 || landmarks.of[s] > landmarks.of[s - 1]) &&
                !std::binary_search(left_out.of.begin(), left_out.of.end(), landmarks.of[s]),
            "isomap: the landmarks are not rows with places, one after the other");
  require(eigenvalues.size() == dimensions() && eigenvalues.allFinite() && residual_variance.size() == dimensions() &&
              residual_variance.allFinite() && mean_squares.size() == sources && mean_squares.allFinite(),
          "isomap: the eigenvalues or the means do not fit the coordinates");
  for (Index k = 0; k < eigenvalues.size(); ++k)
    require(eigenvalues(k) > 0 && (k == 0 || eigenvalues(k) <= eigenvalues(k - 1)),
            "isomap: the eigenvalues do not fall, or one is not above 0");
  require(spec.input == Input::square
              ? edges.cols() == 3 && edges.rows() + 1 >= count() && edges.allFinite() && (edges.array() >= 0).all() &&
                    (edges.leftCols(2).array() < static_cast<double>(count())).all() &&
                    (edges.col(0).array() < edges.col(1).array()).all()
              : edges.size() == 0,
          "isomap: the edges do not fit the things");
  require(graph_pieces >= 1 && std::isfinite(longest_way) && longest_way > 0, "isomap: the ways are not usable");
}

std::vector<Index> IsomapModel::sources() const {
  std::vector<Index> out;
  for (const Index i : landmarks.of)
    out.push_back(i - (std::lower_bound(left_out.of.begin(), left_out.of.end(), i) - left_out.of.begin()));
  return out;
}

Matrix IsomapModel::transform(const MatrixView& x) const {
  require_width(Isomap::name, columns, x.cols());
  Matrix out(x.rows(), dimensions());
  if (x.rows() == 0) return out;
  if (spec.input != Input::rows) return transform_given(x);
  const Neighbors rows(points, BoundMetric(spec.metric, columns));
  const Neighborhood near = neighborhood(Isomap::name, rows, points, spec.near());
  const Matrix of_sources = source_places(*this);
  const std::vector<Index> from = sources();
  NeighborLists doors = spec.radius ? rows.within(x, *spec.radius) : rows.nearest(x, spec.neighbors);
  const NeighborLists nearest = spec.radius ? rows.nearest(x, 1) : NeighborLists();
  for (Index i = 0; i < x.rows(); ++i) {
    const bool alone = doors.rows_of(i).empty();  // nobody within the radius: its nearest row is its door
    const NeighborLists& through = alone ? nearest : doors;
    const Vector ways = shortest_paths_from(near.graph, through.rows_of(i), through.distances_of(i));
    place(
        *this, of_sources, [&](Index s) { return ways(from.empty() ? s : from[at(s)]); }, out, i);
  }
  return out;
}

/// By the dissimilarities of new things with those of the fit.
Matrix IsomapModel::transform_given(const MatrixView& x) const {
  Matrix out(x.rows(), dimensions());
  const Matrix of_sources = source_places(*this);
  const std::vector<Index> from = sources();
  const Graph graph = graph_from(edges, count());
  for_each_new(
      Isomap::name, *this, spec.input, spec.metric, x,
      [&](Index i, std::span<const double> far) {
        const NearThings doors = near_things(far, spec.near());
        const Vector ways = shortest_paths_from(graph, doors.which, doors.far);
        place(
            *this, of_sources, [&](Index s) { return ways(from.empty() ? s : from[at(s)]); }, out, i);
      },
      left_out.of);
  return out;
}

std::string IsomapModel::summary(const Names&) const {
  TextTable table;
  table.words("", dimension_names(dimensions()))
      .numbers("eigenvalue", {eigenvalues.begin(), eigenvalues.end()})
      .numbers("residual variance", {residual_variance.begin(), residual_variance.end()});
  return table.str() + fmt::format("\nLongest way: {}\n\n", format_significant(longest_way, 5)) + picture();
}

IsomapModel fit(const Valid<Isomap>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  IsomapModel model;
  model.spec = *spec;
  Compared data = things_of(Isomap::name, spec->input, rows, spec->metric, execution.part(0, 0.05));
  if (spec->input == Input::rows) model.spec.metric = data.metric;
  Placed placed =
      placed_of(Isomap::name, std::move(data), spec->input, rows.width(), spec->near(), execution.part(0.05, 0.1));
  if (const auto warning = warning_of(placed, spec->near())) model.warnings.push_back(*warning);
  model.left_out = placed.left_out;
  const Index n = placed.things.count();
  std::vector<Index> sources(at(n));
  std::iota(sources.begin(), sources.end(), Index{0});
  if (spec->landmarks) {
    if (*spec->landmarks >= n)
      throw Error(fmt::format("isomap: landmarks is {}, must be below {}, the number of rows", *spec->landmarks, n));
    RandomStream stream(options.seed);
    sources = sample_without_replacement(stream, n, *spec->landmarks);
    std::sort(sources.begin(), sources.end());
    const std::vector<Index> numbers = placed_numbers(model.left_out, n);
    for (const Index s : sources) model.landmarks.of.push_back(numbers[at(s)]);
  }
  const Ground ground = ground_of(model.spec, std::move(placed), std::move(sources), execution.part(0.1, 0.6));
  if (const auto warning = warning_of(ground.near, model.spec.near())) model.warnings.push_back(*warning);
  const CentredWays centred = centred_ways(ground, execution.part(0.6, 0.65));
  const Matrix& inner = centred.squares.inner;
  const Index wanted = std::min<Index>(spec->dimensions, inner.rows());
  Vector values;
  Matrix vectors;
  if (inner.rows() <= kMostDense) {
    Eigenpairs pairs = symmetric_eigen(inner, wanted);
    values = std::move(pairs.values), vectors = std::move(pairs.vectors);
  } else {
    PartialEigen pairs = largest_eigen(inner, wanted, execution.part(0.65, 0.8));
    values = std::move(pairs.values), vectors = std::move(pairs.vectors);
  }
  const Index kept = carrying(values, spec->dimensions);
  require(kept > 0, "isomap: no eigenvalue is positive: these ways have no places");
  if (kept < spec->dimensions)
    model.warnings.push_back(fmt::format("{} of {} dimensions carry nothing beyond rounding and are left out",
                                         spec->dimensions - kept, spec->dimensions));
  model.spec.dimensions = static_cast<int>(kept);
  model.eigenvalues = centred.unit * centred.unit * values.head(kept);
  model.mean_squares = centred.unit * centred.unit * centred.squares.means;
  const Matrix of_sources = centred.unit * (vectors.leftCols(kept) * values.head(kept).cwiseSqrt().asDiagonal());
  if (ground.all()) {
    model.places = of_sources;
  } else {
    model.places.resize(n, kept);
    for (Index i = 0; i < n; ++i)
      place(
          model, of_sources, [&](Index s) { return ground.ways(s, i); }, model.places, i);
    for (std::size_t s = 0; s < ground.sources.size(); ++s)
      model.places.row(ground.sources[s]) = of_sources.row(static_cast<Index>(s));
  }
  model.longest_way = ground.ways.maxCoeff();
  model.graph_pieces = ground.near.parts;
  model.residual_variance = residual_variance(ground, model.places, execution.part(0.8, 0.85));
  if (spec->input == Input::square) model.edges = edges_of(ground.near.graph);
  model.describe(ground.things, rows.width(), execution.part(0.85, 0.95, "quality of the picture"));
  Comparison same;
  model.certificate = certificate_of(model, ground, centred, same, execution.part(0.95, 1));
  return model;
}

Certificate certify(const IsomapModel& model, const Rows& rows, const Execution& execution) {
  Comparison same;
  Placed placed = placed_again(Isomap::name, model, model.left_out, model.spec.input, rows, model.spec.metric,
                               model.spec.near(), same, execution.part(0, 0.05));
  std::vector<Index> sources = model.sources();
  if (sources.empty()) {
    sources.resize(at(model.count()));
    std::iota(sources.begin(), sources.end(), Index{0});
  }
  const Ground ground = ground_of(model.spec, std::move(placed), std::move(sources), execution.part(0.05, 0.5));
  const CentredWays centred = centred_ways(ground, execution.part(0.5, 0.55));
  Certificate out = certificate_of(model, ground, centred, same, execution.part(0.55, 0.8));
  compare_quality(same, model, ground.things, execution.part(0.8, 1));
  report(same, out);
  return out;
}

template const Method& method_of<Isomap>();

}  // namespace lemma
