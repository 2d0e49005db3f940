// lemma/linear/shared/squared_lengths.hpp: how far rows lie from the centre of those a linear predictor was fitted on.
#pragma once
#include <lemma/core/matrix.hpp>

namespace lemma {

/// RᵀR = Σ w (x − mean)ᵀ(x − mean) over the columns that take part, and 1 / Σ w (0 without an intercept).
struct CentredTriangle {
  const Labels& kept;
  const Matrix& triangle;
  const Vector &mean, &mean_rest;
  double constant;
};
/// R⁻ᵀ (x − mean) for each row, as a row.
Matrix whitened_rows(const MatrixView& x, const CentredTriangle& of);
/// [1 x]ᵀ (XᵀWX)⁻¹ [1 x] = 1 / Σ w + ‖R⁻ᵀ (x − mean)‖² for each row: times its weight the leverage, times the dispersion
/// the variance of its linear predictor.
Vector squared_lengths(const MatrixView& x, const CentredTriangle& of);

}  // namespace lemma
