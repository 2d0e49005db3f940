// lemma/optimize/semidefinite.hpp: a semidefinite programme whose constraints are squares of linear forms, and the proof of its answer.
#pragma once
#include <lemma/core/parallel.hpp>
#include <lemma/core/sparse.hpp>

namespace lemma {

/// maximise  ⟨C, X⟩   subject to   a_kᵀ X a_k ≤ b_k,  X positive semidefinite,        with the dual
/// minimise  b·y      subject to   Z = Σ_k y_k a_k a_kᵀ − C positive semidefinite,  y ≥ 0.
///
/// Every b_k is above 0 and the a_k span the space: so both have points inside, and the same value. Whatever X and y are feasible,
/// b·y − ⟨C, X⟩ = ⟨Z, X⟩ + Σ y_k (b_k − a_kᵀ X a_k) ≥ 0 bounds how far either is from that value.
struct SemidefiniteProgramme {
  Matrix c;  // symmetric
  Csr a;     // a row for each constraint
  Vector b;
};

struct SemidefiniteAnswer {
  Matrix x;
  Vector y;
  double primal = 0, dual = 0;  // values of two feasible points
  int iterations = 0;
  bool converged = false;
  double gap() const { return dual - primal; }
};

struct SemidefiniteOptions {
  double tolerance = 1e-8;  // of the gap beside the value
  int most_iterations = 100;
  Execution execution = {};
};

/// By the primal-dual interior-point method with the direction of Helmberg, Rendl, Vanderbei and Wolkowicz (1996), from points inside, so
/// that every iterate is feasible; its m × m system has the entries (a_kᵀ X a_l)(a_kᵀ Z⁻¹ a_l).
///
/// Cost   O(m³ + n³ + m²) time for each of a few dozen rounds, 24 m² + 48 n² bytes.
SemidefiniteAnswer solve(const SemidefiniteProgramme& programme, const SemidefiniteOptions& options = {});

}  // namespace lemma
