// lemma/reduce/matrix_completion/solve.hpp: the least of ½ Σ_Ω (x − z)² + λ ‖Z‖_* for one λ.
#pragma once
#include <lemma/reduce/shared/alternating.hpp>

namespace lemma {

/// The places that are known, by rows and by columns.
struct Known {
  explicit Known(Csr rows) : by_row(std::move(rows)), by_column(transposed(by_row)) {}
  Csr by_row, by_column;
  Index count() const { return static_cast<Index>(by_row.value.size()); }
};

/// Z = A Bᵀ, both with the square roots of the singular values: AᵀA = BᵀB, diagonal and descending.
struct LowRank {
  Matrix a, b;
  Matrix beyond;  // where to look for singular vectors of the residual next
  double objective = 0, gap = 1, error = 0;
  double norm = 0, with_x = 0;  // of the residual: ‖Y‖₂, ⟨Y, X⟩
  long long sweeps = 0;
  bool converged = false;

  Vector singular_values() const;
};

/// What a residual bounds from below: the duality gap beside the objective. `norm` is ‖Y‖₂, `nuclear` ‖Z‖_*, `with_x` ⟨Y, X⟩.
double gap_of(double lambda, double norm, double nuclear, double squares, double with_x);

/// The same of min ‖Z‖_* with ‖P(X − Z)‖ ≤ noise, beside ‖Z‖_*, or how far the residual is from the noise, beside that. W = Y/max(λ, ‖Y‖₂)
/// bounds it from below by ⟨W, X⟩ − noise ‖W‖; with the residual at the noise both are 0 and λ is the multiplier of ½ ‖P(X − Z)‖².
double bounded_gap_of(double lambda, double norm, double nuclear, double squares, double with_x, double noise);

/// ‖X‖₂, from which on Z = 0 is the answer.
double largest_singular_value(const Known& known, const Execution& execution);

/// Goes on from the Z that is there, which may be empty.
void solve(const Known& known, double lambda, double tolerance, int most, LowRank& z, const Execution& execution);

/// The λ whose Z leaves a residual of that size, which grows with λ: down from `first`, then by secants of its logarithm, until
/// bounded_gap_of() is at most `within`; each problem to a hundredth of `tolerance`.
double solve_within(const Known& known, double first, double noise, double tolerance, double within, int most,
                    LowRank& z, const Execution& execution);

}  // namespace lemma
