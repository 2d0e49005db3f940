// lemma/tree/optimal_tree/refute.hpp: a proof that no tree of a given depth costs less than a number.
#pragma once
#include <lemma/core/parallel.hpp>
#include <lemma/core/rows.hpp>

namespace lemma::optimal {

/// Rows as they lie: values, classes or numbers, and weights.
struct Sample {
  MatrixView x;
  Labels levels;  // of each column how many categories it has; 0: numbers
  Block outcome;
  Index classes;  // 0: numbers
};

struct Refuted {
  double bound = 0;  // no tree costs less; `target` or more where the proof came to its end
  long long subsets = 0;
  bool complete = true;
};
/// Asks of every split of every node whether it can lead below `target`. It remembers nothing, knows nothing of how the tree was
/// found, and uses but one fact: of rows that lie within others the best tree costs no more than of those.
Refuted refute(const Sample& sample, int depth, double price, double target, long long subsets,
               const Execution& execution);

}  // namespace lemma::optimal
