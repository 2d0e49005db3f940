// lemma/cluster/spectral/affinity_graph.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/cluster/shared/measured_points.hpp>
#include <lemma/cluster/shared/row_prints.hpp>
#include <lemma/cluster/spectral/affinity_graph.hpp>
#include <lemma/core/text.hpp>
#include <map>

namespace lemma {
namespace {

/// exp(−d²/(2σ²)) below this joins nothing.
constexpr double kLeastAffinity = 1e-300;

double median_of_nearest(const Neighbors& search, Index neighbors, const Execution& execution) {
  const NeighborLists lists = search.nearest_own(neighbors, execution);
  std::vector<double> last;
  for (Index i = 0; i < lists.count(); ++i)
    if (!lists.distances_of(i).empty()) last.push_back(lists.distances_of(i).back());
  if (last.empty()) return 0;
  const auto middle = last.begin() + static_cast<std::ptrdiff_t>(last.size() / 2);
  std::nth_element(last.begin(), middle, last.end());
  return *middle;
}

void require_room_for_all(Index n, std::string_view what) {
  if (n > SpectralModel::kMostFull)
    throw Error(fmt::format("spectral: {} of {} rows has too many edges, at most {} rows are allowed; take --graph knn",
                            what, format_count(n), format_count(SpectralModel::kMostFull)));
}

/// All weights that are not zero, as edges.
Graph without_zeros(const Graph& graph) {
  std::vector<Edge> edges;
  for (Index i = 0; i < graph.count(); ++i)
    for (std::size_t k = 0; k < graph.neighbors_of(i).size(); ++k)
      if (const Index j = graph.neighbors_of(i)[k]; i < j && graph.weights_of(i)[k] > kLeastAffinity)
        edges.push_back({i, j, graph.weights_of(i)[k]});
  return Graph::of_edges(graph.count(), edges);
}

Graph graph_of_points(Spectral& spec, const Matrix& points, const BoundMetric& metric, const Execution& execution) {
  const Index n = points.rows();
  const Neighbors search(points, metric, SearchOptions{}, execution.part(0, 0.2));
  const bool gaussian = spec.affinity == SpectralAffinity::gaussian || spec.graph == SpectralGraph::full;
  const Index neighbors = std::min<Index>(spec.neighbors, n - 1);
  const bool asks_radius = spec.graph == SpectralGraph::radius && !spec.radius, asks_sigma = gaussian && !spec.sigma;
  if (asks_radius || asks_sigma) {
    const double median = median_of_nearest(search, neighbors, execution.part(0.2, 0.5));
    if (!(median > 0))
      throw Error(
          fmt::format("spectral: more than half of the rows have {} copies, so that no {} follows from them; give --{}",
                      neighbors, asks_radius ? "radius" : "sigma", asks_radius ? "radius" : "sigma"));
    if (asks_radius) spec.radius = median;
    if (asks_sigma) spec.sigma = median;
  }
  Graph distances;
  if (spec.graph == SpectralGraph::full) {
    require_room_for_all(n, "the graph that joins all");
    distances = knn_graph(search, n - 1, Join::either, execution.part(0.5, 1));
  } else if (spec.graph == SpectralGraph::radius) {
    distances = radius_graph(search, *spec.radius, execution.part(0.5, 1));
  } else {
    distances = knn_graph(search, neighbors, spec.graph == SpectralGraph::knn ? Join::either : Join::mutual,
                          execution.part(0.5, 1, "neighbours"));
  }
  if (!gaussian) return distances.reweighted([](double) { return 1.0; });
  const double sigma = *spec.sigma;
  return without_zeros(distances.reweighted([=](double d) { return std::exp(-0.5 * (d / sigma) * (d / sigma)); }));
}

Graph graph_of_square(const Matrix& square, const std::vector<std::string>& names) {
  const Index n = square.rows();
  if (square.cols() != n)
    throw Error(fmt::format(
        "spectral: a square of affinities has as many columns as rows, and there are {} and {}; leave other "
        "columns out of the formula",
        count_of(n, "row"), count_of(square.cols(), "column")));
  require_room_for_all(n, "a square");
  std::vector<Edge> edges;
  const double largest = square.cwiseAbs().maxCoeff();
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < i; ++j) {
      const double a = square(i, j), b = square(j, i);
      if (a < 0 || b < 0)
        throw Error(fmt::format("spectral: the affinity of '{}' and '{}' is {}, must not be negative", names[at(i)],
                                names[at(j)], std::min(a, b)));
      if (std::abs(a - b) > 1e-10 * largest)
        throw Error(fmt::format(
            "spectral: the affinity of '{}' and '{}' is {}, but that of '{}' and '{}' is {}: it must be the same",
            names[at(i)], names[at(j)], a, names[at(j)], names[at(i)], b));
      if (a + b > 0) edges.push_back({j, i, 0.5 * a + 0.5 * b});
    }
  return Graph::of_edges(n, edges);
}

/// The two ends of each edge by their names: numbers rising, levels in the order of their bytes.
AffinityGraph graph_of_edges(const Rows& rows, const Matrix& table) {
  if (table.cols() != 2 && table.cols() != 3)
    throw Error(fmt::format("spectral: edges are the columns i, j and weight (which may be left out); there are {}: {}",
                            count_of(table.cols(), "column"), join_words(rows.features)));
  if (table.cols() == 3 && rows.holds_codes(2))
    throw Error(fmt::format("spectral: '{}' holds names, must hold weights: numbers", rows.features[2]));
  using Key = std::pair<double, std::string>;
  const auto key = [&](Index row, Index column) -> Key {
    const double entry = table(row, column);
    if (std::isnan(entry))
      throw Error(fmt::format("spectral: '{}' is missing in row {}: it must name an end of the edge",
                              rows.features[at(column)], row + 1));
    if (rows.holds_codes(column)) return {0.0, rows.levels[at(column)][static_cast<std::size_t>(entry)]};
    return {rows.holds_codes(1 - column) ? 0.0 : entry, format_significant(entry, 15)};
  };
  std::map<Key, Index> places;
  for (Index e = 0; e < table.rows(); ++e)
    for (const Index c : {0, 1}) places.emplace(key(e, c), 0);
  AffinityGraph out;
  for (Index next = 0; auto& [name, place] : places) {
    place = next++;
    out.things.push_back(name.second);
  }
  std::vector<Edge> edges;
  for (Index e = 0; e < table.rows(); ++e) {
    const Index i = places.at(key(e, 0)), j = places.at(key(e, 1));
    const double weight = table.cols() == 3 ? table(e, 2) : 1;
    if (!(weight >= 0 && std::isfinite(weight)))
      throw Error(
          fmt::format("spectral: the edge of '{}' and '{}' (row {}) has the weight {}, must be a number of at least 0",
                      out.things[at(i)], out.things[at(j)], e + 1, weight));
    if (i == j)
      throw Error(
          fmt::format("spectral: row {} joins '{}' to itself, which no cut could part", e + 1, out.things[at(i)]));
    if (weight > 0) edges.push_back({std::min(i, j), std::max(i, j), weight});
  }
  out.graph = Graph::of_edges(static_cast<Index>(out.things.size()), edges);
  return out;
}

}  // namespace

