// lemma/cluster/spectral.hpp
#pragma once
#include <lemma/geometry/compared.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

enum class SpectralGraph { knn, mutual, radius, full };
constexpr auto names_of(SpectralGraph) { return std::array<std::string_view, 4>{"knn", "mutual", "radius", "full"}; }
enum class SpectralAffinity { binary, gaussian };
constexpr auto names_of(SpectralAffinity) { return std::array<std::string_view, 2>{"binary", "gaussian"}; }
enum class VertexMass { degree, one };
constexpr auto names_of(VertexMass) { return std::array<std::string_view, 2>{"degree", "one"}; }
enum class SpectralCut { kmeans, sweep };
constexpr auto names_of(SpectralCut) { return std::array<std::string_view, 2>{"kmeans", "sweep"}; }

/// Clusters of a graph that few edges leave. With affinities W, D = diag(W 1) and the masses M of the vertices (their degrees, or 1):
///
///     L = M^(−1/2) (D − W) M^(−1/2),    L u = λ u,  0 = λ₁ ≤ λ₂ ≤ …
///
/// `kmeans` (Ng, Jordan and Weiss 2001): row i of the first k eigenvectors, brought to length 1, is where vertex i lies; k-means
/// finds the clusters there, which relaxes the normalised cut Σ_k Cut(A_k) / mass(A_k) (the ratio cut, of masses 1). `sweep`: two
/// clusters, those of the best cut along the Fiedler vector v = M^(−1/2) u₂: of all sets S of the vertices with the smallest v
///
///     conductance  Cut(S) / min(mass(S), mass(Sᶜ))        sparsity  Cut(S) / (mass(S) mass(Sᶜ)).
///
/// Cheeger's inequality brackets the least conductance φ of all sets: λ₂ / 2 ≤ φ ≤ (least along the sweep) ≤ √(2 δ λ₂), δ = 1 for
/// masses that are degrees and the largest degree for masses of 1. It says nothing of the sparsity.
///
/// The graph: each row joined to its nearest rows (or where both are among the other's), to all within a radius, or to all; or given,
/// as a square of affinities or as edges i, j, weight. Its parts (connected components) are found first: each of them is an
/// eigenvalue 0, and there are at least so many clusters. The Fiedler vector is that of a graph in one part.
///
/// Cost         neighbours, a sparse factorisation, and a few products with it for each cycle; O(n k) memory besides.
/// Certificate  consistent: each eigenvector is one (‖L u − λ u‖ ≤ 1e-8 of L's size, orthonormal), and Sylvester's law of inertia, by
///              an L D Lᵀ factorisation between two eigenvalues, says that none smaller was missed; as many are 0 as the graph
///              has parts. Every row is with the nearest of the centres, which are the means of their rows; all cuts are
///              summed again edge by edge, and Cheeger's bounds hold.
struct Spectral {
  std::optional<int> k;
  Input input = Input::rows;
  SpectralGraph graph = SpectralGraph::knn;
  int neighbors = 10;
  std::optional<double> radius;
  SpectralAffinity affinity = SpectralAffinity::binary;
  std::optional<double> sigma;
  Metric metric;
  VertexMass mass = VertexMass::degree;
  SpectralCut cut = SpectralCut::kmeans;
  int restarts = 10;

