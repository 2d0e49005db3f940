// lemma/cluster/kmedoids/things.cpp
#include <lemma/cluster/kmedoids/things.hpp>

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

}  // namespace lemma
