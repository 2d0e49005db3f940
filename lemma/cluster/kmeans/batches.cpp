// lemma/cluster/kmeans/batches.cpp
#include <algorithm>
#include <lemma/cluster/kmeans/batches.hpp>
#include <lemma/cluster/shared/measured_points.hpp>
#include <lemma/math/simd.hpp>

namespace lemma {

Matrix followed(Matrix centers, const Rows& rows, Index batch, int passes, RandomStream random,
                const Execution& execution) {
  const Matrix gathered = rows.matrix() ? Matrix() : gather(rows, execution.part(0, 0));
  const MatrixView all = rows.matrix() ? *rows.matrix() : MatrixView(gathered);
  const Vector weight = weights_of(rows, execution.part(0, 0));
  Vector seen = Vector::Zero(centers.rows());
  for (int pass = 0; pass < passes; ++pass) {
    const std::vector<Index> order = permutation(random, all.rows());
    for (Index first = 0; first < all.rows(); first += batch) {
      const Index count = std::min(batch, all.rows() - first);
      if (execution.cancelled()) throw Cancelled();
      const std::vector<Index> which(order.begin() + first, order.begin() + first + count);
      const Matrix x = rows_at(all, which);
      std::vector<int> to(at(count));
      std::vector<double> distance(at(count));
      simd::nearest(x, centers, to, distance);
      for (Index i = 0; i < count; ++i) {
        const double w = weight(which[at(i)]);
        if (w == 0) continue;
        const int c = to[at(i)];
        seen(c) += w;
        centers.row(c) += w / seen(c) * (x.row(i) - centers.row(c));
      }
    }
  }
  return centers;
}

}  // namespace lemma
