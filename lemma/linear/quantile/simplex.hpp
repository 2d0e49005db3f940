// lemma/linear/quantile/simplex.hpp: the best vertex of a quantile regression. Inner header: use lemma/linear/quantile.hpp.
#pragma once
#include <lemma/core/parallel.hpp>
#include <vector>

namespace lemma::quantile {

/// A c that minimises Σ ρ_τ(yᵢ − zᵢ·c), ρ_τ(r) = r (τ − [r < 0]), and passes through as many rows as it has entries.
struct Vertex {
  Vector c;
  std::vector<Index> basis;  // the rows it passes through: they determine it
  bool unique = true;        // false: along an edge of the vertex the objective stays what it is
  bool optimal = false;      // false: cancelled, or out of pivots
  long long pivots = 0;
};

/// The rows of z, of full column rank, are multiplied by their weights, and so is y. Entries of y should be about 1.
///
/// Barrodale and Roberts' simplex method, by its dual: with aᵢ = τ above and τ − 1 below the plane, the rows h of the basis
/// get the a that solves Σ aᵢ zᵢ = 0, and the vertex is optimal when these are within [τ − 1, τ]. Otherwise the row that is
/// furthest outside leaves: the plane moves along that edge over as many rows as the objective falls (a weighted median of
/// their breakpoints), and the row it stops at joins. Ties are broken by a change of y of 1e-10, which is taken back.
///
/// With many rows, Portnoy and Koenker's preprocessing: the vertex of a sample of (n k)^⅔ rows tells on which side most rows
/// lie. Only those near the plane take part in the pivots, and the others are asked afterwards; those that found themselves
/// on the wrong side take part, too. The answer is exact.
///
/// Cost  O(n k) for each look at all rows (about three), O((n k)^⅔ k) for a pivot.
Vertex solve(const Matrix& z, const Vector& y, double tau, const Execution& execution);

}  // namespace lemma::quantile
