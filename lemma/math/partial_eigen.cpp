// lemma/math/partial_eigen.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/math/partial_eigen.hpp>
#include <lemma/math/sparse_ldlt.hpp>
#include <limits>

namespace lemma {
namespace {

using blas::Columns;
using Operator = std::function<Columns(const Eigen::Ref<const Columns>&)>;

constexpr Index kFew = 300;  // rows: up to here all eigenvalues are found
constexpr Index kWider = 8;  // a block has so many columns beyond those wanted
constexpr int kDepth = 5;    // blocks of a Krylov space
constexpr int kMostCycles = 200;
constexpr int kCyclesBeforeShift = 12;  // of the smallest, until a larger shift is tried
constexpr double kShift = 1e-10;        // σ over A's size
constexpr double kEnough = 1e-10;       // residual over A's size: what is worse is no answer
constexpr double kBest = 1e-14;         // what is better is rounding
constexpr double kBestInverse = 1e-15;  // of the smallest, which are small beside A

void hear(const Execution& execution) {
  if (execution.cancelled()) throw Cancelled();
}

/// A matrix of columns, read as the rows of its transpose: the way in which the door to BLAS takes matrices.
MatrixView turned(const Eigen::Ref<const Columns>& a) {
  return Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>(a.data(), a.cols(), a.rows(),
                                                           Eigen::OuterStride<>(a.outerStride()));
}
/// A B and Aᵀ B, with A of many rows and few columns.
void product(const Eigen::Ref<const Columns>& a, const Eigen::Ref<const Columns>& b, Columns& out) {
  out.resize(a.rows(), b.cols());
  blas::gemm(blas::Op::plain, turned(b), blas::Op::plain, turned(a),
             Eigen::Map<Matrix>(out.data(), b.cols(), a.rows()));
}
Columns product(const Eigen::Ref<const Columns>& a, const Eigen::Ref<const Columns>& b) {
  Columns out;
  product(a, b, out);
  return out;
}
Columns transposed_product(const Eigen::Ref<const Columns>& a, const Eigen::Ref<const Columns>& b) {
  Columns out(a.cols(), b.cols());
  blas::gemm(blas::Op::plain, turned(b), blas::Op::transposed, turned(a),
             Eigen::Map<Matrix>(out.data(), b.cols(), a.cols()));
  return out;
}

Columns orthonormal(Columns z) {
  const Vector factors = blas::householder(z);
  blas::form_q(z, factors);
  return z;
}

/// w becomes an orthonormal basis of itself beside q. Twice: what is left of a block that lies in q nearly is turned out of it
/// again. `in_q`: room for what lies in q.
void put_beside(const Eigen::Ref<const Columns>& q, Columns& w, Columns& in_q) {
  for (int pass = 0; pass < 3; ++pass) {
    product(q, transposed_product(q, w), in_q);
    w -= in_q;
    if (pass < 2) w = orthonormal(std::move(w));
  }
}

/// A block, and T times it where that is known already.
struct Block {
  Columns z, tz;
};

/// A basis of a Krylov space, and T times it. This memory serves one cycle after the other: the system clears what it hands out
/// anew, which took a fifth of the time.
struct Space {
  Space(Index n, Index b) : q(n, b * kDepth), tq(n, b * kDepth), next(n, b), in_q(n, b) {}
  Columns q, tq, next, in_q;
};

/// The Ritz vectors of the largest Ritz values of T in a Krylov space from z, as many as z has columns.
Block krylov_cycle(const Operator& times, const Block& from, Space& space, const Execution& execution) {
  const Index b = from.z.cols();
  Columns &q = space.q, &tq = space.tq;
  q.leftCols(b) = from.z;
  for (Index k = 0; k < kDepth; ++k) {
    hear(execution);
    if (k == 0 && from.tz.size() > 0) tq.leftCols(b) = from.tz;
    else tq.middleCols(k * b, b) = times(q.middleCols(k * b, b));
    if (k + 1 == kDepth) break;
    space.next = tq.middleCols(k * b, b);
    put_beside(q.leftCols((k + 1) * b), space.next, space.in_q);
    q.middleCols((k + 1) * b, b) = space.next;
  }
  const Columns h = transposed_product(q, tq);
  const Eigenpairs ritz = symmetric_eigen(Matrix(0.5 * (h + h.transpose())), b);
  const Columns vectors = ritz.vectors;
  return {product(q, vectors), product(tq, vectors)};
}

/// The pairs of A within the span of z, ascending or descending, with their residuals.
PartialEigen rayleigh_ritz(const Columns& z, const Columns& az, Index count, bool ascending) {
  const Columns h = transposed_product(z, az);
  const Eigenpairs ritz = symmetric_eigen(Matrix(0.5 * (h + h.transpose())));
  PartialEigen out;
  out.values = ascending ? Vector(ritz.values.reverse().head(count)) : Vector(ritz.values.head(count));
  const Columns y =
      ascending ? Columns(ritz.vectors.rowwise().reverse().leftCols(count)) : Columns(ritz.vectors.leftCols(count));
  const Columns v = product(z, y);
  out.residuals = (product(az, y) - v * out.values.asDiagonal()).colwise().norm().transpose();
  out.vectors = v;
  return out;
}

/// Where every iteration starts.
Columns first_block(Index n, Index count) {
  return orthonormal(Columns(normal_matrix(n, std::min(count + kWider, n / kDepth), 1, 77)));
}

/// Cycles from the block z, until the residuals are rounding, or no longer fall, or there were `most` of them. Without an
/// inverse A itself makes the space.
PartialEigen cycles_of(Columns& z, const Operator& a, const Operator* inverse, double size, Index count, int most,
                       const Execution& execution) {
  PartialEigen out;
  double before = std::numeric_limits<double>::infinity();
  Block block{z, {}};
  Space space(z.rows(), z.cols());
  for (int cycle = 1; cycle <= most; ++cycle) {
    block = krylov_cycle(inverse ? *inverse : a, block, space, execution);
    if (inverse) block = {orthonormal(std::move(block.z)), {}};  // a tiny shift leaves few digits of the basis
    out = inverse ? rayleigh_ritz(block.z, a(block.z), count, true) : rayleigh_ritz(block.z, block.tz, count, false);
    out.cycles = cycle;
    const double worst = out.residuals.maxCoeff() / size;
    execution.report(std::min(0.9, cycle / 10.0), "eigenvectors");
    if (worst <= (inverse ? kBestInverse : kBest) || (worst <= kEnough && worst > 0.5 * before)) break;
    before = worst;
  }
  z = std::move(block.z);
  return out;
}

PartialEigen found_or_error(PartialEigen out, double size, Index count) {
  if (!(out.residuals.maxCoeff() <= kEnough * size))
    throw Error(fmt::format("{} eigenvalues were not found in {} cycles (residual {:.1e} of the matrix)", count,
                            out.cycles, out.residuals.maxCoeff() / size));
  turn_columns(out.vectors);
  return out;
}

PartialEigen iterate(Index n, const Operator& a, double size, Index count, const Execution& execution) {
  Columns z = first_block(n, count);
  return found_or_error(cycles_of(z, a, nullptr, size, count, kMostCycles, execution), size, count);
}

PartialEigen all_at_once(const Matrix& dense, Index count, bool ascending) {
  const Eigenpairs all = symmetric_eigen(dense);
  PartialEigen out;
  out.values = ascending ? Vector(all.values.reverse().head(count)) : Vector(all.values.head(count));
  out.vectors =
      ascending ? Matrix(all.vectors.rowwise().reverse().leftCols(count)) : Matrix(all.vectors.leftCols(count));
  out.residuals = (dense * out.vectors - out.vectors * out.values.asDiagonal()).colwise().norm().transpose();
  return out;
}

bool are_few(Index n, Index count) { return n <= std::max(kFew, 2 * kDepth * (count + kWider)); }

void require_count(Index n, Index count) {
  if (count < 1 || count > n) throw Error(fmt::format("{} eigenvalues are asked for, and there are {}", count, n));
}

}  // namespace

Matrix multiply(const Csr& a, const MatrixView& x, const Execution& execution) {
  Matrix out = Matrix::Zero(a.rows(), x.cols());
  constexpr Index kRows = 256;
  parallel_for((a.rows() + kRows - 1) / kRows, execution, [&](Index block) {
    for (Index i = block * kRows; i < std::min(a.rows(), (block + 1) * kRows); ++i)
      for (Index k = a.start[at(i)]; k < a.start[at(i) + 1]; ++k) out.row(i) += a.value[at(k)] * x.row(a.column[at(k)]);
  });
  return out;
}

PartialEigen smallest_eigen(const Csr& symmetric, Index count, const Execution& execution) {
  const Index n = symmetric.rows();
  require_count(n, count);
  hear(execution);
  if (are_few(n, count)) {
    Matrix dense;
    dense_rows(symmetric, 0, n, dense);
    return all_at_once(dense, count, true);
  }
  double size = 0;  // the largest sum of sizes in a row
  std::vector<Eigen::Triplet<double>> lower;
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (Index k = symmetric.start[at(i)]; k < symmetric.start[at(i) + 1]; ++k) {
      sum += std::abs(symmetric.value[at(k)]);
      if (symmetric.column[at(k)] <= i)
        lower.emplace_back(static_cast<int>(i), symmetric.column[at(k)], symmetric.value[at(k)]);
    }
    size = std::max(size, sum);
  }
  require(size > 0, "a matrix of zeros has no eigenvectors of its own");
  const Execution silent = execution.part(0, 0);
  const Operator a = [&](const Eigen::Ref<const Columns>& x) -> Columns {
    return multiply(symmetric, Matrix(x), silent);
  };
  Columns z = first_block(n, count);
  const auto with_shift = [&](double shift, int most) {
    auto entries = lower;
    for (int i = 0; i < static_cast<int>(n); ++i) entries.emplace_back(i, i, shift);
    Eigen::SparseMatrix<double> shifted(n, n);
    shifted.setFromTriplets(entries.begin(), entries.end());
    execution.report(0.05, "factorising a sparse matrix");
    const SparseLdlt factor(shifted);
    require(factor.exists() && factor.pivots().minCoeff() > 0,
            "the matrix whose smallest eigenvalues are wanted is not positive semidefinite");
    const Operator inverse = [&](const Eigen::Ref<const Columns>& x) {
      constexpr Index kWide = SparseLdlt::kTogether;
      Columns out(x.rows(), x.cols());
      parallel_for((x.cols() + kWide - 1) / kWide, silent, [&](Index j) {
        const Index first = j * kWide, width = std::min(kWide, x.cols() - first);
        factor.solve_columns(x.middleCols(first, width), out.middleCols(first, width));
      });
      return out;
    };
    return cycles_of(z, a, &inverse, size, count, most, execution);
  };
  PartialEigen out = with_shift(kShift * size, kCyclesBeforeShift);
  // Beside the inverse of a tiny shift the others are lost in rounding: where the eigenvalues wanted are larger, a larger shift.
  if (out.residuals.maxCoeff() > kEnough * size)
    out = with_shift(std::max(kShift * size, 0.01 * out.values(count - 1)), kMostCycles);
  return found_or_error(std::move(out), size, count);
}

