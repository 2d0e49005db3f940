// lemma/cluster/kmeans/choose.hpp: how many clusters there are. Inner header: use lemma/cluster/kmeans.hpp.
#pragma once
#include <lemma/cluster/kmeans.hpp>
#include <lemma/geometry/lloyd.hpp>

namespace lemma {

/// The starts of one k on some rows: those that ended. Throws Cancelled when none did.
struct KMeansStarts {
  std::vector<LloydRun> runs;
  std::size_t best = 0;
  bool cancelled = false;

  const LloydRun& kept() const { return runs[best]; }
  double worst() const;
};
using RunKMeans =
    std::function<KMeansStarts(int k, const Rows& rows, std::uint64_t stream, const Execution& execution)>;

/// What is known of each k: k, the sum of squares within of the best and of the worst start, the silhouette, the gap and its
/// standard error.
struct KMeansCurve {
  Matrix curve;
  Vector proposals;  // by the gap, by the silhouette, by the knee
  KMeansStarts taken;
  int k = 1;
};
KMeansCurve choose_k(const KMeans& spec, const Rows& rows, const FitOptions& options, const RunKMeans& run,
                     const Execution& execution);

}  // namespace lemma
