// lemma/metric/clustering.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/hash.hpp>
#include <lemma/metric/clustering.hpp>
#include <limits>

namespace lemma {
namespace {

Index cluster_count(Index rows, const Labels& clusters) {
  if (rows != static_cast<Index>(clusters.size()))
    throw Error(fmt::format("there are {} clusters for {} rows", clusters.size(), rows));
  int most = -1;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    if (clusters[i] < 0) throw Error(fmt::format("the cluster of row {} is missing", i + 1));
    most = std::max(most, clusters[i]);
  }
  return most + 1;
}

constexpr double kHalfWidth = 1.959963984540054;  // of a normal 95 % interval, in standard errors

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

/// Rows and weights by cluster; what the rows of a block are in is known by their numbers.
struct ClusterSums {
  ClusterSums(const Labels& clusters, const Vector& w, Index count, Index width)
      : of(&clusters), weight(&w), sums(Matrix::Zero(count, width)), sizes(Vector::Zero(count)) {}
  const Labels* of;
  const Vector* weight;
  Matrix sums;
  Vector sizes;

  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      const Index k = (*of)[static_cast<std::size_t>(block.first + i)];
      sizes(k) += (*weight)(block.first + i);
      sums.row(k) += (*weight)(block.first + i) * block.x.row(i);
    }
  }
  void merge(const ClusterSums& other) {
    sums += other.sums;
    sizes += other.sizes;
  }
};

/// Σ w ‖x − c‖² and Σ w ‖x − c‖ by cluster.
struct ClusterSpread {
  ClusterSpread(const Labels& clusters, const Vector& w, const Matrix& centers)
      : of(&clusters), weight(&w), center(&centers), squares(Vector::Zero(centers.rows())), distances(squares) {}
  const Labels* of;
  const Vector* weight;
  const Matrix* center;
  Vector squares, distances;

  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      const Index k = (*of)[static_cast<std::size_t>(block.first + i)];
      const double squared = (block.x.row(i) - center->row(k)).squaredNorm();
      squares(k) += (*weight)(block.first + i) * squared;
      distances(k) += (*weight)(block.first + i) * std::sqrt(squared);
    }
  }
  void merge(const ClusterSpread& other) {
    squares += other.squares;
    distances += other.distances;
  }
};

/// The mean silhouette, and the jackknife's interval of it.
struct MeanSilhouette {
  double value = std::nan("");
  std::optional<Bounds> bounds;
};

constexpr std::size_t kMostGroups = 200;

/// Rows in groups that are left out together: equal rows in one, each different row in its own while there are few, so that
/// neither the order of the rows nor copies in the place of a weight change the interval.
std::vector<Index> groups_by_content(const MatrixView& x, Index& count) {
  std::vector<std::uint64_t> hash(static_cast<std::size_t>(x.rows()));
  for (Index i = 0; i < x.rows(); ++i)
    hash[static_cast<std::size_t>(i)] = hash_numbers({x.row(i).data(), static_cast<std::size_t>(x.cols())});
  std::vector<std::uint64_t> different = hash;
  std::sort(different.begin(), different.end());
  different.erase(std::unique(different.begin(), different.end()), different.end());
  const bool few = different.size() <= kMostGroups;
  count = static_cast<Index>(std::min(different.size(), kMostGroups));
  std::vector<Index> out;
  for (const std::uint64_t h : hash)
    out.push_back(few ? std::lower_bound(different.begin(), different.end(), h) - different.begin()
                      : static_cast<Index>(h % kMostGroups));
  return out;
}

