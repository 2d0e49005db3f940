// lemma/linear/shared/coordinate_factor.cpp
#include <algorithm>
#include <cmath>
#include <lemma/linear/shared/coordinate_factor.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/simd/vector.hpp>

namespace lemma {
namespace {

constexpr double kIndependent = 1e-12;  // of a column's square, what must be orthogonal to the columns before
constexpr Index kRows = 64;             // of R that are solved for together
constexpr Index kWidth = 512;           // columns of R in one product

/// B becomes R⁻ᵀ B. B has few columns, for which products with a few rows of R at a time are two or three times as fast
/// as one triangular solve that packs the whole of R.
void solve_transposed(const MatrixView& r, Matrix& b) {
  const Index k = r.rows();
  for (Index i = 0; i < k; i += kRows) {
    const Index high = std::min(kRows, k - i);
    blas::solve_upper(blas::Op::transposed, r.block(i, i, high, high), b.middleRows(i, high));
    for (Index j = i + high; j < k; j += kWidth) {
      const Index wide = std::min(kWidth, k - j);
      blas::gemm(blas::Op::transposed, r.block(i, j, high, wide), blas::Op::plain, b.middleRows(i, high),
                 b.middleRows(j, wide), -1, 1);
    }
  }
}

}  // namespace

bool ActiveFactor::become(const std::vector<Index>& active, const Matrix& gram) {
  const auto size = static_cast<std::size_t>(gram.rows());
  std::vector<char> wanted(size, 0), there(size, 0), stays;
  for (const Index i : active) wanted[static_cast<std::size_t>(i)] = 1;
  std::size_t kept = 0;
  for (const Index i : order_) {
    stays.push_back(wanted[static_cast<std::size_t>(i)]);
    there[static_cast<std::size_t>(i)] = 1;
    kept += static_cast<std::size_t>(stays.back());
  }
  const std::size_t leaving = order_.size() - kept;
  if (leaving * 4 > order_.size()) {  // a new factor is cheaper
    order_.clear();
    std::fill(there.begin(), there.end(), char{0});
  } else if (leaving > 0) {
    leave(stays);
  }
  std::vector<Index> newcomers;
  for (const Index i : active)
    if (!there[static_cast<std::size_t>(i)]) newcomers.push_back(i);
  if (join(newcomers, gram)) return true;
  order_.clear();
  return false;
}

/// Without its columns R has a few entries below its diagonal, which rotations of neighbouring rows take away.
void ActiveFactor::leave(const std::vector<char>& stays) {
  const auto before = static_cast<Index>(order_.size());
  std::vector<Index> from;  // the columns that stay
  for (Index j = 0; j < before; ++j)
    if (stays[static_cast<std::size_t>(j)]) from.push_back(j);
  const auto after = static_cast<Index>(from.size());
  Index first = 0;
  while (first < after && from[static_cast<std::size_t>(first)] == first) ++first;
  for (Index i = 0; i < before; ++i) {  // runs of columns move together
    double* const row = r_.row(i).data();
    for (Index j = first; j < after;) {
      Index end = j + 1;
      const Index source = from[static_cast<std::size_t>(j)];
      while (end < after && from[static_cast<std::size_t>(end)] == source + end - j) ++end;
      if (source + end - j > i) std::copy(row + source, row + source + end - j, row + j);
      else std::fill(row + j, row + end, 0.0);
      j = end;
    }
  }
  for (Index j = first; j < after; ++j)
    for (Index i = from[static_cast<std::size_t>(j)]; i > j; --i) {  // rows i − 1 and i: the lower one ends in 0
      const double a = r_(i - 1, j), b = r_(i, j);
      if (b == 0) continue;
      const double length = std::hypot(a, b);
      const auto width = static_cast<std::size_t>(after - j);
      simd::rotate(a / length, b / length, {&r_(i - 1, j), width}, {&r_(i, j), width});
      r_(i, j) = 0;
    }
  std::vector<Index> order;
  order.reserve(from.size());
  for (const Index j : from) order.push_back(order_[static_cast<std::size_t>(j)]);
  order_ = std::move(order);
}

/// [R B; 0 C] with B = R⁻ᵀ G_AN and CᵀC = G_NN − BᵀB.
bool ActiveFactor::join(const std::vector<Index>& newcomers, const Matrix& gram) {
  if (newcomers.empty()) return true;
  const auto k = static_cast<Index>(order_.size()), m = static_cast<Index>(newcomers.size());
  if (r_.rows() < k + m) r_.conservativeResize(std::max(k + m, 2 * k + 32), std::max(k + m, 2 * k + 32));
  Matrix beside(k, m), corner(m, m);
  for (Index i = 0; i < k; ++i) {
    const double* const row = gram.row(order_[static_cast<std::size_t>(i)]).data();
    for (Index j = 0; j < m; ++j) beside(i, j) = row[newcomers[static_cast<std::size_t>(j)]];
  }
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < m; ++j)
      corner(i, j) = gram(newcomers[static_cast<std::size_t>(i)], newcomers[static_cast<std::size_t>(j)]);
  const Vector squares = corner.diagonal();
  if (k > 0) {
    solve_transposed(r_.topLeftCorner(k, k), beside);
    blas::gemm(blas::Op::transposed, beside, blas::Op::plain, beside, corner, -1, 1);
  }
  if (!blas::cholesky(corner)) return false;
  for (Index j = 0; j < m; ++j)
    if (corner(j, j) * corner(j, j) <= kIndependent * squares(j)) return false;
  r_.block(0, k, k, m) = beside;
  for (Index i = 0; i < m; ++i) {
    r_.row(k + i).segment(0, k + i).setZero();
    r_.row(k + i).segment(k + i, m - i) = corner.row(i).tail(m - i);
  }
  order_.insert(order_.end(), newcomers.begin(), newcomers.end());
  return true;
}

void ActiveFactor::solve(Vector& b) const {
  const Index k = b.size();
  blas::solve_upper(blas::Op::transposed, r_.topLeftCorner(k, k), b);
  blas::solve_upper(blas::Op::plain, r_.topLeftCorner(k, k), b);
}

}  // namespace lemma
