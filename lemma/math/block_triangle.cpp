// lemma/math/block_triangle.cpp
#include <algorithm>
#include <cmath>
#include <lemma/math/blas.hpp>
#include <lemma/math/block_triangle.hpp>
#include <optional>
#include <vector>

namespace lemma {
namespace {

constexpr Index kLeastRows = 512;  // below, Householder costs nothing worth saving
constexpr double kConditionLimit = 512;
constexpr Index kMostKept = Index{1} << 22;  // numbers of a scratch that a thread keeps for the next block
constexpr double kLeastShare = 1e-2;         // of the last column, orthogonal to the others

/// Cholesky of AᵀA with columns scaled to unit length. A column of zeros stands as a unit column of its own.
struct ScaledTriangle {
  Matrix r;       // of A times diag(1 / length)
  Vector length;  // 1 for a column of zeros
  std::vector<Index> zeros;
  double condition;  // of all columns but the last

  double last_share() const { return r(r.rows() - 1, r.rows() - 1); }
};

std::optional<ScaledTriangle> by_gram(const MatrixView& a) {
  const Index p = a.cols();
  ScaledTriangle s{Matrix(p, p), Vector(p), {}, 0};
  blas::gram(a, s.r);
  for (Index j = 0; j < p; ++j) {
    const double square = s.r(j, j);
    const bool zero = square == 0 && (a.col(j).array() == 0).all();
    if (!std::isfinite(square) || (square < 1e-280 && !zero)) return {};  // squares overflow, or lose their digits
    if (zero) s.zeros.push_back(j);
    s.length(j) = zero ? 1 : std::sqrt(square);
  }
  for (Index i = 0; i < p; ++i) {
    s.r(i, i) = 1;
    for (Index j = i + 1; j < p; ++j) s.r(i, j) /= s.length(i) * s.length(j);
  }
  if (!blas::cholesky(s.r)) return {};
  const double reciprocal = blas::reciprocal_condition(s.r.topLeftCorner(p - 1, p - 1));
  s.condition = reciprocal > 0 ? 1 / reciprocal : INFINITY;
  return s;
}

Matrix in_units_of_a(const ScaledTriangle& s) {
  Matrix r = s.r.triangularView<Eigen::Upper>();
  for (const Index j : s.zeros) r(j, j) = 0;
  return r * s.length.asDiagonal();
}

Matrix by_householder(const MatrixView& a) {
  thread_local blas::Columns columns;
  assign_listening(columns, a);
  blas::householder(columns);
  const Index rank = std::min(a.cols(), a.rows());
  Matrix r;
  assign_listening(r, columns.topRows(rank));
  r.triangularView<Eigen::StrictlyLower>().setZero();
  if (columns.size() > kMostKept) columns.resize(0, 0);
  return r;
}

}  // namespace

Matrix block_triangle(Index rows, Index columns, const std::function<void(Eigen::Ref<Matrix>)>& fill,
                      bool by_condition) {
  thread_local std::vector<double> scratch;
  scratch.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  Eigen::Map<Matrix> a(scratch.data(), rows, columns);
  fill(a);
  if (by_condition && rows >= std::max(kLeastRows, 2 * columns)) {
    const auto s = by_gram(a);
    if (s && s->condition <= kConditionLimit && s->last_share() >= kLeastShare) return in_units_of_a(*s);
  }
  return by_householder(a);
}

}  // namespace lemma