PartialEigen largest_eigen(const MatrixView& symmetric, Index count, const Execution& execution) {
  const Index n = symmetric.rows();
  require_count(n, count);
  if (are_few(n, count)) return all_at_once(symmetric, count, false);
  const Execution silent = execution.part(0, 0);
  const Operator a = [&](const Eigen::Ref<const Columns>& x) -> Columns {
    return multiply(symmetric, Matrix(x), silent);
  };
  Vector sums(n);
  parallel_for(n, silent, [&](Index i) { sums(i) = symmetric.row(i).cwiseAbs().sum(); });
  return iterate(n, a, sums.maxCoeff(), count, execution);
}

PartialEigen largest_eigen(Index n, const std::function<void(const double* x, double* y)>& multiply_by, Index count,
                           const Execution& execution) {
  require_count(n, count);
  const auto times = [&](const Eigen::Ref<const Columns>& x) {
    Columns y(x.rows(), x.cols());
    for (Index j = 0; j < x.cols(); ++j) multiply_by(x.col(j).data(), y.col(j).data());
    return y;
  };
  if (are_few(n, count)) return all_at_once(Matrix(times(Columns::Identity(n, n))), count, false);
  const Columns probe = orthonormal(Columns(normal_matrix(n, 1, 1, 78)));
  double size = 0;  // its norm, from below
  Columns v = probe;
  for (int k = 0; k < 8; ++k) {
    v = times(v);
    size = v.norm();
    require(size > 0, "a matrix of zeros has no eigenvectors of its own");
    v /= size;
  }
  return iterate(n, times, size, count, execution);
}

}  // namespace lemma
