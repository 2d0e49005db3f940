// lemma/math/graded_eigen.cpp
#include <algorithm>
#include <cmath>
#include <lemma/math/factorise.hpp>
#include <lemma/math/graded_eigen.hpp>
#include <limits>
#include <numeric>
#include <vector>

namespace lemma {
namespace {

constexpr int kMostSweeps = 40;

/// (a, b) ← (c a − s b, s a + c b).
void rotate(Matrix& rows, Index a, Index b, double c, double s) {
  const Vector kept = rows.row(a);
  rows.row(a) = c * rows.row(a) - s * rows.row(b);
  rows.row(b) = s * kept.transpose() + c * rows.row(b);
}

/// One rotation of each pair of rows; the largest cosine between two of them before it.
double sweep(Matrix& g, Matrix& v) {
  double worst = 0;
  for (Index a = 0; a < g.rows(); ++a)
    for (Index b = a + 1; b < g.rows(); ++b) {
      const double of_a = g.row(a).norm(), of_b = g.row(b).norm();
      const double cosine = g.row(a).dot(g.row(b) / of_b) / of_a;
      worst = std::max(worst, std::abs(cosine));
      if (std::abs(cosine) <= std::numeric_limits<double>::epsilon()) continue;
      // tan of the angle: t² + 2 ζ t − 1 = 0 with ζ = (‖b‖² − ‖a‖²) / 2 a·b
      const double zeta = (of_b / of_a - of_a / of_b) / (2 * cosine);
      const double t = std::copysign(1.0, zeta) / (std::abs(zeta) + std::hypot(1.0, zeta));
      const double c = 1 / std::hypot(1.0, t), s = c * t;
      rotate(g, a, b, c, s);
      rotate(v, a, b, c, s);
    }
  return worst;
}

}  // namespace

std::optional<Eigenpairs> graded_eigen(const MatrixView& correlation, const Vector& deviation) {
  const auto triangle = cholesky(correlation);
  if (!triangle) return {};
  const Index p = deviation.size();
  std::vector<Index> order(static_cast<std::size_t>(p));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return deviation(a) > deviation(b); });
  Matrix g(p, p), v = Matrix::Zero(p, p);  // rows are the columns of R D and of V
  for (Index k = 0; k < p; ++k) {
    const Index j = order[static_cast<std::size_t>(k)];
    g.row(k) = deviation(j) * triangle->col(j).transpose();
    g.row(k).tail(p - j - 1).setZero();  // below the triangle
    v(k, j) = 1;
  }
  const double orthogonal = std::sqrt(static_cast<double>(p)) * std::numeric_limits<double>::epsilon();
  for (int round = 0; round < kMostSweeps && sweep(g, v) > orthogonal; ++round) {}
  const Vector length = g.rowwise().norm();
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return length(a) > length(b); });
  Eigenpairs out{Vector(p), Matrix(p, p)};
  for (Index k = 0; k < p; ++k) {
    const Index from = order[static_cast<std::size_t>(k)];
    out.values(k) = length(from) * length(from);
    out.vectors.col(k) = v.row(from).transpose();
  }
  turn_columns(out.vectors);
  return out;
}

}  // namespace lemma
