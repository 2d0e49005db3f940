// lemma/cluster/spectral/affinity_graph.hpp: the graph that is cut. Inner header: use lemma/cluster/spectral.hpp.
#pragma once
#include <lemma/cluster/spectral.hpp>
#include <lemma/geometry/graph.hpp>

namespace lemma {

struct AffinityGraph {
  Graph graph;                           // weights are affinities above 0
  Matrix points = {};                    // of rows: they themselves; of a square: its rows
  std::vector<std::string> things = {};  // of a given graph
};

/// Fills in what the spec leaves open (radius, sigma, metric). Error naming the edge whose weight is negative or not a number, or the
/// two entries of a square that differ. `order`: for each row of the fit which of these it is; none: as they stand.
AffinityGraph affinity_graph(Spectral& spec, const Rows& rows, const Vector* prints, const Execution& execution);

/// M^(−1/2) (D − W) M^(−1/2)
Csr scaled_laplacian(const Graph& graph, VertexMass mass);
Vector masses(const Graph& graph, VertexMass mass);

}  // namespace lemma
