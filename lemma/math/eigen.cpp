// lemma/math/eigen.cpp
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/eigen.hpp>

namespace lemma {
namespace {

blas::Columns upper_of(const MatrixView& symmetric) {
  require(symmetric.rows() == symmetric.cols(), "eigen decomposition: the matrix is not square");
  require(symmetric.allFinite(), "eigen decomposition: the matrix has values that are not finite");
  return symmetric;
}

Eigenpairs descending(const Vector& values, const blas::Columns& vectors) {
  Eigenpairs out{values.reverse(), vectors.rowwise().reverse()};
  turn_columns(out.vectors);
  return out;
}

}  // namespace

Eigenpairs symmetric_eigen(const MatrixView& symmetric) {
  blas::Columns a = upper_of(symmetric);
  const Vector values = blas::symmetric_eigen(a);
  return descending(values, a);
}

Eigenpairs symmetric_eigen(const MatrixView& symmetric, Index count) {
  require(count >= 0 && count <= symmetric.rows(), "eigen decomposition: " + std::to_string(count) +
                                                       " pairs were asked for, there are " +
                                                       std::to_string(symmetric.rows()));
  blas::Columns a = upper_of(symmetric), vectors;
  const Vector values = blas::largest_eigen(a, count, vectors);
  return descending(values, vectors);
}

Eigenpairs generalised_eigen(const MatrixView& a, const MatrixView& b) {
  require(a.rows() == a.cols() && b.rows() == b.cols() && a.rows() == b.rows(),
          "generalised eigenproblem: the matrices differ in size");
  Matrix r = b;
  require(blas::cholesky(r), "generalised eigenproblem: the second matrix is not positive definite");
  Matrix c = Matrix(a.selfadjointView<Eigen::Upper>());
  blas::divide_by_upper(r, c);                    // A R⁻¹
  blas::solve_upper(blas::Op::transposed, r, c);  // R⁻ᵀ A R⁻¹
  const Matrix both = 0.5 * (c + c.transpose());
  Eigenpairs out = symmetric_eigen(both);
  blas::solve_upper(blas::Op::plain, r, out.vectors);
  turn_columns(out.vectors);
  return out;
}

void turn_columns(Eigen::Ref<Matrix> vectors) {
  for (Index k = 0; k < vectors.cols(); ++k) {
    if (vectors.rows() == 0) return;
    const double largest = vectors.col(k).cwiseAbs().maxCoeff();
    Index first = 0;
    while (first + 1 < vectors.rows() && std::abs(vectors(first, k)) < largest * (1 - 1e-9)) ++first;
    if (vectors(first, k) < 0) vectors.col(k) *= -1;
  }
}

double eigen_residual(const MatrixView& symmetric, const Eigenpairs& pairs) {
  const Matrix full = symmetric.selfadjointView<Eigen::Upper>();
  Matrix residual = pairs.vectors * pairs.values.asDiagonal();
  blas::gemm(blas::Op::plain, full, blas::Op::plain, pairs.vectors, residual, 1, -1);
  Matrix identity = Matrix::Identity(pairs.values.size(), pairs.values.size());
  blas::gemm(blas::Op::transposed, pairs.vectors, blas::Op::plain, pairs.vectors, identity, 1, -1);
  const double norm = full.norm(), worst = residual.cols() > 0 ? residual.colwise().norm().maxCoeff() : 0;
  const double skew = identity.size() > 0 ? identity.cwiseAbs().maxCoeff() : 0;
  return std::max(norm > 0 ? worst / norm : worst, skew);
}

}  // namespace lemma
