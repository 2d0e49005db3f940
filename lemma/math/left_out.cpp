// lemma/math/left_out.cpp
#include <algorithm>
#include <cmath>
#include <lemma/core/random.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/left_out.hpp>
#include <lemma/math/multiply.hpp>

namespace lemma {
namespace {

constexpr Index kBlock = 24, kFew = 500;
constexpr int kSteps = 4;
constexpr double kRounding = 1e-12;  // of ‖A‖²_F, what sums of so many squares may be off by

Matrix orthonormal(const Matrix& z) {
  blas::Columns q = z;
  const Vector factors = blas::householder(q);
  blas::form_q(q, factors);
  return q;
}

/// By norms: true is a proof, false is none.
bool norms_tell(const MatrixView& a, const Vector& values, const Matrix& vectors, double bound,
                const Execution& execution) {
  const Index n = a.rows();
  const auto times = [&](const Matrix& q) -> Matrix {
    return multiply(a, q, execution) - vectors * (values.asDiagonal() * (vectors.transpose() * q));
  };
  Vector squares(n), of_rest(n);
  const Matrix scaled = vectors * values.asDiagonal();
  parallel_for(n, execution, [&](Index i) {
    double all = 0, rest = 0;
    Vector row = a.row(i).transpose();
    all = row.squaredNorm();
    row.noalias() -= vectors * scaled.row(i).transpose();
    rest = row.squaredNorm();
    squares(i) = all, of_rest(i) = rest;
  });
  Matrix q = orthonormal(normal_matrix(n, kBlock, 1, 83)), rq;
  for (int step = 0; step < kSteps; ++step) {
    rq = times(q);
    const Matrix h = q.transpose() * rq;
    const double along = rq.squaredNorm();
    const double square = of_rest.sum() - 2 * along + h.squaredNorm();
    const double f = std::sqrt(std::max(0.0, square) + kRounding * squares.sum());
    const double top = symmetric_eigen(Matrix(0.5 * (h + h.transpose())), 1).values(0);
    const double off = (rq - q * h).norm() + std::sqrt(kRounding) * 1e-3 * std::sqrt(squares.sum());
    if (0.5 * (top + f) + std::hypot(0.5 * (top - f), off) < bound) return true;
    if (step + 1 < kSteps) q = orthonormal(rq);
  }
  return false;
}

}  // namespace

bool nothing_above(const MatrixView& a, const Vector& values, const Matrix& vectors, double bound,
                   const Execution& execution) {
  if (!(bound > 0)) return false;
  if (a.rows() > kFew && norms_tell(a, values, vectors, bound, execution)) return true;
  Matrix rest = -a;
  blas::gemm(blas::Op::plain, Matrix(vectors * values.asDiagonal()), blas::Op::transposed, vectors, rest, 1, 1);
  rest.diagonal().array() += bound;
  return blas::cholesky(rest);
}

}  // namespace lemma
