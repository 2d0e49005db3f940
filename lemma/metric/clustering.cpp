// lemma/metric/clustering.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/metric/clustering.hpp>
#include <limits>

namespace lemma {
namespace {

Index cluster_count(const MatrixView& x, const Labels& clusters) {
  if (x.rows() != static_cast<Index>(clusters.size()))
    throw Error(fmt::format("there are {} clusters for {} rows", clusters.size(), x.rows()));
  int most = -1;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    if (clusters[i] < 0) throw Error(fmt::format("the cluster of row {} is missing", i + 1));
    most = std::max(most, clusters[i]);
  }
  return most + 1;
}

Index nonempty(const Vector& sizes) { return (sizes.array() > 0).count(); }

/// Σ w d(xᵢ, xⱼ) over the rows j of each cluster.
Vector distance_sums(const MatrixView& x, Index i, const Labels& clusters, const Vector& w, Index count) {
  Vector sums = Vector::Zero(count);
  for (Index j = 0; j < x.rows(); ++j)
    sums(clusters[static_cast<std::size_t>(j)]) += w(j) * (x.row(j) - x.row(i)).norm();
  return sums;
}

double silhouette(const Vector& sums, const Vector& sizes, Index own) {
  if (!(sizes(own) > 1)) return 0;
  const double a = sums(own) / (sizes(own) - 1);  // the row itself adds distance 0 and does not count
  double b = std::numeric_limits<double>::infinity();
  for (Index k = 0; k < sums.size(); ++k)
    if (k != own && sizes(k) > 0) b = std::min(b, sums(k) / sizes(k));
  const double most = std::max(a, b);
  return most > 0 ? (b - a) / most : 0;
}

}  // namespace

ClusterScatter cluster_scatter(const MatrixView& x, const Labels& clusters, const VectorView& weights) {
  const Vector w = detail::frequencies(x.rows(), weights);
  const Index count = cluster_count(x, clusters);
  ClusterScatter out{Matrix::Zero(count, x.cols()), Vector::Zero(count), Vector::Zero(count), Vector::Zero(count)};
  const auto cluster = [&](Index i) { return static_cast<Index>(clusters[static_cast<std::size_t>(i)]); };
  for (Index i = 0; i < x.rows(); ++i) {
    out.sizes(cluster(i)) += w(i);
    out.centers.row(cluster(i)) += w(i) * x.row(i);
  }
  for (Index k = 0; k < count; ++k)
    if (out.sizes(k) > 0) out.centers.row(k) /= out.sizes(k);
  for (Index i = 0; i < x.rows(); ++i) {
    const double squared = (x.row(i) - out.centers.row(cluster(i))).squaredNorm();
    out.within(cluster(i)) += w(i) * squared;
    out.mean_distance(cluster(i)) += w(i) * std::sqrt(squared);
  }
  for (Index k = 0; k < count; ++k)
    if (out.sizes(k) > 0) out.mean_distance(k) /= out.sizes(k);
  const Vector mean = out.centers.transpose() * out.sizes / out.sizes.sum();
  for (Index k = 0; k < count; ++k) out.between += out.sizes(k) * (out.centers.row(k).transpose() - mean).squaredNorm();
  return out;
}

double calinski_harabasz(const ClusterScatter& scatter) {
  const auto count = static_cast<double>(nonempty(scatter.sizes));
  const double n = scatter.sizes.sum();
  if (count < 2 || n <= count) return std::nan("");
  return detail::share(scatter.between / (count - 1), scatter.total_within() / (n - count));
}

double davies_bouldin(const ClusterScatter& scatter) {
  const Index count = scatter.sizes.size();
  if (nonempty(scatter.sizes) < 2) return std::nan("");
  double sum = 0;
  for (Index i = 0; i < count; ++i) {
    double worst = 0;
    for (Index j = 0; j < count; ++j) {
      if (i == j || scatter.sizes(i) == 0 || scatter.sizes(j) == 0) continue;
      const double apart = (scatter.centers.row(i) - scatter.centers.row(j)).norm();
      if (apart == 0) return std::nan("");
      worst = std::max(worst, (scatter.mean_distance(i) + scatter.mean_distance(j)) / apart);
    }
    sum += worst;
  }
  return sum / static_cast<double>(nonempty(scatter.sizes));
}

Vector silhouettes(const MatrixView& x, const Labels& clusters, const VectorView& weights, const Execution& execution) {
  const Index n = x.rows();
  const Vector w = detail::frequencies(n, weights);
  const Index count = cluster_count(x, clusters);
  if (n > kMostSilhouetteRows)
    throw Error(
        fmt::format("silhouettes take all distances between {} rows; at most {} rows are allowed, take a sample", n,
                    kMostSilhouetteRows));
  Vector sizes = Vector::Zero(count);
  for (Index i = 0; i < n; ++i) sizes(clusters[static_cast<std::size_t>(i)]) += w(i);
  if (nonempty(sizes) < 2) throw Error("silhouettes need at least two clusters");
  Vector out(n);
  constexpr Index kBlock = 64;
  parallel_for((n + kBlock - 1) / kBlock, execution, [&](Index block) {
    for (Index i = block * kBlock; i < std::min(n, (block + 1) * kBlock); ++i)
      out(i) = silhouette(distance_sums(x, i, clusters, w, count), sizes, clusters[static_cast<std::size_t>(i)]);
  });
  return out;
}

std::vector<Measure> validity_measures(const MatrixView& x, const Labels& clusters, const VectorView& weights,
                                       const Execution& execution) {
  const Vector w = detail::frequencies(x.rows(), weights);
  const ClusterScatter scatter = cluster_scatter(x, clusters, w);
  const bool few_rows = x.rows() <= kMostSilhouetteRows, several = nonempty(scatter.sizes) > 1;
  std::string meaning = "how much nearer a row is to its own cluster than to the next: -1 to 1";
  if (!few_rows)
    meaning = fmt::format("not computed: it takes all distances, and there are more than {} rows", kMostSilhouetteRows);
  const double silhouette_mean =
      few_rows && several ? detail::mean(silhouettes(x, clusters, w, execution), w) : std::nan("");
  const double total = scatter.total_within() + scatter.between;
  return {
      {"total_within", scatter.total_within(), "sum of squared distances to the cluster's mean", false, {}},
      {"between_share",
       detail::share(scatter.between, total),
       "share of the sum of squares that lies between the clusters",
       true,
       {}},
      {"silhouette", silhouette_mean, meaning, true, {}},
      {"calinski_harabasz", calinski_harabasz(scatter), "variance between the clusters over variance within", true, {}},
      {"davies_bouldin",
       davies_bouldin(scatter),
       "mean over the clusters of the worst spread over distance",
       false,
       {}},
  };
}

}  // namespace lemma
