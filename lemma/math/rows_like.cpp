// lemma/math/rows_like.cpp
#include <cmath>
#include <lemma/math/eigen.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/rows_like.hpp>
#include <limits>

namespace lemma {

WeightedRows rows_like(double weight, const Vector& mean, const MatrixView& root) {
  const Index k = root.rows();
  if (k == 0) return {mean.transpose(), {weight}};
  WeightedRows out;
  out.x.resize(2 * k, mean.size());
  const double stretch = std::sqrt(static_cast<double>(k) / weight);
  for (Index i = 0; i < k; ++i) {
    out.x.row(2 * i) = mean.transpose() + stretch * root.row(i);
    out.x.row(2 * i + 1) = mean.transpose() - stretch * root.row(i);
  }
  out.weight.assign(static_cast<std::size_t>(2 * k), weight / static_cast<double>(2 * k));
  return out;
}

Matrix root_of_scatter(const MatrixView& scatter) {
  const Vector size = scatter.diagonal().cwiseMax(0).cwiseSqrt(),
               by = size.unaryExpr([](double s) { return s > 0 ? 1 / s : 0.0; });
  const Matrix unit = by.asDiagonal() * scatter * by.asDiagonal();
  if ((size.array() > 0).all())
    if (const auto triangle = cholesky(unit)) return *triangle * size.asDiagonal();
  const Eigenpairs pairs = symmetric_eigen(unit);  // descending
  Index rank = 0;
  const double least = static_cast<double>(unit.rows()) * std::numeric_limits<double>::epsilon();
  while (rank < pairs.values.size() && pairs.values(rank) > least * pairs.values(0)) ++rank;
  return pairs.values.head(rank).cwiseSqrt().asDiagonal() * pairs.vectors.leftCols(rank).transpose() *
         size.asDiagonal();
}

}  // namespace lemma