  static constexpr std::string_view name = "spectral";
  static constexpr MethodAbout about{
      .family = "cluster",
      .task = Task::clustering,
      .summary = "clusters of a graph that few edges leave, from the first eigenvectors of its Laplacian",
      .objective = "minimise sum_k Cut(A_k) / mass(A_k), relaxed to eigenvectors of M^-1/2 (D - W) M^-1/2",
      .example = "lemma fit spectral iris '~ . - species' --k 3",
      .keeps_rows = true,
      .uses_response = false,
      .random = true};
  static constexpr auto params() {
    return Listing{
        param("k", &Spectral::k,
              "number of clusters; by default where the first ten eigenvalues leave the widest gap, at least the parts "
              "of the "
              "graph",
              at_least(1)),
        param("input", &Spectral::input,
              "rows, a square of affinities, or edges: i, j, weight (1 where it is left out)"),
        param("graph", &Spectral::graph,
              "rows are joined to their nearest, to those where both are among the other's nearest, to all within a "
              "radius, or "
              "to all"),
        param("neighbors", &Spectral::neighbors, "how many nearest rows", at_least(1)),
        param("radius", &Spectral::radius,
              "how far rows that are joined may be apart; by default the median distance to the nearest "
              "rows",
              above(0)),
        param("affinity", &Spectral::affinity,
              "of rows that are joined: 1, or exp(-d^2 / (2 sigma^2)), which that of all rows is"),
        param("sigma", &Spectral::sigma, "of Gaussian affinities; by default the median distance to the nearest rows",
              above(0)),
        param("metric", &Spectral::metric, "distance of two rows"),
        param("mass", &Spectral::mass, "of a vertex: its degree (normalised cut), or one (ratio cut)"),
        param("cut", &Spectral::cut,
              "k clusters by k-means on the eigenvectors, or two by the best cut along the second"),
        param("restarts", &Spectral::restarts, "starts of k-means, of which the best is kept", at_least(1))};
  }
  void check() const;
  Needs needs(Needs usual) const {
    if (input == Input::pairs) usual.codes = true;
    else if (input == Input::rows && metric.takes_missing()) usual.codes = usual.missing = true;
    return usual;
  }
};
static_assert(Described<Spectral>);

struct SpectralModel : Evidence {
  /// Rows of a graph that joins all, and of a square.
  static constexpr Index kMostFull = 3000;

  Spectral spec;
  Vector labels;  // from 1
  Vector sizes;
  Vector eigenvalues;  // the first of L, ascending
  Matrix vectors;      // u, a column for each of them
  Index parts = 0;     // connected components
  double normalized_cut = 0;
  Vector fiedler;      // none of a graph in parts
  Vector sweep_order;  // vertices by v, numbers from 1
  Matrix sweep;        // after each of them but the last: cut, sparsity, conductance
  Vector best_cut;     // the least conductance and the least sparsity along the sweep; none of a graph in parts
  Vector cheeger;      // bounds on the least conductance of all sets
  double total_mass = 0, edges = 0;
  std::vector<std::string> things;
  Index columns = 0;
  Vector prints;

  static constexpr auto fields() {
    using M = SpectralModel;
    constexpr Along by_row{.across = Axis::row};
    return Listing{
        result("labels", &M::labels, "the cluster of each vertex, numbered in the order in which they meet them",
               by_row),
        result("sizes", &M::sizes, "vertices in each cluster"),
        result("eigenvalues", &M::eigenvalues, "the smallest ones of the Laplacian, ascending"),
        result("normalized_cut", &M::normalized_cut, "sum over the clusters of Cut / mass"),
        result("fiedler", &M::fiedler,
               "the second eigenvector over the roots of the masses, of length 1; none of a graph in parts", by_row),
        result("sweep_order", &M::sweep_order, "the vertices by the Fiedler vector", kRowNumbers),
        result("sweep", &M::sweep, "cut, sparsity and conductance of the first 1, 2, ... of them"),
        result("best_cut", &M::best_cut,
               "the least conductance, Cut / min(mass), and sparsity, Cut / (mass mass), of the sweep"),
        result("cheeger", &M::cheeger,
               "between these two lies the least conductance of all sets; none of a graph in parts"),
        result("things", &M::things, "names of the vertices, where the data give a graph"),
        state("eigenvectors", &M::vectors, "a column for each eigenvalue"),
        state("parts", &M::parts, "connected components of the graph"),
        state("total_mass", &M::total_mass, "of all vertices"),
        state("edges", &M::edges, "of the graph"),
        state("columns", &M::columns, "of the data"),
        state("prints", &M::prints, "a number of each row, by which it is known again; none of edges")};
  }
  Index width() const { return columns; }
  Index count() const { return labels.size(); }
  Index k() const { return sizes.size(); }
  void check() const;
  std::string summary(const Names& names) const;
};

SpectralModel fit(const Valid<Spectral>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const SpectralModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Spectral>();

}  // namespace lemma
