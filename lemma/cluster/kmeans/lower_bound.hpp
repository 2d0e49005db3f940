// lemma/cluster/kmeans/lower_bound.hpp: what no clustering into k can fall below.
//
// Of n different rows with weights w let B = √w (x − mean), G = BBᵀ and u = √w / ‖√w‖. A clustering is the matrix Z that holds
// √(wᵢwⱼ) / (weight of the cluster) where i and j are together, else 0; its sum of squares is W = tr G − ⟨G, Z⟩. This Z is a
// projection of rank k with Zu = u, nothing in it is negative, and with z_ij = Z_ij / √(wᵢwⱼ)
//
//     z_ij + z_ik ≤ z_ii + z_jk        (where i is with j and with k, j and k are together).
//
// So for whatever N ≥ 0 and t ≥ 0, with M = G + N + Σ t A, A being such that ⟨A, Z⟩ = z_ii + z_jk − z_ij − z_ik,
//
//     ⟨G, Z⟩ ≤ ⟨M, Z⟩ ≤ uᵀMu + the k − 1 greatest eigenvalues of M across u,
//
// and W is no less than tr G without that: N and t prove it, however they were found. The best N and t are the multipliers of
// the semidefinite programme of Peng and Wei (2007) with the triangles of Piccialli, Sudoso and Wiegele (2022).
#pragma once
#include <lemma/cluster/shared/alike_rows.hpp>
#include <lemma/core/parallel.hpp>

namespace lemma {

inline constexpr double kBoundReached = 1e-6;  // of W: as good as proved

struct LowerBound {
  double value = 0;
  Vector pairs;    // N, the lower triangle row after row, in units of tr G; rows as alike_rows puts them
  Matrix triples;  // i, j, k and t, in the same units
};

/// The multipliers by the alternating directions method, triangles being added where they are violated most: so many steps, or
/// until W is known to be within `kBoundReached` of the best. Each step decomposes a matrix of n × n. A cancel ends it with what it has.
LowerBound lower_bound(const AlikeRows& rows, Index k, double within, int steps, const Execution& execution);

/// The bound that multipliers prove, anew: G from squared distances, all eigenvalues; what is negative in them counts as 0.
/// 0, which is always one, where they do not fit the rows.
double proved_bound(const AlikeRows& rows, Index k, const Vector& pairs, const Matrix& triples);

}  // namespace lemma
