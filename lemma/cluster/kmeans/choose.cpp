// lemma/cluster/kmeans/choose.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/cluster/kmeans/choose.hpp>
#include <lemma/core/random.hpp>
#include <lemma/math/column_moments.hpp>

namespace lemma {
namespace {

constexpr Index kWithin = 1, kWorst = 2, kSilhouette = 3, kGap = 4, kError = 5;  // columns of the curve
constexpr std::uint64_t kReferences = 1 << 20;                                   // streams of their own

/// The mean of (b − a) / b over the rows, a and b the distances to the nearest and the second centre: the silhouette with
/// centres in the place of all pairs of rows (Hruschka, de Castro and Campello 2004).
struct CentreSilhouette {
  const Matrix* centers;
  double sum = 0, weight = 0;

  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      double nearest = HUGE_VAL, second = HUGE_VAL;
      for (Index c = 0; c < centers->rows(); ++c) {
        double d = 0;
        for (Index j = 0; j < block.x.cols(); ++j) d += std::pow(block.x(i, j) - (*centers)(c, j), 2);
        if (d < nearest) second = nearest, nearest = d;
        else second = std::min(second, d);
      }
      const double w = block.weight_of(i);
      weight += w;
      sum += second > 0 ? w * (1 - std::sqrt(nearest / second)) : 0;
    }
  }
  void merge(const CentreSilhouette& other) {
    sum += other.sum;
    weight += other.weight;
  }
};

/// As many rows as there are, spread evenly over the box that holds them.
Matrix spread_evenly(const ColumnMoments& moments, Index n, RandomStream stream) {
  Matrix out(n, moments.mean().size());
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < out.cols(); ++j)
      out(i, j) = moments.least()(j) + stream.uniform() * (moments.greatest()(j) - moments.least()(j));
  return out;
}

/// Gap(k) = mean of log W_k over rows without clusters − log W_k (Tibshirani, Walther and Hastie 2001).
void add_gaps(const KMeans& spec, const Rows& rows, const FitOptions& options, const RunKMeans& run, Matrix& curve,
              const Execution& execution) {
  const auto moments = scan(rows, ColumnMoments(rows.width()), execution.part(0, 0));
  const Index n = rows.count(), sets = spec.references, count = curve.rows();
  const double share = moments.weight()(0) / static_cast<double>(n);
  Matrix logs(sets, count);
  for (Index b = 0; b < sets; ++b) {
    const auto stream = kReferences + static_cast<std::uint64_t>(b);
    const Matrix even = spread_evenly(moments, n, RandomStream(options.seed, stream));
    for (Index t = 0; t < count; ++t) {
      const double done = static_cast<double>(b * count + t) / static_cast<double>(sets * count);
      execution.report(done, "rows without clusters");
      const auto starts = run(static_cast<int>(curve(t, 0)), MemoryRows(even), stream * 1024,
                              Execution{execution.threads, execution.progress, execution.from, execution.from, {}});
      if (starts.cancelled) throw Cancelled();
      logs(b, t) = std::log(share * starts.kept().total_within());
    }
  }
  for (Index t = 0; t < count; ++t) {
    const double mean = logs.col(t).mean();
    const double deviation = std::sqrt((logs.col(t).array() - mean).square().mean());
    curve(t, kGap) = mean - std::log(curve(t, kWithin));
    curve(t, kError) = deviation * std::sqrt(1 + 1 / static_cast<double>(sets));
  }
}

/// The first k whose gap is not surpassed by the next one beyond its standard error.
double by_gap(const Matrix& curve) {
  for (Index t = 0; t + 1 < curve.rows(); ++t)
    if (curve(t, kGap) >= curve(t + 1, kGap) - curve(t + 1, kError)) return curve(t, 0);
  return curve(curve.rows() - 1, 0);
}
double by_silhouette(const Matrix& curve) {
  Index best = 0;
  curve.col(kSilhouette).maxCoeff(&best);
  return curve(best, 0);
}
/// Where the curve lies farthest below the line from its first to its last point.
double by_knee(const Matrix& curve) {
  const Index last = curve.rows() - 1;
  double deepest = -1, out = curve(0, 0);
  for (Index t = 0; t <= last; ++t) {
    const double along = (curve(t, 0) - curve(0, 0)) / std::max(1.0, curve(last, 0) - curve(0, 0));
    const double line = curve(0, kWithin) + along * (curve(last, kWithin) - curve(0, kWithin));
    if (line - curve(t, kWithin) > deepest) deepest = line - curve(t, kWithin), out = curve(t, 0);
  }
  return out;
}

}  // namespace

double KMeansStarts::worst() const {
  double out = 0;
  for (const LloydRun& each : runs) out = std::max(out, each.total_within());
  return out;
}

KMeansCurve choose_k(const KMeans& spec, const Rows& rows, const FitOptions& options, const RunKMeans& run,
                     const Execution& execution) {
  std::vector<double> tried = spec.k.of;
  std::sort(tried.begin(), tried.end());
  tried.erase(std::unique(tried.begin(), tried.end()), tried.end());
  const auto count = static_cast<Index>(tried.size());
  KMeansCurve out{Matrix::Zero(count, 6), Vector::Zero(3), {}, 1};
  std::vector<KMeansStarts> all;
  const double own = spec.references > 0 ? 1.0 / (1 + spec.references) : 1.0;
  for (Index t = 0; t < count; ++t) {
    const double from = own * static_cast<double>(t) / static_cast<double>(count);
    const int k = static_cast<int>(tried[at(t)]);
    all.push_back(run(k, rows, 0, execution.part(from, from + own / static_cast<double>(count))));
    if (all.back().cancelled) throw Cancelled();
    const LloydRun& kept = all.back().kept();
    const auto silhouette = scan(rows, CentreSilhouette{&kept.centers}, execution.part(from, from));
    out.curve.row(t) << tried[at(t)], kept.total_within(), all.back().worst(),
        k > 1 && silhouette.weight > 0 ? silhouette.sum / silhouette.weight : 0.0, 0.0, 0.0;
  }
  // Where clusters are points nothing is left within them to take the logarithm of.
  const bool has_gaps =
      spec.references > 0 && out.curve.col(kWithin).minCoeff() > 1e-13 * out.curve.col(kWithin).maxCoeff();
  if (!has_gaps && spec.choose == ChooseClusters::gap)
    throw Error(
        spec.references == 0
            ? std::string("kmeans: references is 0, and without them there is no gap statistic; take --choose "
                          "silhouette or knee")
            : fmt::format(
                  "kmeans: with k = {} no sum of squares is left within the clusters, and a gap takes its logarithm; "
                  "take fewer clusters, or --choose silhouette",
                  tried.back()));
  if (has_gaps) add_gaps(spec, rows, options, run, out.curve, execution.part(own, 1));
  out.proposals << (has_gaps ? by_gap(out.curve) : 0.0), by_silhouette(out.curve), by_knee(out.curve);
  out.k = static_cast<int>(out.proposals(static_cast<Index>(spec.choose)));
  const auto place = std::find(tried.begin(), tried.end(), static_cast<double>(out.k)) - tried.begin();
  out.taken = std::move(all[static_cast<std::size_t>(place)]);
  return out;
}

}  // namespace lemma
