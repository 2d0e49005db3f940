// lemma/select/compare.hpp: several methods on the same resamples, and whether their differences are more than chance.
//
// Of two methods the differences d₁ … d_J of a score over the same J resamples have mean d̄ and the statistic
// t = d̄ / √((1/J + n₂/n₁) s²) of Nadeau and Bengio (2003). Of all K (K − 1) / 2 pairs the p-values are adjusted after Holm (1979),
// and the intervals hold for all pairs at once (Bonferroni): also for the pair that looks best.
//
// Of methods that make clusters each pair is told beside that how alike their clusters of all rows are.
#pragma once
#include <lemma/validate/cross.hpp>

namespace lemma {

/// Two partitions of the same rows (metric/clustering.hpp).
struct ClusterAgreement {
  double adjusted_rand = 0, matched = 0, fowlkes_mallows = 0, variation_of_information = 0;
};

struct PairedDifference {
  std::size_t first = 0, second = 0;  // methods; the difference is first − second
  double mean = 0;
  std::optional<Bounds> bounds;                    // simultaneous over all pairs
  double p = 1, adjusted = 1;                      // two-sided; after Holm
  std::optional<ClusterAgreement> agreement = {};  // of methods that make clusters
  /// Whether the interval does not hold 0.
  bool differ() const { return bounds && (bounds->lower > 0 || bounds->upper < 0); }
};

struct MethodComparison {
  std::vector<CrossResult> methods;  // in the order given
  std::string metric;
  bool higher_is_better = true;
  std::size_t best = 0;
  std::vector<PairedDifference> pairs;
  std::vector<std::string> notes;

  const PairedDifference& between(std::size_t a, std::size_t b) const;
};

/// Error unless there are two or more, all for the same task. Rows that one of them cannot use take part for none. `metric` empty:
/// accuracy, or rmse.
MethodComparison compare_methods(const std::vector<AnySpec>& specs, const Formula& formula, const TableStream& data,
                                 const Plan& plan, const std::string& metric = {}, const CrossOptions& options = {});

/// The same of methods that were judged already, all by the same resamples of the same rows.
MethodComparison comparison_of(std::vector<CrossResult> methods, const std::string& metric = {});

Value to_value(const MethodComparison& comparison);
std::string text(const MethodComparison& comparison);

}  // namespace lemma
