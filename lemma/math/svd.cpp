// lemma/math/svd.cpp
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/math/svd.hpp>
#include <memory>
#include <utility>
#include <vector>

namespace lemma {
namespace {

/// Rows that are centred and multiplied at a time (about 1 MB), and rows of one leaf of the sum.
Index tile_rows(Index width) { return std::clamp<Index>(131072 / std::max<Index>(1, width), 8, 512); }
constexpr Index kTilesInLeaf = 16;

/// into += Aᵀ(A z) for the block's rows A = √w (x − centre), tile by tile, each read once.
void add_product(const Block& block, const Vector& centre, const Matrix& z, Matrix& into) {
  const Index p = z.rows(), size = tile_rows(p);
  thread_local std::vector<double> scratch;
  scratch.resize(static_cast<std::size_t>(size * p));
  Matrix y;
  for (Index first = 0; first < block.rows(); first += size) {
    const Index rows = std::min(size, block.rows() - first);
    Eigen::Map<Matrix> a(scratch.data(), rows, p);
    for (Index i = 0; i < rows; ++i) {
      const double root = std::sqrt(block.weight_of(first + i));
      a.row(i) = root * (block.x.row(first + i) - centre.transpose());
    }
    y.resize(rows, z.cols());
    blas::gemm(blas::Op::plain, a, blas::Op::plain, z, y);
    blas::gemm(blas::Op::transposed, a, blas::Op::plain, y, into, 1, 1);
  }
}

/// AᵀA z in one pass: leaves are cut by the row's index alone and summed in a fixed tree.
Matrix squared_operator(const Rows& rows, const Vector& centre, const Matrix& z, const Execution& execution) {
  const Index size = kTilesInLeaf * tile_rows(z.rows()), count = (rows.count() + size - 1) / size;
  BufferPool pool;
  const auto leaf = [&](Index i) -> State {
    auto sum = std::make_shared<Matrix>(Matrix::Zero(z.rows(), z.cols()));
    BufferPool::Lease buffer(pool);
    add_product(rows.read(i * size, std::min(size, rows.count() - i * size), *buffer), centre, z, *sum);
    return sum;
  };
  const auto merge = [](State& into, State from) {
    *static_cast<Matrix*>(into.get()) += *static_cast<const Matrix*>(from.get());
  };
  return std::move(*static_cast<Matrix*>(fold_tree(count, execution, leaf, merge).get()));
}

/// An orthonormal basis of the columns of z; directions that are not there are filled up arbitrarily.
Matrix orthonormal(const Matrix& z) {
  blas::Columns q = z;
  const Vector factors = blas::householder(q);
  blas::form_q(q, factors);
  return q;
}

/// z less its part in the span of the basis, twice (once is not enough), and orthonormal.
Matrix orthonormal_to(const Matrix& basis, Matrix z, const Execution& execution) {
  for (int round = 0; round < 2; ++round) {
    z -= multiply(basis, transposed_multiply(basis, z, execution), execution);
    z = orthonormal(z);
  }
  return z;
}

Matrix beside(const Matrix& a, const Matrix& b) {
  Matrix out(b.rows(), a.cols() + b.cols());
  out << a, b;
  return out;
}

/// The best eigenpairs of AᵀA that the basis holds (Rayleigh and Ritz), with their residuals.
LeadingSvd ritz(const Matrix& basis, const Matrix& image, Index count, const Execution& execution) {
  const Matrix projected = transposed_multiply(basis, image, execution);
  const Matrix symmetric = 0.5 * (projected + projected.transpose());
  const Eigenpairs pairs = symmetric_eigen(symmetric, count);
  LeadingSvd out;
  out.v = multiply(basis, pairs.vectors, execution);
  const Matrix residual = multiply(image, pairs.vectors, execution) - out.v * pairs.values.asDiagonal();
  out.s = pairs.values.cwiseMax(0).cwiseSqrt();
  const double largest = count > 0 ? pairs.values(0) : 0;
  out.residual = residual.colwise().norm().transpose();
  if (largest > 0) out.residual /= largest;
  return out;
}

}  // namespace

Svd thin_svd(const MatrixView& a) {
  require(a.allFinite(), "singular value decomposition: the matrix has values that are not finite");
  blas::Columns copy = a, u, v_transposed;
  Svd out;
  blas::thin_svd(copy, u, out.s, v_transposed);
  out.u = u;
  out.v = v_transposed.transpose();
  Matrix turned = out.v;
  turn_columns(turned);
  for (Index k = 0; k < out.s.size(); ++k)
    if (turned.col(k) != out.v.col(k)) out.u.col(k) *= -1;
  out.v = std::move(turned);
  return out;
}

LeadingSvd randomised_svd(const Rows& rows, const VectorView& centre, const RandomisedSvd& how,
                          const Execution& execution) {
  const Index p = rows.width();
  require(how.count >= 1 && how.count <= std::min(p, rows.count()),
          "randomised decomposition: " + std::to_string(how.count) + " components were asked for, " +
              std::to_string(std::min(p, rows.count())) + " are possible");
  require(centre.size() == 0 || centre.size() == p, "randomised decomposition: the centre has the wrong length");
  const Vector middle = centre.size() == p ? Vector(centre) : Vector(Vector::Zero(p));
  const Index width = std::min(p, how.count + how.oversampling);
  Matrix z = orthonormal(normal_matrix(p, width, how.seed, 0, execution)), basis(p, 0), image(p, 0);
  LeadingSvd best;
  for (int pass = 1; pass <= std::max(1, how.passes); ++pass) {
    const double begin = (pass - 1.0) / how.passes, end = static_cast<double>(pass) / how.passes;
    const Matrix next = squared_operator(rows, middle, z, execution.part(begin, end, execution.message));
    require(next.allFinite(), "randomised decomposition: the rows have values that are not finite");
    basis = beside(basis, z);
    image = beside(image, next);
    const bool full = basis.cols() + width > p, last = pass >= how.passes || full;
    best = ritz(basis, image, how.count, execution);
    best.passes = pass;
    if (last || best.residual.maxCoeff() <= how.tolerance) break;
    z = orthonormal_to(basis, next, execution);
  }
  turn_columns(best.v);
  return best;
}

}  // namespace lemma
