// lemma/math/blas_large.hpp: what takes LAPACK many seconds, in panels: shared among threads, and easy to stop. Inner
// header: lemma/math/blas.hpp comes here by itself when a matrix is large.
#pragma once
#include <lemma/math/blas.hpp>

/// LAPACK's own blocked algorithms, panel by panel. Between two panels, and between the tiles that a panel changes, the
/// work that this thread is at is asked whether it has been cancelled (lemma/core/hearing.hpp), and its threads share the
/// tiles. Panels and tiles are cut by the shape alone: the same bits on any number of threads. What stays in one piece is
/// the middle of an eigen or singular value decomposition, the divide and conquer on two diagonals: at most 4/3 n³
/// operations, usually a tenth of that.
namespace lemma::blas::large {

/// From so many multiplications on a product goes by tiles, and a factorisation by panels: about a tenth of a second on
/// an old machine.
inline constexpr double kOfProduct = 1e9, kOfFactorisation = 1.3e8;
inline bool is_large_product(Index rows, Index columns, Index depth) {
  return static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(depth) >= kOfProduct &&
         (rows > 512 || columns > 512 || depth > 4096);
}
inline bool is_large(Index rows, Index columns) {
  const auto m = static_cast<double>(rows), n = static_cast<double>(columns);
  return m * n * (m < n ? m : n) >= kOfFactorisation;
}

/// gemm and symmetric updates, as in blas.hpp, in tiles.
void gemm(Op of_a, const MatrixView& a, Op of_b, const MatrixView& b, MatrixRef c, double alpha, double beta);
void symmetric_update(bool outer, const MatrixView& a, MatrixRef c, double beta);

void divide_by_upper(const MatrixView& r, MatrixRef b);
void solve_upper(Op of_r, const MatrixView& r, MatrixRef b);

Vector householder(Columns& a);
Vector pivoted_householder(Columns& a, std::vector<int>& order);
void apply_q(Op of_q, const Columns& a, const Vector& factors, Columns& b);
void form_q(Columns& a, const Vector& factors);
void stack_triangles(Columns& top, Columns& below, Index dense);

Vector symmetric_eigen(Columns& a);
Vector largest_eigen(Columns& a, Index count, Columns& vectors);
void thin_svd(Columns& a, Columns& u, Vector& s, Columns& v_transposed);

}  // namespace lemma::blas::large
