// lemma/cluster/spectral/cuts.hpp: what cuts of a graph cost. Inner header: use lemma/cluster/spectral.hpp.
#pragma once
#include <lemma/cluster/spectral.hpp>
#include <lemma/geometry/graph.hpp>

namespace lemma {

/// Σ_k Cut(A_k) / mass(A_k); a cluster without mass has no cut either.
double normalized_cut(const Graph& graph, const Vector& mass, const Vector& labels, Index k);

/// Vertices by rising v, equals in their order.
std::vector<Index> sweep_order(const Vector& v);

/// Cut, sparsity and conductance of the first 1, 2, …, n − 1 vertices of an order: as each vertex crosses over, its edges to those
/// before it are no longer cut, and its others are.
Matrix sweep_of(const Graph& graph, const Vector& mass, const std::vector<Index>& order);
/// The same edge by edge: an edge is cut by every set that ends between its two places.
Matrix sweep_by_edges(const Graph& graph, const Vector& mass, const std::vector<Index>& order);

/// Between these lies the least conductance of all sets.
Vector cheeger_bounds(double lambda, const Graph& graph, VertexMass mass);

Certificate certificate_of(const SpectralModel& model, const Graph& graph, const Execution& execution);
/// "1 vertex", "1,000 vertices"
std::string vertices_text(Index count);
/// Rows of the first k eigenvectors, of length 1.
Matrix spectral_rows(const Matrix& vectors, Index k);
/// M^(−1/2) u₂, of length 1, its largest entry positive.
Vector fiedler_of(const Matrix& vectors, const Vector& mass);

}  // namespace lemma
