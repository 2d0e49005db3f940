// lemma/cluster/affinity_propagation/messages.hpp: what rows tell each other. Inner header: use affinity_propagation.hpp.
#pragma once
#include <lemma/cluster/affinity_propagation.hpp>

namespace lemma {

struct Settled {
  std::vector<Index> exemplars;  // rising, at least one
  int rounds = 0;
  bool settled = false;
};
/// `aside`: by which share of a billionth of the greatest dissimilarity the preference of each row is lower. Throws Cancelled.
Settled exchange_messages(const AffinityPropagation& spec, const Dissimilarities& all, const Vector& aside,
                          const Execution& execution);

/// Exchanges, one more or one fewer, as long as one raises the net similarity.
std::vector<Index> bettered(const Dissimilarities& all, std::vector<Index> exemplars, double price,
                            const Execution& execution);

}  // namespace lemma
