// lemma/math/tiled_cholesky.cpp
#include <algorithm>
#include <lemma/math/blas.hpp>
#include <lemma/math/tiled_cholesky.hpp>

namespace lemma {
namespace {

using blas::Op;
constexpr Index kSide = kCholeskyTile;  // of a tile of the triangle
constexpr Index kWide = 512;            // columns of a tile beside the diagonal: fewer copies into BLAS's own order
constexpr Index kColumns = 128;         // right-hand sides that are solved together

Index tiles(Index n, Index size = kSide) { return (n + size - 1) / size; }

/// A tile on the diagonal of an upper triangle, with zeros below: BLAS may read them as it likes.
Matrix triangle_at(const MatrixView& r, Index at, Index size) {
  return r.block(at, at, size, size).triangularView<Eigen::Upper>();
}

/// The loops inside say nothing; the whole says how far it is.
Execution quiet(Execution execution) {
  execution.message.clear();
  return execution;
}
void report(const Execution& execution, Index done, Index all) {
  if (!execution.message.empty())
    execution.report(static_cast<double>(done) / static_cast<double>(all), execution.message);
}

void solve_in_tiles(Op op, const MatrixView& r, Eigen::Ref<Matrix> b, const Execution& execution) {
  parallel_for(tiles(b.cols(), kColumns), execution, [&](Index tile) {
    const Index first = tile * kColumns;
    blas::solve_upper(op, r, b.middleCols(first, std::min(kColumns, b.cols() - first)));
  });
}

}  // namespace

/// Row by row of tiles: A_ji − Σ_(k<j) R_kjᵀ R_ki is one long product for each tile i of row j, so that a tile is written
/// once; then the diagonal tile is factorised, and the others are divided by it.
bool tiled_cholesky(Eigen::Ref<Matrix> a, const Execution& execution) {
  const Index n = a.rows(), down = tiles(n);
  for (Index j = 0; j < down; ++j) {
    const Index from = j * kSide, rows = std::min(kSide, n - from), next = from + rows;
    const auto above = a.block(0, from, from, rows);
    auto corner = a.block(from, from, rows, rows);
    const Index beside = tiles(n - next, kWide);
    const auto place = [&](Index tile) { return next + tile * kWide; };
    const auto tile_at = [&](Index tile) { return a.block(from, place(tile), rows, std::min(kWide, n - place(tile))); };
    if (from > 0)
      parallel_for(beside + 1, quiet(execution), [&](Index task) {
        if (task == 0) {  // the triangle alone: −(RᵀR − A)
          blas::gram(above, corner, -1);
          corner.triangularView<Eigen::Upper>() *= -1;
          return;
        }
        auto into = tile_at(task - 1);
        blas::gemm(Op::transposed, above, Op::plain, a.block(0, place(task - 1), from, into.cols()), into, -1, 1);
      });
    if (!blas::cholesky(corner)) return false;
    parallel_for(beside, quiet(execution),
                 [&](Index tile) { blas::solve_upper(Op::transposed, corner, tile_at(tile)); });
    report(execution, next, n);
  }
  return true;
}

void tiled_solve_upper(const MatrixView& r, Eigen::Ref<Matrix> b, const Execution& execution) {
  solve_in_tiles(Op::plain, r, b, execution);
}
void tiled_solve_upper_transposed(const MatrixView& r, Eigen::Ref<Matrix> b, const Execution& execution) {
  solve_in_tiles(Op::transposed, r, b, execution);
}

Vector solve_factored(const MatrixView& r, Vector b) {
  blas::solve_upper(Op::transposed, r, b);
  blas::solve_upper(Op::plain, r, b);
  return b;
}

/// Column by column of tiles, from the left: T_ij = −(Σ_(i≤k<j) T_ik R_kj) T_jj, where the T on the left are there.
void tiled_invert_upper(Eigen::Ref<Matrix> r, const Execution& execution) {
  const Index n = r.rows(), across = tiles(n);
  for (Index j = 0; j < across; ++j) {
    const Index from = j * kSide, columns = std::min(kSide, n - from);
    const Matrix given = r.block(0, from, from, columns), corner = triangle_at(r, from, columns);
    parallel_for(j + 1, quiet(execution), [&](Index i) {
      const Index at = i * kSide, rows = std::min(kSide, n - at);
      auto into = r.block(at, from, rows, columns);
      if (i == j) {
        Matrix inverse = Matrix::Identity(columns, columns);
        blas::solve_upper(Op::plain, corner, inverse);
        into.triangularView<Eigen::Upper>() = inverse;
        return;
      }
      into.noalias() = triangle_at(r, at, rows) * given.middleRows(at, rows);
      const Index next = at + rows;
      if (next < from)
        blas::gemm(Op::plain, r.block(at, next, rows, from - next), Op::plain, given.middleRows(next, from - next),
                   into, 1, 1);
      into *= -1;
      blas::divide_by_upper(corner, into);
    });
    report(execution, from + columns, n);
  }
}

Matrix outer_tile(const MatrixView& t, Index i, Index rows, Index j, Index columns) {
  if (i > j) return outer_tile(t, j, columns, i, rows).transpose();
  // Row i of T begins at column i, row j at column j ≥ i: within the columns of the tile itself they are ragged.
  Matrix out(rows, columns);
  const Index end = t.rows(), inside = std::min(end, std::max(i + rows, j + columns));
  const Matrix left = t.block(i, j, rows, inside - j), right = t.block(j, j, columns, inside - j);
  Matrix a = left, b = right.triangularView<Eigen::Upper>();
  for (Index row = 0; row < rows; ++row)
    if (i + row > j) a.row(row).head(std::min(i + row - j, a.cols())).setZero();
  blas::gemm(Op::plain, a, Op::transposed, b, out);
  if (inside < end)
    blas::gemm(Op::plain, t.block(i, inside, rows, end - inside), Op::transposed,
               t.block(j, inside, columns, end - inside), out, 1, 1);
  return out;
}

Vector outer_diagonal(const MatrixView& t) {
  Vector out(t.rows());
  for (Index i = 0; i < t.rows(); ++i) out(i) = t.row(i).tail(t.cols() - i).squaredNorm();
  return out;
}

}  // namespace lemma