/// Rows that are drawn again lie at no distance from their copies, so that a bootstrap would draw clusters that are tighter
/// than they are: groups g are left out instead, each with what it adds to the distances of all others. Their sizes differ:
/// with h = n / size, pseudo-values h θ − (h − 1) θ₍g₎ have the variance (h − 1) n σ²(θ) (Busing, Meijer and van der Leeden 1999).
MeanSilhouette mean_silhouette(const MatrixView& x, const Labels& clusters, const Vector& w,
                               const Execution& execution) {
  const Index n = x.rows(), count = cluster_count(n, clusters);
  Index groups = 0;
  const std::vector<Index> group = groups_by_content(x, groups);
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  Matrix mass = Matrix::Zero(groups, count);  // of each group's rows in each cluster
  for (Index i = 0; i < n; ++i) mass(group[at(i)], clusters[at(i)]) += w(i);
  const Vector sizes = mass.colwise().sum(), of_group = mass.rowwise().sum();
  constexpr Index kBlock = 64;
  const Index blocks = (n + kBlock - 1) / kBlock;
  Matrix without = Matrix::Zero(blocks, groups);  // Σ w s of the rows that stay, by the rows' block
  Vector whole = Vector::Zero(blocks);
  parallel_for(blocks, execution, [&](Index block) {
    Matrix taken(groups, count);
    for (Index i = block * kBlock; i < std::min(n, (block + 1) * kBlock); ++i) {
      taken.setZero();
      for (Index j = 0; j < n; ++j) taken(group[at(j)], clusters[at(j)]) += w(j) * (x.row(j) - x.row(i)).norm();
      const Vector sums = taken.colwise().sum();
      const Index own = clusters[at(i)];
      whole(block) += w(i) * silhouette(sums, sizes, own);
      for (Index g = 0; g < groups; ++g)
        if (g != group[at(i)])
          without(block, g) += w(i) * silhouette(sums - taken.row(g).transpose(), sizes - mass.row(g).transpose(), own);
    }
  });
  const double all = sizes.sum();
  MeanSilhouette out{whole.sum() / all, {}};
  Vector pseudo(groups), spread(groups);
  for (Index g = 0; g < groups; ++g) {
    if (nonempty(sizes - mass.row(g).transpose()) < 2) return out;
    const double h = all / of_group(g), left = without.col(g).sum() / (all - of_group(g));
    pseudo(g) = h * out.value - (h - 1) * left;
    spread(g) = h - 1;
  }
  if (groups < 3) return out;
  const double middle = (pseudo.array() * of_group.array()).sum() / all;
  const double error =
      std::sqrt(((pseudo.array() - middle).square() / spread.array()).sum() / static_cast<double>(groups));
  out.bounds = Bounds{std::max(-1.0, out.value - kHalfWidth * error), std::min(1.0, out.value + kHalfWidth * error)};
  return out;
}

MeanSilhouette mean_silhouette(const Rows& rows, const Labels& clusters, const Vector& w, const Execution& execution) {
  if (const MatrixView* x = rows.matrix()) return mean_silhouette(*x, clusters, w, execution);
  return mean_silhouette(gather(rows, execution), clusters, w, execution);
}

}  // namespace

ClusterScatter cluster_scatter(const MatrixView& x, const Labels& clusters, const VectorView& weights) {
  return cluster_scatter(MemoryRows(x), clusters, weights);
}

ClusterScatter cluster_scatter(const Rows& rows, const Labels& clusters, const VectorView& weights,
                               const Execution& execution) {
  const Vector w = detail::frequencies(rows.count(), weights);
  const Index count = cluster_count(rows.count(), clusters);
  const auto sums =
      scan(rows, ClusterSums(clusters, w, count, rows.width()), execution.part(0, 0.5, execution.message));
  ClusterScatter out{sums.sums, sums.sizes, {}, {}};
  for (Index k = 0; k < count; ++k)
    if (out.sizes(k) > 0) out.centers.row(k) /= out.sizes(k);
  const auto spread = scan(rows, ClusterSpread(clusters, w, out.centers), execution.part(0.5, 1, execution.message));
  out.within = spread.squares;
  out.mean_distance = spread.distances;
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
  const Index count = cluster_count(n, clusters);
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
  return validity_measures(MemoryRows(x), clusters, weights, execution);
}

std::vector<Measure> scatter_measures(const ClusterScatter& scatter) {
  const double total = scatter.total_within() + scatter.between;
  return {
      {"total_within", scatter.total_within(), "sum of squared distances to the cluster's mean", false, {}},
      {"between_share",
       detail::share(scatter.between, total),
       "share of the sum of squares that lies between the clusters",
       true,
       {}},
      {"calinski_harabasz", calinski_harabasz(scatter), "variance between the clusters over variance within", true, {}},
      {"davies_bouldin",
       davies_bouldin(scatter),
       "mean over the clusters of the worst spread over distance",
       false,
       {}},
  };
}

std::vector<Measure> validity_measures(const Rows& rows, const Labels& clusters, const VectorView& weights,
                                       const Execution& execution) {
  const Vector w = detail::frequencies(rows.count(), weights);
  const ClusterScatter scatter = cluster_scatter(rows, clusters, w, execution.part(0, 0.1, execution.message));
  const bool few_rows = rows.count() <= kMostSilhouetteRows, several = nonempty(scatter.sizes) > 1;
  std::string meaning = "how much nearer a row is to its own cluster than to the next: -1 to 1";
  if (!few_rows)
    meaning = fmt::format("not computed: it takes all distances, and there are more than {} rows", kMostSilhouetteRows);
  MeanSilhouette found;
  if (few_rows && several) found = mean_silhouette(rows, clusters, w, execution.part(0.1, 1, execution.message));
  std::vector<Measure> out = scatter_measures(scatter);
  out.insert(out.begin() + 2, {"silhouette", found.value, meaning, true, found.bounds});
  return out;
}

}  // namespace lemma
