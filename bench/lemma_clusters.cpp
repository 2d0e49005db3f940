// bench/lemma_clusters.cpp: Lemma's side of the workloads about clusters, each fit with its certificate.
#include "lemma_job.hpp"

#include <lemma/cluster/agglomerative.hpp>
#include <lemma/cluster/dbscan.hpp>
#include <lemma/cluster/hdbscan.hpp>
#include <lemma/cluster/kmedoids.hpp>
#include <lemma/cluster/spectral.hpp>
#include <lemma/metric/clustering.hpp>

namespace lemma::bench {
namespace {

Value kmedoids(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix("kmedoids_X.npy");
  const auto model =
      timed(out, [&] { return fit(KMedoids{.k = 20, .start = KMedoidsStart::random}, x, task.options); });
  quality.set("total", model.total);
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}

Value dbscan(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix("dbscan_X.npy");
  const auto model = timed(out, [&] { return fit(Dbscan{.radius = 0.1, .min_points = 5}, x, task.options); });
  quality.set("clusters", static_cast<double>(model.k()));
  quality.set("noise", model.noise);
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}

Value hdbscan(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix("hdbscan_X.npy");
  const auto model = timed(out, [&] { return fit(Hdbscan{.min_cluster_size = 20}, x, task.options); });
  quality.set("clusters", static_cast<double>(model.k()));
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}

Value spectral(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix("spectral_X.npy"), truth = task.matrix("spectral_y.npy");
  const auto model = timed(out, [&] { return fit(Spectral{.k = 4, .neighbors = 10}, x, task.options); });
  Labels classes, clusters;
  for (Index i = 0; i < x.rows(); ++i) {
    classes.push_back(static_cast<int>(truth(i, 0)));
    clusters.push_back(static_cast<int>(model.labels(i)) - 1);
  }
  quality.set("adjusted_rand", adjusted_rand_index(contingency(classes, clusters)));
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}

Value linkage(const Job& task, Linkage linkage, Index rows) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix("hclust_X.npy").topRows(rows);
  const auto model = timed(out, [&] { return fit(Agglomerative{.linkage = linkage}, x, task.options); });
  quality.set("heights", model.heights.sum());
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}
Value average_linkage(const Job& task) { return linkage(task, Linkage::average, 10'000); }
Value single_linkage(const Job& task) { return linkage(task, Linkage::single, 20'000); }

}  // namespace

Workloads cluster_workloads() {
  return {{"kmedoids", kmedoids},
          {"dbscan", dbscan},
          {"hdbscan", hdbscan},
          {"spectral", spectral},
          {"average_linkage", average_linkage},
          {"single_linkage", single_linkage}};
}

}  // namespace lemma::bench