AffinityGraph affinity_graph(Spectral& spec, const Rows& rows, const Vector* prints, const Execution& execution) {
  if (spec.input == Input::pairs) return graph_of_edges(rows, gather(rows, execution));
  if (spec.input == Input::square) {
    require_finite(rows, execution.part(0, 0.1));
    AffinityGraph out;
    out.points = gather(rows, execution.part(0.1, 0.2));
    out.things = rows.features;
    out.graph = graph_of_square(out.points, rows.features);
    return out;
  }
  auto [points, metric] = measured_points(spec.metric, rows, execution.part(0, 0.1));
  if (points.rows() < 2) throw Error("spectral: there is 1 row, must be at least 2 to join them");
  spec.metric = metric.metric();
  AffinityGraph out;
  out.points = prints && prints->size() == points.rows() ? rows_at(points, places_by_prints(*prints, points))
                                                         : std::move(points);
  out.graph = graph_of_points(spec, out.points, metric, execution.part(0.1, 1));
  return out;
}

Vector masses(const Graph& graph, VertexMass mass) {
  return mass == VertexMass::degree ? graph.degrees() : Vector::Ones(graph.count()).eval();
}

Csr scaled_laplacian(const Graph& graph, VertexMass mass) {
  return laplacian(graph, mass == VertexMass::degree ? Laplacian::symmetric : Laplacian::unnormalised);
}

}  // namespace lemma
