// lemma/math/tiled_cholesky.hpp: large positive definite matrices on several threads, in tiles fixed by the shape alone:
// the same bits always. Each tile is BLAS on one thread.
#pragma once
#include <lemma/core/parallel.hpp>

namespace lemma {

/// Rows and columns of a tile.
inline constexpr Index kCholeskyTile = 256;

/// The upper triangle of A becomes R with RᵀR = A, in its place; what lies below the tiles of the diagonal is not touched. False when A is not
/// positive definite to working precision: A is then spoilt. n³/3 operations.
bool tiled_cholesky(Eigen::Ref<Matrix> a, const Execution& execution = {});

/// B becomes R⁻¹ B, and R⁻ᵀ B, for an upper triangle R and many right-hand sides. n² operations for each.
void tiled_solve_upper(const MatrixView& r, Eigen::Ref<Matrix> b, const Execution& execution = {});
void tiled_solve_upper_transposed(const MatrixView& r, Eigen::Ref<Matrix> b, const Execution& execution = {});
/// (RᵀR)⁻¹ b.
Vector solve_factored(const MatrixView& r, Vector b);

/// The upper triangle R becomes R⁻¹, in its place. n³/3 operations.
void tiled_invert_upper(Eigen::Ref<Matrix> r, const Execution& execution = {});
/// Rows [i, i + rows) and columns [j, j + columns) of T Tᵀ for an upper triangle T: a tile of (RᵀR)⁻¹, when T = R⁻¹.
/// On the calling thread.
Matrix outer_tile(const MatrixView& t, Index i, Index rows, Index j, Index columns);
/// The diagonal of T Tᵀ.
Vector outer_diagonal(const MatrixView& t);

}  // namespace lemma
