// lemma/math/factorise.cpp
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/factorise.hpp>
#include <utility>
#include <vector>

namespace lemma {
namespace {

struct ScaledColumns {
  blas::Columns a;  // of unit length, or zero
  Vector scale;     // 1 / length
};

ScaledColumns unit_columns(const MatrixView& a) {
  ScaledColumns out{a, Vector(a.cols())};
  for (Index j = 0; j < a.cols(); ++j) {
    const double length = out.a.col(j).norm();
    out.scale(j) = length > 0 ? 1 / length : 1;
    out.a.col(j) *= out.scale(j);
  }
  return out;
}

Index rank_of(const blas::Columns& r, Index most, double tolerance) {
  Index rank = 0;
  while (rank < most && std::abs(r(rank, rank)) > tolerance * std::abs(r(0, 0))) ++rank;
  return rank;
}

double rank_tolerance(const MatrixView& a) { return 2.2e-16 * static_cast<double>(std::max(a.rows(), a.cols())); }

}  // namespace

Matrix triangle_of(const MatrixView& a) {
  blas::Columns columns = a;
  blas::householder(columns);
  const Index rank = std::min(a.rows(), a.cols());
  Matrix r = Matrix::Zero(a.cols(), a.cols());
  r.topRows(rank) = columns.topRows(rank).triangularView<Eigen::Upper>();
  for (Index i = 0; i < rank; ++i)
    if (r(i, i) < 0) r.row(i) *= -1;
  return r;
}

/// By the singular values of the unit-length columns: w = D V S⁻¹ Uᵀ b over those that are not zero to rounding.
MinimumNormSolution least_squares(const MatrixView& a, const VectorView& b) {
  require(a.rows() == b.size(), "least squares: the matrix and the right-hand side differ in their number of rows");
  ScaledColumns scaled = unit_columns(a);
  blas::Columns u, v_transposed;
  Vector s;
  blas::thin_svd(scaled.a, u, s, v_transposed);
  Index rank = 0;
  while (rank < s.size() && s(rank) > rank_tolerance(a) * s(0)) ++rank;
  const Vector along = (u.leftCols(rank).transpose() * b).cwiseQuotient(s.head(rank));
  return {scaled.scale.asDiagonal() * (v_transposed.topRows(rank).transpose() * along), rank};
}

/// A P = Q R with pivoting, hence ‖A w − b‖² − min = ‖R Pᵀw − Qᵀb‖² over the rows of R that are not zero.
double excess(const MatrixView& a, const VectorView& b, const VectorView& w) {
  ScaledColumns scaled = unit_columns(a);
  std::vector<int> order;
  const Vector factors = blas::pivoted_householder(scaled.a, order);
  const Index rank = rank_of(scaled.a, factors.size(), rank_tolerance(a));
  blas::Columns rotated = b;
  blas::apply_q(blas::Op::transposed, scaled.a, factors, rotated);
  Vector permuted(w.size());
  for (Index k = 0; k < w.size(); ++k) {
    const Index j = order[static_cast<std::size_t>(k)];
    permuted(k) = w(j) / scaled.scale(j);
  }
  const Matrix r = scaled.a.topRows(rank).triangularView<Eigen::Upper>();
  return (r * permuted - rotated.col(0).head(rank)).squaredNorm();
}

std::optional<Matrix> cholesky(const MatrixView& a) {
  require(a.rows() == a.cols(), "Cholesky: the matrix is not square");
  Matrix r = a.triangularView<Eigen::Upper>();
  if (!blas::cholesky(r)) return {};
  return r;
}

Matrix solve_upper(const MatrixView& r, Matrix b) {
  blas::solve_upper(blas::Op::plain, r, b);
  return b;
}
Matrix solve_upper_transposed(const MatrixView& r, Matrix b) {
  blas::solve_upper(blas::Op::transposed, r, b);
  return b;
}
Matrix divide_by_upper(Matrix b, const MatrixView& r) {
  blas::divide_by_upper(r, b);
  return b;
}

double log_determinant(const MatrixView& r) { return 2 * r.diagonal().array().abs().log().sum(); }

}  // namespace lemma
