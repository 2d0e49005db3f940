// lemma/cluster/kmeans/mahalanobis.cpp
#include <lemma/cluster/kmeans/mahalanobis.hpp>
#include <lemma/cluster/kmeans/mapped_rows.hpp>
#include <lemma/cluster/shared/measured_points.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/moments.hpp>
#include <lemma/model/cut_short.hpp>

namespace lemma {
namespace {

MahalanobisMetric learned(const MahalanobisMetric& given, const Rows& rows, const Execution& execution) {
  if (given.covariance.size() > 0) return given;
  require_finite(rows, execution.part(0, 0.5));
  const Moments moments = scan(rows, Moments(rows.width()), execution.part(0.5, 1));
  if (!(moments.weight() > 1))
    throw Error("kmeans: a covariance is learned from at least 2 rows; give it, or take --metric euclidean");
  const Vector mean = moments.mean();
  return MahalanobisMetric{moments.covariance(moments.weight() - 1), {mean.begin(), mean.end()}};
}

/// From where the metric compares them to where they are: x = centre + Rᵀ z, RᵀR the covariance.
Matrix brought_back(const MahalanobisMetric& told, const Matrix& z) {
  Matrix out = z * *cholesky(told.covariance);
  if (!told.centre.empty()) out.rowwise() += Eigen::Map<const Eigen::RowVectorXd>(told.centre.data(), z.cols());
  return out;
}

/// Rows that lie in memory are mapped once: the same bits, and no work in each pass.
KMeansModel fit_in_memory(const KMeans& plain, const Rows& rows, const BoundMetric& bound, const FitOptions& options) {
  const Matrix mapped = bound.mapped(*rows.matrix(), unheard(options.execution()));
  const Vector weight = weights_of(rows, unheard(options.execution()));
  MemoryRows memory(mapped);
  memory.features = rows.features;
  if (rows.has_weights) memory.weights({weight.data(), at(weight.size())});
  return fit(Valid<KMeans>(plain), static_cast<const Rows&>(memory), options);
}

}  // namespace

KMeansModel fit_mahalanobis(const KMeans& spec, const Rows& rows, const FitOptions& options) {
  const MahalanobisMetric metric =
      learned(std::get<MahalanobisMetric>(spec.metric), rows, options.execution().part(0, 0));
  const BoundMetric bound(Metric(metric), rows.width());
  KMeans plain = spec;
  plain.metric = EuclideanMetric{};
  if (const auto* given = std::get_if<Matrix>(&spec.start); given && given->cols() == rows.width())
    plain.start = bound.mapped(*given);
  KMeansModel model = rows.matrix() ? fit_in_memory(plain, rows, bound, options)
                                    : fit(Valid<KMeans>(plain), MappedRows(rows, bound), options);
  model.centers = brought_back(metric, model.centers);
  model.spec.metric = metric;
  model.spec.start = spec.start;
  return model;
}

KMeansModel as_compared(const KMeansModel& model, const BoundMetric& metric) {
  KMeansModel out = model;
  out.centers = metric.mapped(model.centers);
  out.spec.metric = EuclideanMetric{};
  return out;
}

Certificate certify_mahalanobis(const KMeansModel& model, const Rows& rows, const Execution& execution) {
  const BoundMetric bound(metric_of(model.spec), model.width());
  return certify(as_compared(model, bound), MappedRows(rows, bound), execution);
}

}  // namespace lemma
