// lemma/cluster/kmeans/mahalanobis.hpp: distances that know how columns vary together. Inner header: use lemma/cluster/kmeans.hpp.
#pragma once
#include <lemma/cluster/kmeans.hpp>
#include <lemma/geometry/bound_metric.hpp>

namespace lemma {

inline bool is_mahalanobis(const KMeans& spec) { return std::holds_alternative<MahalanobisMetric>(spec.metric); }
/// Of a spec whose distances are Mahalanobis'.
inline Metric metric_of(const KMeans& spec) { return std::get<MahalanobisMetric>(spec.metric); }

/// Lloyd's algorithm on the rows as the metric compares them, its centres brought back. The covariance left out is that of the rows
/// (their weights counted, divisor Σw − 1).
KMeansModel fit_mahalanobis(const KMeans& spec, const Rows& rows, const FitOptions& options);
Certificate certify_mahalanobis(const KMeansModel& model, const Rows& rows, const Execution& execution);
/// The centres as the metric compares them, and the same model of plain distances.
KMeansModel as_compared(const KMeansModel& model, const BoundMetric& metric);

}  // namespace lemma
