// lemma/validate/stability.hpp: clusters found again in rows drawn with replacement.
//
// The clusters of all rows are held against those of B samples (Hennig 2007), on the rows that were drawn, each once. With n_ab the
// weight of the rows in cluster a of the one and b of the other, n_a and n_b those of the clusters,
//
//     J(a, b) = n_ab / (n_a + n_b − n_ab)
//
// is Jaccard's index of two clusters. They are paired one to one, so that Σ J is greatest (the Hungarian method): no two clusters are
// found again in the same one. What is left without a partner has J = 0.
//
// Cost  B fits and predictions; the same bits on any number of threads.
#pragma once
#include <lemma/validate/experiment.hpp>

namespace lemma {

struct StabilityOptions {
  ExperimentOptions experiment;
  int samples = 100;
  std::string group;  // a column: whole groups are drawn
  std::uint64_t seed = 1;
  Execution execution;
};

struct ClusterStability {
  std::string method, formula, data;
  Index rows = 0, samples = 0;  // samples that count
  Index failed = 0;             // in which there was no fit
  Vector sizes;                 // of each cluster of all rows: their weight
  Vector jaccard;               // mean J of each with its partner
  Vector recovered, dissolved;  // share of the samples with J of at least 3/4, and of at most 1/2
  double adjusted_rand = 0;     // mean over the samples
  Vector counts;                // how many clusters each sample had
  bool cancelled = false;
  std::vector<std::string> notes;
};

/// J of each of the first `count` clusters of the one with its partner in the other. −1 is no cluster. A cluster without a row here is NaN.
Vector matched_jaccard(const Labels& one, const Labels& other, Index count, const VectorView& weights = Vector());

/// Error where the method makes no clusters, or cannot give new rows to them. A cancel leaves the samples that are done.
ClusterStability stability(const AnySpec& spec, const Formula& formula, const TableStream& data,
                           const StabilityOptions& options);

Value to_value(const ClusterStability& result);
std::string text(const ClusterStability& result);

}  // namespace lemma
