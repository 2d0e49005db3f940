// lemma/cluster/kmedoids/things.cpp
#include <algorithm>
#include <lemma/cluster/kmedoids/things.hpp>
#include <limits>
#include <numeric>

namespace lemma {
Dissimilarities compare_points(const Matrix& points, const BoundMetric& metric, double gigabytes,
                               const Execution& execution) {
  if (Dissimilarities::bytes(points.rows()) <= 1e9 * gigabytes)
    return Dissimilarities::of_rows(points, metric, {}, execution);
  return Dissimilarities::on_demand(points, metric, {}, execution);
}

KMedoidThings things_of(const KMedoids& spec, const Rows& rows, const Execution& execution) {
  if (spec.input == Input::square) {
    Compared found = compare(KMedoids::name, spec.input, spec.metric, rows, execution);
    return {std::move(found.dissimilarities), {}, {}, std::move(found.names)};
  }
  auto [points, bound] = measured_points(spec.metric, rows, execution.part(0, 0.1));
  Dissimilarities all = spec.sample && *spec.sample < points.rows()
                            ? Dissimilarities::on_demand(points, bound, {}, execution.part(0.1, 1))
                            : compare_points(points, bound, spec.gigabytes, execution.part(0.1, 1, "dissimilarities"));
  return {std::move(all), std::move(points), std::move(bound), {}};
}

Matrix far_from(const Dissimilarities& all, const std::vector<Index>& medoids) {
  Matrix out(static_cast<Index>(medoids.size()), all.count());
  for (std::size_t m = 0; m < medoids.size(); ++m)
    all.row(medoids[m], {out.row(static_cast<Index>(m)).data(), at(all.count())});
  return out;
}

MedoidClusters clusters_of(const Matrix& far) {
  const Index k = far.rows();
  MedoidClusters out{Vector::Zero(k), Vector::Zero(k), Vector::Zero(k)};
  for (Index i = 0; i < far.cols(); ++i) {
    Index nearest = 0;
    for (Index m = 1; m < k; ++m)
      if (far(m, i) < far(nearest, i)) nearest = m;
    out.sizes(nearest) += 1;
    out.within(nearest) += far(nearest, i);
    out.farthest(nearest) = std::max(out.farthest(nearest), far(nearest, i));
  }
  return out;
}

double total_of(const Dissimilarities& all, const std::vector<Index>& medoids) {
  const Index n = all.count();
  std::vector<double> nearest(at(n), std::numeric_limits<double>::infinity()), row(at(n));
  for (const Index each : medoids) {
    all.row(each, row);
    for (Index i = 0; i < n; ++i) nearest[at(i)] = std::min(nearest[at(i)], row[at(i)]);
  }
  return std::accumulate(nearest.begin(), nearest.end(), 0.0);
}

}  // namespace lemma
