// lemma/cluster/kmedoids/pam.hpp: partitioning around medoids: BUILD, and exchanges until none is for the better.
#pragma once
#include <lemma/core/random.hpp>
#include <lemma/geometry/dissimilarities.hpp>

namespace lemma {

struct PamRun {
  std::vector<Index> medoids;  // rising
  double total = 0;            // Σᵢ min_m d(i, m)
  Index exchanges = 0;
  Index passes = 0;  // over all rows as candidates; the last one found nothing
  bool finished = false;
  bool cancelled = false;
};

/// BUILD (Kaufman and Rousseeuw 1990): the row of least total dissimilarity, then again and again the row that lowers the total
/// most; of equals the first. Cost  O(n² k). Throws Cancelled.
std::vector<Index> pam_build(const Dissimilarities& all, Index k, const Execution& execution);

/// Exchanges of a medoid with another row, each for the better, from the medoids given (FasterPAM: Schubert and Rousseeuw 2021).
/// With d₁(i) and d₂(i) how far row i is from its nearest and second medoid, the exchange of m with c changes the total by
///
///     Σᵢ min(0, d(i, c) − d₁(i)) + Σ_{i of m} (d₂(i) − d₁(i) + …),
///
/// of which the first sum serves all m at once: a pass over all candidates costs O(n²), not O(k n²). Up to 2,000
/// rows the best exchange of all is made, which is PAM's way; beyond, candidates are looked at in blocks of 64 and the best of a
/// block is made at once. Blocks are looked at on all threads.
PamRun pam(const Dissimilarities& all, std::vector<Index> start, Index most_passes, const Execution& execution);

/// How many things are apart from each other (d > 0), counted no further than `enough`.
Index distinct_things(const Dissimilarities& all, Index enough);

}  // namespace lemma
