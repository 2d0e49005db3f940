// lemma/linear/quantile/parts.hpp: what fitting and certifying share. Inner header: use lemma/linear/quantile.hpp.
#pragma once
#include <lemma/linear/lad.hpp>
#include <lemma/linear/quantile/simplex.hpp>
#include <lemma/linear/shared/programme_gap.hpp>

namespace lemma::quantile {

/// What a fit is asked for, by either name.
struct Asked {
  std::string_view name;
  double tau;
  bool intercept;
  QuantileErrors errors;
  double tolerance;
  double unit;  // of the objective, in Σ w ρ: 2 for lad
};
inline Asked asked(const Quantile& s) { return {Quantile::name, s.tau, s.intercept, s.errors, s.tolerance, 1}; }
inline Asked asked(const Lad& s) { return {Lad::name, 0.5, s.intercept, s.errors, s.tolerance, 2}; }

/// The rows that count, in coordinates in which their columns are orthogonal:
///
///     z = [1  (x − mean) R⁻¹ √n],     y' = (y − offset − its least squares fit) / unit,
///
/// each multiplied by the weight. Aliased columns are left out.
struct Prepared {
  LeastSquares data;
  LinearSolution ols;
  Matrix z;
  Vector y, weight;
  double unit;              // of y'
  std::vector<Index> rows;  // where they came from
  bool perfect;             // the least squares fit leaves nothing
};
Prepared prepare(const Asked& asked, const Rows& rows, const Execution& execution);

struct Coefficients {
  double intercept;
  Vector slopes;  // 0 where aliased
  Index rank;     // of the terms that take part
};
/// The plane through the rows of the vertex, solved for anew from their own numbers.
Coefficients through(const Asked& asked, const Prepared& prepared, const Vertex& vertex, const Rows& rows);

/// y − offset − b₀ − x·b of row i, in twice the working precision.
double residual(const Block& block, Index i, const Coefficients& at);

/// The rows held against the coefficients.
struct Look {
  double objective = 0;  // Σ w ρ(r)
  double gap = 0;        // relative, with the error of the dual's equations
  double on_plane = 0;   // Σ w of the rows with a residual of rounding size
  bool strict = false;  // as many rows as coefficients are on the plane, none with its a at a bound: it is the only one
};
Look look(const Asked& asked, const Coefficients& at, const Rows& rows, const Execution& execution);
ProgrammeGap gap_of(const Asked& asked, const Look& found);
Certificate certificate_of(const Asked& asked, const Look& found, bool optimal, long long pivots);

/// Standard errors, tests, likelihood: all that follows from coefficients, objective and rows. The prepared rows are used up.
void judge(QuantileNumbers& model, const Asked& asked, Prepared& prepared, const Look& found, const Rows& rows,
           const Execution& execution);

}  // namespace lemma::quantile
